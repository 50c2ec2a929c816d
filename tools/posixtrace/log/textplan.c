/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* textplan.c - prepares the fields of a type for fields_text(). */
#include "log/textplan.h"

#include <stdlib.h>
#include <string.h>

#include "log/call_text.h"
#include "log/integer.h"

/* Returns whether value_text() prints every value of the field as a decimal number. */
static bool is_decimal(const struct posix_trace_field_np *field)
{
	return !field->value_names && !field->has_bits &&
	       field->type >= POSIX_TRACE_TYPE_U8_NP && field->type <= POSIX_TRACE_TYPE_S64_NP;
}

struct textplan *textplan_new(const struct posix_trace_schema_np *schema)
{
	struct textplan *plan;

	if (!schema->fields || schema->format || call_text_is(schema))
		return NULL;
	for (unsigned i = 0; i < schema->fields; i++)
		if (!integer_is(&schema->field[i]) || schema->field[i].is_array)
			return NULL;
	plan = calloc(1, sizeof(*plan) + schema->fields * sizeof(plan->field[0]));
	if (!plan)
		return NULL;
	plan->fields = schema->fields;
	for (unsigned i = 0; i < schema->fields; i++) {
		const struct posix_trace_field_np *from = &schema->field[i];
		struct textplan_field *to = &plan->field[i];
		size_t name = strlen(from->name);

		to->key[0] = ' ';
		memcpy(to->key + 1, from->name, name);
		to->key[name + 1] = '=';
		to->len = (uint8_t)(name + 2);
		to->size = (uint8_t)from->size;
		to->is_signed = from->form == POSIX_TRACE_FORM_SIGNED_NP;
		to->is_decimal = is_decimal(from);
		plan->bytes += from->size;
	}
	return plan;
}
