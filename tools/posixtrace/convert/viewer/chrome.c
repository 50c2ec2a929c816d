/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * chrome.c - the JSON trace of Chrome: for chrome://tracing, Perfetto's UI and others.
 *
 * Times are microseconds since the first event, with three decimals: as a double since 1970 they
 * would not be exact. otherData has what they count from.
 *
 * The spans on a thread's first lane are slices of the thread; all others, which would cross them,
 * are asynchronous, with an id.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsontext.h"
#include "base/text.h"
#include "base/vec.h"
#include "convert/explained.h"
#include "convert/format.h"
#include "convert/jsonfields.h"

extern const struct format format_chrome;

struct kept {
	char *name; /* "name":"NAME" */
	size_t name_len;
};

struct chrome {
	struct fmt_flow *flow;
	struct out *out;
	struct kept *kept; /* by index of the type */
	size_t types;
	bool has_base;
	int64_t base_ns, last_ns;
	struct fmt_facts facts;
	bool counted[POSIX_TRACE_LOST_CAUSES_NP];
};

static int open_sink(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	struct chrome *chrome = calloc(1, sizeof(*chrome));

	if (!chrome)
		return ENOMEM;
	chrome->flow = flow;
	chrome->out = output->out;
	*context = chrome;
	return 0;
}

static void close_sink(void *context)
{
	struct chrome *chrome = context;

	for (size_t i = 0; i < chrome->types; i++)
		free(chrome->kept[i].name);
	free(chrome->kept);
	free(chrome);
}

