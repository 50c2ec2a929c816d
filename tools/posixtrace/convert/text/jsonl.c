/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jsonl.c - JSON lines: an object a line, told apart by its first member: "trace", "type",
 * "thread", "object", "event", "lost", "note", "end".
 *
 * Nothing is lost: what is no UTF-8 stands beside in hexadecimal digits, data that is no text is
 * such digits, and numbers that a double cannot hold are strings.
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

struct kept {
	char *text;
	size_t len;
};

struct jsonl {
	struct fmt_flow *flow;
	struct out *out;
	struct kept *event; /* by index of its type: "event":"NAME" */
	size_t types;
};

static int open_sink(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	struct jsonl *jsonl = calloc(1, sizeof(*jsonl));

	if (!jsonl)
		return ENOMEM;
	jsonl->flow = flow;
	jsonl->out = output->out;
	*context = jsonl;
	return 0;
}

static void close_sink(void *context)
{
	struct jsonl *jsonl = context;

	for (size_t i = 0; i < jsonl->types; i++)
		free(jsonl->event[i].text);
	free(jsonl->event);
	free(jsonl);
}

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

/* As a string: it may be more than a double can hold. */
static void big_member(struct out *out, const char *key, int64_t number)
{
	out_printf(out, ",\"%s\":\"%lld\"", key, (long long)number);
}

static void time_member(struct out *out, const char *time_key, const char *ns_key, int64_t time_ns)
{
	char time[WHEN_BYTES];

	out_printf(out, ",\"%s\":\"%s\",\"%s\":\"%lld\"", time_key,
		   when_string(time, time_ns, WHEN_UTC), ns_key, (long long)time_ns);
}

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

static void attributes(struct out *out, const trace_attr_t *attr)
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

static int begin(void *context, const struct fmt_facts *facts)
{
	struct out *out = ((struct jsonl *)context)->out;

	out_str(out, "{\"trace\":");
	json_string(out, facts->name, strlen(facts->name));
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
		attributes(out, &facts->attr);
	out_str(out, "}\n");
	return out->err;
}

static int remember(struct jsonl *jsonl, const struct fmt_type *type)
{
	struct kept *more;

	if (!vec_reach(&jsonl->event, &jsonl->types, type->index))
		return ENOMEM;
	more = jsonl->event;
	more[type->index].text = json_text_kept("event", type->name, type->name_len,
						&more[type->index].len);
	return more[type->index].text ? 0 : ENOMEM;
}

static int type(void *context, const struct fmt_type *type)
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
	return remember(jsonl, type);
}

static int thread(void *context, const struct fmt_thread *thread)
{
	struct out *out = ((struct jsonl *)context)->out;

	out_char(out, '{');
	json_text_member(out, "thread", thread->name, thread->name_len);
	out_printf(out, ",\"pid\":%u,\"tid\":%u,\"handle\":\"0x%llx\"}\n", thread->pid, thread->tid,
		   (unsigned long long)thread->thread);
	return out->err;
}

static int object(void *context, const struct fmt_object *object)
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

static void log_member(struct jsonl *jsonl, unsigned source)
{
	const char *log = fmt_source_name(jsonl->flow, source);

	if (log)
		string_member(jsonl->out, "log", log);
}

static void data(struct out *out, const struct fmt_event *event)
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

static void rare(struct out *out, const struct fmt_event *event)
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

#define PUT(p, text) put_text(p, text, sizeof(text) - 1)

static int event(void *context, const struct fmt_event *event)
{
	struct jsonl *jsonl = context;
	struct out *out = jsonl->out;
	const struct kept *name = &jsonl->event[event->type->index];
	char *p;

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
		data(out, event);
	json_fields(out, jsonl->flow, event);
	if (event->truncation != POSIX_TRACE_NOT_TRUNCATED || event->flags || event->cpu >= 0)
		rare(out, event);
	log_member(jsonl, event->source);
	out_str(out, "}\n");
	return out->err;
}

static int lost(void *context, const struct fmt_lost *lost)
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

static int note(void *context, const char *text)
{
	struct out *out = ((struct jsonl *)context)->out;

	out_char(out, '{');
	json_text_member(out, "note", text, strlen(text));
	out_str(out, "}\n");
	return out->err;
}

static void ledger(struct out *out, const struct posix_trace_ledger_np *ledger)
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

static void ledgers(struct out *out, const struct fmt_end *end)
{
	out_str(out, ",\"ledger\":{");
	ledger(out, &end->ledger);
	out_str(out, "},\"types\":[");
	for (size_t i = 0; i < end->types; i++) {
		out_str(out, i ? ",{" : "{");
		json_text_member(out, "type", end->type[i].type->name, end->type[i].type->name_len);
		out_char(out, ',');
		ledger(out, &end->type[i].ledger);
		out_char(out, '}');
	}
	out_str(out, "],\"threads\":[");
	for (size_t i = 0; i < end->threads; i++) {
		const struct posix_trace_thread_np *thread = &end->thread[i].thread;

		out_printf(out, "%s{\"pid\":%u,\"tid\":%u,\"thread\":\"0x%llx\",", i ? "," : "",
			   (unsigned)thread->pid, (unsigned)thread->tid,
			   (unsigned long long)thread->thread);
		ledger(out, &end->thread[i].ledger);
		out_char(out, '}');
	}
	out_char(out, ']');
}

static int end(void *context, const struct fmt_end *end)
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
		ledgers(out, end);
	out_str(out, "}\n");
	return out->err;
}

static int idle(void *context)
{
	return out_flush(((struct jsonl *)context)->out);
}

const struct format format_jsonl = {
	.name = "jsonl",
	.summary = "JSON lines, an object a line; nothing is lost",
	.suffix = "jsonl",
	.output = FMT_TO_BYTES,
	.open = open_sink,
	.begin = begin,
	.type = type,
	.thread = thread,
	.object = object,
	.event = event,
	.lost = lost,
	.note = note,
	.idle = idle,
	.end = end,
	.close = close_sink,
};
