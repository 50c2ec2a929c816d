/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jsonl.c - JSON lines (jsonlines.org): one JSON object for each line. Its first member names its
 * kind: "trace", "type", "thread", "object", "event", "lost", "note", "end".
 *
 * The output has all of the trace. A text that is not UTF-8 is repeated in hexadecimal digits, data
 * that is not text consists of such digits, and numbers that a double cannot represent are strings.
 * posixtrace-convert(1) describes the members.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsontext.h"
#include "base/text.h"
#include "base/vec.h"
#include "base/when.h"
#include "convert/format.h"
#include "convert/jsonfields.h"

extern const struct format format_jsonl;

struct kept { /* a piece of JSON that many lines repeat */
	char *text;
	size_t len;
};

struct jsonl {
	struct fmt_flow *flow;
	struct out *out;
	struct kept *event; /* by index of its type: "event":"NAME", quoted once */
	size_t types;
};

static int jsonl_open(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	struct jsonl *jsonl = calloc(1, sizeof(*jsonl));

	if (!jsonl)
		return ENOMEM;
	jsonl->flow = flow;
	jsonl->out = output->out;
	*context = jsonl;
	return 0;
}

static void jsonl_close(void *context)
{
	struct jsonl *jsonl = context;

	for (size_t i = 0; i < jsonl->types; i++)
		free(jsonl->event[i].text);
	free(jsonl->event);
	free(jsonl);
}

/* Writes ,"KEY":"TEXT" unless the text is empty. */
static void text_member(struct out *out, const char *key, const char *text, size_t len)
{
	if (len) {
		out_char(out, ',');
		json_text_member(out, key, text, len);
	}
}

static void string_member(struct out *out, const char *key, const char *text)
{
	text_member(out, key, text, strlen(text));
}

/* Writes a number as a string, as a double cannot represent all of 64 bits. */
static void big_member(struct out *out, const char *key, int64_t number)
{
	out_printf(out, ",\"%s\":\"%lld\"", key, (long long)number);
}

/* Writes a time twice: in a form for people, and exactly in nanoseconds. */
static void time_member(struct out *out, const char *time_key, const char *ns_key, int64_t time_ns)
{
	char time[WHEN_BYTES];

	out_printf(out, ",\"%s\":\"%s\",\"%s\":\"%lld\"", time_key,
		   when_string(time, time_ns, WHEN_UTC), ns_key, (long long)time_ns);
}

/* The words of posixtrace stat. A damaged log may have another number. */
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

/* The functions keep 0 if an attribute is damaged, so no result is checked. */
static void attribute_members(struct out *out, const trace_attr_t *attr)
{
	size_t stream_size = 0, data_size = 0, log_size = 0;
	int inherited = 0, stream_policy = 0, log_policy = 0;

	posix_trace_attr_getstreamsize(attr, &stream_size);
	posix_trace_attr_getmaxdatasize(attr, &data_size);
	posix_trace_attr_getlogsize(attr, &log_size);
	posix_trace_attr_getinherited(attr, &inherited);
	posix_trace_attr_getstreamfullpolicy(attr, &stream_policy);
	posix_trace_attr_getlogfullpolicy(attr, &log_policy);
	out_printf(out, ",\"stream_size\":%zu,\"max_data_size\":%zu,\"log_size\":%zu,"
			"\"inherited\":%s,\"stream_policy\":\"%s\",\"log_policy\":\"%s\"",
		   stream_size, data_size, log_size,
		   inherited == POSIX_TRACE_INHERITED ? "true" : "false",
		   policy_name(stream_policy), policy_name(log_policy));
}

static int jsonl_begin(void *context, const struct fmt_facts *facts)
{
	struct out *out = ((struct jsonl *)context)->out;

	out_str(out, "{\"trace\":");
	json_string(out, facts->name, strlen(facts->name));
	/*
	 * Members without a value are omitted, so that readers need not know which value means
	 * unknown.
	 */
	string_member(out, "generation", facts->generation);
	string_member(out, "host", facts->host);
	string_member(out, "clock", facts->clock);
	if (facts->clock_hz)
		big_member(out, "clock_hz", (int64_t)facts->clock_hz);
	if (facts->resolution_ns)
		big_member(out, "resolution_ns", facts->resolution_ns);
	out_printf(out, ",\"pid\":%u", facts->pid);
	if (facts->has_creation)
		time_member(out, "created", "created_ns", facts->creation_ns);
	if (facts->relative)
		out_str(out, ",\"relative\":true");
	if (facts->has_attr)
		attribute_members(out, &facts->attr);
	out_str(out, "}\n");
	return out->err;
}

/* Keeps the name of a type as JSON. Names are quoted once and not for each event. */
static int keep_name(struct jsonl *jsonl, const struct fmt_type *type)
{
	struct kept *more;

	if (!vec_reach(&jsonl->event, &jsonl->types, type->index))
		return ENOMEM;
	more = jsonl->event;
	more[type->index].text = json_text_kept("event", type->name, type->name_len,
						&more[type->index].len);
	return more[type->index].text ? 0 : ENOMEM;
}

