/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* latency.h - the results of the command latency for one log, and their two forms. */
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
	double cpu_wall_ns;      /* durations of the spans with CPU time */
};

struct latency {
	struct logfile log;
	struct wanted wanted;
	struct pairing pairing;
	struct locks locks;
	struct slowest slowest;
	struct latency_series *series; /* in the order of the pairing's series; sorted at the end */
	size_t count;
	struct lost lost;
	uint64_t events;
	int64_t first_ns, last_ns;
	int err;
};

struct out;

/* Both print all results. form is the form of times; JSON has nanoseconds. */
void latency_text(struct out *out, const struct latency *latency, enum when_form form);
void latency_json(struct out *out, const struct latency *latency);

/* Returns the rate per second of the log's time, 0 if the log has no length. */
double latency_rate(const struct latency *latency, uint64_t count);

#endif
