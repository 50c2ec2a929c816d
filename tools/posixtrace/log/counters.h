/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * counters.h - evaluates the counters of an event type. Counters are the fields that the schema
 * marks with @counter, because their values over time are of interest.
 *
 * One thread uses a struct counters at a time. The members min, max and last of struct counter
 * contain pointers to the schema of the log's type, so the schema must exist as long as they are
 * used.
 */
#ifndef POSIXTRACE_LOG_COUNTERS_H
#define POSIXTRACE_LOG_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "base/out.h"
#include "log/logfile.h"

/*
 * The results for one counter. All members except for 'sum' are exact. A value that is not a number
 * (NAN) is only counted in 'unknown'.
 */
struct counter {
	unsigned field;        /* the number of the field in the schema */
	/* how many values were numbers; 0: min, max, last and last_ns are undefined */
	uint64_t count;
	uint64_t unknown;
	struct posix_trace_value_np min, max, last;
	int64_t last_ns;       /* the time of last */
	long double sum;
};

/* Counts one value. NAN is counted in 'unknown' only. */
void counter_add(struct counter *counter, const struct posix_trace_value_np *value,
		 int64_t time_ns);

/* Returns the value of a number as a long double. */
long double counter_precise(const struct posix_trace_value_np *value);

/* The results for all counters of a type. counters_init() sets them to zero. */
struct counters {
	struct counter *counter;
	unsigned count;
};

/*
 * Finds the counters of a type. If schema is NULL, the type has none. Returns false if memory is
 * lacking.
 */
bool counters_init(struct counters *counters, const struct posix_trace_schema_np *schema);
void counters_fini(struct counters *counters);

/*
 * Counts the values of an event. The events may be in any order; last becomes the value with the
 * greatest time.
 */
void counters_event(struct counters *counters, const struct log_type *type,
		    const struct posix_trace_event_np *event);

/*
 * Adds the results for another part of the same log. Two parts must not both have events of the
 * same time, because it would be unknown which of these events has the last value.
 */
void counters_add(struct counters *counters, const struct counters *part);

/* Returns the arithmetic mean. count must not be 0. */
double counters_mean(const struct counter *counter);

#endif
