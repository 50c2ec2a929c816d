/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * states.h - the states of each thread over time: it ran, waited for a processor, or was blocked
 * for a reason. A log has these facts if it was recorded with --sched.
 *
 * A stay is a span of time in one state. Its beginning and end come from the scheduler's events.
 * The reason of a blocked stay comes from the innermost call in which the thread was blocked, by
 * the rules of the command why. The event of a call is recorded when the call ends. So the latest
 * STATES_HELD stays of each thread are held back. If a call contains more stays, the first of them
 * get no reason.
 *
 * Memory is bounded. If the log has more changes than the limit, changes within a short time are
 * put together. The time in each state remains exact. The order of the states within this short
 * time is lost.
 */
#ifndef POSIXTRACE_PICTURE_STATES_H
#define POSIXTRACE_PICTURE_STATES_H

#include "log/logfile.h"
#include "picture/runs.h"
#include "why/classify.h"

enum states_kind {
	STATES_RUNS,
	STATES_READY,    /* the thread could run, but another thread had the processor */
	STATES_LOCK,
	STATES_FILE,     /* a file, or a disk */
	STATES_PEER,     /* another thread or process, by a pipe, socket, signal or condition */
	STATES_SLEEP,
	STATES_FAULT,    /* waits for the data of a page */
	STATES_BLOCKED,  /* no event has the reason */
	STATES_STOPPED,
	STATES_KINDS
};

#define STATES_HELD 64
/* greatest number of bins of a row; changes within a bin may be put together */
#define STATES_BINS 65536

struct states {
	uint64_t changes;      /* the first reading counts them */
	uint64_t bin_ns;       /* 0: each stay is kept */
	struct states_row *row;
	size_t rows;
	struct runs kept;      /* value: the length; kind: enum states_kind */
	uint64_t total_ns[STATES_KINDS];
	int err;
};

/* Returns the words for a kind, which are a static text. */
const char *states_name(enum states_kind kind);

/* Returns whether the events of a type change the state of their thread. */
static inline bool states_has_change(const struct plan *plan)
{
	return plan->kind == PLAN_IN || plan->kind == PLAN_OUT || plan->kind == PLAN_WAKE ||
	       plan->kind == PLAN_EXIT;
}

/* Returns whether the events of a type may be the reason of a blocked stay. */
static inline bool states_has_reason(const struct plan *plan)
{
	return (plan->kind == PLAN_CALL && plan->time >= 0 && plan->cause > CAUSE_HELD &&
		cause_waits(plan->cause)) ||
	       (plan->kind == PLAN_FAULT && plan->key < 0);
}

/*
 * Prepares the second reading of a picture with these rows and this length. If there are more
 * changes than "limit", changes within a bin are put together. Returns 0 or ENOMEM.
 */
int states_begin(struct states *states, size_t rows, uint64_t length_ns, size_t limit);

/*
 * Second reading: adds an event whose type has changes or reasons. "ns" is the place of the event
 * on the axis. If memory is lacking, "err" is ENOMEM.
 */
void states_event(struct states *states, size_t row, const struct logfile *log,
		  const struct plan *plan, const struct log_type *type,
		  const struct posix_trace_event_np *event, uint64_t ns);

/* Ends the states of the threads of a log, at the place of its last event. */
void states_end_log(struct states *states, uint64_t ns);
/* Completes the states after the last log. Returns 0 or ENOMEM. */
int states_end(struct states *states);

/* Frees the memory. */
void states_fini(struct states *states);

#endif
