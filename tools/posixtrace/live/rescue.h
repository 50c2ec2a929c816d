/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rescue.h - logs made of streams that others created: what is wanted, and each stream in turn.
 *
 * The first stream's log is the file that the command line names; the others' have a number behind
 * that name.
 */
#ifndef POSIXTRACE_LIVE_RESCUE_H
#define POSIXTRACE_LIVE_RESCUE_H

#include <stdbool.h>
#include <sys/types.h>
#include <trace_np.h>

#include "base/outfile.h"

struct rescue {
	const char *path; /* of the log */
	const char *name; /* of the streams that are wanted, a glob; NULL: all */
	pid_t pid;        /* whose they are; 0: anybody's */
	enum outfile_mode mode;
	bool json;
	bool fail_on_loss;
	/* What came of it. */
	unsigned seen;   /* streams of that process */
	unsigned logs;
	int status;
};

/* Options that are the same everywhere: false if it is none of them. */
#define RESCUE_LETTERS "n:o:"
#define RESCUE_OPTIONS \
	{ "name", required_argument, NULL, 'n' }, \
	{ "output", required_argument, NULL, 'o' }, \
	{ "force", no_argument, NULL, RESCUE_FORCE }, \
	{ "json", no_argument, NULL, RESCUE_JSON }, \
	{ "fail-on-loss", no_argument, NULL, RESCUE_FAIL_ON_LOSS }

enum { RESCUE_FORCE = 512, RESCUE_JSON, RESCUE_FAIL_ON_LOSS };

bool rescue_take(struct rescue *rescue, int option, const char *value);

/* A visitor for posix_trace_observe_np(): a log of the stream, if it is wanted. */
void rescue_stream(void *arg, const struct posix_trace_stream_np *stream);

/* Says if there was none. The command's exit status. */
int rescue_end(struct rescue *rescue, const char *whose);

#endif
