/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_span_events.h - for the option --spans: after each record that ends a span, passes an event
 * with the duration and the CPU cost of the span.
 */
#ifndef POSIXTRACE_CONVERT_ETW_ETW_SPAN_EVENTS_H
#define POSIXTRACE_CONVERT_ETW_ETW_SPAN_EVENTS_H

#include "convert/etw/etw.h"
#include "convert/format.h"

#define ETW_SPAN_EVENT_BYTES 24

struct etw_span_events;

/* Makes the object for the records of a file. Returns NULL if memory is lacking. */
struct etw_span_events *etw_span_events_new(struct fmt_flow *flow, const struct etw_file *file);
void etw_span_events_free(struct etw_span_events *events);

/*
 * Counts the cost of the record. If the record ends a span, passes an event to the sink. Returns
 * false if the sink has stopped.
 */
bool etw_span_events_put(struct etw_span_events *events, const struct etw_record *record,
			 int64_t time_ns);

/*
 * Called after the last record. If too many spans were open at the same time, passes a note with
 * the number of missing spans. Returns false if the sink has stopped.
 */
bool etw_span_events_end(struct etw_span_events *events);

#endif
