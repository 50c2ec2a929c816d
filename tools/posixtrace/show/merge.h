/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * merge.h - reads several logs as if they were one log, with all events in the order of their
 * times.
 *
 * The order within a log never changes: if an event is older than an event before it in the same
 * log, it stays behind that event. Times of two logs can be compared only as exactly as the clocks
 * of the logs agree. So each log has a bound for the error of its clock. If the times of two events
 * of different logs differ by no more than the sum of the two bounds, their order is unknown, and
 * they are marked as unordered.
 *
 * Logs of one host have the same clock. But each reading of this clock may be slightly wrong, so
 * between such logs the bound of each log is MERGE_CLOCK_NS. The logs do not show how much the
 * clocks of two hosts differ. Between hosts the bound of each log is that of --clock-error, or
 * MERGE_HOST_NS by default. The same is true between two logs of one host if --clock-error names
 * one of these logs.
 *
 * The memory does not depend on the lengths of the logs, since only one event of each log is kept.
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
	/* the name of a host or log, without a NUL at the end; NULL: the bound is for all logs */
	const char *name;
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
	bool has;              /* 'event' is the next event of this log */
	bool is_hidden;        /* 'event' is not printed, but may report a loss */
	bool any;              /* an event of this log was printed */
	/* the time by which 'event' is ordered; it does not decrease after a printed event */
	int64_t key_ns;
	int64_t last_ns;       /* time of the event of this log that was printed last */
	/* bound for the error of the log's clock relative to the clocks of other hosts */
	int64_t error_ns;
	uint64_t read;
	int err;
};

struct merge {
	struct wanted *wanted;
	struct pick *pick;     /* NULL: --fields was not given */
	bool (*choose)(const struct log_type *type);
	enum when_form when;   /* for messages about losses */
	bool fail_on_loss;
	bool hides_recorder;   /* events for which sysdata_is_recorders() is true are not shown */
	bool keeps_stacks;     /* each source keeps the stacks of its log */
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
 * Calls show() for the chosen events of all logs in order, until show() returns false. If the order
 * of an event is unknown, the event has the flag LINE_UNORDERED. Returns the exit status of the
 * command. The caller must call merge_fini() in any case.
 */
int merge_run(struct merge *merge, char **path, size_t paths,
	      bool (*show)(void *arg, struct merge_source *source,
			   const struct log_type *type, const struct posix_trace_event_np *event),
	      void *arg);

/* Closes the logs and frees the memory. */
void merge_fini(struct merge *merge);

#endif
