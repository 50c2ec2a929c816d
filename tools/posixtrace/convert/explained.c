/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * explained.c - whether all bytes of an event's data can be restored from the fields of its schema.
 */
#include "convert/explained.h"

#include <stdint.h>
#include <string.h>

#include "base/text.h"

/*
 * The text of str[N] is padded with zeros. Any other bytes behind the text would be lost, because a
 * reader uses only the text.
 */
static bool is_padded(const struct posix_trace_value_np *value)
{
	const char *behind = (const char *)value->data + value->len;

	for (size_t i = value->len; i < value->field->room; i++)
		if (*behind++)
			return false;
	return true;
}

/*
 * Returns whether all fields are numbers. Stores the number of bytes of all fields in *bytes: data
 * of exactly this length is described completely. Most types have only numbers, so their data need
 * not be examined.
 */
static bool has_numbers_only(const struct posix_trace_schema_np *schema, size_t *bytes)
{
	*bytes = 0;
	for (unsigned i = 0; i < schema->fields; i++) {
		const struct posix_trace_field_np *field = &schema->field[i];

		if (field->form == POSIX_TRACE_FORM_BYTES_NP)
			return false;
		*bytes += (size_t)field->size * field->count;
	}
	return true;
}

bool explained(const struct posix_trace_schema_np *schema, const void *data, size_t len,
	       bool *add_nul)
{
	const uint8_t *end = (const uint8_t *)data + len;
	struct posix_trace_values_np values;
	struct posix_trace_value_np value;
	unsigned count = 0, wanted = 0;
	size_t bytes;

	*add_nul = false;
	if (has_numbers_only(schema, &bytes))
		return len == bytes;
	/* An array has several values, and the data must contain all of them. */
	for (unsigned i = 0; i < schema->fields; i++)
		wanted += schema->field[i].count;
	posix_trace_values_begin_np(&values, schema, data, len, 0);
	while (posix_trace_field_next_np(&values, &value)) {
		count++;
		if (value.flags & POSIX_TRACE_VALUE_CUT_NP)
			return false;
		if (value.field->type != POSIX_TRACE_TYPE_STR_NP)
			continue;
		if (!text_is_utf8(value.data, value.len) ||
		    (value.field->room && !is_padded(&value)))
			return false;
		if (!value.field->room)
			*add_nul = (const uint8_t *)value.data + value.len == end;
	}
	return count == wanted && !values.len;
}
