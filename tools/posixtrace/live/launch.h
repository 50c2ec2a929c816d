/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * launch.h - starts a program when its trace is ready.
 *
 * The child exists first and waits, so that its stream is created before it executes the program.
 * The program gets the signals, the descriptors and the environment with which this process was
 * started, except for the changes in struct launch_plan.
 */
#ifndef POSIXTRACE_LIVE_LAUNCH_H
#define POSIXTRACE_LIVE_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#define LAUNCH_COMMAND_EVENT "posixtrace_record" /* type of the first event: the command line */

struct launch_plan {
	char **argv;
	const char *preload;  /* the path to put in front of LD_PRELOAD; NULL: no change */
	const char *families; /* for POSIXTRACE_TRACE; NULL: no change */
	const char *patch;    /* path of the plan of functions, for the shim; NULL: none */
};

struct launch {
	pid_t pid;
	int go, failed;       /* ends of pipes: "go" starts the child, "failed" has its error */
	/* Called once when the child has begun to execute the program; NULL: not needed. */
	void (*begun)(void *arg);
	/* Called from time to time until the program is executed; NULL: not needed. */
	void (*serve)(void *arg);
	void *arg;
};

/*
 * Creates the waiting child. Before that, the function blocks the signals of "set" in this process.
 * They remain blocked. Returns 0 or an error number.
 */
int launch_begin(struct launch *launch, const struct launch_plan *plan, const sigset_t *set);

/*
 * Lets the child execute the program. If the child fails to do so, returns the error number after
 * the child has ended. Otherwise returns 0, also if a signal has killed the child before.
 */
int launch_execute(struct launch *launch);

/* Ends the child without executing anything. */
void launch_cancel(struct launch *launch);

#endif
