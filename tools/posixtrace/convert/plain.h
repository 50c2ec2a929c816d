/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * plain.h - converts any bytes to UTF-8 that is safe to show, for formats that require UTF-8.
 *
 * Control characters, characters that change the order of text, and bytes that are not UTF-8 become
 * \xNN.
 */
#ifndef POSIXTRACE_CONVERT_PLAIN_H
#define POSIXTRACE_CONVERT_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

#define PLAIN_FACTOR 4 /* greatest number of bytes that replace one byte */

/*
 * Writes at most PLAIN_FACTOR * len + 1 bytes with a NUL. Returns the length without the NUL.
 * *exact becomes true if no byte was changed; "exact" may be NULL.
 */
size_t plain_text(char *to, const void *bytes, size_t len, bool *exact);

/*
 * Like plain_text(), but returns the text in memory that the caller frees. Returns NULL if memory
 * is lacking.
 */
char *plain_copy(const void *bytes, size_t len);

#endif
