/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfetto_fields.c - the fields of an event's data as debug annotations with the names of the
 * fields.
 */
#include "convert/viewer/perfetto.h"

#include <errno.h>

#include "base/text.h"
#include "convert/paired.h"
#include "convert/plain.h"
#include "log/integer.h"
#include "log/value.h"

#define SHOWN_MAX 4096 /* bytes; longer texts and bytes are shortened */

/* Adds a text as plain UTF-8. */
static void put_text(struct proto *p, const void *text, size_t len)
{
	char plain[PLAIN_FACTOR * SHOWN_MAX + 1];
	size_t n = plain_text(plain, text, len < SHOWN_MAX ? len : SHOWN_MAX, NULL);

	proto_bytes(p, ANNOTATION_STRING, plain, n);
}

/* Adds bytes as hexadecimal digits, because DebugAnnotation has no member for bytes. */
static void put_hex_text(struct proto *p, const uint8_t *bytes, size_t len)
{
	char digits[2 * SHOWN_MAX], *to = digits;

	for (size_t i = 0; i < len && i < SHOWN_MAX; i++)
		to = put_hex(to, bytes[i], 2);
	proto_bytes(p, ANNOTATION_STRING, digits, (size_t)(to - digits));
}

/* Adds the value as that member of DebugAnnotation that fits the type of the value. */
static void put_value(struct proto *p, const struct posix_trace_value_np *value)
{
	switch (value->field->form) {
	case POSIX_TRACE_FORM_UNSIGNED_NP:
		if (value->field->type == POSIX_TRACE_TYPE_BOOL_NP)
			proto_number(p, ANNOTATION_BOOL, value->u64 != 0);
		else if (value_is_pointer(value->field))
			proto_number(p, ANNOTATION_POINTER, value->u64);
		else
			proto_number(p, ANNOTATION_UINT, value->u64);
		break;
	case POSIX_TRACE_FORM_SIGNED_NP:
		proto_number(p, ANNOTATION_INT, (uint64_t)value->s64);
		break;
	case POSIX_TRACE_FORM_FLOAT_NP:
		proto_double(p, ANNOTATION_DOUBLE, value->f64);
		break;
	case POSIX_TRACE_FORM_BYTES_NP:
		if (value->field->type == POSIX_TRACE_TYPE_STR_NP)
			put_text(p, value->data, value->len);
		else
			put_hex_text(p, value->data, value->len);
		break;
	}
}

/*
 * Adds a second annotation with the name of the value: the name of an object or a descriptor, or a
 * label.
 */
static void put_name(struct perfetto *perfetto, const struct fmt_event *event,
		     const struct posix_trace_value_np *value)
{
	char name[FMT_NAME_BYTES];
	char key[POSIX_TRACE_FIELD_NAME_MAX_NP + 8];
	size_t annotation;

	if (!fmt_value_name(perfetto->flow, event, value, name))
		return;
	annotation = proto_begin(&perfetto->packet, EVENT_ANNOTATION);
	strcpy(stpcpy(key, value->field->name), "_name");
	proto_text(&perfetto->packet, ANNOTATION_NAME, key);
	put_text(&perfetto->packet, name, strlen(name));
	proto_end(&perfetto->packet, annotation);
}

static bool is_plain(const struct posix_trace_field_np *field)
{
	return integer_is(field) && !field->is_array && !fmt_may_have_name(field);
}

/*
 * Prepares the head of the annotations of an integer field. The numbers of types and fields are
 * limited, so "iid" is small, and the head always fits into PERFETTO_HEAD bytes.
 */
static void prepare_integer(struct perfetto_integer *integer,
			    const struct posix_trace_field_np *field, uint64_t iid)
{
	uint8_t head[PERFETTO_PIECE], *to = proto_put_tag(head, EVENT_ANNOTATION << 3 | 2) + 4;

	integer->is_signed = field->form == POSIX_TRACE_FORM_SIGNED_NP;
	integer->size = (uint8_t)field->size;
	to = proto_put_varint(proto_put_tag(to, ANNOTATION_NAME_IID << 3), iid);
	to = proto_put_tag(to, (integer->is_signed ? ANNOTATION_INT : ANNOTATION_UINT) << 3);
	integer->len = (uint8_t)(to - head);
	memcpy(integer->head, head, PERFETTO_HEAD);
}

