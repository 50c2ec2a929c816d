/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_spans.h - from a START to its END: how long it took, how long it waited before a DEQUEUE, and
 * what its thread cost meanwhile.
 *
 * What belongs together: the same class and thread; of the class process the same process in the
 * payload, since one thread begins it and another ends it; of a provider the same task and
 * activity, or else the same thread. An END belongs to the youngest START that has none; one
 * without a START is no span.
 *
 * Memory    bounded: ETW_SPANS_OPEN are open at most; a START beyond is counted and begins none.
 */
#ifndef POSIXTRACE_FORMATS_ETW_SPANS_H
#define POSIXTRACE_FORMATS_ETW_SPANS_H

#include "formats/etw.h"

#define ETW_SPANS_OPEN 65536

/* "etw." and a class, or a provider and its task. */
#define ETW_SPAN_NAME_BYTES (ETW_NAME_BYTES + 8)

struct etw_span {
	char name[ETW_SPAN_NAME_BYTES];
	uint64_t key;
	int64_t begin_ns;
	int64_t dequeue_ns;  /* if dequeued */
	bool dequeued;
	bool by_thread;      /* what its thread cost is its own */
	uint64_t cost_ns;    /* of its thread when it began; of an ended one its own */
	uint64_t unknown;    /* costs of its thread that nobody knows, likewise */
	bool has_cost;
	uint32_t pid, tid;   /* of the START */
};

struct etw_spans;

/* NULL without memory. */
struct etw_spans *etw_spans_new(const struct etw_file *file);
void etw_spans_free(struct etw_spans *spans);

/* True: the record ends that one. cost_ns is the record's, as etw_cost() has it. */
bool etw_spans_take(struct etw_spans *spans, const struct etw_record *record, int64_t time_ns,
		    int64_t cost_ns, struct etw_span *ended);

/*
 * The one behind that, of those that are still open, in the order of their STARTs; NULL: the first,
 * or none.
 */
const struct etw_span *etw_spans_open(const struct etw_spans *spans, const struct etw_span *before);

uint64_t etw_spans_without_room(const struct etw_spans *spans);

#endif
