/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record.h - the options of the command record, which traces a program from its start, or a running
 * process, into a log.
 */
#ifndef POSIXTRACE_LIVE_RECORD_H
#define POSIXTRACE_LIVE_RECORD_H

#include <stdbool.h>

#include "live/capture.h"
#include "live/kernel.h"
#include "live/launch.h"
#include "live/patch.h"

/* When a stream in loop mode is written to the log. */
#define RECORD_SNAPSHOT_EXIT  1u
#define RECORD_SNAPSHOT_CRASH 2u
#define RECORD_SNAPSHOT_USR1  4u

struct record {
	struct capture_plan plan;  /* pid is 0 if a program is started */
	/*
	 * argv is NULL if a running process is traced; plan.pid is 0 until a program was started.
	 */
	struct launch_plan launch;
	struct patches functions;     /* the plan of --function and --probe */
	struct kernel_plan kernel;
	bool wait_for_children;
	bool fail_on_loss;
	const char *untraced;      /* why the program cannot load the library; NULL: it can */
	bool crash;                /* record the stacks of a program that crashes */
	bool force;                /* an existing log is not kept as LOG.old */
	unsigned snapshot;         /* RECORD_SNAPSHOT_*; 0: not in loop mode */
};

enum record_exit { /* the same statuses as in env(1) and timeout(1) */
	RECORD_FAILURE = 125,
	RECORD_NOT_EXECUTABLE = 126,
	RECORD_NOT_FOUND = 127,
	RECORD_SIGNAL = 128 /* the signal's number is added */
};

/* Runs the whole recording and prints all messages. Returns the exit status of the command. */
int record_run(struct record *record);

#endif
