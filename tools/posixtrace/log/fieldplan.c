/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fieldplan.c - makes the plan of a type: the texts before its fields, and their kinds. */
#include "log/fieldplan.h"

#include <stdlib.h>
#include <string.h>

bool fieldplan_is_possible(const struct posix_trace_schema_np *schema)
{
	for (unsigned i = 0; i < schema->fields; i++)
		if (!integer_is(&schema->field[i]) || schema->field[i].is_array)
			return false;
	return schema->fields;
}

struct fieldplan *fieldplan_new(const struct posix_trace_schema_np *schema,
				const struct fieldplan_style *style)
{
	struct fieldplan *plan =
		calloc(1, sizeof(*plan) + schema->fields * sizeof(plan->field[0]));

	if (!plan)
		return NULL;
	plan->fields = schema->fields;
	plan->most = PUT_PIECE;
	for (unsigned i = 0; i < schema->fields; i++) {
		const struct posix_trace_field_np *from = &schema->field[i];
		struct fieldplan_field *to = &plan->field[i];
		char *end = stpcpy(to->key, i ? style->next : style->first);

		/*
		 * The name needs no escapes, because the grammar of schemas permits no character
		 * that would need one.
		 */
		end = stpcpy(stpcpy(end, from->name), style->behind);
		to->len = (uint8_t)(end - to->key);
		to->size = (uint8_t)from->size;
		to->is_signed = from->form == POSIX_TRACE_FORM_SIGNED_NP;
		to->kind = (uint8_t)style->kind(from);
		plan->bytes += from->size;
		plan->most += to->len + FIELDPLAN_NUMBER;
	}
	return plan;
}
