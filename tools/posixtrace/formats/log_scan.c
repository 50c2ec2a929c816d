/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * formats/log_scan.c - a log read once before it is converted: its least and greatest time, its
 * gaps, and which spans nest.
 */
#include <string.h>

#include "formats/flow.h"
#include "formats/log.h"
#include "formats/spans.h"
#include "losses.h"

struct scan {
	struct fmt_flow *flow;
	struct spans spans;
	bool any_spans;
	bool overflowed;
};

/* All of one span, whatever its types are called. */
static void disprove(struct scan *scan, const char *span)
{
	for (size_t i = 0; i < fmt_types(scan->flow); i++) {
		struct fmt_type *type = flow_type_at(scan->flow, i);

		if (type->span && !strcmp(type->span, span))
			type->nests = false;
	}
}

static void disprove_all(struct scan *scan)
{
	for (size_t i = 0; i < fmt_types(scan->flow); i++)
		flow_type_at(scan->flow, i)->nests = false;
	scan->any_spans = false;
}

/* Spans that were opened inside of it are still open: they cross it. */
static void end_span(struct scan *scan, struct spans_thread *thread, const char *span)
{
	unsigned at = thread->depth;
	bool crosses = false;

	while (at && strcmp(thread->open[at - 1]->span, span) != 0)
		at--;
	if (!at)
		return;
	for (unsigned i = at; i < thread->depth; i++) {
		crosses |= thread->open[i]->nests;
		if (thread->open[i]->nests)
			disprove(scan, thread->open[i]->span);
	}
	if (crosses)
		disprove(scan, span);
	memmove(&thread->open[at - 1], &thread->open[at],
		(thread->depth - at) * sizeof(thread->open[0]));
	thread->depth--;
}

static void look_at_span(struct scan *scan, const struct fmt_event *event)
{
	const struct fmt_type *type = event->type;
	struct spans_thread *thread;

	if (type->phase == FMT_MARK || !type->nests)
		return;
	thread = spans_of(&scan->spans, event);
	if (!thread) {
		disprove_all(scan);
		return;
	}
	if (type->phase == FMT_END) {
		end_span(scan, thread, type->span);
	} else if (thread->depth == SPANS_DEPTH) {
		disprove_all(scan);
	} else {
		thread->open[thread->depth++] = type;
	}
}

static void look_at_gap(struct scan *scan, const struct posix_trace_event_np *event,
			struct fmt_facts *facts)
{
	bool gap = event->flags & POSIX_TRACE_EVENT_GAP_NP;

	facts->gaps += gap;
	if (event->info.posix_event_id == POSIX_TRACE_OVERFLOW)
		scan->overflowed = true;
	if (event->info.posix_event_id == POSIX_TRACE_RESUME) {
		gap = true;
		facts->gaps += scan->overflowed;
		scan->overflowed = false;
	}
	if (gap)
		spans_clear(&scan->spans, NULL, NULL);
}

static void look(struct scan *scan, const struct posix_trace_event_np *from, struct fmt_type *type,
		 struct fmt_facts *facts, bool first)
{
	if (first || from->time_ns < facts->least_ns)
		facts->least_ns = from->time_ns;
	if (first || from->time_ns > facts->greatest_ns)
		facts->greatest_ns = from->time_ns;
	if (from->info.posix_event_id <= POSIX_TRACE_FLUSH_STOP || from->flags)
		look_at_gap(scan, from, facts);
	if (scan->any_spans && type) {
		struct fmt_event event = {
			.type = type, .pid = (uint32_t)from->info.posix_pid,
			.tid = (uint32_t)from->tid, .thread = (uint64_t)from->info.posix_thread_id,
		};

		look_at_span(scan, &event);
	}
}

/* All are innocent until two cross. */
static void presume(struct scan *scan)
{
	for (size_t i = 0; i < fmt_types(scan->flow); i++) {
		struct fmt_type *type = flow_type_at(scan->flow, i);

		/* A key pairs them across threads: nothing follows for one thread. */
		type->nests = type->phase != FMT_MARK && !(type->fields && type->fields->keys);
		scan->any_spans |= type->nests;
	}
}

int log_scan(struct fmt_flow *flow, trace_id_t trid, const struct fmt_type **types, size_t ids,
	     struct fmt_facts *facts)
{
	struct scan scan = { .flow = flow };
	struct posix_trace_ledger_np ledger;
	struct posix_trace_event_np event;
	int err, unavailable;
	bool first = true;

	presume(&scan);
	while (!(err = posix_trace_getnext_np(trid, &event, &unavailable)) && !unavailable) {
		const struct fmt_type *type =
			event.info.posix_event_id < ids ? types[event.info.posix_event_id] : NULL;

		look(&scan, &event, type ? flow_type_at(flow, type->index) : NULL, facts, first);
		first = false;
	}
	spans_fini(&scan.spans);
	if (!err)
		err = posix_trace_get_ledger_np(trid, &ledger);
	if (!err)
		err = posix_trace_rewind(trid);
	if (err)
		return err;
	facts->lost = losses_count(&ledger);
	facts->has_scan = true;
	return 0;
}
