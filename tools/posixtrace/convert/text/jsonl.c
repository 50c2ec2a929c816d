/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jsonl.c - JSON lines (jsonlines.org): one JSON object for each line. The first member of an
 * object is its kind: "trace", "type", "thread", "object", "event", "lost", "note", "end".
 *
 * The output has all facts, types, names, events, losses and counts of the trace. A text that is
 * not UTF-8 is also written in hexadecimal digits. Data that is not text is written only in
 * hexadecimal digits. Numbers that a double cannot represent are strings. posixtrace-convert(1)
 * describes the members. Functions that return int return 0 or an error number.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "base/vec.h"
#include "convert/format.h"
#include "convert/jsonfields.h"
#include "log/equation.h"

extern const struct format format_jsonl;

struct kept { /* a piece of JSON that many lines repeat */
	char *text;
	size_t len;
};

/*
 * The parts of a type's lines that most events have in common: the name of the type, and the
 * origin. The origin is made again only if the thread, the place in the program or the length of
 * the data differs from that of the type's last event.
 */
#define ORIGIN_BYTES 192 /* enough for five names and numbers */
#define TIMES_BYTES  128 /* enough for two times, all other names and the end of the line */

struct kind {
	struct kept event;     /* "event":"NAME", quoted once */
	struct fieldplan *plan; /* plan of the fields, or NULL */
	/*
	 * greatest number of bytes of a line that put_line() writes, without the digits of the data
	 */
	size_t most;
	uint32_t pid, tid;
	uint64_t thread, address;
	size_t data_len;
	size_t origin_len;     /* 0: no event so far */
	char origin[ORIGIN_BYTES]; /* ","pid":PID ... ,"len":LEN,"hex":" */
};

struct jsonl {
	struct fmt_flow *flow;
	struct json json;
	struct kind **kind;    /* one element for each type, at the type's index */
	size_t kinds;
	bool is_single;        /* the input is one log, so lines do not have the name of the log */
};

static int jsonl_open(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	struct jsonl *jsonl = calloc(1, sizeof(*jsonl));

	if (!jsonl)
		return ENOMEM;
	jsonl->flow = flow;
	jsonl->json = json_begin(output->out);
	*context = jsonl;
	return 0;
}

static void jsonl_close(void *context)
{
	struct jsonl *jsonl = context;

	for (size_t i = 0; i < jsonl->kinds; i++) {
		if (!jsonl->kind[i])
			continue;
		free(jsonl->kind[i]->event.text);
		free(jsonl->kind[i]->plan);
		free(jsonl->kind[i]);
	}
	free(jsonl->kind);
	free(jsonl);
}

/* Writes the text unless it is empty. */
static void text_member(struct json *json, const char *name, const char *text, size_t len)
{
	if (len)
		json_exact_text(json, name, text, len);
}

static void string_member(struct json *json, const char *name, const char *text)
{
	text_member(json, name, text, strlen(text));
}

/* Returns the word that posixtrace stat uses. A damaged log may have a policy with any number. */
static const char *policy_name(int policy)
{
	switch (policy) {
	case POSIX_TRACE_LOOP:
		return "loop";
	case POSIX_TRACE_UNTIL_FULL:
		return "until-full";
	case POSIX_TRACE_FLUSH:
		return "flush";
	case POSIX_TRACE_APPEND:
		return "append";
	}
	return "unknown";
}

/*
 * If an attribute is damaged, its function posix_trace_attr_get...() does not change the variable,
 * which is 0. Therefore the results of these functions are not checked.
 */
static void attribute_members(struct json *json, const trace_attr_t *attr)
{
	size_t stream_size = 0, data_size = 0, log_size = 0;
	int inherited = 0, stream_policy = 0, log_policy = 0;

	posix_trace_attr_getstreamsize(attr, &stream_size);
	posix_trace_attr_getmaxdatasize(attr, &data_size);
	posix_trace_attr_getlogsize(attr, &log_size);
	posix_trace_attr_getinherited(attr, &inherited);
	posix_trace_attr_getstreamfullpolicy(attr, &stream_policy);
	posix_trace_attr_getlogfullpolicy(attr, &log_policy);
	json_unsigned(json, "stream_size", stream_size);
	json_unsigned(json, "max_data_size", data_size);
	json_unsigned(json, "log_size", log_size);
	json_bool(json, "inherited", inherited == POSIX_TRACE_INHERITED);
	json_string_member(json, "stream_policy", policy_name(stream_policy));
	json_string_member(json, "log_policy", policy_name(log_policy));
}