static int jsonl_type(void *context, const struct fmt_type *type)
{
	struct jsonl *jsonl = context;
	struct out *out = jsonl->out;

	out_str(out, "{");
	json_text_member(out, "type", type->name, type->name_len);
	if (type->id)
		out_printf(out, ",\"id\":%u", type->id);
	if (type->number)
		out_printf(out, ",\"number\":%llu", (unsigned long long)type->number);
	if (type->schema)
		string_member(out, "schema", type->schema);
	if (type->level >= 0)
		out_printf(out, ",\"level\":%d", type->level);
	if (type->span)
		string_member(out, type->phase == FMT_BEGIN ? "begins" : "ends", type->span);
	out_str(out, "}\n");
	return keep_name(jsonl, type);
}

/* tid and handle are 0 in the name of a process. */
static int jsonl_thread(void *context, const struct fmt_thread *thread)
{
	struct out *out = ((struct jsonl *)context)->out;

	out_char(out, '{');
	json_text_member(out, "thread", thread->name, thread->name_len);
	out_printf(out, ",\"pid\":%u,\"tid\":%u,\"handle\":\"0x%llx\"}\n", thread->pid, thread->tid,
		   (unsigned long long)thread->thread);
	return out->err;
}

static int jsonl_object(void *context, const struct fmt_object *object)
{
	struct out *out = ((struct jsonl *)context)->out;

	out_char(out, '{');
	json_text_member(out, "object", object->name, object->name_len);
	string_member(out, "kind", object->kind);
	out_printf(out, ",\"pid\":%u,\"pointer\":\"0x%llx\"", object->pid,
		   (unsigned long long)object->pointer);
	if (object->has_since)
		time_member(out, "since", "since_ns", object->since_ns);
	if (object->parameter[0] || object->parameter[1])
		out_printf(out, ",\"parameters\":[\"%llu\",\"%llu\"]",
			   (unsigned long long)object->parameter[0],
			   (unsigned long long)object->parameter[1]);
	out_str(out, "}\n");
	return out->err;
}

/* Names the log of an event if the input is several logs. */
static void log_member(struct jsonl *jsonl, unsigned source)
{
	const char *log = fmt_source_name(jsonl->flow, source);

	if (log)
		string_member(jsonl->out, "log", log);
}

/* Data as text if all of it is text, else in hexadecimal digits. */
static void data_member(struct out *out, const struct fmt_event *event)
{
	if (text_is_text(event->data, event->data_len, true)) {
		out_str(out, ",\"text\":");
		json_string(out, event->data, event->data_len);
	} else {
		out_str(out, ",\"hex\":\"");
		out_hex(out, event->data, event->data_len);
		out_char(out, '"');
	}
}

/* Members that few events have. */
static void rare_members(struct out *out, const struct fmt_event *event)
{
	if (event->truncation != POSIX_TRACE_NOT_TRUNCATED)
		out_printf(out, ",\"truncated\":\"%s\"",
			   event->truncation == POSIX_TRACE_TRUNCATED_READ ? "read" : "record");
	if (event->flags & POSIX_TRACE_EVENT_LATE_NP)
		out_str(out, ",\"late\":true");
	if (event->flags & POSIX_TRACE_EVENT_GAP_NP)
		out_str(out, ",\"after_damage\":true");
	if (event->cpu >= 0)
		out_printf(out, ",\"cpu\":%d", event->cpu);
}

static char *put_text(char *p, const char *text, size_t len)
{
	memcpy(p, text, len);
	return p + len;
}

/* The length is a constant, so that the compiler can replace the copy by stores. */
#define PUT(p, text) put_text(p, text, sizeof(text) - 1)

static int jsonl_event(void *context, const struct fmt_event *event)
{
	struct jsonl *jsonl = context;
	struct out *out = jsonl->out;
	const struct kept *name = &jsonl->event[event->type->index];
	char *p;

	/*
	 * One event is written by parts that each fit in the buffer. printf() would be the largest
	 * cost.
	 */
	out_char(out, '{');
	out_bytes(out, name->text, name->len);
	p = PUT(out_room(out), ",\"time\":\"");
	p = when_put(p, event->time_ns, WHEN_UTC);
	p = PUT(p, "\",\"ns\":\"");
	p = when_put(p, event->time_ns, WHEN_RAW);
	p = PUT(p, "\",\"pid\":");
	p = put_unsigned(p, event->pid);
	p = PUT(p, ",\"tid\":");
	p = put_unsigned(p, event->tid);
	p = PUT(p, ",\"thread\":\"0x");
	p = put_hex(p, event->thread, 1);
	p = PUT(p, "\",\"address\":\"0x");
	p = put_hex(p, event->address, 1);
	p = PUT(p, "\",\"len\":");
	p = put_unsigned(p, event->data_len);
	out_done(out, p);
	if (event->data_len)
		data_member(out, event);
	json_fields(out, jsonl->flow, event);
	if (event->truncation != POSIX_TRACE_NOT_TRUNCATED || event->flags || event->cpu >= 0)
		rare_members(out, event);
	log_member(jsonl, event->source);
	out_str(out, "}\n");
	return out->err;
}

