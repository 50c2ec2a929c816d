/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * merge.h - reads several logs as one: their events in the order of their times.
 *
 * The order within a log never changes: an event that is older than the event before it in the same
 * log stays behind that event. Times of different logs can be compared only as exactly as their
 * clocks agree. Each log has a bound for the error of its clock. An event is marked as unordered if
 * an event of another log is so close that the two bounds together exceed the distance.
 *
 * Logs of one host have the same clock, but it was read at slightly different moments; their bound
 * is MERGE_CLOCK_NS. Logs contain nothing about the clocks of other hosts. Between hosts the bound
 * is MERGE_HOST_NS, unless --clock-error gives a better one.
 *
 * Memory is constant: one event of each log.
 */
#ifndef POSIXTRACE_SHOW_MERGE_H
#define POSIXTRACE_SHOW_MERGE_H

#include "base/meter.h"
#include "choose/wanted.h"
#include "log/logfile.h"
#include "log/losses.h"
#include "log/stacks.h"
#include "show/line.h"
#include "show/pick.h"

#define MERGE_CLOCK_NS INT64_C(1000)
#define MERGE_HOST_NS  INT64_C(10000000)

/* The row of --clock-error for tables of options. */
extern const struct option_row merge_rows[];

enum { MERGE_CLOCK_ERROR = 1150 }; /* value of the option */

struct merge_error {
	const char *name;      /* of a host or log, without NUL at its end; NULL: all hosts */
	size_t name_len;
	int64_t ns;
};

struct merge_source {
	struct logfile log;
	struct losses losses;
	struct durations durations;
	struct stacks stacks;
	struct posix_trace_event_np event;
	const struct log_type *type;
	bool has;              /* event has the next event to print */
	bool any;              /* an event of this log was printed */
	int64_t key_ns;        /* place of the event in the order; never decreases */
	int64_t last_ns;       /* time of the event printed last */
	int64_t error_ns;      /* bound of the error of its clock against those of other hosts */
	uint64_t read;
	int err;
};

struct merge {
	struct wanted *wanted;
	struct pick *pick;     /* NULL: --fields was not given */
	bool (*choose)(const struct log_type *type);
	enum when_form when;   /* for messages about losses */
	bool fail_on_loss;
	bool hides_recorder;   /* leaves out events that sysdata_is_recorders() recognizes */
	bool keeps_stacks;     /* in their sources */
	struct merge_error *error;
	size_t errors;

	struct merge_source *source;
	size_t sources;
	size_t path_columns;   /* width of the longest name */
	int64_t first_ns;      /* time of the first event of all logs */
	struct meter meter;
};

/* Processes a value of --clock-error. Returns false after it printed an error. */
bool merge_add_error(struct merge *merge, const char *text);

/*
 * Calls show() for the chosen events of these logs in order, until it returns false. Returns the
 * exit status of the command. An event of unknown order has LINE_UNORDERED in its flags. The caller
 * calls merge_fini() in any case.
 */
int merge_run(struct merge *merge, char **path, size_t paths,
	      bool (*show)(void *arg, struct merge_source *source,
			   const struct log_type *type, const struct posix_trace_event_np *event),
	      void *arg);

/* Closes the logs and frees the memory. */
void merge_fini(struct merge *merge);

#endif
