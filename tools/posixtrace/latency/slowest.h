/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slowest.h - the slowest spans, and the events around each of them.
 *
 * The first reading of the log finds the spans. The second reading finds the events: for each span,
 * the events before, during and after it of the threads that began and ended it.
 *
 * Memory is bounded by SLOWEST_MAX spans, SLOWEST_AROUND events on each side, and SLOWEST_BYTES of
 * the data of each event.
 */
#ifndef POSIXTRACE_LATENCY_SLOWEST_H
#define POSIXTRACE_LATENCY_SLOWEST_H

#include "choose/reading.h"
#include "spans/pairing.h"

#define SLOWEST_MAX    1000
#define SLOWEST_AROUND 20
#define SLOWEST_BYTES  256

struct slow_event {
	struct posix_trace_event_np event; /* data points to the bytes */
	uint64_t ordinal;
	unsigned char bytes[SLOWEST_BYTES];
};

enum slow_part { SLOW_BEFORE, SLOW_FIRST, SLOW_LAST, SLOW_AFTER, SLOW_PARTS };

struct slow {
	struct span span;
	struct slow_event *part[SLOW_PARTS]; /* BEFORE and LAST are circular buffers */
	uint64_t seen[SLOW_PARTS];           /* LAST counts only events that are not in FIRST */
};

struct slowest {
	/*
	 * During the first reading this is a heap with the fastest span on top. Afterwards it is
	 * sorted, the slowest span first.
	 */
	struct slow *slow;
	size_t count, limit, around;
	size_t left;       /* number of spans for which events behind them are still needed */
};

/*
 * limit is the number of spans; around is the number of events in each part. Returns false without
 * memory. The caller calls slowest_fini() in any case.
 */
bool slowest_init(struct slowest *slowest, size_t limit, size_t around);
void slowest_fini(struct slowest *slowest);

/* Adds a span of the first reading. */
void slowest_add(struct slowest *slowest, const struct span *span);

/* Ends the first reading. Returns false without memory. */
bool slowest_sort(struct slowest *slowest);
/* Adds an event of the second reading. Returns false if no more events are needed. */
bool slowest_event(struct slowest *slowest, const struct reading *reading);

/* Returns the events of a part in order; NULL after the last one. around must not be 0. */
const struct slow_event *slowest_at(const struct slowest *slowest, const struct slow *slow,
				    enum slow_part part, size_t index);

#endif
