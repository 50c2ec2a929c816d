/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fields.c - prints the fields of an event by its schema. The library checks the data against the
 * schema. So data that is too short or forged has fewer values, but no function reads beyond its
 * end.
 */
#include "log/fields.h"

#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "log/call_text.h"
#include "log/etw_tail.h"
#include "log/fieldplan.h"
#include "log/value.h"

/*
 * Begins a pass over the values of an event, either for the values themselves or for their labels.
 */
static void begin_values(struct posix_trace_values_np *values, const struct log_type *type,
		  const struct posix_trace_event_np *event)
{
	posix_trace_values_begin_np(values, type->schema, event->data, event->data_len, 0);
}

/*
 * Returns the number of bytes behind the last field, which no field describes. An event that was
 * imported from an ETW log ends with the original record, which is not counted because it repeats
 * the fields. Only the names of such types begin with "etw."; events of other types may end with
 * any bytes.
 */
static size_t rest_len(const struct log_type *type, const struct posix_trace_values_np *values)
{
	return values->len -
	       (strncmp(type->name, "etw.", 4) ? 0 : etw_tail(values->data, values->len));
}

static bool is_last(const struct posix_trace_value_np *value)
{
	return value->index + 1 == value->field->count;
}

bool fields_has_message(const struct log_type *type)
{
	return type->schema && type->schema->format;
}

/*
 * Stores the message of an event and returns its length. A message that is too long loses its end.
 */
static size_t get_message(const struct log_type *type, const struct posix_trace_event_np *event,
			  char text[MESSAGE_BYTES], bool *is_cut)
{
	size_t len = posix_trace_message_print_np(type->schema, event->data, event->data_len, 0,
						  text, MESSAGE_BYTES);

	*is_cut = len >= MESSAGE_BYTES;
	return *is_cut ? MESSAGE_BYTES - 1 : len;
}

/* Writes the message of an event. Dots behind a message show that its end is missing. */
static void put_message(struct out *out, const struct log_type *type,
			const struct posix_trace_event_np *event)
{
	char text[MESSAGE_BYTES];
	bool is_cut;
	size_t len = get_message(type, event, text, &is_cut);

	text_quoted(out, text, len);
	if (is_cut)
		out_str(out, "...");
}

static void json_message(struct json *json, const struct log_type *type,
			 const struct posix_trace_event_np *event)
{
	char text[MESSAGE_BYTES];
	bool is_cut;
	size_t len = get_message(type, event, text, &is_cut);

	json_text(json, "message", text, len);
}

/* Only a value that is always a plain number is written without value_text(). */
static enum fieldplan_kind text_kind(const struct posix_trace_field_np *field)
{
	if (field->value_names || field->has_bits)
		return FIELDPLAN_OTHER;
	if (field->type >= POSIX_TRACE_TYPE_X8_NP && field->type <= POSIX_TRACE_TYPE_X64_NP)
		return FIELDPLAN_HEX;
	if (field->type < POSIX_TRACE_TYPE_U8_NP || field->type > POSIX_TRACE_TYPE_S64_NP)
		return FIELDPLAN_OTHER;
	return field->form == POSIX_TRACE_FORM_SIGNED_NP ? FIELDPLAN_SIGNED : FIELDPLAN_UNSIGNED;
}

struct fieldplan *fields_plan(const struct posix_trace_schema_np *schema)
{
	static const struct fieldplan_style style = { " ", " ", "=", text_kind };

	return schema->format || call_text_is(schema) || !fieldplan_is_possible(schema)
		       ? NULL
		       : fieldplan_new(schema, &style);
}

/*
 * Writes data that has exactly the fields of a plan. This is faster, because the library is not
 * called for each field.
 */
