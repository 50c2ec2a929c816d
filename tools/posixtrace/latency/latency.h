/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * latency.h - the results of the command latency for one log, and the two functions that print
 * them, as text and as JSON.
 */
#ifndef POSIXTRACE_LATENCY_LATENCY_H
#define POSIXTRACE_LATENCY_LATENCY_H

#include "base/when.h"
#include "choose/reading.h"
#include "latency/slowest.h"
#include "spans/histogram.h"
#include "spans/locks.h"
#include "spans/lost.h"
#include "spans/pairing.h"

struct latency_series {
	const struct series *series;
	struct histogram time;
	uint64_t cpu_count, cpu_ns, cpu_max_ns;
	uint64_t lost;           /* lost events of the types of this series */
	double cpu_wall_ns;      /* sum of the durations of the spans with CPU time */
};

struct latency {
	struct logfile log;
	struct wanted wanted;
	struct pairing pairing;
	struct locks locks;
	struct slowest slowest;
	/* during the reading in the order of pairing.series; later sorted by total time */
	struct latency_series *series;
	size_t count;
	struct lost lost;
	uint64_t events;
	int64_t first_ns, last_ns;
	int err;
};

struct out;

/*
 * Both functions print all results. "form" is the form of times in the text. JSON has times in
 * nanoseconds.
 */
void latency_text(struct out *out, const struct latency *latency, enum when_form form);
void latency_json(struct out *out, const struct latency *latency);

/* Returns "count" divided by the log's time in seconds, or 0 if the log's time is not positive. */
double latency_rate(const struct latency *latency, uint64_t count);

#endif
