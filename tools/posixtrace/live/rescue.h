/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rescue.h - makes logs of streams that other processes created. This file has the options, and a
 * function that makes the log of one stream.
 *
 * The log of the first stream is the file that the command line names. The others have a number
 * behind that name.
 */
#ifndef POSIXTRACE_LIVE_RESCUE_H
#define POSIXTRACE_LIVE_RESCUE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <trace_np.h>

#include "base/option.h"
#include "base/outfile.h"

struct rescue {
	const char *path; /* of the log */
	const char *name; /* pattern for the names of streams; NULL: all */
	pid_t pid;        /* traced process; 0: any */
	enum outfile_mode mode;
	bool json;
	bool fail_on_loss;
	int64_t last_ns;  /* how far back the events of the log reach; 0: the log has all events */
	/* Results. */
	unsigned seen;   /* streams of that process */
	unsigned logs;
	int status;
};

/* Rows for the tables of options of the commands recover and snapshot. */
extern const struct option_row rescue_rows[];

enum { RESCUE_FORCE = 512, RESCUE_JSON, RESCUE_FAIL_ON_LOSS };

/* Processes one of these options. Returns false if it is none of them. */
bool rescue_take(struct rescue *rescue, int option, const char *value);

/*
 * A visitor for posix_trace_observe_np(); "arg" is the struct rescue. Makes a log of the stream if
 * the options select it.
 */
void rescue_stream(void *arg, const struct posix_trace_stream_np *stream);

/* Prints a message if the options selected no stream. Returns the exit status of the command. */
int rescue_end(struct rescue *rescue, const char *whose);

#endif
