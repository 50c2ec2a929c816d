/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tally.h - counts the events of a log by type and by thread, and reads the lines of its ledger.
 *
 * The memory depends on the number of types and threads, not on the number of events.
 */
#ifndef POSIXTRACE_LOG_TALLY_H
#define POSIXTRACE_LOG_TALLY_H

#include "base/table.h"
#include "log/counters.h"
#include "log/groups.h"
#include "log/logfile.h"
#include "log/thread_name.h"

struct tally_count {
	uint64_t events;
	uint64_t bytes;     /* bytes of data */
	uint64_t truncated;
	uint64_t late;
	int64_t first_ns, last_ns;
};

struct tally_type {
	const struct log_type *type;
	struct tally_count count;
	struct counters counters;
	struct posix_trace_ledger_np ledger;
};

struct tally_thread {
	struct posix_trace_thread_np id;
	struct tally_count count;
	struct thread_life life;
	struct posix_trace_ledger_np ledger;
};

struct tally {
	struct tally_count total;
	struct posix_trace_ledger_np ledger;
	uint64_t gaps;                /* damaged parts that the reader skipped */
	/* tally_count() sorts the types by the number of events, the greatest number first */
	struct tally_type *type;
	size_t types;
	struct tally_thread *thread;  /* tally_count() sorts the threads in the same way */
	size_t threads;
	struct table of_thread;       /* finds a thread while events are counted */
	struct tally_thread *last;    /* the thread of the last event; NULL: none */
	/* if not NULL, these groups are counted instead of types and threads */
	struct groups *groups;
};

/*
 * Reads the log to its end and sorts the result. If the log permits it, several threads read it.
 * The argument 'threads' is the greatest number of them. tally_threads() of tally_parts.h returns a
 * useful number. The result has all types that the log lists, also those without events. Returns 0
 * or an error number; after an error the tally is empty.
 */
int tally_count(struct tally *tally, struct logfile *log, unsigned threads);
/*
 * Adds the tally of another log of the same recording (log/origin.h), and sorts the result again.
 * 'from' may be freed afterwards; its log may be closed. Returns 0, ENOMEM, or EINVAL if the log of
 * 'to' lacks a type that has events, or has another schema for a counter. After an error, 'to' is
 * only good for tally_fini().
 */
int tally_join(struct tally *to, const struct tally *from);
/* Frees the memory and clears the tally. */
void tally_fini(struct tally *tally);

/*
 * Counts only groups, with the given number of threads. Returns 0 or an error number, such as one
 * of groups.h. EAGAIN means that one thread must read the log from beginning to end.
 */
int tally_groups(struct groups *groups, struct logfile *log, unsigned threads);

/*
 * The parts of tally_count(): tally_init() makes an empty tally, tally_event() counts one event,
 * tally_add() adds another tally. These functions read no ledger and do not sort. Each returns 0 or
 * an error number.
 */
int tally_init(struct tally *tally, const struct logfile *log);
int tally_event(struct tally *tally, struct logfile *log, const struct posix_trace_event_np *event);
int tally_add(struct tally *tally, const struct tally *part);

#endif
