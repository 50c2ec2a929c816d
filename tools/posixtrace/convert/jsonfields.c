/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jsonfields.c - the fields of an event as JSON (RFC 8259).
 *
 * Most JSON readers keep a number as a double, so a number that a double cannot represent becomes a
 * string. JSON has no number for nan and the infinities either.
 */
#include "convert/jsonfields.h"

#include <string.h>


#define EXACT (UINT64_C(1) << 53) /* a double represents every integer up to here */

/* Types that a reader expects in hexadecimal: pointers and the types x8 to x64. */
static bool is_hexadecimal(enum posix_trace_type_np type)
{
	return type == POSIX_TRACE_TYPE_PTR_NP ||
	       (type >= POSIX_TRACE_TYPE_X8_NP && type <= POSIX_TRACE_TYPE_X64_NP);
}

/* A magnitude and a sign, as the least signed number has no positive counterpart. */
static void put_number(struct json *json, const char *name, uint64_t magnitude, bool is_negative)
{
	char *p = json_put_name(json, out_room(json->out), name);
	bool is_big = magnitude > EXACT;

	/* The quote and the sign are overwritten if they are not needed. */
	*p = '"';
	p += is_big;
	*p = '-';
	p = put_unsigned(p + is_negative, magnitude);
	*p = '"';
	out_done(json->out, p + is_big);
}

static void put_value(struct json *json, const char *name,
		      const struct posix_trace_value_np *value)
{
	switch (value->field->form) {
	case POSIX_TRACE_FORM_UNSIGNED_NP:
		if (is_hexadecimal(value->field->type))
			json_address(json, name, value->u64);
		else
			put_number(json, name, value->u64, false);
		break;
	case POSIX_TRACE_FORM_SIGNED_NP:
		/* The negation is done on an unsigned number: that of INT64_MIN would overflow. */
		put_number(json, name,
			   value->s64 < 0 ? -(uint64_t)value->s64 : (uint64_t)value->s64,
			   value->s64 < 0);
		break;
	case POSIX_TRACE_FORM_FLOAT_NP:
		json_double(json, name, value->f64);
		break;
	case POSIX_TRACE_FORM_BYTES_NP:
		/* Bytes that are no string have no character set; JSON strings are Unicode. */
		if (value->field->type == POSIX_TRACE_TYPE_STR_NP)
			json_unicode(json, name, value->data, value->len);
		else
			json_hex(json, name, value->data, value->len);
		break;
	}
}

/*
 * Whether any field can have a name. put_names() decodes the data a second time, so events without
 * such fields avoid it.
 */
static bool may_be_called(const struct posix_trace_schema_np *schema)
{
	for (unsigned i = 0; i < schema->fields; i++)
		if (schema->field[i].type == POSIX_TRACE_TYPE_PTR_NP ||
		    schema->field[i].type == POSIX_TRACE_TYPE_ERRNO_NP ||
		    schema->field[i].type == POSIX_TRACE_TYPE_SIGNAL_NP ||
		    schema->field[i].type == POSIX_TRACE_TYPE_WAIT_NP ||
		    schema->field[i].value_names)
			return true;
	return false;
}

/* Writes the object "names" or nothing. An array has no names: each element would need a place. */
static void put_names(struct json *json, struct fmt_flow *flow, const struct fmt_event *event)
{
	char object[POSIX_TRACE_OBJECT_NAME_MAX_NP + 1], label[POSIX_TRACE_LABEL_MAX_NP + 1];
	struct posix_trace_values_np values;
	struct posix_trace_value_np value;
	bool any = false;

	posix_trace_values_begin_np(&values, event->type->fields, event->data, event->data_len, 0);
	while (posix_trace_field_next_np(&values, &value) &&
	       !(value.flags & POSIX_TRACE_VALUE_CUT_NP)) {
		const char *name = posix_trace_value_label_np(&value, label, sizeof(label)) ? label
											    : NULL;

		/*
		 * A pointer is looked up at the event's time, as memory may be used again for
		 * another object.
		 */
		if (value.field->type == POSIX_TRACE_TYPE_PTR_NP &&
		    fmt_object_name(flow, event->pid, value.u64, event->time_ns, object))
			name = object;
		if (!name || value.field->is_array)
			continue;
		if (!any)
			json_object(json, "names");
		any = true;
		json_unicode(json, value.field->name, name, strlen(name));
	}
	if (any)
		json_end_object(json);
}

void json_fields(struct json *json, struct fmt_flow *flow, const struct fmt_event *event)
{
	if (!event->type->fields || !event->type->fields->fields)
		return;
	json_fields_object(json, "fields", event);
	if (may_be_called(event->type->fields))
		put_names(json, flow, event);
}

void json_fields_object(struct json *json, const char *name, const struct fmt_event *event)
{
	const struct posix_trace_field_np *array = NULL; /* that is open */
	struct posix_trace_values_np values;
	struct posix_trace_value_np value;

	json_object(json, name);
	posix_trace_values_begin_np(&values, event->type->fields, event->data, event->data_len, 0);
	while (posix_trace_field_next_np(&values, &value) &&
	       !(value.flags & POSIX_TRACE_VALUE_CUT_NP)) {
		if (array && value.field != array) {
			json_end_array(json);
			array = NULL;
		}
		if (value.field->is_array && !array) {
			json_array(json, value.field->name);
			array = value.field;
		}
		put_value(json, array ? NULL : value.field->name, &value);
	}
	if (array)
		json_end_array(json);
	json_end_object(json);
}
