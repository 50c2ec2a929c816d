/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * merge.h - several logs as one: their events in the order of their times.
 *
 * Each log keeps its own order; where its times fall, an event stands behind those before it. Times
 * of different logs are only as good as the clocks: each log has a bound for its error, and an
 * event that is closer to one of another log than their bounds together is marked, for their order
 * is not known.
 *
 * Logs of one host have one clock, which was read a little apart: MERGE_CLOCK_NS. Of other hosts'
 * clocks logs say nothing: MERGE_HOST_NS, unless --clock-error says better.
 *
 * Memory    constant: an event of each log.
 */
#ifndef POSIXTRACE_SHOW_MERGE_H
#define POSIXTRACE_SHOW_MERGE_H

#include "base/meter.h"
#include "choose/wanted.h"
#include "log/logfile.h"
#include "log/losses.h"
#include "show/line.h"
#include "show/pick.h"

#define MERGE_CLOCK_NS INT64_C(1000)
#define MERGE_HOST_NS  INT64_C(10000000)

#define MERGE_OPTION { "clock-error", required_argument, NULL, MERGE_CLOCK_ERROR }

#define MERGE_HELP \
	"      --clock-error SPAN  of several logs: how wrong the clock of each host can be, " \
		"10ms without\n" \
	"                       it; NAME=SPAN: of this host, or the times of this log; may be " \
		"repeated\n"

enum { MERGE_CLOCK_ERROR = 1150 }; /* value of the option */

struct merge_error {
	const char *name;      /* of a host or a log; NULL: all hosts */
	size_t name_len;
	int64_t ns;
};

struct merge_source {
	struct logfile log;
	struct losses losses;
	struct durations durations;
	struct posix_trace_event_np event;
	const struct log_type *type;
	bool has;              /* an event that was not shown yet */
	bool any;              /* one was */
	int64_t key_ns;        /* its place in the order: never falls */
	int64_t last_ns;       /* of the one shown last */
	int64_t error_ns;      /* against logs of other hosts */
	uint64_t read;
	int err;
};

struct merge {
	struct wanted *wanted;
	struct pick *pick;     /* NULL: none */
	bool (*choose)(const struct log_type *type);
	enum when_form when;   /* for what is said of losses */
	bool fail_on_loss;
	struct merge_error *error;
	size_t errors;

	struct merge_source *source;
	size_t sources;
	size_t path_len;       /* of the longest */
	int64_t first_ns;      /* of all */
	struct meter meter;
};

/* The value of --clock-error. False: it has been said what is wrong. */
bool merge_add_error(struct merge *merge, const char *text);

/*
 * Shows the events of these logs that are wanted, until show() is false. Returns what the command
 * exits with. An event that cannot be ordered has LINE_UNORDERED in its flags.
 */
int merge_run(struct merge *merge, char **path, size_t paths,
	      bool (*show)(void *arg, const struct merge_source *source,
			   const struct log_type *type, const struct posix_trace_event_np *event),
	      void *arg);

void merge_fini(struct merge *merge);

#endif
