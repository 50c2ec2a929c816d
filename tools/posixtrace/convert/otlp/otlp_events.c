/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * otlp_events.c - makes the body of a Span or LogRecord from an event. The body has all members
 * that are known when the event occurs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errnames.h"
#include "base/spool.h"
#include "base/vec.h"
#include "convert/otlp/otlp.h"
#include "convert/plain.h"
#include "convert/plan.h"

#define NAME_MOST 4096 /* longer names are shortened */

int otlp_init(struct otlp *otlp, struct fmt_flow *flow)
{
	int err;

	memset(otlp, 0, sizeof(*otlp));
	otlp->flow = flow;
	otlp->entries_fd = otlp->begins_fd = -1;
	otlp->ids_ns = INT64_MIN;
	threads_init(&otlp->names, false, 0);
	threads_init(&otlp->processes, false, 0);
	otlp->bodies = calloc(1, sizeof(*otlp->bodies));
	otlp->entry = calloc(OTLP_BLOCK, sizeof(*otlp->entry));
	if (!otlp->bodies || !otlp->entry) {
		free(otlp->bodies);
		otlp->bodies = NULL;
		return ENOMEM;
	}
	otlp->bodies->fd = -1;
	err = spool_create_or_say(&otlp->bodies->fd);
	if (!err)
		err = spool_create_or_say(&otlp->entries_fd);
	return err ? err : spool_create_or_say(&otlp->begins_fd);
}

void otlp_fini(struct otlp *otlp)
{
	for (size_t i = 0; i < otlp->types; i++)
		free(otlp->type[i].name);
	free(otlp->type);
	nameset_fini(&otlp->scopes);
	nameset_fini(&otlp->texts);
	threads_fini(&otlp->names);
	threads_fini(&otlp->processes);
	free(otlp->resource);
	free(otlp->seed);
	free(otlp->ids);
	free(otlp->body.bytes);
	free(otlp->entry);
	if (otlp->bodies && otlp->bodies->fd >= 0)
		close(otlp->bodies->fd);
	free(otlp->bodies);
	if (otlp->entries_fd >= 0)
		close(otlp->entries_fd);
	if (otlp->begins_fd >= 0)
		close(otlp->begins_fd);
}

int otlp_begin(struct otlp *otlp, const struct fmt_facts *facts)
{
	otlp->facts = *facts;
	otlp->last_ns = facts->has_scan ? facts->least_ns : facts->creation_ns;
	return otlp_context_begin(otlp);
}

/*
 * A connect() is a request to another program, so its span has the kind CLIENT. In a span of
 * accept(), a server waits for a client and does not serve it yet. So this span has the kind
 * INTERNAL, as all other spans have.
 */
int otlp_type(struct otlp *otlp, const struct fmt_type *type)
{
	struct otlp_type *made;

	if (!vec_reach(&otlp->type, &otlp->types, type->index))
		return ENOMEM;
	made = &otlp->type[type->index];
	made->name = plain_copy(type->name,
				type->name_len < NAME_MOST ? type->name_len : NAME_MOST);
	made->is_client = !strcmp(type->name, "net.connect");
	otlp_context_fields(made, type->fields);
	made->scope = otlp_scope(otlp, type->name);
	return made->name && made->scope != TABLE_NONE ? 0 : ENOMEM;
}

/* OTLP has no times before 1970. */
static uint64_t positive_ns(int64_t ns)
{
	return ns < 0 ? 0 : (uint64_t)ns;
}

/*
 * Returns a hash of the event's thread. The hash of a thread is never 0. Returns 0 for an event
 * without a thread, because such events are not nested.
 */
static uint64_t thread_hash(const struct fmt_event *event)
{
	uint64_t hash = hash_number(HASH_BEGIN, (uint64_t)event->pid << 32 | event->tid);

	if (!event->tid && !event->thread)
		return 0;
	hash = hash_number(hash, event->tid ? 0 : event->thread);
	return hash_number(hash, event->source) | 1;
}

