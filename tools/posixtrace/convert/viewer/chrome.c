/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * chrome.c - the JSON Object Format of "Trace Event Format" (Google, section "JSON Object Format"),
 * for chrome://tracing, Perfetto's UI and others.
 *
 * Times are microseconds since the earliest event or begin of a span, with three decimals. A time
 * since 1970 would not be exact to the nanosecond as a double. The member base_ns of otherData has
 * the earliest time.
 *
 * The spans on a thread's first lane are slices of the thread (phases B, E, X). Readers require
 * that slices nest, so spans on other lanes, and spans with a key, are asynchronous (b, e) and have
 * an id.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "base/vec.h"
#include "convert/explained.h"
#include "convert/format.h"
#include "convert/jsonfields.h"

extern const struct format format_chrome;

struct kept { /* a piece of JSON that many events repeat */
	char *name; /* "name":"NAME" */
	size_t name_len;
	bool has_counters; /* some field is a counter */
};

struct chrome {
	struct fmt_flow *flow;
	struct json json;
	struct kept *kept; /* one element for each type, at the type's index */
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
	chrome->json = json_begin(output->out);
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

/*
 * Begins an element of the list of events. Each element is a line. The caller writes members and
 * closes the object.
 */
static void begin_element(struct json *json, char phase)
{
	json_new_line(json);
	json_object(json, NULL);
	json_word(json, "ph", (const char[]){ phase, '\0' });
}

/*
 * Writes a metadata event, which names a process or a thread. Such an event may be at any place of
 * the list.
 */
static void put_metadata(struct json *json, uint32_t pid, uint64_t tid, bool is_process,
			 const char *name, size_t name_len)
{
	begin_element(json, 'M');
	json_string_member(json, "name", is_process ? "process_name" : "thread_name");
	json_unsigned(json, "pid", pid);
	json_unsigned(json, "tid", tid);
	json_object(json, "args");
	json_exact_text(json, "name", name, name_len);
	json_end_object(json);
	json_end_object(json);
}

/*
 * Writes the beginning of the file. Times count from the least time that the first reading has
 * found, so that no time is negative.
 */
static int chrome_begin(void *context, const struct fmt_facts *facts)
{
	struct chrome *chrome = context;
	struct json *json = &chrome->json;

	chrome->facts = *facts;
	if (facts->has_scan) {
		chrome->has_base = true;
		chrome->base_ns = facts->least_ns;
		chrome->last_ns = facts->least_ns;
	}
	json_object(json, NULL);
	json_word(json, "displayTimeUnit", "ns");
	json_array(json, "traceEvents");
	put_metadata(json, 0, 0, true, "stream", 6);
	return json->out->err;
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
	for (unsigned i = 0; type->fields && i < type->fields->fields; i++)
		kept->has_counters |= type->fields->field[i].is_counter != 0;
	kept->name = json_keep_text("name", type->name, type->name_len, &kept->name_len);
	return kept->name ? 0 : ENOMEM;
}

/*
 * Returns the thread as a number that a double represents exactly. Only the lower 48 bits of a
 * pthread_t are kept; on common machines a user address has no more bits.
 */
static uint64_t thread_number(uint32_t tid, uint64_t thread)
{
	return tid || !thread ? tid : thread & ((UINT64_C(1) << 48) - 1);
}

/* Microseconds with three decimals are exact nanoseconds. */
static void put_microseconds(struct json *json, const char *name, uint64_t ns, bool is_negative)
{
	char *p = json_put_name(json, out_room(json->out), name);

	if (is_negative)
		*p++ = '-';
	p = put_unsigned(p, ns / 1000);
	*p++ = '.';
	out_done(json->out, put_digits(p, ns % 1000, 3));
}

/*
 * Writes a time relative to the base. The difference is unsigned, because in a damaged trace it may
 * need all 64 bits.
 */
static void put_time(struct chrome *chrome, int64_t time_ns)
{
	uint64_t since;

	if (!chrome->has_base)
		chrome->base_ns = time_ns;
	chrome->has_base = true;
	since = (uint64_t)time_ns - (uint64_t)chrome->base_ns;
	put_microseconds(&chrome->json, "ts", time_ns < chrome->base_ns ? 0 - since : since,
			 time_ns < chrome->base_ns);
}

/* Writes the members that every event has. The rest of the object follows. */
static void put_head(struct chrome *chrome, char phase, int64_t time_ns, uint32_t pid, uint64_t tid)
{
	begin_element(&chrome->json, phase);
	put_time(chrome, time_ns);
	json_unsigned(&chrome->json, "pid", pid);
	json_unsigned(&chrome->json, "tid", tid);
}

/*
 * Writes data that the fields do not describe completely: text as text, other data in hexadecimal
 * digits.
 */
static void put_data(struct json *json, const struct fmt_event *event)
{
	if (text_is_text(event->data, event->data_len, true))
		json_unicode(json, "text", event->data, event->data_len);
	else
		json_hex(json, "hex", event->data, event->data_len);
}

/* Writes args and ends the object. Members with their usual value are omitted. */
static void put_args(struct chrome *chrome, const struct fmt_event *event)
{
	struct json *json = &chrome->json;
	bool add_nul;

	json_object(json, "args");
	json_address(json, "address", event->address);
	json_address(json, "thread", event->thread);
	if (event->data_len && !(event->type->fields && explained(event->type->fields, event->data,
								  event->data_len, &add_nul)))
		put_data(json, event);
	json_fields(json, chrome->flow, event);
	if (event->truncation != POSIX_TRACE_NOT_TRUNCATED)
		json_bool(json, "truncated", true);
	if (event->flags & POSIX_TRACE_EVENT_LATE_NP)
		json_bool(json, "late", true);
	if (event->flags & POSIX_TRACE_EVENT_GAP_NP)
		json_bool(json, "after_damage", true);
	if (event->cpu >= 0)
		json_signed(json, "cpu", event->cpu);
	json_end_object(json);
	json_end_object(json);
}

/* Writes the category and the id. They connect the two events of an asynchronous span. */
static void put_async(struct json *json, const struct fmt_span *span)
{
	json_word(json, "cat", "span");
	json_address(json, "id", span->id);
}

/*
 * Writes the name of the span, and the id or the duration that its phase requires. An event with a
 * duration has the name of its type.
 */
static void put_span(struct chrome *chrome, const struct fmt_event *event, char phase)
{
	const struct fmt_span *span = event->span;
	const struct kept *kept = &chrome->kept[event->type->index];
	struct json *json = &chrome->json;

	if (span->part == FMT_WHOLE)
		json_kept(json, kept->name, kept->name_len);
	else
		json_exact_text(json, "name", span->name, strlen(span->name));
	if (phase == 'b' || phase == 'e')
		put_async(json, span);
	if (phase == 'X')
		put_microseconds(json, "dur", (uint64_t)span->end_ns - (uint64_t)span->begin_ns,
				 false);
}

/*
 * Returns the format's phase of an event: X has a duration; B and E nest on the thread; b and e are
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
 * Writes the end of an asynchronous span that a single event has made, as a second element. The
 * format has no asynchronous phase with a duration.
 */
static void put_end(struct chrome *chrome, const struct fmt_event *event)
{
	put_head(chrome, 'e', event->time_ns, event->pid, thread_number(event->tid, event->thread));
	put_span(chrome, event, 'e');
	json_object(&chrome->json, "args");
	json_end_object(&chrome->json);
	json_end_object(&chrome->json);
}

/*
 * Writes the values of an event's counters as an event of phase C, with a member of args for each
 * counter. Readers draw numbers only, so a value that is not a number is omitted.
 */
static void put_counters(struct chrome *chrome, const struct fmt_event *event)
{
	const struct posix_trace_schema_np *schema = event->type->fields;
	const struct kept *kept = &chrome->kept[event->type->index];
	struct json *json = &chrome->json;
	struct posix_trace_value_np value;

	put_head(chrome, 'C', event->time_ns, event->pid,
		 thread_number(event->tid, event->thread));
	json_kept(json, kept->name, kept->name_len);
	json_object(json, "args");
	for (unsigned i = 0; i < schema->fields; i++) {
		const char *name = schema->field[i].name;

		if (!schema->field[i].is_counter ||
		    !posix_trace_field_get_np(schema, i, 0, event->data, event->data_len, 0,
					      &value))
			continue;
		if (value.field->form == POSIX_TRACE_FORM_UNSIGNED_NP)
			json_unsigned(json, name, value.u64);
		else if (value.field->form == POSIX_TRACE_FORM_SIGNED_NP)
			json_signed(json, name, value.s64);
		else if (isfinite(value.f64))
			json_double(json, name, value.f64);
	}
	json_end_object(json);
	json_end_object(json);
}

static int chrome_event(void *context, const struct fmt_event *event)
{
	struct chrome *chrome = context;
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
		json_kept(&chrome->json, kept->name, kept->name_len);
		/* Readers show an instant of scope "t" on its thread. */
		json_word(&chrome->json, "s", "t");
	}
	put_args(chrome, event);
	if (is_whole && phase == 'b')
		put_end(chrome, event);
	if (kept->has_counters)
		put_counters(chrome, event);
	chrome->last_ns = event->time_ns;
	return chrome->json.out->err;
}

