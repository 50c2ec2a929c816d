/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * otlp_context.c - the identifiers of traces and spans.
 *
 * A program may record identifiers in fields of its events (www.w3.org/TR/trace-context): trace_id,
 * span_id and parent_span_id, or traceparent. Other identifiers are computed from the identity of
 * the log, the process, and the thread, name and times of the span. So two conversions of one log
 * have the same identifiers, even if they select different events. Spans for which all of this is
 * equal are numbered in their order. If only some of these spans are selected, a span may therefore
 * get the identifier of another of these spans.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vec.h"
#include "convert/otlp/otlp.h"
#include "log/field.h"
#include "log/logfile.h"

#define IDS_MOST 4096 /* greatest number of spans with the same end that are compared */

void otlp_context_fields(struct otlp_type *type, const struct posix_trace_schema_np *schema)
{
	type->trace = field_index(schema, "trace_id");
	type->span = field_index(schema, "span_id");
	type->parent = field_index(schema, "parent_span_id");
	type->traceparent = field_index(schema, "traceparent");
}

/* ------------------------------------------------------------------ identifiers in fields */

/*
 * Reads 2 * "bytes" digits of lower or upper case, although Trace Context allows only lower case.
 * Returns false and leaves *id undefined if the text has other characters.
 */
static bool read_hex(uint8_t *id, size_t bytes, const char *text)
{
	for (size_t i = 0; i < bytes; i++) {
		unsigned high = text_digit(text[2 * i]), low = text_digit(text[2 * i + 1]);

		if (high > 15 || low > 15)
			return false;
		id[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

/* Stores a number in the last 8 bytes of an identifier, the highest byte first. */
static void put_id_number(uint8_t *id, size_t bytes, uint64_t number)
{
	memset(id, 0, bytes);
	for (size_t i = 0; i < 8; i++)
		id[bytes - 1 - i] = (uint8_t)(number >> 8 * i);
}

/*
 * Reads an identifier from a field, which may be a text of hexadecimal digits, bytes, or a number
 * of 64 bits. *id changes only if it is all zeros and the field has a valid identifier.
 */
static void read_id(uint8_t *id, size_t bytes, int field, const struct fmt_event *event)
{
	struct posix_trace_value_np value;
	uint8_t found[TRACE_ID_BYTES];
	bool good = false;

	if (field < 0 || otlp_has(id, bytes) ||
	    !posix_trace_field_get_np(event->type->fields, (unsigned)field, 0, event->data,
				      event->data_len, 0, &value) ||
	    (value.flags & POSIX_TRACE_VALUE_CUT_NP))
		return;
	if (value.field->form == POSIX_TRACE_FORM_UNSIGNED_NP && value.field->size == 8) {
		put_id_number(found, bytes, value.u64);
		good = true;
	} else if (value.field->form == POSIX_TRACE_FORM_BYTES_NP) {
		if (value.field->type == POSIX_TRACE_TYPE_STR_NP)
			good = value.len == 2 * bytes && read_hex(found, bytes, value.data);
		else if (value.len == bytes)
			good = memcpy(found, value.data, bytes);
	}
	if (good && otlp_has(found, bytes))
		memcpy(id, found, bytes);
}

#define TRACEPARENT_LEN 55 /* 00-TRACE-PARENT-FLAGS */

/*
 * Reads a traceparent. A traceparent of a later version may have more text behind the flags. It is
 * read like version 0.
 */
static void read_traceparent(struct otlp_context *context, int field,
			     const struct fmt_event *event)
{
	struct posix_trace_value_np value;
	struct otlp_context found = { .flags = 0 };
	uint8_t version, flags;
	const char *text;

	if (field < 0 || otlp_has(context->trace, TRACE_ID_BYTES) ||
	    !posix_trace_field_get_np(event->type->fields, (unsigned)field, 0, event->data,
				      event->data_len, 0, &value) ||
	    value.field->type != POSIX_TRACE_TYPE_STR_NP || value.len < TRACEPARENT_LEN)
		return;
	text = value.data;
	if (text[2] != '-' || text[35] != '-' || text[52] != '-' ||
	    !read_hex(&version, 1, text) || version == 0xff ||
	    (value.len > TRACEPARENT_LEN && (!version || text[TRACEPARENT_LEN] != '-')) ||
	    !read_hex(found.trace, TRACE_ID_BYTES, text + 3) ||
	    !read_hex(found.parent, SPAN_ID_BYTES, text + 36) || !read_hex(&flags, 1, text + 53) ||
	    !otlp_has(found.trace, TRACE_ID_BYTES) || !otlp_has(found.parent, SPAN_ID_BYTES))
		return;
	memcpy(context->trace, found.trace, TRACE_ID_BYTES);
	if (!otlp_has(context->parent, SPAN_ID_BYTES))
		memcpy(context->parent, found.parent, SPAN_ID_BYTES);
	/* A traceparent comes from another process, so its span is remote. */
	context->flags = flags | FLAG_KNOWS_REMOTE | FLAG_REMOTE;
}

void otlp_context_read(const struct otlp_type *type, const struct fmt_event *event,
		       struct otlp_context *context)
{
	if (!event->type->fields)
		return;
	read_id(context->trace, TRACE_ID_BYTES, type->trace, event);
	read_id(context->span, SPAN_ID_BYTES, type->span, event);
	read_id(context->parent, SPAN_ID_BYTES, type->parent, event);
	read_traceparent(context, type->traceparent, event);
	/* A span is never its own parent. */
	if (otlp_has(context->span, SPAN_ID_BYTES) &&
	    !memcmp(context->parent, context->span, SPAN_ID_BYTES))
		memset(context->parent, 0, SPAN_ID_BYTES);
}

/* ------------------------------------------------------------------ computed identifiers */

/*
 * Returns the seed for an input that is not a log. The seed depends only on facts that a second
 * conversion of the same input has, too.
 */
static uint64_t seed_of_facts(const struct fmt_facts *facts)
{
	uint64_t seed = hash_bytes(HASH_BEGIN, facts->name, strlen(facts->name));

	seed = hash_bytes(seed, facts->host, strnlen(facts->host, sizeof(facts->host)));
	return hash_number(hash_number(seed, facts->pid), (uint64_t)facts->creation_ns);
}

/*
 * Returns the seed for a log. If the log is shipped again as a log of another host, the seed and
 * the identifiers differ. With equal identifiers, a receiver that compares them would drop the
 * spans.
 */
static uint64_t seed_of_log(const struct otlp *otlp, const struct posix_trace_loginfo_np *info)
{
	uint64_t seed = hash_number(hash_bytes(HASH_BEGIN, info->uuid, sizeof(info->uuid)),
				    info->log_id);

	return otlp->host ? hash_bytes(seed, otlp->host, strlen(otlp->host)) : seed;
}

int otlp_context_begin(struct otlp *otlp)
{
	const struct fmt_flow *flow = otlp->flow;

	otlp->seed = calloc(flow->sources, sizeof(*otlp->seed));
	if (!otlp->seed)
		return ENOMEM;
	for (unsigned i = 0; i < flow->sources; i++) {
		otlp->seed[i] = flow->logs ? seed_of_log(otlp, &flow->logs[i]->info)
					   : hash_number(seed_of_facts(&otlp->facts), i);
	}
	return 0;
}

/*
 * Stores in *used whether a span with the same end has the identifier. If not, keeps the
 * identifier.
 */
static int is_used(struct otlp *otlp, int64_t end_ns, uint64_t id, bool *used)
{
	if (otlp->ids_ns != end_ns)
		otlp->ids_count = 0;
	otlp->ids_ns = end_ns;
	*used = false;
	for (size_t i = 0; i < otlp->ids_count && !*used; i++)
		*used = otlp->ids[i] == id;
	if (*used || otlp->ids_count == IDS_MOST)
		return 0;
	if (!vec_grow(&otlp->ids, otlp->ids_count, 1))
		return ENOMEM;
	otlp->ids[otlp->ids_count++] = id;
	return 0;
}

int otlp_context_span(struct otlp *otlp, const struct fmt_event *event, uint8_t *id)
{
	const struct fmt_span *span = event->span;
	uint64_t hash = hash_number(otlp->seed[event->source], event->pid);
	bool used = true;
	int err = 0;

	hash = hash_number(hash, event->tid ? event->tid : event->thread);
	hash = hash_bytes(hash, span->name, strlen(span->name));
	hash = hash_number(hash_number(hash, (uint64_t)span->begin_ns), (uint64_t)span->end_ns);
	/*
	 * Several spans of a thread may have equal names and times. The hash is changed once for
	 * each such span before this one, so the spans are distinguished by their order.
	 */
	while (!err && used) {
		hash = hash_number(hash, 1);
		if (hash)
			err = is_used(otlp, span->end_ns, hash, &used);
	}
	put_id_number(id, SPAN_ID_BYTES, hash);
	return err;
}

void otlp_context_trace(uint8_t *trace, const uint8_t *span)
{
	uint64_t high = hash_bytes(hash_number(HASH_BEGIN, 1), span, SPAN_ID_BYTES);

	high = hash_number(high, 2);
	/* The low half is not 0, so the identifier is valid. */
	put_id_number(trace, TRACE_ID_BYTES, hash_number(high, 3) | 1);
	put_id_number(trace, SPAN_ID_BYTES, high);
}