static int begin(void *context, const struct fmt_facts *facts)
{
	struct chrome *chrome = context;
	struct out *out = chrome->out;

	chrome->facts = *facts;
	if (facts->has_scan) {
		chrome->has_base = true;
		chrome->base_ns = facts->least_ns;
		chrome->last_ns = facts->least_ns;
	}
	out_str(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
	/* Whatever follows begins with a comma. */
	out_str(out, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"tid\":0,"
		     "\"args\":{\"name\":\"stream\"}}");
	return out->err;
}

static int type(void *context, const struct fmt_type *type)
{
	struct chrome *chrome = context;
	struct kept *more;
	struct kept *kept;

	if (!vec_reach(&chrome->kept, &chrome->types, type->index))
		return ENOMEM;
	more = chrome->kept;
	kept = &more[type->index];
	memset(kept, 0, sizeof(*kept));
	kept->name = json_text_kept("name", type->name, type->name_len, &kept->name_len);
	return kept->name ? 0 : ENOMEM;
}

/* Any thread as a number that a double holds. */
static uint64_t thread_number(uint32_t tid, uint64_t thread)
{
	return tid || !thread ? tid : thread & ((UINT64_C(1) << 48) - 1);
}

static void put_microseconds(struct out *out, uint64_t ns, bool negative)
{
	char *p = out_room(out);

	if (negative)
		*p++ = '-';
	p = put_unsigned(p, ns / 1000);
	*p++ = '.';
	out_done(out, put_digits(p, ns % 1000, 3));
}

static void put_time(struct chrome *chrome, int64_t time_ns)
{
	uint64_t since;

	if (!chrome->has_base)
		chrome->base_ns = time_ns;
	chrome->has_base = true;
	since = (uint64_t)time_ns - (uint64_t)chrome->base_ns;
	put_microseconds(chrome->out, time_ns < chrome->base_ns ? 0 - since : since,
			 time_ns < chrome->base_ns);
}

static void put_head(struct chrome *chrome, char phase, int64_t time_ns, uint32_t pid, uint64_t tid)
{
	struct out *out = chrome->out;
	char *p;

	out_str(out, ",\n{\"ph\":\"");
	out_char(out, phase);
	out_str(out, "\",\"ts\":");
	put_time(chrome, time_ns);
	p = out_room(out);
	memcpy(p, ",\"pid\":", 7);
	p = put_unsigned(p + 7, pid);
	memcpy(p, ",\"tid\":", 7);
	p = put_unsigned(p + 7, tid);
	*p++ = ',';
	out_done(out, p);
}

static void put_data(struct out *out, const struct fmt_event *event)
{
	if (text_is_text(event->data, event->data_len, true)) {
		out_str(out, ",\"text\":");
		json_string(out, event->data, event->data_len);
		return;
	}
	out_str(out, ",\"hex\":\"");
	out_hex(out, event->data, event->data_len);
	out_char(out, '"');
}

static void put_args(struct chrome *chrome, const struct fmt_event *event)
{
	bool add_nul;
	struct out *out = chrome->out;
	char *p = out_room(out);

	memcpy(p, ",\"args\":{\"address\":\"0x", 22);
	p = put_hex(p + 22, event->address, 1);
	memcpy(p, "\",\"thread\":\"0x", 14);
	p = put_hex(p + 14, event->thread, 1);
	*p++ = '"';
	out_done(out, p);
	if (event->data_len && !(event->type->fields && explained(event->type->fields, event->data,
								  event->data_len, &add_nul)))
		put_data(out, event);
	json_fields(out, chrome->flow, event);
	if (event->truncation != POSIX_TRACE_NOT_TRUNCATED)
		out_str(out, ",\"truncated\":true");
	if (event->flags & POSIX_TRACE_EVENT_LATE_NP)
		out_str(out, ",\"late\":true");
	if (event->flags & POSIX_TRACE_EVENT_GAP_NP)
		out_str(out, ",\"after_damage\":true");
	if (event->cpu >= 0)
		out_printf(out, ",\"cpu\":%d", event->cpu);
	out_str(out, "}}");
}

static void put_async(struct chrome *chrome, const struct fmt_span *span)
{
	out_printf(chrome->out, ",\"cat\":\"span\",\"id\":\"0x%llx\"",
		   (unsigned long long)span->id);
}

/* Its name, and how it is known from others. */
static void put_span(struct chrome *chrome, const struct fmt_event *event, char phase)
{
	const struct fmt_span *span = event->span;
	const struct kept *kept = &chrome->kept[event->type->index];
	struct out *out = chrome->out;

	if (span->part == FMT_WHOLE)
		out_bytes(out, kept->name, kept->name_len);
	else
		json_text_member(out, "name", span->name, strlen(span->name));
	if (phase == 'b' || phase == 'e')
		put_async(chrome, span);
	if (phase == 'X') {
		out_str(out, ",\"dur\":");
		put_microseconds(out, (uint64_t)span->end_ns - (uint64_t)span->begin_ns, false);
	}
}

static char phase_of(const struct fmt_span *span)
{
	bool is_async = span->keyed || span->lane;

	if (span->part == FMT_WHOLE)
		return is_async ? 'b' : 'X';
	if (span->part == FMT_OPENS)
		return is_async ? 'b' : 'B';
	return is_async ? 'e' : 'E';
}

/* The end of a span that an event told as a whole. */
static void put_end(struct chrome *chrome, const struct fmt_event *event)
{
	put_head(chrome, 'e', event->time_ns, event->pid, thread_number(event->tid, event->thread));
	put_span(chrome, event, 'e');
	out_str(chrome->out, ",\"args\":{}}");
}

static int event(void *context, const struct fmt_event *event)
{
	struct chrome *chrome = context;
	struct out *out = chrome->out;
	const struct kept *kept = &chrome->kept[event->type->index];
	const struct fmt_span *span = event->span;
	bool is_whole = span && span->part == FMT_WHOLE;
	char phase = span ? phase_of(span) : 'i';

	put_head(chrome, phase, is_whole ? span->begin_ns : event->time_ns, event->pid,
		 thread_number(event->tid, event->thread));
	if (span) {
		put_span(chrome, event, phase);
	} else {
		out_bytes(out, kept->name, kept->name_len);
		out_str(out, ",\"s\":\"t\"");
	}
	put_args(chrome, event);
	if (is_whole && phase == 'b')
		put_end(chrome, event);
	chrome->last_ns = event->time_ns;
	return out->err;
}

static void put_loss(struct chrome *chrome, int64_t time_ns, int cause, const uint64_t *count,
		     const struct fmt_lost *lost)
{
	struct out *out = chrome->out;

	put_head(chrome, 'i', time_ns, 0, 0);
	out_printf(out,
		   "\"name\":\"events lost\",\"cat\":\"lost\",\"s\":\"g\","
		   "\"args\":{\"cause\":\"%s\"",
		   posix_trace_lost_name_np(cause));
	if (count)
		out_printf(out, ",\"count\":%llu", (unsigned long long)*count);
	if (lost && lost->has_interval)
		out_printf(out, ",\"from_ns\":\"%lld\",\"to_ns\":\"%lld\"",
			   (long long)lost->begin_ns, (long long)lost->end_ns);
	out_str(out, "}}");
}

static int lost(void *context, const struct fmt_lost *lost)
{
	struct chrome *chrome = context;
	uint64_t number, *count = fmt_lost_count(&chrome->facts, lost, &number) ? &number : NULL;

	chrome->counted[lost->cause] |= count && !lost->counted;
	put_loss(chrome, lost->has_interval ? lost->end_ns : chrome->last_ns, lost->cause, count,
		 lost);
	return chrome->out->err;
}

static int thread(void *context, const struct fmt_thread *thread)
{
	struct chrome *chrome = context;
	bool process = !thread->tid && !thread->thread;

	out_printf(chrome->out,
		   ",\n{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%llu,\"args\":{",
		   process ? "process_name" : "thread_name", thread->pid,
		   (unsigned long long)thread_number(thread->tid, thread->thread));
	json_text_member(chrome->out, "name", thread->name, thread->name_len);
	out_str(chrome->out, "}}");
	return chrome->out->err;
}

static void other(struct out *out, const char *key, const char *text, size_t room)
{
	if (!*text)
		return;
	out_char(out, ',');
	json_text_member(out, key, text, strnlen(text, room));
}

static int end(void *context, const struct fmt_end *end)
{
	struct chrome *chrome = context;
	const struct fmt_facts *facts = &chrome->facts;
	struct out *out = chrome->out;

	for (int i = 0; end->has_ledger && i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		if (end->ledger.lost[i] && !chrome->counted[i])
			put_loss(chrome, chrome->last_ns, i, &end->ledger.lost[i], NULL);
	out_printf(out, "\n],\"otherData\":{\"base_ns\":\"%lld\",\"pid\":%u",
		   (long long)chrome->base_ns, facts->pid);
	other(out, "trace", facts->name, sizeof(facts->name));
	other(out, "host", facts->host, sizeof(facts->host));
	other(out, "generation", facts->generation, sizeof(facts->generation));
	other(out, "clock", facts->clock, sizeof(facts->clock));
	out_str(out, "}}\n");
	return out->err;
}

const struct format format_chrome = {
	.name = "chrome",
	.summary = "JSON trace of Chrome",
	.suffix = "json",
	.output = FMT_TO_BYTES,
	.open = open_sink,
	.begin = begin,
	.type = type,
	.thread = thread,
	.event = event,
	.lost = lost,
	.end = end,
	.close = close_sink,
	.scans = true,
};
