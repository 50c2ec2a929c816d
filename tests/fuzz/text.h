/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuzz/text.h - inputs as text, and back. A superset of the language of golden/:
 *
 *	# a comment, to the end of the line
 *	50 58 "BK" 00*4         the bytes 50 58, the letters B and K, four zero bytes
 *	4:300 8:-1              a number in so many bytes, in the byte order of this machine
 *	word                    a byte that the target has this word for
 *	=golden/1.1/loop.hex    all bytes of another file below tests/, which need not be text
 *	@0x40                   the following bytes replace those from this offset on
 *	!                       nothing follows the bytes up to here
 */
#ifndef PTX_TESTS_FUZZ_TEXT_H
#define PTX_TESTS_FUZZ_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "fuzz/fuzz.h"

struct text_bytes {
	uint8_t *bytes; /* the caller frees them, for each result */
	size_t size;
	size_t room;
};

/*
 * Reads the bytes of a file: those that its text describes if its name ends in .hex, otherwise its
 * content. Returns false and prints a message if the text is invalid.
 */
bool text_read(const char *path, struct text_bytes *out);

/* Prints bytes as text; with base, as the differences from base. */
void text_write(FILE *out, const uint8_t *bytes, size_t size, const char *base);

#endif