/* ------------------------------------------------------------------ spans */

/*
 * Returns the name of the event's first error number that is not 0. Returns NULL if there is no
 * such number. Some programs record an error as a negative number.
 */
static const char *find_error(const struct fmt_event *event)
{
	const struct posix_trace_schema_np *schema = event->type->fields;
	struct posix_trace_value_np value;

	for (unsigned i = 0; schema && i < schema->fields; i++)
		if (schema->field[i].type == POSIX_TRACE_TYPE_ERRNO_NP &&
		    posix_trace_field_get_np(schema, i, 0, event->data, event->data_len, 0,
					     &value) && value.s64) {
			const char *name = errno_name(value.s64 < 0 ? -value.s64 : value.s64);

			return name ? name : "_OTHER";
		}
	return NULL;
}

/*
 * A failed call has the status ERROR and the name of its error number. The semantic conventions
 * have _OTHER for an error without a name.
 */
static void put_status(struct proto *p, const struct fmt_event *event)
{
	const char *name = find_error(event);
	size_t status;

	if (!name)
		return;
	otlp_string(p, SPAN_ATTRIBUTES, "error.type", name);
	status = proto_begin(p, SPAN_STATUS);
	proto_text(p, STATUS_MESSAGE, name);
	proto_number(p, STATUS_CODE, CODE_ERROR);
	proto_end(p, status);
}

static void put_span_name(struct proto *p, const char *name)
{
	size_t len = strlen(name);
	char *plain = plain_copy(name, len < NAME_MOST ? len : NAME_MOST);

	if (plain)
		proto_text(p, SPAN_NAME, plain);
	else
		p->failed = true;
	free(plain);
}

/*
 * Handles an event that begins a span. The function keeps the attributes and identifiers of the
 * event until the span ends.
 */
static int begin_span(struct otlp *otlp, const struct fmt_event *event)
{
	struct otlp_begin begin = { .type = (uint32_t)event->type->index, .tid = event->tid,
				    .number = otlp->number,
				    .missing = otlp_missing(event) };

	otlp_attributes(otlp, SPAN_ATTRIBUTES, event, NULL, 0);
	otlp_context_read(&otlp->type[event->type->index], event, &begin.context);
	return otlp_keep_begin(otlp, event->span->id, &begin);
}

/* Writes the members of a Span that are known at the event that ends the span. */
static void put_span(struct otlp *otlp, const struct fmt_event *event, const struct fmt_type *begun,
		     const struct otlp_begin *begin)
{
	const struct fmt_span *span = event->span;
	struct proto *p = &otlp->body;
	unsigned missing = begin->missing + otlp_missing(event);

	put_span_name(p, span->name);
	proto_number(p, SPAN_KIND, otlp->type[event->type->index].is_client ? KIND_CLIENT
									    : KIND_INTERNAL);
	proto_fixed64(p, SPAN_START, positive_ns(span->begin_ns));
	/*
	 * A reader would refuse a span whose end is before its begin. So an end that is too early
	 * is replaced by the begin.
	 */
	proto_fixed64(p, SPAN_END, positive_ns(span->end_ns < span->begin_ns ? span->begin_ns
									     : span->end_ns));
	/*
	 * A span is the call of a function if the number of its series is PLAN_SERIES or greater.
	 * If the function has no symbol, the span has the name FILE+0xOFFSET. This is not the name
	 * of a function, so the attribute is omitted.
	 */
	if (span->series >= PLAN_SERIES && !strstr(span->name, "+0x"))
		otlp_string(p, SPAN_ATTRIBUTES, "code.function.name", span->name);
	otlp_attributes(otlp, SPAN_ATTRIBUTES, event, begun, begin->tid);
	put_status(p, event);
	if (missing)
		proto_number(p, SPAN_DROPPED_ATTRIBUTES, missing);
}

