/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rle.h - small numbers in the hybrid of run lengths and bit packing that Parquet has for levels
 * and for the indices of a dictionary (github.com/apache/parquet-format, Encodings.md, RLE = 3).
 */
#ifndef POSIXTRACE_PARQUET_RLE_H
#define POSIXTRACE_PARQUET_RLE_H

#include "base/bytes.h"

#define RLE_PACKED 504 /* numbers in one packed run: 63 groups of 8, so that its header is a byte */

struct rle {
	struct bytes *to;
	unsigned width;          /* of a number, 0 to 32 bits */
	uint32_t value;          /* the last number */
	size_t count;            /* how often value was put and not written */
	uint32_t packed[RLE_PACKED];
	unsigned packs;          /* numbers in packed, not written */
};

/* Returns the number of bits that a number from 0 to greatest needs. */
unsigned rle_width(uint32_t greatest);

/* Begins to encode numbers of width bits. The bytes are appended to *to. */
void rle_begin(struct rle *rle, struct bytes *to, unsigned width);
/* Adds the number count times. */
void rle_put(struct rle *rle, uint32_t value, size_t count);
/*
 * Completes the last run. Zeros complete the last group of a packed run; readers know the number of
 * values and ignore them.
 */
void rle_end(struct rle *rle);

#endif
