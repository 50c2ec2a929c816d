/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/read_beside.h - the two names areas and the lists area of a log of slots.
 *
 * The tail of a completed log repeats the content of these areas, so readers of a complete log do
 * not need them. Three parties need the areas: readers of an incomplete log, the guardian that
 * completes the log of a dead writer, and the check of a whole log (cursor/check_walk.c). The
 * numbers of the tail's blocks follow those of the blocks in the areas (FORMAT N2 and 3.10). So the
 * guardian and the check must count the same blocks. Both visit the areas with the functions below
 * and number the blocks with ptx_log_follow().
 *
 * Besides blocks of this log, an area may hold the bytes that the file held before the log began.
 * These may be any bytes, but not a block header of this log. A writer that is killed leaves at
 * most one incomplete block. A reader cannot distinguish this block from damage; the guardian
 * removes it (log/write_resume_beside.c).
 *
 * Owner     one caller at a time for one struct ptx_log_window (read_scan.h), the part of the file
 *           that is in memory. A visitor may use the caller's window.
 */
#ifndef PTX_LOG_READ_BESIDE_H
#define PTX_LOG_READ_BESIDE_H

#include "log/read_scan.h"

/*
 * Called for a block with a valid header at the offset `at`. If a block should be at this offset
 * and is not valid, the parameter `found` is NULL, and `why` is the reason. The visitor checks the
 * payload.
 */
typedef void ptx_log_visit(void *arg, uint64_t at, const struct ptx_log_found *found,
			   const char *why);

/*
 * Visits the blocks of the names areas, the block with the smaller number first. has_events is true
 * if the log has DATA blocks. Writers write names before events. So if has_events is true, areas
 * without names are damaged.
 */
void ptx_log_visit_names(struct ptx_log_window *window, const struct ptx_log_header *header,
			 bool has_events, ptx_log_visit *visit, void *arg);

/* Visits the blocks of the lists area in the order of their offsets. */
void ptx_log_visit_lists(struct ptx_log_window *window, const struct ptx_log_header *header,
			 ptx_log_visit *visit, void *arg);

/*
 * Returns true if the file ends before the end of a block header at this offset. Then the last
 * block of the log is incomplete, or the log has no blocks at this offset yet. Both cases are no
 * damage.
 */
bool ptx_log_is_cut(const struct ptx_log_window *window, uint64_t at);

/*
 * Notes that this block is in the file. So the next block of its type gets the number that follows.
 */
static inline void ptx_log_follow(uint64_t number[PTX_LOG_TYPES], const struct ptx_log_block *block)
{
	if (block->type > 0 && block->type < PTX_LOG_TYPES)
		number[block->type] = block->number + 1;
}

#endif
