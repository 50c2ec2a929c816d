/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "log/field.h"

#include <string.h>

int field_index(const struct posix_trace_schema_np *schema, const char *name)
{
	/* Most names differ in the first character, which costs less than a call of strcmp(). */
	for (unsigned i = 0; schema && i < schema->fields; i++)
		if (*schema->field[i].name == *name && !strcmp(schema->field[i].name, name))
			return (int)i;
	return -1;
}

bool field_by_name(const struct posix_trace_schema_np *schema, const char *name,
		 const struct posix_trace_event_np *event, struct posix_trace_value_np *value)
{
	int index = field_index(schema, name);

	return index >= 0 && posix_trace_field_get_np(schema, (unsigned)index, 0, event->data,
						      event->data_len, 0, value);
}

int64_t field_integer(const struct posix_trace_schema_np *schema, const char *name,
		      const struct posix_trace_event_np *event, int64_t otherwise)
{
	struct posix_trace_value_np value;

	/* The other forms have no integer: the bits of a float would be a meaningless number. */
	return field_by_name(schema, name, event, &value) &&
	       (value.field->form == POSIX_TRACE_FORM_SIGNED_NP ||
		value.field->form == POSIX_TRACE_FORM_UNSIGNED_NP) ? value.s64 : otherwise;
}
