/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/numbers.h - threads that number their events, and logs that copy the content of a stream
 * at one moment.
 *
 * Such a log has the youngest events of each thread without a gap. The ledger of the log has the
 * number of events that the thread had recorded until that moment.
 */
#ifndef PTX_TESTS_NUMBERS_H
#define PTX_TESTS_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "support/log.h"

#define NUMBERS_THREADS 8

struct number {
	uint64_t thread, number;
};

struct numbered {
	uint64_t events;                 /* number of numbered events */
	int64_t last[NUMBERS_THREADS];   /* last number of each thread; -1: no event */
	struct posix_trace_ledger_np ledger;
};

/* Records the events with the numbers `first` to `last` of a thread. */
void numbers_write(trace_event_id_t id, uint64_t thread, uint64_t first, uint64_t last);

/* Fails unless the log in fd is sound and each thread's events are numbered without a gap. */
struct numbered numbers_read(int fd);

/* Fails unless the log's ledger has last + 1 events for each of its threads. */
void numbers_account(int fd, const struct numbered *numbered);

/* Makes a log of the only stream of a process, in a file without a name. */
int snapshot_of(pid_t pid);

#endif
