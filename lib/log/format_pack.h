/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/format_pack.h - the records of a block made small, and made records again.
 *
 * Events repeat: trace point, type, length and thread come back again and again, and times lie
 * close together. A packed block says the first four once, as a shape, and then for each event
 * which shape it has, how long it came after the one before, and its data (FORMAT 3.4). Most of
 * what a log costs is the file's pages, so the writer is faster for it although it does more.
 *
 * Owner     the caller's memory throughout.
 */
#ifndef PTX_LOG_FORMAT_PACK_H
#define PTX_LOG_FORMAT_PACK_H

#include "log/format.h"

#define PTX_LOG_SHAPES_MAX        4096u
#define PTX_LOG_RECENT_SHAPE_BITS 11

/* What packing needs to remember. */
struct ptx_log_packer {
	struct ptx_log_shape shape[PTX_LOG_SHAPES_MAX];
	uint32_t shapes;
	uint16_t recent[1 << PTX_LOG_RECENT_SHAPE_BITS]; /* index into shape[] + 1, or 0 */
};

/*
 * Packs records, which are good, and the table behind them into to, which has room for as many
 * bytes. Bytes of the payload; 0 when packing would not make it smaller, or they have too many
 * shapes.
 */
size_t ptx_log_pack(struct ptx_log_packer *packer, const uint8_t *records, size_t record_bytes,
		    const struct ptx_log_source *table, uint32_t sources, int64_t time_min,
		    uint8_t *to);

/* Whether the lengths in the header of a packed DATA block can be: else why not. */
const char *ptx_log_check_packed(const struct ptx_log_block *block);

/*
 * Makes payload, whose lengths are good, records and the table in to: record_bytes and the table's
 * bytes of room. NULL, or why it cannot be; the records then keep D2, but for what a reader can do
 * without, as a checked plain block's do.
 */
const char *ptx_log_unpack(const struct ptx_log_block *block, const uint8_t *payload, uint8_t *to);

#endif
