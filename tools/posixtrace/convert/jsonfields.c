/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jsonfields.c - the fields of an event as JSON (RFC 8259).
 *
 * Most JSON readers keep a number as a double, so a number that a double cannot represent becomes a
 * string. JSON has no number for nan and the infinities either.
 */
#include "convert/jsonfields.h"

#include <math.h>
#include <string.h>

#include "base/jsontext.h"

#define EXACT (UINT64_C(1) << 53) /* a double represents every integer up to here */

/* Types that a reader expects in hexadecimal: pointers and the types x8 to x64. */
static bool is_hexadecimal(enum posix_trace_type_np type)
{
	return type == POSIX_TRACE_TYPE_PTR_NP ||
	       (type >= POSIX_TRACE_TYPE_X8_NP && type <= POSIX_TRACE_TYPE_X64_NP);
}

/* A magnitude and a sign, as the least signed number has no positive counterpart. */
static void put_number(struct out *out, uint64_t magnitude, bool negative)
{
	char *p = out_room(out);
	bool big = magnitude > EXACT;

	if (big)
		*p++ = '"';
	if (negative)
		*p++ = '-';
	p = put_unsigned(p, magnitude);
	if (big)
		*p++ = '"';
	out_done(out, p);
}

/* 17 digits are enough to read back the same double. */
static void put_float(struct out *out, double value)
{
	if (isfinite(value))
		out_printf(out, "%.17g", value);
	else
		out_str(out, isnan(value) ? "\"nan\"" : value < 0 ? "\"-inf\"" : "\"inf\"");
}

static void put_value(struct out *out, const struct posix_trace_value_np *value)
{
	switch (value->field->form) {
	case POSIX_TRACE_FORM_UNSIGNED_NP:
		if (is_hexadecimal(value->field->type)) {
			char *p = out_room(out);

			p[0] = '"', p[1] = '0', p[2] = 'x';
			p = put_hex(p + 3, value->u64, 1);
			*p++ = '"';
			out_done(out, p);
		} else {
			put_number(out, value->u64, false);
		}
		break;
	case POSIX_TRACE_FORM_SIGNED_NP:
		/* The negation is done on an unsigned number: that of INT64_MIN would overflow. */
		put_number(out, value->s64 < 0 ? -(uint64_t)value->s64 : (uint64_t)value->s64,
			   value->s64 < 0);
		break;
	case POSIX_TRACE_FORM_FLOAT_NP:
		put_float(out, value->f64);
		break;
	case POSIX_TRACE_FORM_BYTES_NP:
		if (value->field->type == POSIX_TRACE_TYPE_STR_NP) {
			json_string(out, value->data, value->len);
			break;
		}
		/* Bytes have no character set; JSON strings are Unicode. */
		out_char(out, '"');
		out_hex(out, value->data, value->len);
		out_char(out, '"');
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

/* Writes ,"names":{...} or nothing. An array has no names: its elements would need a place each. */
static void put_names(struct out *out, struct fmt_flow *flow, const struct fmt_event *event)
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
		out_str(out, any ? ",\"" : ",\"names\":{\"");
		out_str(out, value.field->name);
		out_str(out, "\":");
		json_string(out, name, strlen(name));
		any = true;
	}
	if (any)
		out_char(out, '}');
}

void json_fields(struct out *out, struct fmt_flow *flow, const struct fmt_event *event)
{
	if (!event->type->fields || !event->type->fields->fields)
		return;
	out_str(out, ",\"fields\":");
	json_fields_object(out, event);
	if (may_be_called(event->type->fields))
		put_names(out, flow, event);
}

void json_fields_object(struct out *out, const struct fmt_event *event)
{
	const struct posix_trace_field_np *last = NULL;
	struct posix_trace_values_np values;
	struct posix_trace_value_np value;

	out_char(out, '{');
	posix_trace_values_begin_np(&values, event->type->fields, event->data, event->data_len, 0);
	while (posix_trace_field_next_np(&values, &value) &&
	       !(value.flags & POSIX_TRACE_VALUE_CUT_NP)) {
		if (value.field != last) {
			/* A new field begins; an array of the field before it ends. */
			if (last && last->is_array)
				out_char(out, ']');
			/* A field's name is letters, digits and _. */
			out_str(out, last ? ",\"" : "\"");
			out_str(out, value.field->name);
			out_str(out, value.field->is_array ? "\":[" : "\":");
		} else {
			out_char(out, ',');
		}
		last = value.field;
		put_value(out, &value);
	}
	if (last && last->is_array)
		out_char(out, ']');
	out_char(out, '}');
}