static void put_loss(struct chrome *chrome, int64_t time_ns, int cause, const uint64_t *count,
		     const struct fmt_lost *lost)
{
	struct json *json = &chrome->json;

	/* Readers show an instant of scope "g" across all threads. */
	put_head(chrome, 'i', time_ns, 0, 0);
	json_word(json, "name", "events lost");
	json_word(json, "cat", "lost");
	json_word(json, "s", "g");
	json_object(json, "args");
	json_string_member(json, "cause", posix_trace_lost_name_np(cause));
	if (count)
		json_unsigned(json, "count", *count);
	if (lost && lost->has_interval) {
		json_exact(json, "from_ns", lost->begin_ns);
		json_exact(json, "to_ns", lost->end_ns);
	}
	json_end_object(json);
	json_end_object(json);
}

static int chrome_lost(void *context, const struct fmt_lost *lost)
{
	struct chrome *chrome = context;
	uint64_t number, *count = fmt_lost_count(&chrome->facts, lost, &number) ? &number : NULL;

	/*
	 * If the gap itself has no count, fmt_lost_count() may return the ledger's total of this
	 * cause. In this case chrome_end() must not write the total again.
	 */
	chrome->counted[lost->cause] |= count && !lost->counted;
	put_loss(chrome, lost->has_interval ? lost->end_ns : chrome->last_ns, lost->cause, count,
		 lost);
	return chrome->json.out->err;
}

