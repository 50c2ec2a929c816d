/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * progress.h - a line on the terminal with the progress of a recording.
 *
 * It appears only while standard error is the terminal of this job's foreground group, in canonical
 * mode. A program that uses the full screen is therefore not disturbed.
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

/* wanted: the user has not suppressed the line. Without a terminal it never appears. */
void progress_begin(struct progress *progress, bool wanted);

/* Updates the line if the last update is at least a second ago. log_fd is the growing log. */
void progress_show(struct progress *progress, trace_id_t trid, int log_fd);

/* Removes the line, before another output. */
void progress_clear(struct progress *progress);

#endif
