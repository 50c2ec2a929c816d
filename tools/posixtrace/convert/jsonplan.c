/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jsonplan.c - makes the keys once, and then loads and writes each value without a call of the
 * library.
 */
#include "convert/jsonplan.h"

#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "convert/jsonfields.h"
#include "log/integer.h"

#define NUMBER_MOST 22 /* a sign and 20 digits, or 0x and 16, in quotes */

/* Whether each value of the field is one number that never has a name. */
static bool is_plain(const struct posix_trace_field_np *field)
{
	return integer_is(field) && !field->is_array && !fmt_may_have_name(field);
}

bool jsonplan_init(struct jsonplan *plan, const struct posix_trace_schema_np *schema)
{
	*plan = (struct jsonplan){ .fields = 0 };
	if (!schema || !schema->fields)
		return true;
	for (unsigned i = 0; i < schema->fields; i++)
		if (!is_plain(&schema->field[i]))
			return true;
	plan->field = calloc(schema->fields, sizeof(*plan->field));
	if (!plan->field)
		return false;
	plan->fields = schema->fields;
	plan->most = 2 + JSONPLAN_PIECE;
	for (unsigned i = 0; i < schema->fields; i++) {
		const struct posix_trace_field_np *from = &schema->field[i];
		struct jsonplan_field *to = &plan->field[i];
		size_t name = strlen(from->name);

		/* The grammar of schemas allows no characters in names that need escapes. */
		to->key[0] = i ? ',' : '{';
		to->key[1] = '"';
		memcpy(to->key + 2, from->name, name);
		memcpy(to->key + 2 + name, "\":", 2);
		to->len = (uint8_t)(name + 4);
		to->size = (uint8_t)from->size;
		to->is_signed = from->form == POSIX_TRACE_FORM_SIGNED_NP;
		to->is_hexadecimal = json_field_is_hexadecimal(from);
		plan->bytes += from->size;
		plan->most += to->len + NUMBER_MOST;
	}
	return true;
}

void jsonplan_fini(struct jsonplan *plan)
{
	free(plan->field);
}

char *jsonplan_put(const struct jsonplan *plan, char *p, const void *data)
{
	const struct jsonplan_field *field = plan->field, *end = field + plan->fields;
	const uint8_t *from = data;

	for (; field < end; field++) {
		uint64_t value = integer_load(from, field->size, field->is_signed);

		from += field->size;
		memcpy(p, field->key, JSONPLAN_PIECE);
		if (field->len > JSONPLAN_PIECE)
			memcpy(p + JSONPLAN_PIECE, field->key + JSONPLAN_PIECE,
			       (size_t)field->len - JSONPLAN_PIECE);
		p += field->len;
		if (field->is_hexadecimal)
			p = json_put_address(p, value);
		else if (field->is_signed && (int64_t)value < 0)
			p = json_put_number(p, -value, true);
		else
			p = json_put_number(p, value, false);
	}
	*p = '}';
	return p + 1;
}