static int chrome_thread(void *context, const struct fmt_thread *thread)
{
	struct chrome *chrome = context;

	put_metadata(&chrome->json, thread->pid, thread_number(thread->tid, thread->thread),
		     !thread->tid && !thread->thread, thread->name, thread->name_len);
	return chrome->json.out->err;
}

static void put_other(struct json *json, const char *name, const char *text, size_t room)
{
	if (*text)
		json_exact_text(json, name, text, strnlen(text, room));
}

static int chrome_end(void *context, const struct fmt_end *end)
{
	struct chrome *chrome = context;
	const struct fmt_facts *facts = &chrome->facts;
	struct json *json = &chrome->json;

	/* Writes the losses that only the ledger has. */
	for (int i = 0; end->has_ledger && i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		if (end->ledger.lost[i] && !chrome->counted[i])
			put_loss(chrome, chrome->last_ns, i, &end->ledger.lost[i], NULL);
	out_char(json->out, '\n');
	json_end_array(json);
	json_object(json, "otherData");
	json_exact(json, "base_ns", chrome->base_ns);
	json_unsigned(json, "pid", facts->pid);
	put_other(json, "trace", facts->name, sizeof(facts->name));
	put_other(json, "host", facts->host, sizeof(facts->host));
	put_other(json, "generation", facts->generation, sizeof(facts->generation));
	put_other(json, "clock", facts->clock, sizeof(facts->clock));
	json_end_object(json);
	json_end_line(json);
	return json->out->err;
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
	.scans = FMT_SCANS_SPANS,
};
