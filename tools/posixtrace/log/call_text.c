/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* call_text.c - prints calls of functions with their arguments. */
#include "log/call_text.h"

#include <string.h>

#include "base/text.h"
#include "log/value.h"

/* The fields that each call has. */
enum { CALL_TIME, CALL_FUNCTION, CALL_DEPTH, CALL_ARGUMENTS };

bool call_text_is(const struct posix_trace_schema_np *schema)
{
	if (!schema || !schema->span || schema->role != POSIX_TRACE_POINT_NP ||
	    schema->fields <= CALL_ARGUMENTS ||
	    schema->field[CALL_FUNCTION].type != POSIX_TRACE_TYPE_PTR_NP ||
	    strcmp(schema->field[CALL_FUNCTION].name, schema->span) ||
	    strcmp(schema->field[CALL_DEPTH].name, "depth"))
		return false;
	for (unsigned i = 0; i < schema->fields; i++)
		if (schema->field[i].is_array)
			return false;
	return true;
}

/* Writes the name of the function, which is the part behind the colon in the name of the type. */
static void put_function(struct out *out, const struct log_type *type)
{
	const char *colon = strchr(type->name, ':');
	const char *name = colon ? colon + 1 : type->name;

	out_char(out, ' ');
	text_safe(out, name, strlen(name));
	out_char(out, '(');
}

void call_text_put(struct out *out, const struct logfile *log, const struct log_type *type,
		   const struct posix_trace_event_np *event, struct posix_trace_values_np *values,
		   enum when_form form)
{
	struct posix_trace_value_np value;
	bool is_open = false, has_argument = false;

	while (posix_trace_field_next_np(values, &value)) {
		const unsigned at = (unsigned)(value.field - type->schema->field);

		if (at == CALL_FUNCTION)
			continue;
		if (at < CALL_ARGUMENTS) {
			out_char(out, ' ');
		} else if (!strcmp(value.field->name, "return")) {
			out_str(out, ") = ");
			is_open = false;
		} else if (has_argument) {
			out_str(out, ", ");
		}
		if (at < CALL_ARGUMENTS || is_open) {
			out_str(out, value.field->name);
			out_char(out, '=');
		}
		has_argument = at >= CALL_ARGUMENTS;
		value_text(out, log, event, &value, form);
		if (at == CALL_DEPTH) {
			put_function(out, type);
			is_open = true;
		}
	}
	if (is_open)
		out_char(out, ')');
}
