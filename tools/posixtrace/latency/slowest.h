/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slowest.h - finds the slowest spans, and the events around each of them.
 *
 * The first reading of the log finds the spans. The second reading finds the events before, during
 * and after each span. Only events of the thread that began the span and of the thread that ended
 * it are considered.
 *
 * The memory is limited. At most SLOWEST_MAX spans are kept. For each span, each part has at most
 * SLOWEST_AROUND events, and for each event at most SLOWEST_BYTES of its data are kept.
 */
#ifndef POSIXTRACE_LATENCY_SLOWEST_H
#define POSIXTRACE_LATENCY_SLOWEST_H

#include "choose/reading.h"
#include "spans/pairing.h"

#define SLOWEST_MAX    1000
#define SLOWEST_AROUND 20
#define SLOWEST_BYTES  256

struct slow_event {
	struct posix_trace_event_np event; /* its pointer data is valid only after slowest_at() */
	uint64_t ordinal;
	unsigned char bytes[SLOWEST_BYTES];
};

/* The events before a span, the first and the last events during it, and the events after it. */
enum slow_part { SLOW_BEFORE, SLOW_FIRST, SLOW_LAST, SLOW_AFTER, SLOW_PARTS };

struct slow {
	struct span span;
	struct slow_event *part[SLOW_PARTS]; /* SLOW_BEFORE and SLOW_LAST are circular buffers */
	/*
	 * number of events that were added to each part; an event of SLOW_FIRST is not also in
	 * SLOW_LAST
	 */
	uint64_t seen[SLOW_PARTS];
};

struct slowest {
	/*
	 * When this array is full during the first reading, it is a heap with the fastest span on
	 * top. slowest_sort() sorts it, and then the slowest span is first.
	 */
	struct slow *slow;
	size_t count, limit, around;
	size_t left;       /* number of spans that still need events behind them */
};

/*
 * "limit" is the number of spans, and "around" is the number of events in each part. Returns false
 * if memory is lacking. The caller must call slowest_fini() in any case.
 */
bool slowest_init(struct slowest *slowest, size_t limit, size_t around);
void slowest_fini(struct slowest *slowest);

/* Offers a span of the first reading, which is kept if it is one of the slowest so far. */
void slowest_add(struct slowest *slowest, const struct span *span);

/*
 * Sorts the spans and allocates the memory for the events. Must be called between the two readings.
 * Returns false if memory is lacking.
 */
bool slowest_sort(struct slowest *slowest);
/* Offers an event of the second reading. Returns false if no further events are needed. */
bool slowest_event(struct slowest *slowest, const struct reading *reading);

/*
 * Returns the event of a part with this index, 0 for the oldest, or NULL behind the last event.
 * "around" must not be 0.
 */
const struct slow_event *slowest_at(const struct slowest *slowest, const struct slow *slow,
				    enum slow_part part, size_t index);

#endif
