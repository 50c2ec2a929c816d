/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flush/checkpoint_flush.h - the facts of a flush that a process needs to continue the flush of a
 * dead reader.
 *
 * Each checkpoint has the marks of flushes that are not delivered yet. So the FLUSH_STOP gets into
 * the log either by the next flush or when a guardian completes the log. Starts and stops have
 * records in the controller's ring, and the region's state shows whether the stream is full.
 *
 * The status is beside the two checkpoints and not in them, because it also changes between writes
 * to the log: posix_trace_get_status() resets parts of it.
 */
#ifndef PTX_FLUSH_CHECKPOINT_FLUSH_H
#define PTX_FLUSH_CHECKPOINT_FLUSH_H

#include "drain/drain.h"

#define PTX_CHECKPOINT_MARKS 16

struct ptx_checkpoint_mark {
	uint64_t ticks;
	uint32_t kind;
	int32_t error;
	uint32_t pid, tid;
	uint64_t thread, address;
};

struct ptx_checkpoint_marks {
	uint32_t count;
	uint32_t spare;
	struct ptx_checkpoint_mark mark[PTX_CHECKPOINT_MARKS];
};

/* Saves the first marks of flushes that are not delivered. */
void ptx_checkpoint_marks_save(const struct ptx_drain *drain, struct ptx_checkpoint_marks *to);

/*
 * Adds the saved marks to a drain that has its times, its starts and its stops. Returns 0 or
 * ENOMEM.
 */
int ptx_checkpoint_marks_restore(struct ptx_drain *drain, const struct ptx_checkpoint_marks *from);

struct ptx_checkpoint_status {
	_Atomic uint64_t word;        /* bits 32 to 63: number of the error; bit 0: log overrun */
	/* number of events that a LOOP log has overwritten, as last seen */
	_Atomic uint64_t overwritten;
};

/*
 * Returns the status in the region. It is written with the stream's lock held, and is 0 in a new
 * stream.
 */
struct ptx_checkpoint_status *ptx_checkpoint_status(const struct ptx_drain *drain);

#endif
