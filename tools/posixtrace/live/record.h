/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record.h - tracing a program from its start, or a process, into a log: what is wanted.
 */
#ifndef POSIXTRACE_LIVE_RECORD_H
#define POSIXTRACE_LIVE_RECORD_H

#include <stdbool.h>

#include "live/capture.h"
#include "live/launch.h"

/* When a stream that loops is written to the log. */
#define RECORD_SNAPSHOT_EXIT  1u
#define RECORD_SNAPSHOT_CRASH 2u
#define RECORD_SNAPSHOT_USR1  4u

struct record {
	struct capture_plan plan;  /* pid: 0 where a program is started */
	struct launch_plan launch; /* argv: null where a process is traced */
	bool wait_for_children;
	bool quiet;
	bool fail_on_loss;
	bool force;                /* a log that is there already is not kept */
	unsigned snapshot;         /* RECORD_SNAPSHOT_*; 0: the stream does not loop */
};

enum record_exit { /* as env(1) and timeout(1) have it */
	RECORD_FAILURE = 125,
	RECORD_NOT_EXECUTABLE = 126,
	RECORD_NOT_FOUND = 127,
	RECORD_SIGNAL = 128 /* and the signal's number */
};

/* From the first to the last, everything said. What record exits with. */
int record_run(struct record *record);

#endif
