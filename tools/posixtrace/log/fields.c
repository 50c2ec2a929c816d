/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fields.c - prints the fields of an event by its schema. The library checks the data against the
 * schema, so a short or forged payload yields fewer values and never a read outside of it.
 */
#include "log/fields.h"

#include <string.h>

#include "base/text.h"
#include "log/etw_tail.h"
#include "log/value.h"

/* Both passes over the values of an event begin here. */
static void begin_values(struct posix_trace_values_np *values, const struct log_type *type,
		  const struct posix_trace_event_np *event)
{
	posix_trace_values_begin_np(values, type->schema, event->data, event->data_len, 0);
}

/*
 * Returns the number of bytes that no field describes. The record at the end of an event that
 * import made of an ETW log is not counted, because it repeats the fields. Events of other types
 * may end with any bytes.
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

/* Writes the message of an event. A message that is cut has dots behind it. */
static void put_message(struct out *out, const struct log_type *type,
			const struct posix_trace_event_np *event, bool json)
{
	char text[MESSAGE_BYTES];
	size_t len = posix_trace_message_print_np(type->schema, event->data, event->data_len, 0,
						  text, sizeof(text));
	const bool is_cut = len >= sizeof(text);

	if (is_cut)
		len = sizeof(text) - 1;
	if (json) {
		out_str(out, ",\"message\":");
		text_json(out, text, len);
		return;
	}
	out_char(out, ' ');
	text_quoted(out, text, len);
	if (is_cut)
		out_str(out, "...");
}

bool fields_text(struct out *out, const struct logfile *log, const struct log_type *type,
		 const struct posix_trace_event_np *event, enum when_form form)
{
	struct posix_trace_values_np values;
	struct posix_trace_value_np value;
	bool open = false; /* inside of an array; the data may end there */
	size_t rest;

	if (!type->schema)
		return false;
	if (fields_has_message(type)) {
		put_message(out, type, event, false);
		return true;
	}
	begin_values(&values, type, event);
	while (posix_trace_field_next_np(&values, &value)) {
		out_char(out, ' ');
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
	rest = rest_len(type, &values);
	if (rest) {
		out_str(out, " +");
		out_hex(out, values.data, rest);
	}
	return true;
}

/*
 * Writes the member "fields". If the data ends inside an array, the array is closed early, so that
 * the JSON remains valid.
 */
static void json_fields(struct out *out, struct posix_trace_values_np *values)
{
	struct posix_trace_value_np value;
	bool any = false, open = false;

	out_str(out, ",\"fields\":{");
	while (posix_trace_field_next_np(values, &value)) {
		if (value.index == 0)
			out_printf(out, "%s\"%s\":%s", any ? "," : "", value.field->name,
				   value.field->is_array ? "[" : "");
		else
			out_char(out, ',');
		any = true;
		value_json(out, &value);
		open = value.field->is_array && !is_last(&value);
		if (value.field->is_array && !open)
			out_char(out, ']');
	}
	out_str(out, open ? "]}" : "}");
}

/*
 * Writes the object of labels behind the text before. Elements of arrays have no labels, because
 * the object has one label for each field.
 */
static bool json_labels(struct out *out, const struct logfile *log, const struct log_type *type,
			const struct posix_trace_event_np *event, const char *before)
{
	struct posix_trace_values_np values;
	struct posix_trace_value_np value;
	bool any = false;

	begin_values(&values, type, event);
	while (posix_trace_field_next_np(&values, &value))
		if (!value.field->is_array &&
		    value_label(out, log, event, &value, any ? "," : before))
			any = true;
	if (any)
		out_char(out, '}');
	return any;
}

bool fields_labels(struct out *out, const struct logfile *log, const struct log_type *type,
		   const struct posix_trace_event_np *event)
{
	return type->has_labels && json_labels(out, log, type, event, "{");
}

bool fields_json(struct out *out, const struct logfile *log, const struct log_type *type,
		 const struct posix_trace_event_np *event)
{
	struct posix_trace_values_np values;
	size_t rest;

	if (!type->schema)
		return false;
	if (fields_has_message(type))
		put_message(out, type, event, true);
	/* A second pass over the values costs time; has_labels avoids it for most types. */
	if (type->has_labels)
		json_labels(out, log, type, event, ",\"labels\":{");
	begin_values(&values, type, event);
	json_fields(out, &values);
	rest = rest_len(type, &values);
	if (rest) {
		out_str(out, ",\"rest\":\"");
		out_hex(out, values.data, rest);
		out_char(out, '"');
	}
	return true;
}
