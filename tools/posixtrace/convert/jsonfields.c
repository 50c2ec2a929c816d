/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jsonfields.c - the fields of an event as JSON (RFC 8259).
 *
 * Most JSON readers store a number as a double, so an integer beyond JSON_EXACT becomes a string.
 * nan and the infinities become strings, too, because JSON has no such numbers.
 */
#include "convert/jsonfields.h"

#include <string.h>

#include "log/value.h"

bool json_field_is_hexadecimal(const struct posix_trace_field_np *field)
{
	return value_is_pointer(field) ||
	       (field->type >= POSIX_TRACE_TYPE_X8_NP && field->type <= POSIX_TRACE_TYPE_X64_NP);
}

static void put_number(struct json *json, const char *name, uint64_t magnitude, bool is_negative)
{
	char *p = json_put_name(json, out_room(json->out), name);

	out_done(json->out, json_put_number(p, magnitude, is_negative));
}

static void put_value(struct json *json, const char *name,
		      const struct posix_trace_value_np *value)
{
	switch (value->field->form) {
	case POSIX_TRACE_FORM_UNSIGNED_NP:
		if (json_field_is_hexadecimal(value->field))
			json_address(json, name, value->u64);
		else
			put_number(json, name, value->u64, false);
		break;
	case POSIX_TRACE_FORM_SIGNED_NP:
		/*
		 * The negation is done on the unsigned number, because the negation of INT64_MIN
		 * would overflow.
		 */
		put_number(json, name,
			   value->s64 < 0 ? -(uint64_t)value->s64 : (uint64_t)value->s64,
			   value->s64 < 0);
		break;
	case POSIX_TRACE_FORM_FLOAT_NP:
		if (value->field->type == POSIX_TRACE_TYPE_F32_NP)
			json_single(json, name, (float)value->f64);
		else
			json_double(json, name, value->f64);
		break;
	case POSIX_TRACE_FORM_BYTES_NP:
		/*
		 * Strings of JSON are Unicode. Only a str is text; other bytes have no character
		 * set.
		 */
		if (value->field->type == POSIX_TRACE_TYPE_STR_NP)
			json_unicode(json, name, value->data, value->len);
		else
			json_hex(json, name, value->data, value->len);
		break;
	}
}

static enum fieldplan_kind json_kind(const struct posix_trace_field_np *field)
{
	return json_field_is_hexadecimal(field)		   ? FIELDPLAN_HEX :
	       field->form == POSIX_TRACE_FORM_SIGNED_NP ? FIELDPLAN_SIGNED :
							   FIELDPLAN_UNSIGNED;
}

char *json_plan_put(const struct fieldplan *plan, char *p, const void *data)
{
	const struct fieldplan_field *field = plan->field, *end = field + plan->fields;
	const uint8_t *from = data;

	for (; field < end; field++) {
		uint64_t value = fieldplan_load(field, &from);

		p = put_pieces(p, field->key, field->len);
		if (field->kind == FIELDPLAN_HEX)
			p = json_put_address(p, value);
		else if (field->is_signed && (int64_t)value < 0)
			p = json_put_number(p, -value, true);
		else
			p = json_put_number(p, value, false);
	}
	*p = '}';
	return p + 1;
}

/*
 * Returns whether a value of any field can have a name. json_names() decodes the data a second
 * time, but only if the event has such a field.
 */
static bool may_have_names(const struct posix_trace_schema_np *schema)
{
	for (unsigned i = 0; i < schema->fields; i++)
		if (fmt_may_have_name(&schema->field[i]))
			return true;
	return false;
}

bool json_plan(struct fieldplan **plan, const struct posix_trace_schema_np *schema)
{
	static const struct fieldplan_style style = { "{\"", ",\"", "\":", json_kind };

	*plan = NULL;
	if (!schema || !fieldplan_is_possible(schema) || may_have_names(schema))
		return true;
	*plan = fieldplan_new(schema, &style);
	return *plan;
}

/* The elements of an array get no names, since the object has one member for each field. */
bool json_names(struct json *json, const char *member, struct fmt_flow *flow,
		const struct fmt_event *event)
{
	struct posix_trace_values_np values;
	char name[FMT_NAME_BYTES];
	struct posix_trace_value_np value;
	bool any = false;

	if (!may_have_names(event->type->fields))
		return false;
	posix_trace_values_begin_np(&values, event->type->fields, event->data, event->data_len, 0);
	while (posix_trace_field_next_np(&values, &value) &&
	       !(value.flags & POSIX_TRACE_VALUE_CUT_NP)) {
		if (value.field->is_array || !fmt_may_have_name(value.field) ||
		    !fmt_value_name(flow, event, &value, name))
			continue;
		if (!any)
			json_object(json, member);
		any = true;
		json_unicode(json, value.field->name, name, strlen(name));
	}
	if (any)
		json_end_object(json);
	return any;
}

void json_fields(struct json *json, struct fmt_flow *flow, const struct fmt_event *event)
{
	if (!event->type->fields || !event->type->fields->fields)
		return;
	json_fields_object(json, "fields", event);
	json_names(json, "names", flow, event);
}

void json_fields_object(struct json *json, const char *name, const struct fmt_event *event)
{
	const struct posix_trace_field_np *array = NULL; /* the array that is open in the JSON */
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
