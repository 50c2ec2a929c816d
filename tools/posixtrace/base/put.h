/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * put.h - writes numbers and short texts into memory. The functions are called for each number of
 * each event, so they avoid loops over digits and calls of the C library.
 *
 * Each function writes at p without a NUL and returns the end of what it has written. The caller
 * provides the room, usually by out_room() of out.h.
 */
#ifndef POSIXTRACE_BASE_PUT_H
#define POSIXTRACE_BASE_PUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PUT_PIECE 16 /* put_pieces() copies at least this number of bytes */

/*
 * put_padded() writes at least "width" characters: the number, and before it the character "pad" as
 * often as necessary. put_digits() writes exactly the given number of digits and drops higher
 * digits. put_hex() writes at least the given number of digits. A number of 64 bits has at most 20
 * digits.
 */
char *put_unsigned(char *p, uint64_t value);
char *put_signed(char *p, int64_t value);
char *put_padded(char *p, uint64_t value, unsigned width, char pad);
char *put_digits(char *p, uint64_t value, unsigned digits);
char *put_hex(char *p, uint64_t value, unsigned digits);

/* Writes nine digits of a number below 10^9, such as the nanoseconds of a second. */
char *put_nine(char *p, uint32_t value);

/* Writes each byte as two hexadecimal digits. */
char *put_hex_bytes(char *p, const void *bytes, size_t len);

/*
 * Copies a text of len bytes. The memory of the text and the room at p must each have PUT_PIECE
 * bytes more than len, because the function always copies at least PUT_PIECE bytes. So a short
 * text, such as a name, is copied by one instruction of constant size. The function returns p +
 * len, the end of the text.
 */
static inline char *put_pieces(char *p, const char *text, size_t len)
{
	memcpy(p, text, PUT_PIECE);
	if (__builtin_expect(len > PUT_PIECE, 0))
		memcpy(p + PUT_PIECE, text + PUT_PIECE, len - PUT_PIECE);
	return p + len;
}

#endif