static int jsonl_begin(void *context, const struct fmt_facts *facts)
{
	struct jsonl *jsonl = context;
	struct json *json = &jsonl->json;

	jsonl->is_single = !fmt_source_name(jsonl->flow, 0);
	json_object(json, NULL);
	json_unicode(json, "trace", facts->name, strlen(facts->name));
	/* Members without a value are omitted, so that no special value means "unknown". */
	string_member(json, "generation", facts->generation);
	string_member(json, "host", facts->host);
	string_member(json, "clock", facts->clock);
	if (facts->clock_hz)
		json_exact(json, "clock_hz", (int64_t)facts->clock_hz);
	if (facts->resolution_ns)
		json_exact(json, "resolution_ns", facts->resolution_ns);
	json_unsigned(json, "pid", facts->pid);
	if (facts->has_creation)
		json_time(json, "created", "created_ns", facts->creation_ns);
	if (facts->relative)
		json_bool(json, "relative", true);
	if (facts->has_attr)
		attribute_members(json, &facts->attr);
	json_end_line(json);
	return json->out->err;
}

/*
 * Keeps the names of a type and its fields as JSON, so that they are quoted only once for all
 * events.
 */
static int keep_type(struct jsonl *jsonl, const struct fmt_type *type)
{
	struct kind *kind;

	if (!vec_reach(&jsonl->kind, &jsonl->kinds, type->index))
		return ENOMEM;
	kind = jsonl->kind[type->index] = calloc(1, sizeof(*kind));
	if (!kind || !json_plan(&kind->plan, type->fields))
		return ENOMEM;
	kind->event.text = json_keep_text("event", type->name, type->name_len, &kind->event.len);
	kind->most = kind->event.len + ORIGIN_BYTES + TIMES_BYTES;
	if (kind->plan)
		kind->most += kind->plan->most;
	return kind->event.text ? 0 : ENOMEM;
}

static int jsonl_type(void *context, const struct fmt_type *type)
{
	struct jsonl *jsonl = context;
	struct json *json = &jsonl->json;

	json_object(json, NULL);
	json_exact_text(json, "type", type->name, type->name_len);
	if (type->id)
		json_unsigned(json, "id", type->id);
	if (type->number)
		json_unsigned(json, "number", type->number);
	if (type->schema)
		string_member(json, "schema", type->schema);
	if (type->level >= 0)
		json_signed(json, "level", type->level);
	if (type->span)
		string_member(json, type->phase == FMT_BEGIN ? "begins" : "ends", type->span);
	json_end_line(json);
	return keep_type(jsonl, type);
}

/* Writes a name. For the name of a process, tid and handle are 0. */
static int jsonl_thread(void *context, const struct fmt_thread *thread)
{
	struct json *json = &((struct jsonl *)context)->json;

	json_object(json, NULL);
	json_exact_text(json, "thread", thread->name, thread->name_len);
	json_unsigned(json, "pid", thread->pid);
	json_unsigned(json, "tid", thread->tid);
	json_address(json, "handle", thread->thread);
	json_end_line(json);
	return json->out->err;
}

static int jsonl_object(void *context, const struct fmt_object *object)
{
	struct json *json = &((struct jsonl *)context)->json;

	json_object(json, NULL);
	json_exact_text(json, "object", object->name, object->name_len);
	string_member(json, "kind", object->kind);
	json_unsigned(json, "pid", object->pid);
	json_address(json, "pointer", object->pointer);
	if (object->has_since)
		json_time(json, "since", "since_ns", object->since_ns);
	if (object->parameter[0] || object->parameter[1]) {
		json_array(json, "parameters");
		json_exact_unsigned(json, NULL, object->parameter[0]);
		json_exact_unsigned(json, NULL, object->parameter[1]);
		json_end_array(json);
	}
	json_end_line(json);
	return json->out->err;
}

/* Names the log of an event if the input is several logs. */
static void log_member(struct jsonl *jsonl, unsigned source)
{
	const char *log = fmt_source_name(jsonl->flow, source);

	if (log)
		string_member(&jsonl->json, "log", log);
}

/* Writes the data as text if all of it is text, otherwise in hexadecimal digits. */
static void data_member(struct json *json, const struct fmt_event *event)
{
	if (text_is_text(event->data, event->data_len, true))
		json_unicode(json, "text", event->data, event->data_len);
	else
		json_hex(json, "hex", event->data, event->data_len);
}

