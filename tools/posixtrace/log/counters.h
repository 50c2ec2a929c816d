/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * counters.h - the counters of an event type, which are fields with values over time (@counter of
 * the schema), and sums of their values.
 *
 * One thread uses an object at a time. Values point into the schema of the log's type, which must
 * live longer.
 */
#ifndef POSIXTRACE_LOG_COUNTERS_H
#define POSIXTRACE_LOG_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "base/out.h"
#include "log/logfile.h"

/*
 * The values of a counter. All but mean are exact. A value that is not a number (NAN) is counted
 * in unknown only.
 */
struct counter {
	unsigned field;        /* the number of the field in the schema */
	uint64_t count;        /* 0: the values below are undefined */
	uint64_t unknown;
	struct posix_trace_value_np min, max, last;
	int64_t last_ns;       /* the time of last */
	long double sum;
};

/* All counters of a type. Begins with zeros. */
struct counters {
	struct counter *counter;
	unsigned count;
};

/* Makes the counters of a type. There are none if schema is NULL. Returns false without memory. */
bool counters_init(struct counters *counters, const struct posix_trace_schema_np *schema);
void counters_fini(struct counters *counters);

/* Counts the values of an event. Events may have any order; last is that of the greatest time. */
void counters_event(struct counters *counters, const struct log_type *type,
		    const struct posix_trace_event_np *event);

/*
 * Adds the counts of a part of the same log. No time may be in two parts: if several values have
 * the same time, it would be unknown which one is the last.
 */
void counters_add(struct counters *counters, const struct counters *part);

/* Returns the arithmetic mean. count must not be 0. */
double counters_mean(const struct counter *counter);

#endif
