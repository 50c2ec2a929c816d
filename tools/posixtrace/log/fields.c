/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fields.c - prints the fields of an event by its schema. The library checks the data against the
 * schema. So data that is too short or forged has fewer values, but no function reads beyond it.
 */
#include "log/fields.h"

#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "log/call_text.h"
#include "log/etw_tail.h"
#include "log/integer.h"
#include "log/textplan.h"
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

/*
 * Writes data that has exactly the fields of a plan. This is faster, because the library is not
 * called for each field.
 */
static void put_planned(struct out *out, const struct logfile *log, const struct log_type *type,
			const struct posix_trace_event_np *event, enum when_form form)
{
	const struct textplan *plan = type->plan;
	const uint8_t *from = event->data;

	for (unsigned i = 0; i < plan->fields; i++) {
		const struct textplan_field *field = &plan->field[i];
		struct posix_trace_value_np value = { .field = &type->schema->field[i] };
		char *p = out_room(out);

		value.u64 = integer_load(from, field->size, field->is_signed);
		from += field->size;
		memcpy(p, field->key, TEXTPLAN_PIECE);
		if (field->len > TEXTPLAN_PIECE)
			memcpy(p + TEXTPLAN_PIECE, field->key + TEXTPLAN_PIECE,
			       (size_t)field->len - TEXTPLAN_PIECE);
		p += field->len;
		if (field->is_decimal)
			p = field->is_signed ? put_signed(p, value.s64)
					     : put_unsigned(p, value.u64);
		out_done(out, p);
		if (!field->is_decimal)
			value_text(out, log, event, &value, form);
	}
}

/*
 * Writes each value that remains, with a character before each field, and the bytes that no field
 * describes. The values of the field with the index omitted are left out.
 */
static void put_values(struct out *out, const struct logfile *log, const struct log_type *type,
		       const struct posix_trace_event_np *event,
		       struct posix_trace_values_np *values, enum when_form form, char before,
		       int omitted)
{
	struct posix_trace_value_np value;
	bool open = false; /* an array has been begun and not ended; the data may end in it */
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
	if (type->plan && event->data_len == type->plan->bytes) {
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
	begin_values(&values, type, event);
	json_fields(json, &values);
	rest = rest_len(type, &values);
	if (rest)
		json_hex(json, "rest", values.data, rest);
	return true;
}