/* Writes the members that only few events have. */
static void rare_members(struct json *json, const struct fmt_event *event)
{
	if (event->truncation != POSIX_TRACE_NOT_TRUNCATED)
		json_string_member(json, "truncated",
				   event->truncation == POSIX_TRACE_TRUNCATED_READ ? "read"
										   : "record");
	if (event->flags & POSIX_TRACE_EVENT_LATE_NP)
		json_bool(json, "late", true);
	if (event->flags & POSIX_TRACE_EVENT_GAP_NP)
		json_bool(json, "after_damage", true);
	if (event->cpu >= 0)
		json_signed(json, "cpu", event->cpu);
}

/*
 * Returns the greatest number of bytes of a line that put_line() writes. The line has two
 * hexadecimal digits for each byte of the data.
 */
static size_t line_most(const struct kind *kind, const struct fmt_event *event)
{
	return kind->most + 2 * event->data_len;
}

/*
 * Returns whether put_line() can write the line. All of these conditions must hold: the data is not
 * text; the type has only integers and the data has exactly these fields, or the type has no fields
 * and there is data; the input is a single log; the line has no rare members; the line fits into
 * the buffer.
 */
static bool is_usual(const struct jsonl *jsonl, const struct kind *kind,
		     const struct fmt_event *event)
{
	bool fits = kind->plan ? fieldplan_fits(kind->plan, event->data_len)
			       : !event->type->fields && event->data_len;

	return fits && !event->flags && event->cpu < 0 &&
	       event->truncation == POSIX_TRACE_NOT_TRUNCATED &&
	       line_most(kind, event) <= OUT_BYTES && jsonl->is_single &&
	       !text_is_text(event->data, event->data_len, true);
}

/* Makes the members of an origin. The memory is large enough for the greatest numbers. */
static void make_origin(struct kind *kind, const struct fmt_event *event)
{
	char *p = kind->origin;

	kind->pid = event->pid;
	kind->tid = event->tid;
	kind->thread = event->thread;
	kind->address = event->address;
	kind->data_len = event->data_len;
	p = put_unsigned(stpcpy(p, "\",\"pid\":"), event->pid);
	p = put_unsigned(stpcpy(p, ",\"tid\":"), event->tid);
	p = json_put_address(stpcpy(p, ",\"thread\":"), event->thread);
	p = json_put_address(stpcpy(p, ",\"address\":"), event->address);
	p = put_unsigned(stpcpy(p, ",\"len\":"), event->data_len);
	kind->origin_len = (size_t)(stpcpy(p, ",\"hex\":\"") - kind->origin);
}

/* Writes a literal text without its NUL. */
#define PUT(p, literal) ((char *)memcpy((p), (literal), sizeof(literal) - 1) + sizeof(literal) - 1)

/*
 * Writes the line from the kept parts. The line equals the line that jsonl_event() would write
 * member by member.
 */
static void put_line(struct out *out, struct kind *kind, const struct fmt_event *event)
{
	char *p = out_room_for(out, line_most(kind, event));

	if (!kind->origin_len || kind->tid != event->tid || kind->address != event->address ||
	    kind->thread != event->thread || kind->pid != event->pid ||
	    kind->data_len != event->data_len)
		make_origin(kind, event);
	*p++ = '{';
	memcpy(p, kind->event.text, kind->event.len);
	p = PUT(p + kind->event.len, ",\"time\":\"");
	p = when_put(p, event->time_ns, WHEN_UTC);
	p = PUT(p, "\",\"ns\":\"");
	p = when_put(p, event->time_ns, WHEN_RAW);
	memcpy(p, kind->origin, kind->origin_len);
	p = put_hex_bytes(p + kind->origin_len, event->data, event->data_len);
	*p++ = '"';
	/* is_usual() has checked that the data has only the fields. */
	if (kind->plan)
		p = json_plan_put(kind->plan, PUT(p, ",\"fields\":"), event->data);
	out_done(out, PUT(p, "}\n"));
}

static int jsonl_event(void *context, const struct fmt_event *event)
{
	struct jsonl *jsonl = context;
	struct json *json = &jsonl->json;
	struct kind *kind = jsonl->kind[event->type->index];

	/*
	 * In most traces, nearly all lines are of this kind. Any other line is written member by
	 * member.
	 */
	if (is_usual(jsonl, kind, event)) {
		put_line(json->out, kind, event);
		return json->out->err;
	}
	json_object(json, NULL);
	json_kept(json, kind->event.text, kind->event.len);
	json_time(json, "time", "ns", event->time_ns);
	json_unsigned(json, "pid", event->pid);
	json_unsigned(json, "tid", event->tid);
	json_address(json, "thread", event->thread);
	json_address(json, "address", event->address);
	json_unsigned(json, "len", event->data_len);
	if (event->data_len)
		data_member(json, event);
	json_fields(json, jsonl->flow, event);
	if (event->truncation != POSIX_TRACE_NOT_TRUNCATED || event->flags || event->cpu >= 0)
		rare_members(json, event);
	log_member(jsonl, event->source);
	json_end_line(json);
	return json->out->err;
}

