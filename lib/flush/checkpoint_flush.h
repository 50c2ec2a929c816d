/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flush/checkpoint_flush.h - the facts of a flush that a process needs to continue it.
 *
 * The marks of flushes that are not delivered yet lie in each checkpoint: the next flush writes the
 * FLUSH_STOP to the log, or the completion of the log does. Starts and stops have records in the
 * controller's ring, and the region's state shows whether the stream is full.
 *
 * The status lies beside the two checkpoints. It is that of the last call, not that of the last
 * write: posix_trace_get_status() resets parts of it.
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

/* Makes marks of them in a drain that has its times, its starts and its stops. 0 or ENOMEM. */
int ptx_checkpoint_marks_restore(struct ptx_drain *drain, const struct ptx_checkpoint_marks *from);

struct ptx_checkpoint_status {
	_Atomic uint64_t word;        /* error 32 | log overrun 1 */
	_Atomic uint64_t overwritten; /* events of a LOOP log, as last seen */
};

/* Returns the status in the region. Written with the stream's lock held; 0 in a new stream. */
struct ptx_checkpoint_status *ptx_checkpoint_status(const struct ptx_drain *drain);

#endif
