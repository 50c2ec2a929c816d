/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_spans.h - spans from a START to its END: their duration, the wait before a DEQUEUE, and the
 * CPU time of their thread.
 *
 * In most classes, a START and an END are a pair if they have the same class and thread. In the
 * classes process, thread and image, different threads may log the two events, so their payloads
 * must have the same subject, and the threads may differ. START and END of a provider must have the
 * same task and activity; without an activity, they must have the same task and thread. If several
 * open STARTs fit, an END ends the youngest. An END without a START makes no span.
 *
 * Memory    bounded: at most ETW_SPANS_OPEN spans are open. A further START is counted and begins
 *           no span.
 */
#ifndef POSIXTRACE_CONVERT_ETW_ETW_SPANS_H
#define POSIXTRACE_CONVERT_ETW_ETW_SPANS_H

#include "convert/etw/etw.h"

#define ETW_SPANS_OPEN 65536

/* "etw." and a class, or a provider and its task. */
#define ETW_SPAN_NAME_BYTES (ETW_NAME_BYTES + 8)

struct etw_span {
	char name[ETW_SPAN_NAME_BYTES];
	uint64_t key;
	int64_t begin_ns;
	int64_t dequeue_ns;  /* valid if dequeued */
	bool dequeued;
	bool by_thread;      /* one thread logs START and END; the span has this thread's cost */
	/*
	 * of an open span: cost of the thread up to the START; of an ended span: cost of the span
	 */
	uint64_t cost_ns;
	/*
	 * number of unknown costs; of an open span: in the thread up to the START; of an ended
	 * span: in the span
	 */
	uint64_t unknown;
	bool has_cost;
	uint32_t pid, tid;   /* process and thread of the START */
};

struct etw_spans;

/* Makes an object without open spans. Returns NULL if memory is lacking. */
struct etw_spans *etw_spans_new(const struct etw_file *file);
void etw_spans_free(struct etw_spans *spans);

/*
 * If the record ends a span, stores the span in *ended and returns true. cost_ns is the cost of the
 * record, which etw_cost() has returned.
 */
bool etw_spans_take(struct etw_spans *spans, const struct etw_record *record, int64_t time_ns,
		    int64_t cost_ns, struct etw_span *ended);

/*
 * Iterates over the open spans in the order of their STARTs. Returns the span after "before", or
 * the first span if "before" is NULL. Returns NULL if there is no further span.
 */
const struct etw_span *etw_spans_open(const struct etw_spans *spans, const struct etw_span *before);

/*
 * Returns the number of STARTs that began no span, because ETW_SPANS_OPEN spans were open.
 */
uint64_t etw_spans_without_room(const struct etw_spans *spans);

/*
 * Returns the number of STARTs that began no span because memory was lacking, and of ENDs whose
 * span could not be found for the same reason.
 */
uint64_t etw_spans_without_memory(const struct etw_spans *spans);

#endif
