/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/load_account.h - compares the events read from a stream under load with those made, and
 * both with the stream's ledger.
 */
#ifndef PTX_TESTS_LOAD_ACCOUNT_H
#define PTX_TESTS_LOAD_ACCOUNT_H

#include <stddef.h>
#include <stdint.h>
#include <trace.h>

#define ACCOUNT_MAKERS 32

/* Only its thread or that thread's handler writes it; it is read when the thread has ended. */
struct maker {
	uint64_t made;
	int64_t *before; /* the time before each event's call */
	trace_event_id_t type;
	pid_t tid;
	pthread_t thread;
};

struct account {
	int policy;
	const struct maker *maker;
	int makers;
	uint64_t epoch;                       /* number of gaps that the stream reports */
	int running;
	int marks;                            /* 1 after OVERFLOW, until RESUME */
	int64_t first_time;                   /* of the first user event read */
	int64_t last_time;
	uint64_t read[ACCOUNT_MAKERS];
	uint64_t first[ACCOUNT_MAKERS];       /* number of the first event read */
	uint64_t next[ACCOUNT_MAKERS];        /* number expected next */
	uint64_t next_epoch[ACCOUNT_MAKERS];  /* epoch in which that was expected */
};

typedef int account_call(trace_id_t, struct posix_trace_event_info *restrict, void *restrict,
			 size_t, size_t *restrict, int *restrict);

void account_init(struct account *account, int policy, const struct maker *maker, int makers);

/* Reads one event by call, checks and counts it. Returns 0 if there is none. */
int account_read_one(struct account *account, trace_id_t trid, account_call *call);

/* Called after all was read: the ledger's total, types and threads are exactly the numbers made and
 * read. */
void account_assert_closed(const struct account *account, trace_id_t trid);

/* The events read from a LOOP stream, read only at the end, are the youngest of all events. */
void account_assert_suffix(const struct account *account);

#endif
