/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/load_account.h - compares the events that were read from a stream under load with the
 * events that were made, and both with the stream's ledger.
 */
#ifndef PTX_TESTS_LOAD_ACCOUNT_H
#define PTX_TESTS_LOAD_ACCOUNT_H

#include <stddef.h>
#include <stdint.h>
#include <trace.h>

#define ACCOUNT_MAKERS 32

/* The facts of a maker of events: a thread, or the signal handler of a thread. Only the maker
 * writes this structure. Other threads read it after the thread has ended. */
struct maker {
	uint64_t made;
	int64_t *before; /* for each event, the time before the call that records it */
	trace_event_id_t type;
	pid_t tid;
	pthread_t thread;
};

struct account {
	int policy;
	const struct maker *maker;
	int makers;
	uint64_t epoch;                       /* number of gaps that the stream has reported */
	int running;
	int marks;                            /* 1 after OVERFLOW, until RESUME */
	int64_t first_time;                   /* time of the first user event read */
	int64_t last_time;
	uint64_t read[ACCOUNT_MAKERS];
	uint64_t first[ACCOUNT_MAKERS];       /* number of the first event read */
	uint64_t next[ACCOUNT_MAKERS];        /* number expected next */
	uint64_t next_epoch[ACCOUNT_MAKERS];  /* the epoch in which next[] was set */
};

typedef int account_call(trace_id_t, struct posix_trace_event_info *restrict, void *restrict,
			 size_t, size_t *restrict, int *restrict);

void account_init(struct account *account, int policy, const struct maker *maker, int makers);

/* Reads one event by `call`, checks the event and counts it. Returns 0 if there is no event. */
int account_read_one(struct account *account, trace_id_t trid, account_call *call);

/* Asserts that the ledger's lines of the total, types and threads have exactly the numbers of
 * events made and read. The caller has read all events. */
void account_assert_closed(const struct account *account, trace_id_t trid);

/*
 * For a LOOP stream that was read only at the end: asserts that the events read are the youngest.
 */
void account_assert_suffix(const struct account *account);

#endif