static void put_planned(struct out *out, const struct logfile *log, const struct log_type *type,
			const struct posix_trace_event_np *event, enum when_form form)
{
	const struct fieldplan *plan = type->plan;
	const uint8_t *from = event->data;
	char *p = out_room_for(out, plan->most);

	for (unsigned i = 0; i < plan->fields; i++) {
		const struct fieldplan_field *field = &plan->field[i];
		struct posix_trace_value_np value = { .field = &type->schema->field[i] };

		value.u64 = fieldplan_load(field, &from);
		p = put_pieces(p, field->key, field->len);
		switch ((enum fieldplan_kind)field->kind) {
		case FIELDPLAN_UNSIGNED:
			p = put_unsigned(p, value.u64);
			break;
		case FIELDPLAN_SIGNED:
			p = put_signed(p, value.s64);
			break;
		case FIELDPLAN_HEX:
			*p++ = '0';
			*p++ = 'x';
			p = put_hex(p, value.u64, 1);
			break;
		case FIELDPLAN_OTHER:
			out_done(out, p);
			value_text(out, log, event, &value, form);
			p = out_room_for(out, plan->most);
			break;
		}
	}
	out_done(out, p);
}

/*
 * Writes each value that remains in values, and then the bytes that no field describes. Writes the
 * character 'before' in front of each field and of these bytes. Skips the values of the field with
 * the index 'omitted'.
 */
static void put_values(struct out *out, const struct logfile *log, const struct log_type *type,
		       const struct posix_trace_event_np *event,
		       struct posix_trace_values_np *values, enum when_form form, char before,
		       int omitted)
{
	struct posix_trace_value_np value;
	/* an array has been begun and not ended; the data may end within the array */
	bool open = false;
	size_t rest;

	while (posix_trace_field_next_np(values, &value)) {
		if (value.field - type->schema->field == omitted)
			continue;
		out_char(out, value.index == 0 ? before : ' ');
		if (value.index == 0) {
			out_str(out, value.field->name);
			out_char(out, '=');
			if (value.field->is_array)
				out_char(out, '[');
		}
		value_text(out, log, event, &value, form);
		open = value.field->is_array && !is_last(&value);
		if (value.field->is_array && !open)
			out_char(out, ']');
	}
	if (open)
		out_str(out, " ...]");
	rest = rest_len(type, values);
	if (rest) {
		out_char(out, before);
		out_char(out, '+');
		out_hex(out, values->data, rest);
	}
}

bool fields_text(struct out *out, const struct logfile *log, const struct log_type *type,
		 const struct posix_trace_event_np *event, enum when_form form)
{
	struct posix_trace_values_np values;

	if (!type->schema)
		return false;
	if (fieldplan_fits(type->plan, event->data_len)) {
		put_planned(out, log, type, event, form);
		return true;
	}
	if (fields_has_message(type)) {
		out_char(out, ' ');
		put_message(out, type, event);
		return true;
	}
	begin_values(&values, type, event);
	if (call_text_is(type->schema))
		call_text_put(out, log, type, event, &values, form);
	put_values(out, log, type, event, &values, form, ' ', -1);
	return true;
}

bool fields_lines(struct out *out, const struct logfile *log, const struct log_type *type,
		  const struct posix_trace_event_np *event, enum when_form form, int omitted)
{
	struct posix_trace_values_np values;

	if (!type->schema)
		return false;
	if (fields_has_message(type)) {
		out_str(out, "\nmessage=");
		put_message(out, type, event);
	}
	begin_values(&values, type, event);
	put_values(out, log, type, event, &values, form, '\n', omitted);
	return true;
}

/*
 * Returns the kind by which put_json_planned() writes a value as value_json() does. Whether the
 * number is in quotes depends on the size of the field.
 */
static enum fieldplan_kind json_kind(const struct posix_trace_field_np *field)
{
	if (field->type == POSIX_TRACE_TYPE_PTR_NP || field->type == POSIX_TRACE_TYPE_X64_NP)
		return FIELDPLAN_HEX;
	return field->form == POSIX_TRACE_FORM_SIGNED_NP ? FIELDPLAN_SIGNED : FIELDPLAN_UNSIGNED;
}

