/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* etw_span_events.c - makes events with the durations and CPU costs of spans. */
#include "convert/etw/etw_span_events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/etw/etw_cost.h"
#include "convert/etw/etw_spans.h"
#include "convert/octets.h"

#define SCHEMA "ns took;ns waited;ns cpu_time"

struct etw_span_events {
	struct fmt_flow *flow;
	const struct etw_file *file;
	struct etw_costs *costs;
	struct etw_spans *spans;
};

/*
 * Costs are computed for all records, because the cost of a span is the sum of the costs of its
 * records.
 */
struct etw_span_events *etw_span_events_new(struct fmt_flow *flow, const struct etw_file *file)
{
	struct etw_span_events *events = calloc(1, sizeof(*events));

	if (!events)
		return NULL;
	events->flow = flow;
	events->file = file;
	events->costs = etw_costs_new();
	events->spans = etw_spans_new(file);
	if (events->costs && events->spans)
		return events;
	etw_span_events_free(events);
	return NULL;
}

/* Accepts NULL and an object that etw_span_events_new() could not complete. */
void etw_span_events_free(struct etw_span_events *events)
{
	if (!events)
		return;
	etw_costs_free(events->costs);
	etw_spans_free(events->spans);
	free(events);
}

/*
 * Returns the time between two moments. If the clock went back, returns 0, because a duration must
 * not be negative.
 */
static uint64_t etw_span_events_since(int64_t from_ns, int64_t to_ns)
{
	return to_ns > from_ns ? (uint64_t)to_ns - (uint64_t)from_ns : 0;
}

/*
 * The event has the time of the record that ended the span. SCHEMA describes the fields of the
 * event, which are little endian like the numbers in records.
 */
bool etw_span_events_put(struct etw_span_events *events, const struct etw_record *record,
			 int64_t time_ns)
{
	int64_t cost_ns = etw_cost(events->costs, &events->file->log, record);
	unsigned char data[ETW_SPAN_EVENT_BYTES], *p = data;
	char name[ETW_SPAN_NAME_BYTES + 5];
	struct fmt_type type = { .name = name, .schema = SCHEMA, .level = -1 };
	struct fmt_event event = {
		.time_ns = time_ns, .pid = record->pid, .tid = record->tid, .thread = record->tid,
		.cpu = (int32_t)record->processor, .data = data,
	};
	struct etw_span span;

	if (!etw_spans_take(events->spans, record, time_ns, cost_ns, &span))
		return true;
	snprintf(name, sizeof(name), "%s.span", span.name);
	p = octets_put(p, etw_span_events_since(span.begin_ns, time_ns), 8);
	p = octets_put(p, span.dequeued ? etw_span_events_since(span.begin_ns, span.dequeue_ns) : 0,
		       8);
	/*
	 * An unknown cost is omitted. Data that ends before the last field of its schema is valid.
	 */
	if (span.has_cost && !span.unknown)
		p = octets_put(p, span.cost_ns, 8);
	event.data_len = (size_t)(p - data);
	event.type = fmt_type(events->flow, &type);
	return fmt_event(events->flow, &event);
}

bool etw_span_events_end(struct etw_span_events *events)
{
	const uint64_t missing = etw_spans_without_room(events->spans);
	const uint64_t without_memory = etw_spans_without_memory(events->spans);

	if (without_memory)
		fmt_fault(events->flow, FMT_WARN, FMT_NO_OFFSET, NULL, "spans are missing: %s",
			  strerror(ENOMEM));
	return !missing || fmt_note(events->flow, "%llu span%s missing: more than %d were open",
				    (unsigned long long)missing, missing == 1 ? " is" : "s are",
				    ETW_SPANS_OPEN);
}
