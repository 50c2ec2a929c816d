/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * launch.h - a program that is started when its trace is ready.
 *
 * The child is there first, and waits: so a stream is made for it before it executes the program.
 * What it executes has the signals, the descriptors and, but for what is said in struct
 * launch_plan, the environment that this process was started with.
 */
#ifndef POSIXTRACE_LIVE_LAUNCH_H
#define POSIXTRACE_LIVE_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#define LAUNCH_COMMAND_EVENT "posixtrace_record" /* the log's first event: the command line */

struct launch_plan {
	char **argv;
	const char *preload;  /* goes before what LD_PRELOAD has; null: it stays as it is */
	const char *families; /* POSIXTRACE_TRACE; null: it stays as it is */
};

struct launch {
	pid_t pid;
	int go, failed;       /* pipes: what the child waits for, what it could not do */
};

/* The child waits; these signals are blocked in the caller from before it was made. 0 or an error
 * number. */
int launch_begin(struct launch *launch, const struct launch_plan *plan, const sigset_t *set);

/* Executes the program. 0, or the error number of execve(2): then there is no child any more. */
int launch_go(struct launch *launch);

/* The child ends without having executed anything. */
void launch_cancel(struct launch *launch);

#endif
