/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/ledger.h - the account of a stream's events as plain memory, for status and for the log.
 *
 * A line has struct posix_trace_ledger_np's columns. In the lines of types and threads, called is
 * the sum of the other columns; in total, called is what the writers counted by themselves, so
 * that the equation of total proves something.
 *
 * Owner     the caller; one at a time. A ledger points into itself: it is not copied by assignment.
 */
#ifndef PTX_RECORD_LEDGER_H
#define PTX_RECORD_LEDGER_H

#include <trace_ledger_np.h>

#include "record/record.h"

enum ptx_lost { /* the values of POSIX_TRACE_LOST_*_NP */
	PTX_LOST_OVERWRITTEN,
	PTX_LOST_STREAM_FULL,
	PTX_LOST_LOG_FULL,
	PTX_LOST_LOG_OVERWRITTEN,
	PTX_LOST_FLUSH_ERROR,
	PTX_LOST_NO_MEMORY,
	PTX_LOST_NO_SLOT,
	PTX_LOST_NESTING,
	PTX_LOST_CLEARED,
	PTX_LOST_DAMAGED,
	PTX_LOST_CAUSES
};

struct ptx_ledger_line {
	uint64_t called;
	uint64_t reported;
	uint64_t unread;
	uint64_t lost[PTX_LOST_CAUSES];
};

struct ptx_ledger_thread {
	uint32_t pid; /* 0: no thread, or threads no longer told apart */
	uint32_t tid;
	uint64_t thread;
	struct ptx_ledger_line line;
};

struct ptx_ledger {
	struct ptx_ledger_line total;
	struct ptx_ledger_line type[PTX_TYPE_MAX];
	size_t threads;
	size_t room;
	/* room entries: few, or malloc'ed when those are used up */
	struct ptx_ledger_thread *thread;
	struct ptx_ledger_thread few[4];  /* so that the line of pid 0 needs no memory */
	/* hash table of index + 1; NULL: few threads, or no memory */
	uint32_t *place;
	size_t places;                    /* a power of two */
};

/*
 * The thread's line, made if it is new; the line of pid 0 when memory is short. With pid 0 the one
 * line of all events without a thread. Valid until the next call. Entries keep their index.
 */
struct ptx_ledger_line *ptx_ledger_thread(struct ptx_ledger *ledger, uint32_t pid, uint32_t tid,
					  uint64_t thread);

/* Makes an initialised ledger like from. ENOMEM. */
int ptx_ledger_copy(struct ptx_ledger *to, const struct ptx_ledger *from);

/* Stores a line for a program: 0 in the columns and causes that the line does not have. */
void ptx_ledger_export(const struct ptx_ledger_line *from, struct posix_trace_ledger_np *to);

/* reported + unread + every loss. */
uint64_t ptx_ledger_sum(const struct ptx_ledger_line *line);

/*
 * Takes more off the losses of one cause of count lines that are stride bytes apart: off the line
 * that has most first. For losses of which it is known how many are too many and not whose they
 * are.
 */
void ptx_ledger_take_off(struct ptx_ledger_line *first, size_t stride, size_t count,
			 enum ptx_lost cause, uint64_t more);

void ptx_ledger_init(struct ptx_ledger *ledger);
void ptx_ledger_fini(struct ptx_ledger *ledger);

#endif
