/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tally.h - what a log holds, counted: its events by type and by thread, and the ledger's lines.
 *
 * Memory is bounded by the number of types and threads, whatever the number of events.
 */
#ifndef POSIXTRACE_LOG_TALLY_H
#define POSIXTRACE_LOG_TALLY_H

#include "base/table.h"
#include "log/groups.h"
#include "log/logfile.h"

struct tally_count {
	uint64_t events;
	uint64_t bytes;     /* of data */
	uint64_t truncated;
	uint64_t late;
	int64_t first_ns, last_ns;
};

struct tally_type {
	const struct log_type *type;
	struct tally_count count;
	struct posix_trace_ledger_np ledger;
};

struct tally_thread {
	struct posix_trace_thread_np id;
	struct tally_count count;
	struct posix_trace_ledger_np ledger;
};

struct tally {
	struct tally_count total;
	struct posix_trace_ledger_np ledger;
	uint64_t gaps;                /* damaged parts skipped */
	struct tally_type *type;      /* by events, most first */
	size_t types;
	struct tally_thread *thread;  /* sorted like type at the end */
	size_t threads;
	struct table of_thread;       /* finds them while they are counted */
	struct tally_thread *last;    /* of the event that was counted last */
	struct groups *groups;        /* NULL, or what is counted instead of types and threads */
};

/* Reads the log to its end, by so many threads if that is possible. 0 or an error number. */
int tally_count(struct tally *tally, struct logfile *log, unsigned threads);
void tally_fini(struct tally *tally);

/*
 * Counts only these groups, by so many threads. EAGAIN: something is wrong with the log, which only
 * reading it from its beginning to its end tells; or what groups.h says.
 */
int tally_groups(struct groups *groups, struct logfile *log, unsigned threads);

/*
 * The pieces of it: an empty one, one event more, and another's events; without ledgers, not
 * sorted.
 */
int tally_init(struct tally *tally, const struct logfile *log);
int tally_event(struct tally *tally, struct logfile *log, const struct posix_trace_event_np *event);
int tally_add(struct tally *tally, const struct tally *part);

#endif
