/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/text.h - text of any length in the caller's memory, whose beginning is kept.
 *
 * Threads   a text has one caller at a time.
 * Memory    the functions allocate none.
 */
#ifndef PTX_POSIX_TEXT_H
#define PTX_POSIX_TEXT_H

#include <stddef.h>

/* The first size - 1 bytes are kept; len is the length that the whole text has. */
struct ptx_text {
	char *to;
	size_t size;
	size_t len;
};

/* Appends a string of which all characters are safe for a terminal. */
void ptx_text_string(struct ptx_text *text, const char *string);

/* Appends a formatted text of at most 100 bytes. */
void ptx_text_format(struct ptx_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Appends each byte as two hexadecimal digits, without blanks, as posixtrace dump prints them. */
void ptx_text_hex(struct ptx_text *text, const unsigned char *byte, size_t len);

/*
 * Appends bytes as printable ASCII. Other bytes become escapes. The characters of `special` get a
 * backslash, because the caller quotes with them.
 */
void ptx_text_escaped(struct ptx_text *text, const unsigned char *byte, size_t len,
		      const char *special);

/* Appends the bytes, escaped and in double quotes, without the NULs at their end. */
void ptx_text_quoted(struct ptx_text *text, const unsigned char *byte, size_t len);

/* Ends the text with a NUL, and returns the length that it would have with enough room. */
size_t ptx_text_end(struct ptx_text *text);

#endif
