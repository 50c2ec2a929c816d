/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * chrome.c - the JSON Object Format of "Trace Event Format" (Google, section "JSON Object Format"),
 * for chrome://tracing, Perfetto's UI and others.
 *
 * Times are microseconds since the first event, with three decimals. As a double, a time since 1970
 * would not be exact to the nanosecond. otherData has the time of the first event.
 *
 * The spans on a thread's first lane are slices of the thread (phases B, E, X). Readers require
 * that slices nest, so spans on other lanes are asynchronous (b, e) and have an id.
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

struct kept { /* a piece of JSON that many events repeat */
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

static int chrome_open(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	struct chrome *chrome = calloc(1, sizeof(*chrome));

	if (!chrome)
		return ENOMEM;
	chrome->flow = flow;
	chrome->out = output->out;
	*context = chrome;
	return 0;
}

static void chrome_close(void *context)
{
	struct chrome *chrome = context;

	for (size_t i = 0; i < chrome->types; i++)
		free(chrome->kept[i].name);
	free(chrome->kept);
	free(chrome);
}

/* Writes the beginning. The first reading gives the least time, so that no time is negative. */
static int chrome_begin(void *context, const struct fmt_facts *facts)
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
	/* The object is the first of the list, so all later ones begin with a comma. */
	out_str(out, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"tid\":0,"
		     "\"args\":{\"name\":\"stream\"}}");
	return out->err;
}

/* Quotes the name of the type once for all of its events. */
static int chrome_type(void *context, const struct fmt_type *type)
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

/*
 * The thread as a number that a double represents exactly. A pthread_t is cut to 48 bits, which
 * user addresses have on common machines.
 */
static uint64_t thread_number(uint32_t tid, uint64_t thread)
{
	return tid || !thread ? tid : thread & ((UINT64_C(1) << 48) - 1);
}

/* Microseconds with three decimals are exact nanoseconds. */
static void put_microseconds(struct out *out, uint64_t ns, bool negative)
{
	char *p = out_room(out);

	if (negative)
		*p++ = '-';
	p = put_unsigned(p, ns / 1000);
	*p++ = '.';
	out_done(out, put_digits(p, ns % 1000, 3));
}

/*
 * Writes a time relative to the base. The difference is unsigned, as it may exceed 63 bits in a
 * damaged trace.
 */
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

/* Writes the members that every event has. The rest of the object follows. */
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

/* The data that no fields describe: as text if it is text, else in hexadecimal digits. */
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

/* Writes args and ends the object. Members with their usual value are omitted. */
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

/* The category and id that connect both events of an asynchronous span. */
static void put_async(struct chrome *chrome, const struct fmt_span *span)
{
	out_printf(chrome->out, ",\"cat\":\"span\",\"id\":\"0x%llx\"",
		   (unsigned long long)span->id);
}

/*
 * Writes the name of the span, and the id or the duration that its phase requires. An event with a
 * duration has the name of its type.
 */
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

/*
 * The phase of an event by the format: X has a duration, B and E nest on the thread, b and e are
 * asynchronous.
 */
static char phase_of(const struct fmt_span *span)
{
	bool is_async = span->keyed || span->lane;

	if (span->part == FMT_WHOLE)
		return is_async ? 'b' : 'X';
	if (span->part == FMT_OPENS)
		return is_async ? 'b' : 'B';
	return is_async ? 'e' : 'E';
}

/*
 * An asynchronous span has no phase with a duration, so an event with a duration gets its end here.
 */
static void put_end(struct chrome *chrome, const struct fmt_event *event)
{
	put_head(chrome, 'e', event->time_ns, event->pid, thread_number(event->tid, event->thread));
	put_span(chrome, event, 'e');
	out_str(chrome->out, ",\"args\":{}}");
}

static int chrome_event(void *context, const struct fmt_event *event)
{
	struct chrome *chrome = context;
	struct out *out = chrome->out;
	const struct kept *kept = &chrome->kept[event->type->index];
	const struct fmt_span *span = event->span;
	bool is_whole = span && span->part == FMT_WHOLE;
	char phase = span ? phase_of(span) : 'i';

	/* A slice with a duration begins before its event. */
	put_head(chrome, phase, is_whole ? span->begin_ns : event->time_ns, event->pid,
		 thread_number(event->tid, event->thread));
	if (span) {
		put_span(chrome, event, phase);
	} else {
		out_bytes(out, kept->name, kept->name_len);
		/* An instant of scope "t" is shown on its thread. */
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

	/* An instant of scope "g" is shown across all threads. */
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

static int chrome_lost(void *context, const struct fmt_lost *lost)
{
	struct chrome *chrome = context;
	uint64_t number, *count = fmt_lost_count(&chrome->facts, lost, &number) ? &number : NULL;

	/*
	 * The ledger's total of this cause is used up by this gap, so chrome_end() must not repeat
	 * it.
	 */
	chrome->counted[lost->cause] |= count && !lost->counted;
	put_loss(chrome, lost->has_interval ? lost->end_ns : chrome->last_ns, lost->cause, count,
		 lost);
	return chrome->out->err;
}

static int chrome_thread(void *context, const struct fmt_thread *thread)
{
	struct chrome *chrome = context;
	bool process = !thread->tid && !thread->thread;

	/* Metadata events name processes and threads. They may be at any place of the list. */
	out_printf(chrome->out,
		   ",\n{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%llu,\"args\":{",
		   process ? "process_name" : "thread_name", thread->pid,
		   (unsigned long long)thread_number(thread->tid, thread->thread));
	json_text_member(chrome->out, "name", thread->name, thread->name_len);
	out_str(chrome->out, "}}");
	return chrome->out->err;
}

static void put_other(struct out *out, const char *key, const char *text, size_t room)
{
	if (!*text)
		return;
	out_char(out, ',');
	json_text_member(out, key, text, strnlen(text, room));
}

static int chrome_end(void *context, const struct fmt_end *end)
{
	struct chrome *chrome = context;
	const struct fmt_facts *facts = &chrome->facts;
	struct out *out = chrome->out;

	/* Losses that only the ledger has. */
	for (int i = 0; end->has_ledger && i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		if (end->ledger.lost[i] && !chrome->counted[i])
			put_loss(chrome, chrome->last_ns, i, &end->ledger.lost[i], NULL);
	out_printf(out, "\n],\"otherData\":{\"base_ns\":\"%lld\",\"pid\":%u",
		   (long long)chrome->base_ns, facts->pid);
	put_other(out, "trace", facts->name, sizeof(facts->name));
	put_other(out, "host", facts->host, sizeof(facts->host));
	put_other(out, "generation", facts->generation, sizeof(facts->generation));
	put_other(out, "clock", facts->clock, sizeof(facts->clock));
	out_str(out, "}}\n");
	return out->err;
}

const struct format format_chrome = {
	.name = "chrome",
	.summary = "JSON trace of Chrome",
	.suffix = "json",
	.output = FMT_TO_BYTES,
	.open = chrome_open,
	.begin = chrome_begin,
	.type = chrome_type,
	.thread = chrome_thread,
	.event = chrome_event,
	.lost = chrome_lost,
	.end = chrome_end,
	.close = chrome_close,
	.scans = true,
};