struct fieldplan *fields_json_plan(const struct posix_trace_schema_np *schema)
{
	static const struct fieldplan_style style = { "{\"", ",\"", "\":", json_kind };

	return fieldplan_is_possible(schema) ? fieldplan_new(schema, &style) : NULL;
}

/* Writes a number as value_json() does: in quotes if it has 64 bits. */
static char *put_json_number(char *p, const struct fieldplan_field *field, uint64_t value)
{
	bool is_wide = field->size == 8;

	/* Both quotes are always stored. If they are not needed, a later store overwrites them. */
	*p = '"';
	p += is_wide;
	p = field->kind == FIELDPLAN_SIGNED ? put_signed(p, (int64_t)value)
					    : put_unsigned(p, value);
	*p = '"';
	return p + is_wide;
}

/* Writes data that has exactly the fields of a plan, as json_fields() would write it. */
static void put_json_planned(struct json *json, const struct fieldplan *plan, const uint8_t *from)
{
	char *p = out_room_for(json->out, plan->most + OUT_PIECE);

	p = json_put_name(json, p, "fields");
	for (unsigned i = 0; i < plan->fields; i++) {
		const struct fieldplan_field *field = &plan->field[i];
		uint64_t value = fieldplan_load(field, &from);

		p = put_pieces(p, field->key, field->len);
		if (field->kind == FIELDPLAN_HEX)
			p = json_put_address(p, value);
		else
			p = put_json_number(p, field, value);
	}
	*p = '}';
	out_done(json->out, p + 1);
}

/*
 * Writes the member "fields". If the data ends inside an array, the array is closed early, so that
 * the JSON remains valid.
 */
static void json_fields(struct json *json, struct posix_trace_values_np *values)
{
	struct posix_trace_value_np value;
	bool is_open = false; /* an array */

	json_object(json, "fields");
	while (posix_trace_field_next_np(values, &value)) {
		if (!value.field->is_array) {
			value_json(json, value.field->name, &value);
			continue;
		}
		if (!value.index)
			json_array(json, value.field->name);
		value_json(json, NULL, &value);
		is_open = !is_last(&value);
		if (!is_open)
			json_end_array(json);
	}
	if (is_open)
		json_end_array(json);
	json_end_object(json);
}

/*
 * If at least one value has a label, writes an object with all labels and returns true. Elements of
 * arrays have no labels, because the object has one label for each field.
 */
static bool json_labels(struct json *json, const char *name, const struct logfile *log,
			const struct log_type *type, const struct posix_trace_event_np *event)
{
	struct posix_trace_values_np values;
	struct posix_trace_value_np value;
	char label[VALUE_LABEL_BYTES];
	bool any = false;

	begin_values(&values, type, event);
	while (posix_trace_field_next_np(&values, &value)) {
		if (value.field->is_array || !value_label(log, event, &value, label))
			continue;
		if (!any)
			json_object(json, name);
		any = true;
		json_string_member(json, value.field->name, label);
	}
	if (any)
		json_end_object(json);
	return any;
}

bool fields_labels(struct json *json, const struct logfile *log, const struct log_type *type,
		   const struct posix_trace_event_np *event)
{
	return type->has_labels && json_labels(json, NULL, log, type, event);
}

bool fields_json(struct json *json, const struct logfile *log, const struct log_type *type,
		 const struct posix_trace_event_np *event)
{
	struct posix_trace_values_np values;
	size_t rest;

	if (!type->schema)
		return false;
	if (fields_has_message(type))
		json_message(json, type, event);
	/*
	 * Labels need a second pass over the values. has_labels is false for most types, which
	 * saves this time.
	 */
	if (type->has_labels)
		json_labels(json, "labels", log, type, event);
	if (fieldplan_fits(type->json_plan, event->data_len)) {
		put_json_planned(json, type->json_plan, event->data);
		return true;
	}
	begin_values(&values, type, event);
	json_fields(json, &values);
	rest = rest_len(type, &values);
	if (rest)
		json_hex(json, "rest", values.data, rest);
	return true;
}
