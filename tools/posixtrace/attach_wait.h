/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * attach_wait.h - what may end a trace: a signal, time, the traced process's end.
 */
#ifndef POSIXTRACE_ATTACH_WAIT_H
#define POSIXTRACE_ATTACH_WAIT_H

#include "attach.h"

struct attach_wait {
	int signals;    /* signalfd */
	int process;    /* pidfd */
	int64_t end_ns; /* CLOCK_MONOTONIC; INT64_MAX: never */
};

/* From now on the signals that end a trace wait for it. 0 or an error number: ESRCH, EPERM, ... */
int attach_wait_begin(struct attach_wait *wait, pid_t pid);
void attach_wait_end(struct attach_wait *wait);

/* The time that is left counts from here; 0: there is no end. */
void attach_wait_limit(struct attach_wait *wait, int64_t duration_ns);

/* From now on the process's end is none: others go on. */
void attach_wait_without_process(struct attach_wait *wait);

/* Sleeps, for a quarter of a second at most. True: that is the end. */
bool attach_wait_some(struct attach_wait *wait, enum attach_end *end);

#endif