/* An unknown count is null, which differs from 0. */
static int jsonl_lost(void *context, const struct fmt_lost *lost)
{
	struct jsonl *jsonl = context;
	struct out *out = jsonl->out;

	out_str(out, "{\"lost\":");
	if (lost->counted)
		out_unsigned(out, lost->count);
	else
		out_str(out, "null");
	string_member(out, "cause", posix_trace_lost_name_np(lost->cause));
	if (lost->has_interval) {
		time_member(out, "from", "from_ns", lost->begin_ns);
		time_member(out, "to", "to_ns", lost->end_ns);
	}
	if (lost->type)
		text_member(out, "of", lost->type->name, lost->type->name_len);
	if (lost->pid)
		out_printf(out, ",\"pid\":%u,\"tid\":%u", lost->pid, lost->tid);
	log_member(jsonl, lost->source);
	out_str(out, "}\n");
	return out->err;
}

/* A note is a line for people, such as the origin of one of several logs. */
static int jsonl_note(void *context, const char *text)
{
	struct out *out = ((struct jsonl *)context)->out;

	out_char(out, '{');
	json_text_member(out, "note", text, strlen(text));
	out_str(out, "}\n");
	return out->err;
}

/* The members of a ledger. Causes without losses are omitted. */
static void ledger_members(struct out *out, const struct posix_trace_ledger_np *ledger)
{
	const char *comma = "";

	out_printf(out, "\"called\":%llu,\"reported\":%llu,\"unread\":%llu,\"lost\":{",
		   (unsigned long long)ledger->called, (unsigned long long)ledger->reported,
		   (unsigned long long)ledger->unread);
	for (int i = 0; i < POSIX_TRACE_LOST_CAUSES_NP; i++) {
		if (!ledger->lost[i])
			continue;
		out_printf(out, "%s\"%s\":%llu", comma, posix_trace_lost_name_np(i),
			   (unsigned long long)ledger->lost[i]);
		comma = ",";
	}
	out_char(out, '}');
}

/* The ledger in total, by type and by thread. */
static void ledgers_member(struct out *out, const struct fmt_end *end)
{
	out_str(out, ",\"ledger\":{");
	ledger_members(out, &end->ledger);
	out_str(out, "},\"types\":[");
	for (size_t i = 0; i < end->types; i++) {
		out_str(out, i ? ",{" : "{");
		json_text_member(out, "type", end->type[i].type->name, end->type[i].type->name_len);
		out_char(out, ',');
		ledger_members(out, &end->type[i].ledger);
		out_char(out, '}');
	}
	out_str(out, "],\"threads\":[");
	for (size_t i = 0; i < end->threads; i++) {
		const struct posix_trace_thread_np *thread = &end->thread[i].thread;

		out_printf(out, "%s{\"pid\":%u,\"tid\":%u,\"thread\":\"0x%llx\",", i ? "," : "",
			   (unsigned)thread->pid, (unsigned)thread->tid,
			   (unsigned long long)thread->thread);
		ledger_members(out, &end->thread[i].ledger);
		out_char(out, '}');
	}
	out_char(out, ']');
}

/* The last line: a reader that lacks it knows that the output was cut. */
static int jsonl_end(void *context, const struct fmt_end *end)
{
	struct out *out = ((struct jsonl *)context)->out;

	out_printf(out, "{\"end\":%s", end->complete ? "true" : "false");
	if (end->has_status)
		out_printf(out, ",\"running\":%s,\"stream_full\":%s,\"overrun\":%s,"
				"\"flush_error\":%d,\"log_full\":%s,\"log_overrun\":%s",
			   end->status.posix_stream_status ? "true" : "false",
			   end->status.posix_stream_full_status ? "true" : "false",
			   end->status.posix_stream_overrun_status ? "true" : "false",
			   end->status.posix_stream_flush_error,
			   end->status.posix_log_full_status ? "true" : "false",
			   end->status.posix_log_overrun_status ? "true" : "false");
	if (end->has_ledger)
		ledgers_member(out, end);
	out_str(out, "}\n");
	return out->err;
}

/* A live source pauses: everything so far shall be visible to the reader. */
static int jsonl_idle(void *context)
{
	return out_flush(((struct jsonl *)context)->out);
}

const struct format format_jsonl = {
	.name = "jsonl",
	.summary = "JSON lines, an object a line; nothing is lost",
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
