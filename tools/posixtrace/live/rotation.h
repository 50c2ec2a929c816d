/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rotation.h - the logs of one recording, if it writes several, one after the other.
 *
 * The logs have the name of the option -o and a number: NAME.0001.ptl, NAME.0002.ptl. When the
 * present log has a given size or age, the stream continues with the next log, without a gap. Logs
 * that are complete are removed when they are too old, or when all logs together are too large, the
 * oldest first. A file is removed only if it is the file that this recording has written, and if it
 * has not changed since. All functions also work for a recording with a single log.
 *
 * One thread uses a struct rotation.
 */
#ifndef POSIXTRACE_LIVE_ROTATION_H
#define POSIXTRACE_LIVE_ROTATION_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/option.h"
#include "base/outfile.h"
#include "live/capture.h"
#include "live/kernel.h"

extern const struct option_row rotation_rows[]; /* the options */

/*
 * Processes an option. Returns 1 if it was an option of rotation_rows, 0 if not, and -1 after it
 * printed an error.
 */
int rotation_take_option(struct rotation_plan *plan, int option, const char *arg);

/* Returns false after it printed why the options do not fit together. */
bool rotation_is_possible(const struct rotation_plan *plan, const char *command);

/* A log that is complete. */
struct rotation_log {
	char *path;
	struct stat st;    /* when the log was complete */
	int64_t closed_ns; /* a time of until_now_ns() */
	uint64_t events;
};

struct rotation {
	const struct capture_plan *plan;
	enum outfile_mode mode;
	struct outfile *file; /* the present log */
	/* serves the recording while rotation_look() adds stacks to a log; the caller may set it */
	struct kernel_meanwhile meanwhile;
	int status; /* of the earlier logs: their stacks could not be added */
	char *path;           /* of this log; NULL: the recording has a single log */
	unsigned number;      /* of this log, in its name */
	int64_t begun_ns;     /* a time of until_now_ns() */
	/*
	 * After a failure: when to try again, and the next pause. retry_ns is a time of
	 * until_now_ns().
	 */
	int64_t retry_ns, pause_ns;
	struct rotation_log *log; /* the logs that are complete and not removed, the oldest first */
	size_t logs, log_room;
	uint64_t written;     /* number of logs, with the present log */
	uint64_t removed, removed_events;
	/* of all logs that are complete, also of those that were removed */
	struct capture_result sum;
};

/* Creates the file of the first log in *file. Prints errors. Returns a status of the tool. */
int rotation_create(struct rotation *rotation, struct outfile *file,
		    const struct capture_plan *plan, enum outfile_mode mode);

/*
 * Begins the next log of the stream if it is time, and removes old logs. The function must be
 * called from time to time. After an error, which it prints, the recording continues with the
 * present log, and the function tries again later. A log that is complete gets its stacks by
 * kernel_weave(), which may take seconds.
 */
void rotation_look(struct rotation *rotation, trace_id_t trid, struct kernel *kernel);

/*
 * Calls visit() with the descriptor of each log, the oldest first and the present log last. Omits
 * logs that were removed, renamed or changed.
 */
void rotation_each(const struct rotation *rotation, void (*visit)(void *arg, int fd), void *arg);

/*
 * Adds the counts of all earlier logs to the result of the present log, which is complete. Returns
 * the worst status of the earlier logs.
 */
int rotation_add(struct rotation *rotation, struct capture_result *result);

/* Frees the memory; the logs remain. */
void rotation_fini(struct rotation *rotation);

#endif
