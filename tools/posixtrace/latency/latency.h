/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * latency.h - all that `posixtrace latency` knows of one log, and its two ways to print it.
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
	uint64_t lost;           /* events that these figures lack */
	double cpu_wall_ns;      /* of the spans whose CPU time is known */
};

struct latency {
	struct logfile log;
	struct wanted wanted;
	struct pairing pairing;
	struct locks locks;
	struct slowest slowest;
	struct latency_series *series; /* like those of pairing; sorted when all were counted */
	size_t count;
	struct lost lost;
	uint64_t events;
	int64_t first_ns, last_ns;
	int err;
};

struct out;

void latency_text(struct out *out, const struct latency *latency, enum when_form form);
void latency_json(struct out *out, const struct latency *latency);

/* Per second of the log's time; 0 where it has none. */
double latency_rate(const struct latency *latency, uint64_t count);

#endif
