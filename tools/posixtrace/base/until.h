/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * until.h - waits until a trace shall end: by a signal, at a time limit, or at the end of the
 * traced process.
 */
#ifndef POSIXTRACE_BASE_UNTIL_H
#define POSIXTRACE_BASE_UNTIL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum until_end {
	UNTIL_SIGNAL,
	UNTIL_TIME,
	UNTIL_PROCESS_ENDED
};

struct until {
	int signals;    /* signalfd; -1: none */
	int process;    /* a pidfd; -1: the end of the process is ignored */
	int64_t end_ns; /* CLOCK_MONOTONIC; INT64_MAX: never */
	int look_ms;    /* the longest sleep */
	int wake;       /* a descriptor that ends a sleep when it is readable; -1: none */
};

/*
 * Watches the process "pid", without a time limit. Returns 0, or an error number such as ESRCH or
 * EPERM.
 */
int until_begin(struct until *until, pid_t pid);
/* Calls until_begin(), and then watches SIGINT, SIGTERM and SIGHUP, too. */
int until_begin_with_signals(struct until *until, pid_t pid);
/* Closes the signalfd and the pidfd. */
void until_end(struct until *until);

/*
 * Blocks the signals in the set and opens the signalfd from which until_signal() reads them. If
 * SIGHUP is ignored, because nohup(1) started the tool, the function removes it from the set.
 * Returns 0 or an error number.
 */
int until_signals(struct until *until, sigset_t *set);

/*
 * Stores the next pending signal and returns true, or returns false if there is none. *sent is true
 * if a process sent the signal, and false if the kernel sent it, for example because the user typed
 * Ctrl-C.
 */
bool until_signal(struct until *until, int *signal, bool *sent);

/* Sets end_ns to the time that is duration_ns after now. 0 means no limit. */
void until_limit(struct until *until, int64_t duration_ns);

/* Ignores the end of the process from now on, because other processes continue the trace. */
void until_without_process(struct until *until);

/*
 * Sleeps for at most look_ms. If the trace ends, or if a signal arrived that may end it, the
 * function stores the reason in *end and returns true. Otherwise it returns false.
 */
bool until_some(struct until *until, enum until_end *end);

/* Returns the time of CLOCK_MONOTONIC in nanoseconds. */
int64_t until_now_ns(void);

#endif
