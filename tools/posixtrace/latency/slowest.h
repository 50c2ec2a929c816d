/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slowest.h - the slowest spans, and the events around each of them.
 *
 * The spans are found while the log is read once, the events while it is read again: those of the
 * threads that began and ended the span, before it, in it, and after it.
 *
 * Memory    bounded by SLOWEST_MAX spans, SLOWEST_AROUND events on each side, and SLOWEST_BYTES of
 *           the data of each event.
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
	struct slow_event *part[SLOW_PARTS]; /* BEFORE and LAST are rings */
	uint64_t seen[SLOW_PARTS];           /* LAST counts only what is not in FIRST */
};

struct slowest {
	/* while spans come, a heap with the fastest on top; then the slowest first */
	struct slow *slow;
	size_t count, limit, around;
	size_t left;       /* spans behind which events are still wanted */
};

/* False: no memory. */
bool slowest_init(struct slowest *slowest, size_t limit, size_t around);
void slowest_fini(struct slowest *slowest);

void slowest_add(struct slowest *slowest, const struct span *span);

/* All spans came; then each event once more. False: no memory. */
bool slowest_sort(struct slowest *slowest);
/* False: no more events are needed. */
bool slowest_event(struct slowest *slowest, const struct reading *reading);

/* The events of a part in their order; NULL past the last one. */
const struct slow_event *slowest_at(const struct slowest *slowest, const struct slow *slow,
				    enum slow_part part, size_t index);

#endif
