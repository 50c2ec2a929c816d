/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * progress.h - a line on the terminal that tells how a trace is getting on.
 *
 * It is there only while standard error is a terminal that belongs to this job and in which lines
 * are edited: a program that has the whole screen is not disturbed.
 */
#ifndef POSIXTRACE_LIVE_PROGRESS_H
#define POSIXTRACE_LIVE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <trace.h>

struct progress {
	bool wanted, shown;
	int64_t begin_ns, last_ns;
	uint64_t last_events;
};

void progress_begin(struct progress *progress, bool wanted);

/* Shows it once a second; as often as one likes to call. log_fd: the log as it grows. */
void progress_show(struct progress *progress, trace_id_t trid, int log_fd);

/* Takes it away before something else is said. */
void progress_clear(struct progress *progress);

#endif
