/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unit/log/hex.h - reads bytes from commented text, as in golden/.
 *
 *	# a comment, to the end of the line
 *	50 58 "BK" 00*4
 *
 * is the bytes 50 58, the letters B and K, and four zero bytes.
 */
#ifndef PTX_TESTS_HEX_H
#define PTX_TESTS_HEX_H

#include <stddef.h>
#include <stdint.h>

/* The bytes of a file below tests/, malloc'ed. Aborts the test if the text is invalid. */
uint8_t *hex_read(const char *name, size_t *size);

#endif