/* If the count is not known, it is written as null, which differs from 0. */
static int jsonl_lost(void *context, const struct fmt_lost *lost)
{
	struct jsonl *jsonl = context;
	struct json *json = &jsonl->json;

	json_object(json, NULL);
	if (lost->counted)
		json_unsigned(json, "lost", lost->count);
	else
		json_null(json, "lost");
	string_member(json, "cause", posix_trace_lost_name_np(lost->cause));
	if (lost->has_interval) {
		json_time(json, "from", "from_ns", lost->begin_ns);
		json_time(json, "to", "to_ns", lost->end_ns);
	}
	if (lost->type)
		text_member(json, "of", lost->type->name, lost->type->name_len);
	if (lost->pid) {
		json_unsigned(json, "pid", lost->pid);
		json_unsigned(json, "tid", lost->tid);
	}
	log_member(jsonl, lost->source);
	json_end_line(json);
	return json->out->err;
}

/* A note is a text for people, such as the origin of one of several logs. */
static int jsonl_note(void *context, const char *text)
{
	struct json *json = &((struct jsonl *)context)->json;

	json_object(json, NULL);
	json_exact_text(json, "note", text, strlen(text));
	json_end_line(json);
	return json->out->err;
}

/* Writes the members of a ledger. Causes without losses are omitted. */
static void ledger_members(struct json *json, const struct posix_trace_ledger_np *ledger)
{
	json_unsigned(json, "called", ledger->called);
	json_unsigned(json, "reported", ledger->reported);
	json_unsigned(json, "unread", ledger->unread);
	equation_causes_json(json, "lost", ledger->lost);
}

/* Writes the ledger in total, by type and by thread. */
static void ledgers_member(struct json *json, const struct fmt_end *end)
{
	json_object(json, "ledger");
	ledger_members(json, &end->ledger);
	json_end_object(json);
	json_array(json, "types");
	for (size_t i = 0; i < end->types; i++) {
		json_object(json, NULL);
		json_exact_text(json, "type", end->type[i].type->name, end->type[i].type->name_len);
		ledger_members(json, &end->type[i].ledger);
		json_end_object(json);
	}
	json_end_array(json);
	json_array(json, "threads");
	for (size_t i = 0; i < end->threads; i++) {
		const struct posix_trace_thread_np *thread = &end->thread[i].thread;

		json_object(json, NULL);
		json_unsigned(json, "pid", (unsigned)thread->pid);
		json_unsigned(json, "tid", (unsigned)thread->tid);
		json_address(json, "thread", (uint64_t)thread->thread);
		ledger_members(json, &end->thread[i].ledger);
		json_end_object(json);
	}
	json_end_array(json);
}

static void status_members(struct json *json, const struct posix_trace_status_info *status)
{
	json_bool(json, "running", status->posix_stream_status);
	json_bool(json, "stream_full", status->posix_stream_full_status);
	json_bool(json, "overrun", status->posix_stream_overrun_status);
	json_signed(json, "flush_error", status->posix_stream_flush_error);
	json_bool(json, "log_full", status->posix_log_full_status);
	json_bool(json, "log_overrun", status->posix_log_overrun_status);
}

/* Writes the last line. If this line is missing, the output is incomplete. */
static int jsonl_end(void *context, const struct fmt_end *end)
{
	struct json *json = &((struct jsonl *)context)->json;

	json_object(json, NULL);
	json_bool(json, "end", end->complete);
	if (end->has_status)
		status_members(json, &end->status);
	if (end->has_ledger)
		ledgers_member(json, end);
	json_end_line(json);
	return json->out->err;
}

/*
 * Called when a live source pauses. Writes all lines so far, so that a reader of the output
 * receives them.
 */
static int jsonl_idle(void *context)
{
	return out_flush(((struct jsonl *)context)->json.out);
}

const struct format format_jsonl = {
	.name = "jsonl",
	.summary = "JSON lines, one object a line; keeps everything that a log has",
	.suffix = "jsonl",
	.output = FMT_TO_BYTES,
	.open = jsonl_open,
	.begin = jsonl_begin,
	.type = jsonl_type,
	.thread = jsonl_thread,
	.object = jsonl_object,
	.event = jsonl_event,
	.lost = jsonl_lost,
	.note = jsonl_note,
	.idle = jsonl_idle,
	.end = jsonl_end,
	.close = jsonl_close,
};
