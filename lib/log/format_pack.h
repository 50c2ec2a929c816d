/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/format_pack.h - packs the records of a block, and unpacks them.
 *
 * Many events of a block have the same trace point, type, length and thread, and their times differ
 * little. A packed block has a table of the combinations of these four properties, the shapes. Each
 * event has only the index of its shape, the time since the previous event, and its data (FORMAT
 * 3.4). The writer spends most of its time in the kernel, for the pages of the file. So packing
 * makes the writer faster, although the packing itself takes time.
 *
 * Owner     all memory is the caller's. The functions have no state, so any thread may call them.
 */
#ifndef PTX_LOG_FORMAT_PACK_H
#define PTX_LOG_FORMAT_PACK_H

#include "log/format.h"

#define PTX_LOG_SHAPES_MAX        4096u
#define PTX_LOG_RECENT_SHAPE_BITS 11

/*
 * Working memory of the packer: the shapes of the block, and a hash table of the shapes that were
 * used last.
 */
struct ptx_log_packer {
	struct ptx_log_shape shape[PTX_LOG_SHAPES_MAX];
	uint32_t shapes;
	uint16_t recent[1 << PTX_LOG_RECENT_SHAPE_BITS]; /* index into shape[] + 1, or 0 */
};

/*
 * Packs records, and copies the table of sources behind them. The records are the writer's own and
 * are not checked. The memory at `to` has room for record_bytes and the table. Returns the bytes of
 * the payload, or 0 if packing would not make it smaller or needs more than PTX_LOG_SHAPES_MAX
 * shapes.
 */
size_t ptx_log_pack(struct ptx_log_packer *packer, const uint8_t *records, size_t record_bytes,
		    const struct ptx_log_source *table, uint32_t sources, int64_t time_min,
		    uint8_t *to);

/*
 * Checks the lengths in the hostile header of a packed DATA block. Returns NULL if they are
 * possible, else the reason. Call it before memory is allocated for record_bytes.
 */
const char *ptx_log_check_packed(const struct ptx_log_block *block);

/*
 * Unpacks a payload into records and the table of threads. The caller has checked the lengths by
 * ptx_log_check_packed(). The memory at `to` has room for record_bytes and the table. Returns NULL,
 * or the reason of a failure. If the result is NULL, the records obey FORMAT D2, except for the
 * parts that ptx_log_check_strictly() checks.
 */
const char *ptx_log_unpack(const struct ptx_log_block *block, const uint8_t *payload, uint8_t *to);

#endif
