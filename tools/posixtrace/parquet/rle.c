/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "parquet/rle.h"

unsigned rle_width(uint32_t greatest)
{
	return greatest ? 32 - (unsigned)__builtin_clz(greatest) : 0;
}

void rle_begin(struct rle *rle, struct bytes *to, unsigned width)
{
	rle->to = to;
	rle->width = width;
	rle->value = 0;
	rle->count = 0;
	rle->packs = 0;
}

/* Writes the packed run: groups of eight numbers, each beginning with its lowest bit. */
static void rle_write_packed(struct rle *rle)
{
	unsigned char bytes[RLE_PACKED * 4];
	unsigned groups = (rle->packs + 7) / 8, bits = 0;
	size_t len = 0;
	uint64_t rest = 0;

	if (!groups)
		return;
	while (rle->packs < 8 * groups)
		rle->packed[rle->packs++] = 0;
	bytes_varint(rle->to, groups << 1 | 1);
	for (unsigned i = 0; i < rle->packs; i++) {
		rest |= (uint64_t)rle->packed[i] << bits;
		for (bits += rle->width; bits >= 8; bits -= 8, rest >>= 8)
			bytes[len++] = (unsigned char)rest;
	}
	bytes_add(rle->to, bytes, len);
	rle->packs = 0;
}

static void rle_pack_some(struct rle *rle, size_t count)
{
	rle->count -= count;
	while (count--) {
		rle->packed[rle->packs++] = rle->value;
		if (rle->packs == RLE_PACKED)
			rle_write_packed(rle);
	}
}

/*
 * Writes the repeated number. A packed run must consist of whole groups of eight, so the first
 * repetitions complete its last group. If at least 8 repetitions remain, they become a run;
 * otherwise they are packed, too.
 */
static void rle_write_repeated(struct rle *rle)
{
	unsigned missing = (8 - rle->packs % 8) % 8;
	unsigned char bytes[4];

	rle_pack_some(rle, missing < rle->count ? missing : rle->count);
	if (rle->count < 8) {
		rle_pack_some(rle, rle->count);
		return;
	}
	rle_write_packed(rle);
	bytes_varint(rle->to, (uint64_t)rle->count << 1);
	for (unsigned i = 0; i < 4; i++)
		bytes[i] = (unsigned char)(rle->value >> 8 * i);
	bytes_add(rle->to, bytes, (rle->width + 7) / 8);
	rle->count = 0;
}

void rle_put(struct rle *rle, uint32_t value, size_t count)
{
	if (rle->count && rle->value != value)
		rle_write_repeated(rle);
	rle->value = value;
	rle->count += count;
}

void rle_end(struct rle *rle)
{
	rle_write_repeated(rle);
	rle_write_packed(rle);
}
