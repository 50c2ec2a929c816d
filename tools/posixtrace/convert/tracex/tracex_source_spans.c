/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tracex_source_spans.c - passes spans as events with a duration, at the time of their end. */
#include "convert/octets.h"
#include "convert/tracex/tracex_source.h"

static const struct fmt_type *type_of(struct tracex_source *im, const char *name,
				      const char *schema)
{
	struct fmt_type type = { .name = name, .schema = schema, .level = -1 };

	return fmt_type(im->flow, &type);
}

/*
 * Returns the difference of the two times in nanoseconds. The ticks are converted to times before
 * the subtraction, so that a duration agrees with the printed times.
 */
static uint64_t tracex_source_spans_since(struct tracex_source *im, uint64_t begin, uint64_t end)
{
	return (uint64_t)tracex_source_time(im, end) - (uint64_t)tracex_source_time(im, begin);
}

/*
 * The function makes the event type for a kind of spans at the end of the first such span, so that
 * a log without such spans lacks the type.
 */
static bool tracex_source_spans_put(void *arg, const struct tracex_span *span)
{
	struct tracex_source *im = arg;
	uint64_t took = tracex_source_spans_since(im, span->begin, span->end);
	unsigned char data[24], *p = octets_put(data, took, 8);
	struct fmt_event event = {
		.time_ns = tracex_source_time(im, span->end), .thread = span->thread,
		.cpu = (int32_t)span->cpu, .data = data,
	};

	if (span->kind == TRACEX_RUN) {
		p = octets_put(
			p, took - tracex_source_spans_since(im, span->end - span->isr, span->end),
			8);
		p = octets_put(p, span->cpu, 4);
		if (!im->run)
			im->run = type_of(im, "tracex_running", "ns took;ns cpu_time;u32 cpu");
		event.type = im->run;
	} else {
		p = octets_put(p, span->mutex, 8);
		if (!im->mutex)
			im->mutex = type_of(im, "tracex_mutex_held", "ns took;ptr lock");
		event.type = im->mutex;
	}
	event.data_len = (size_t)(p - data);
	return fmt_event(im->flow, &event);
}

bool tracex_source_spans(struct tracex_source *im, const struct tracex_entry *entry)
{
	return tracex_spans_take(im->spans, entry, tracex_source_spans_put, im);
}
