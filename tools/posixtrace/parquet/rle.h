/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rle.h - encodes small numbers. The encoding combines run lengths and bit packing. Parquet uses it
 * for levels and for the indices of a dictionary (github.com/apache/parquet-format, Encodings.md,
 * RLE = 3).
 */
#ifndef POSIXTRACE_PARQUET_RLE_H
#define POSIXTRACE_PARQUET_RLE_H

#include "base/bytes.h"

/* numbers in one packed run: 63 groups of 8, so that the header needs only one byte */
#define RLE_PACKED 504

struct rle {
	struct bytes *to;
	unsigned width;          /* number of bits of a number, 0 to 32 */
	uint32_t value;          /* the last number */
	size_t count;            /* number of repetitions of "value" that are not written yet */
	uint32_t packed[RLE_PACKED];
	unsigned packs;          /* count of the numbers in "packed" that are not written yet */
};

/* Returns the number of bits that a number from 0 to greatest needs. */
unsigned rle_width(uint32_t greatest);

/* Begins to encode numbers of "width" bits. The results are appended to *to. */
void rle_begin(struct rle *rle, struct bytes *to, unsigned width);
/* Adds the number "count" times. */
void rle_put(struct rle *rle, uint32_t value, size_t count);
/*
 * Completes the last run. Zeros complete the last group of a packed run. Readers ignore these
 * zeros, because they know the number of values.
 */
void rle_end(struct rle *rle);

#endif
