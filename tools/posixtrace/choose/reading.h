/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * reading.h - reads the events of a log one after the other and applies the options of wanted.h.
 *
 * Events that the options exclude are also returned, with is_wanted false, because the caller must
 * also see the events that show losses. An event gets the same ordinal each time that the log is
 * read with the same options.
 */
#ifndef POSIXTRACE_CHOOSE_READING_H
#define POSIXTRACE_CHOOSE_READING_H

#include "base/meter.h"
#include "choose/wanted.h"
#include "log/logfile.h"

struct reading {
	struct logfile *log;
	struct wanted *wanted;
	struct posix_trace_event_np event;
	const struct log_type *type;
	bool is_wanted;        /* the options choose this event */
	uint64_t ordinal;      /* the first event that is read has the ordinal 1 */
	uint64_t taken;        /* number of chosen events so far */
	int64_t first_ns, last_ns; /* times of the oldest and the youngest chosen event */
	bool skipped;          /* the reader skipped a damaged part */
	struct durations durations;
	struct meter meter;
};

/*
 * Opens the log and applies the options to it. Returns TOOL_OK, or another status after it printed
 * the error. If the result is not TOOL_OK, the log is not open.
 */
int reading_open(struct logfile *log, const char *path, struct wanted *wanted);

#define READING_LOGS 16 /* the most logs of reading_names_fit() */

/*
 * These functions are for a command that reads several logs one after the other. Its options
 * contain names, for example of event types. reading_open_one() opens a log as reading_open() does,
 * but does not check whether the log has these names. reading_names_fit() checks that each name of
 * a field is in at least one of the logs; otherwise it prints an error and returns false. For an
 * unknown name of an event type it only prints a warning. "logs" is at most READING_LOGS.
 */
int reading_open_one(struct logfile *log, const char *path, struct wanted *wanted);
bool reading_names_fit(struct logfile *const *log, size_t logs, struct wanted *wanted);

/*
 * Moves to the first event of the log. If the log has an index, the function may skip events before
 * --begin. Returns 0 or an error number. The caller must call reading_end() in both cases.
 */
int reading_begin(struct reading *reading, struct logfile *log, struct wanted *wanted);

/*
 * Reads the next event. Returns false at the end of the log, when --limit events are chosen, and
 * after an error. After an error *err is its number; otherwise it is 0.
 */
bool reading_next(struct reading *reading, int *err);

/* Ends the reading; the log remains open. */
void reading_end(struct reading *reading);

/*
 * Returns the exit status of a command that has read the log: TOOL_OK, or TOOL_DAMAGED after it
 * printed a message.
 */
int reading_status(const struct reading *reading);

#endif
