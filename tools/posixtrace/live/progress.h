/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * progress.h - a line on the terminal with the progress of a recording.
 *
 * The line appears only while standard error is a terminal in canonical mode and this job is its
 * foreground job. A program that uses the full screen is therefore not disturbed.
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

/*
 * "wanted" is true if the user has not suppressed the line. If standard error is not a terminal,
 * the line never appears.
 */
void progress_begin(struct progress *progress, bool wanted);

/* Updates the line if the last update is at least a second ago. log_fd is the growing log. */
void progress_show(struct progress *progress, trace_id_t trid, int log_fd);

/* Removes the line, before another output. */
void progress_clear(struct progress *progress);

#endif
