/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * until.h - what may end a trace: a signal, time, the traced process's end.
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
	int process;    /* pidfd */
	int64_t end_ns; /* CLOCK_MONOTONIC; INT64_MAX: never */
	int look_ms;    /* the longest sleep */
};

/* Of that process. 0 or an error number: ESRCH, EPERM, ... */
int until_begin(struct until *until, pid_t pid);
/* The same, and who interrupts, terminates or hangs up this process asks for its end. */
int until_begin_asked(struct until *until, pid_t pid);
void until_end(struct until *until);

/* From now on these signals wait to be asked for; SIGHUP only where nohup(1) does not hold. 0 or an
 * error number. */
int until_signals(struct until *until, sigset_t *set);

/* The signal that came; false: there is none. *sent: by a process, not by the terminal. */
bool until_signal(struct until *until, int *signal, bool *sent);

/* The time that is left counts from here; 0: there is no end. */
void until_limit(struct until *until, int64_t duration_ns);

/* From now on the process's end is none: others go on. */
void until_without_process(struct until *until);

/* Sleeps, for look_ms at most. True: that is the end, or a signal that may be. */
bool until_some(struct until *until, enum until_end *end);

int64_t until_now_ns(void);

#endif
