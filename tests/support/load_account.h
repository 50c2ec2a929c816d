/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/load_account.h - what was read of a stream under load, against what was made, and both
 * against the stream's ledger.
 */
#ifndef PTX_TESTS_LOAD_ACCOUNT_H
#define PTX_TESTS_LOAD_ACCOUNT_H

#include <stddef.h>
#include <stdint.h>
#include <trace.h>

#define ACCOUNT_MAKERS 32

/* Written by its thread or that thread's handler alone, read when the thread has ended. */
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
	uint64_t epoch;                       /* places where the stream tells of a gap */
	int running;
	int marks;                            /* 1 after OVERFLOW, until RESUME */
	int64_t first_time;                   /* of the first user event read */
	int64_t last_time;
	uint64_t read[ACCOUNT_MAKERS];
	uint64_t first[ACCOUNT_MAKERS];       /* number of the first event read */
	uint64_t next[ACCOUNT_MAKERS];        /* number due next */
	uint64_t next_epoch[ACCOUNT_MAKERS];  /* epoch in which that was due */
};

typedef int account_call(trace_id_t, struct posix_trace_event_info *restrict, void *restrict,
			 size_t, size_t *restrict, int *restrict);

void account_init(struct account *account, int policy, const struct maker *maker, int makers);

/* Reads one event by call, checks and enters it; 0 when there is none. */
int account_read_one(struct account *account, trace_id_t trid, account_call *call);

/* When all was read: the ledger's total, types and threads are exactly what was made and read. */
void account_assert_closed(const struct account *account, trace_id_t trid);

/* What was read of a LOOP stream, read only at the end, is the youngest part of all events. */
void account_assert_suffix(const struct account *account);

#endif
