/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/read_beside.h - the two names areas and the lists area of a log of slots.
 *
 * A completed log repeats in its tail the content of these areas, so a reader of events does not
 * need them. They serve readers of an incomplete log, and the process that completes the log of a
 * dead writer. The numbers of the tail's blocks follow those of the blocks in the areas (FORMAT N2
 * and 3.10), so the completing process and a check of the log must agree about the blocks that
 * count. Both visit the areas with the functions below and number the blocks with ptx_log_follow().
 *
 * An area may hold, besides blocks of this log, the bytes that the file held before the log began:
 * anything, but no block header of this log. A writer that is killed leaves at most one block half
 * written. No reader can distinguish that block from damage; the process that completes the log
 * removes it (log/write_resume_beside.c).
 *
 * Owner     one caller at a time, as with the window. A visitor may use the window.
 */
#ifndef PTX_LOG_READ_BESIDE_H
#define PTX_LOG_READ_BESIDE_H

#include "log/read_scan.h"

/*
 * Called with a block that has a valid header at offset at. found is NULL if a block should be
 * there and is not; why is then the reason. The visitor checks the payload.
 */
typedef void ptx_log_visit(void *arg, uint64_t at, const struct ptx_log_found *found,
			   const char *why);

/*
 * Visits the blocks of the names areas, the one with the smaller number first. has_events: the log
 * has DATA blocks. Writers write names before events, so an area without names is then damaged.
 */
void ptx_log_visit_names(struct ptx_log_window *window, const struct ptx_log_header *header,
			 bool has_events, ptx_log_visit *visit, void *arg);

/* Visits the blocks of the lists area in the order of their offsets. */
void ptx_log_visit_lists(struct ptx_log_window *window, const struct ptx_log_header *header,
			 ptx_log_visit *visit, void *arg);

/*
 * Returns true if the file ends before the end of a block header at this offset. Then the log is
 * incomplete there, or has no blocks there yet. Neither is damage.
 */
bool ptx_log_is_cut(const struct ptx_log_window *window, uint64_t at);

/* Notes a block that is in the file: the next block of its type has the number after its own. */
static inline void ptx_log_follow(uint64_t number[PTX_LOG_TYPES], const struct ptx_log_block *block)
{
	if (block->type > 0 && block->type < PTX_LOG_TYPES)
		number[block->type] = block->number + 1;
}

#endif