static int end_span(struct otlp *otlp, const struct fmt_event *event)
{
	const struct fmt_span *span = event->span;
	struct otlp_begin begin = { .number = otlp->number };
	const struct fmt_type *begun = NULL;
	struct otlp_entry entry = {
		.begin_ns = span->begin_ns, .end_ns = span->end_ns, .end = otlp->number,
		.thread = span->keyed ? 0 : thread_hash(event), .lane = span->lane,
		.scope = otlp->type[event->type->index].scope, .signal = OTLP_TRACES,
	};
	int err = 0;

	if (span->part == FMT_CLOSES) {
		err = otlp_get_begin(otlp, span->id, &begin);
		begun = err ? NULL : fmt_type_at(otlp->flow, begin.type);
	}
	if (!err)
		err = otlp_resource(otlp, event->pid, event->source, &entry.resource);
	entry.context = begin.context;
	entry.begin = begin.number;
	entry.first_at = begin.at;
	entry.first_len = begin.len;
	otlp_context_read(&otlp->type[event->type->index], event, &entry.context);
	if (!err)
		err = otlp_context_span(otlp, event, entry.own);
	if (!otlp_has(entry.context.span, SPAN_ID_BYTES))
		memcpy(entry.context.span, entry.own, SPAN_ID_BYTES);
	if (err)
		return err;
	put_span(otlp, event, begun, &begin);
	return otlp_add(otlp, &entry);
}

/* ------------------------------------------------------------------ log records */

static const struct { const char *text; unsigned number; } severities[] = {
	{ NULL, 0 }, { "critical", SEVERITY_FATAL }, { "error", SEVERITY_ERROR },
	{ "warning", SEVERITY_WARN }, { "information", SEVERITY_INFO },
	{ "verbose", SEVERITY_DEBUG },
};

static int put_log(struct otlp *otlp, const struct fmt_event *event)
{
	const struct otlp_type *type = &otlp->type[event->type->index];
	struct otlp_entry entry = {
		.begin_ns = event->time_ns, .end_ns = event->time_ns, .begin = otlp->number,
		.end = otlp->number, .thread = thread_hash(event), .scope = type->scope,
		.signal = OTLP_LOGS,
	};
	int level = event->type->level, err;
	unsigned missing = otlp_missing(event);
	struct proto *p = &otlp->body;

	err = otlp_resource(otlp, event->pid, event->source, &entry.resource);
	if (err)
		return err;
	if (level < 1 || level >= (int)(sizeof(severities) / sizeof(severities[0])))
		level = 0;
	otlp_log_begin(p, event->time_ns, severities[level].number, severities[level].text,
		       type->name);
	otlp_attributes(otlp, LOG_ATTRIBUTES, event, NULL, 0);
	if (missing)
		proto_number(p, LOG_DROPPED_ATTRIBUTES, missing);
	otlp_context_read(type, event, &entry.context);
	/* A traceparent has the span of the context in which the event occurred. */
	if (!otlp_has(entry.context.span, SPAN_ID_BYTES))
		memcpy(entry.context.span, entry.context.parent, SPAN_ID_BYTES);
	return otlp_add(otlp, &entry);
}

void otlp_log_begin(struct proto *p, int64_t time_ns, unsigned severity, const char *level,
		    const char *name)
{
	size_t body;

	proto_fixed64(p, LOG_TIME, positive_ns(time_ns));
	if (severity)
		proto_number(p, LOG_SEVERITY, severity);
	if (level)
		proto_text(p, LOG_SEVERITY_TEXT, level);
	body = proto_begin(p, LOG_BODY);
	proto_text(p, VALUE_STRING, name);
	proto_end(p, body);
	proto_text(p, LOG_EVENT_NAME, name);
}

int otlp_event(struct otlp *otlp, const struct fmt_event *event)
{
	otlp->number++;
	if (event->time_ns > otlp->last_ns)
		otlp->last_ns = event->time_ns;
	if (!event->span)
		return put_log(otlp, event);
	return event->span->part == FMT_OPENS ? begin_span(otlp, event) : end_span(otlp, event);
}
