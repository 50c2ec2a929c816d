/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * faults/play.h - used by all scenarios: steps that are noted, a stream with events, and checks of
 * these.
 */
#ifndef PTX_TESTS_PLAY_H
#define PTX_TESTS_PLAY_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <trace_np.h>

#define EVENTS 300
#define DATA   100

/* Notes a result that no fault may cause. Only the first is kept. */
void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A call that may fail because of a fault. Its result is noted. */
#define STEP(call) (errno = 4711, note(#call, call))
int note(const char *call, int err);

/* The file that all logs of a scenario use. */
extern int file;
int an_empty_file(void);

/* A stream of this process with events. */
struct traced {
	trace_event_id_t id;
	trace_id_t trid;
	unsigned called; /* number of events; 0: the stream could not be started */
};

bool begin(struct traced *traced, int policy, int log_policy, bool log, unsigned events);

/* Checks that every event is in one column of the ledger. */
void account(trace_id_t trid, trace_event_id_t id, uint64_t called);

/*
 * Counts the events of type id, checks their order, and compares them with the account of the log.
 */
int read_log(int fd, trace_event_id_t id, struct posix_trace_ledger_np *ledger);

/* scenario_log.c */
void play_log_append(void);
void play_log_loop(void);
void play_log_flusher(void);
void play_compose(void);

#endif
