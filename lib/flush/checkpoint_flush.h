/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flush/checkpoint_flush.h - marks and status of flushes, for a process that continues after a
 * reader was killed.
 *
 * Each checkpoint (checkpoint.h) has the marks of flushes that are not delivered yet. So the next
 * flush, even one of a guardian, writes the FLUSH_STOP of the previous flush to the log. Marks of
 * starts, stops and FULL states are not in a checkpoint. Starts and stops have records in the
 * controller's ring, and the region's state shows whether the stream is full.
 *
 * The status is not part of a checkpoint, because it also changes between writes to the log:
 * posix_trace_get_status() resets parts of the status.
 *
 * Threads   the caller holds the stream's lock.
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

/* Saves the oldest marks of flushes that are not delivered. */
void ptx_checkpoint_marks_save(const struct ptx_drain *drain, struct ptx_checkpoint_marks *to);

/*
 * Adds the saved marks to a new drain. The caller has restored the drain's times and its marks of
 * starts and stops before. Returns 0 or ENOMEM.
 */
int ptx_checkpoint_marks_restore(struct ptx_drain *drain, const struct ptx_checkpoint_marks *from);

struct ptx_checkpoint_status {
	_Atomic uint64_t word;        /* bits 32 to 63: error number; bit 0: the log is OVERRUN */
	/* number of events that a LOOP log has overwritten, as last seen */
	_Atomic uint64_t overwritten;
	_Atomic uint64_t log; /* ptx_checkpoint_log() */
};

/*
 * A stream may write several logs, one after the other (rotate.c). A log has a number, which is 0
 * for the first log. Each checkpoint has the number of its log. ptx_checkpoint_log() returns which
 * log gets the events now: the upper bits of the result are the number of this log. Bit 0 is set
 * while the process completes this log: the file of the log may be closed, but the next log does
 * not get the events yet. ptx_checkpoint_log_closes() sets the bit. From ptx_checkpoint_log_begin()
 * on, the log with the given number gets the events: the function writes a checkpoint for an empty
 * log, and then stores the number. If this process is killed, either the old log or the new log
 * continues, with the same events.
 *
 * The number is in shared memory, and may be hostile.
 */
uint64_t ptx_checkpoint_log(const struct ptx_rings *rings);
void ptx_checkpoint_log_closes(struct ptx_drain *drain, bool closes);
void ptx_checkpoint_log_begin(struct ptx_drain *drain, uint64_t number);

/*
 * Returns the status in the region. The caller holds the stream's lock when it changes the status.
 * In a new stream the status is 0.
 */
struct ptx_checkpoint_status *ptx_checkpoint_status(const struct ptx_drain *drain);

#endif