int perfetto_prepare(struct perfetto_kind *kind)
{
	const struct posix_trace_schema_np *schema = kind->type->fields;

	for (unsigned i = 0; schema && i < schema->fields; i++)
		if (!is_plain(&schema->field[i]))
			return 0;
	if (!schema || !schema->fields)
		return 0;
	kind->integer = calloc(schema->fields, sizeof(*kind->integer));
	if (!kind->integer)
		return ENOMEM;
	for (unsigned i = 0; i < schema->fields; i++) {
		prepare_integer(&kind->integer[i], &schema->field[i], kind->field_iid + i);
		kind->integers += schema->field[i].size;
	}
	return 0;
}

/*
 * Writes the fields of a type that has only integers, as most types do. Each field becomes one
 * annotation without a call of the library. If the data ends early, only the fields before its end
 * are written.
 */
static void put_integers(struct proto *p, const struct perfetto_kind *kind,
			 const struct fmt_event *event)
{
	const struct perfetto_integer *integer = kind->integer;
	const uint8_t *from = event->data, *end = from + event->data_len;
	const unsigned fields = kind->type->fields->fields;
	uint8_t *to = proto_room(p, fields * PERFETTO_PIECE);

	if (!to)
		return;
	for (unsigned i = 0; i < fields && (size_t)(end - from) >= integer->size; i++, integer++) {
		uint8_t *begin = to + 5; /* behind the tag and the length */

		memcpy(to, integer->head, PERFETTO_HEAD);
		to = proto_put_varint(to + integer->len,
				      integer_load(from, integer->size, integer->is_signed));
		perfetto_put_short(begin - 4, (size_t)(to - begin));
		from += integer->size;
	}
	p->used = (size_t)(to - p->bytes);
}

void perfetto_fields(struct perfetto *perfetto, const struct fmt_event *event)
{
	const struct posix_trace_schema_np *schema = event->type->fields;
	uint64_t iid = perfetto->kind[event->type->index].field_iid;
	const struct posix_trace_field_np *last = NULL;
	struct proto *p = &perfetto->packet;
	struct posix_trace_values_np values;
	struct posix_trace_value_np value;
	size_t array = 0, annotation;

	if (perfetto->kind[event->type->index].integer) {
		put_integers(p, &perfetto->kind[event->type->index], event);
		return;
	}
	posix_trace_values_begin_np(&values, schema, event->data, event->data_len, 0);
	/*
	 * The library returns the elements of an array one by one. They become one annotation,
	 * which ends when another field begins.
	 */
	while (posix_trace_field_next_np(&values, &value) &&
	       !(value.flags & POSIX_TRACE_VALUE_CUT_NP)) {
		if (value.field != last && last && last->is_array)
			proto_end(p, array);
		if (value.field != last && value.field->is_array) {
			array = proto_begin(p, EVENT_ANNOTATION);
			proto_number(p, ANNOTATION_NAME_IID,
				     iid + (uint64_t)(value.field - schema->field));
		}
		last = value.field;
		/* Elements of an array have no names. */
		annotation = proto_begin(p, last->is_array ? ANNOTATION_ARRAY : EVENT_ANNOTATION);
		if (!last->is_array)
			proto_number(p, ANNOTATION_NAME_IID,
				     iid + (uint64_t)(last - schema->field));
		put_value(p, &value);
		proto_end(p, annotation);
		if (!last->is_array && fmt_may_have_name(last))
			put_name(perfetto, event, &value);
	}
	if (last && last->is_array)
		proto_end(p, array);
}

uint64_t perfetto_field(const struct perfetto *perfetto, const struct fmt_event *event, int field)
{
	const struct log_type *as = perfetto->kind[event->type->index].as;
	struct posix_trace_event_np of;

	paired_event(event, as, &of);
	return classify_number(as, &of, field);
}
