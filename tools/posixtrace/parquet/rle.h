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
	uint32_t value;          /* the last one, */
	size_t count;            /* and how often it was repeated */
	uint32_t packed[RLE_PACKED];
	unsigned packs;          /* how many of packed wait */
};

/* Returns the number of bits that numbers up to this one need. */
unsigned rle_width(uint32_t greatest);

/* Begins an encoding of numbers of so many bits at the end of *to. */
void rle_begin(struct rle *rle, struct bytes *to, unsigned width);
/* Adds the number so many times. */
void rle_put(struct rle *rle, uint32_t value, size_t count);
/* Completes the last run. A packed run is filled with zeros, which readers do not count. */
void rle_end(struct rle *rle);

#endif
