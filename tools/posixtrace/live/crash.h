/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * crash.h - records the state of a program that a signal kills: the signal, the registers, and the
 * stacks of all threads.
 *
 * The recorder is the tracer (ptrace(2)) of the program and its descendants. The kernel stops a
 * thread before it delivers a signal to the thread, so the recorder examines the process while all
 * its threads still exist. No code of the recorder runs in the process.
 *
 * One thread of the recorder makes all calls, as ptrace(2) requires.
 */
#ifndef POSIXTRACE_LIVE_CRASH_H
#define POSIXTRACE_LIVE_CRASH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "live/capture.h"
#include "live/crash_cause.h"

#define CRASH_EVENTS "crash.*" /* pattern for the types of the events */
/*
 * A signal ends a process and is no crash. sender: the process that sent it; 0: a process did not
 * send it. name: the name of the sender; empty: not known.
 */
#define KILLED_EVENT "posixtrace_killed"

struct crash_thread {
	pid_t tid;
	/* the signal for which the thread stopped and that must still be delivered; 0: none */
	int sig;
	bool is_process; /* tid is also the number of its process */
	bool is_awaited; /* hold_threads() waits for the stop of the thread */
	bool is_held;    /* stopped by hold_threads() */
	struct crash_fault caught; /* the last fault for which a handler was called */
};

struct crash {
	struct capture *capture; /* gets the events; NULL: no events are recorded any more */
	struct crash_thread *thread;
	size_t threads;
	pid_t examined;          /* the process that was examined last */
};

/*
 * Begins to trace a child, and the threads and children that it starts later. The child must be
 * stopped or wait during this call. Returns 0 or an error number.
 */
int crash_begin(struct crash *crash, struct capture *capture, pid_t child);

/*
 * Handles a status that waitpid(2) returned with __WALL. Returns true if a process has ended, which
 * the caller must record. Stops and ends of threads are handled completely here. For them the
 * function returns false.
 */
bool crash_status(struct crash *crash, pid_t tid, int status);

/* Frees the memory. */
void crash_end(struct crash *crash);

#endif
