/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "log/fields.h"

#include <string.h>

#include "log/etw_tail.h"
#include "log/value.h"

static void begin(struct posix_trace_values_np *values, const struct log_type *type,
		  const struct posix_trace_event_np *event)
{
	posix_trace_values_begin_np(values, type->schema, event->data, event->data_len, 0);
}

/*
 * How many bytes no field explains. Events that import made of a log of ETW end in their record,
 * which says what the fields say; the events of others may end as they like.
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

bool fields_text(struct out *out, const struct logfile *log, const struct log_type *type,
		 const struct posix_trace_event_np *event, enum when_form form)
{
	struct posix_trace_values_np values;
	struct posix_trace_value_np value;
	bool open = false; /* an array that may be cut short */
	size_t rest;

	if (!type->schema)
		return false;
	begin(&values, type, event);
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

static void json_labels(struct out *out, const struct logfile *log,
			struct posix_trace_values_np *values,
			const struct posix_trace_event_np *event)
{
	struct posix_trace_value_np value;
	bool any = false;

	while (posix_trace_field_next_np(values, &value))
		if (!value.field->is_array &&
		    value_label(out, log, event, &value, any ? "," : ",\"labels\":{"))
			any = true;
	if (any)
		out_char(out, '}');
}

bool fields_json(struct out *out, const struct logfile *log, const struct log_type *type,
		 const struct posix_trace_event_np *event)
{
	struct posix_trace_values_np values;
	size_t rest;

	if (!type->schema)
		return false;
	if (type->has_labels) {
		begin(&values, type, event);
		json_labels(out, log, &values, event);
	}
	begin(&values, type, event);
	json_fields(out, &values);
	rest = rest_len(type, &values);
	if (rest) {
		out_str(out, ",\"rest\":\"");
		out_hex(out, values.data, rest);
		out_char(out, '"');
	}
	return true;
}
