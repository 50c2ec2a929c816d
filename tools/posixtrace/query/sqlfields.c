/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sqlfields.c - names the columns of fields, and computes the SQL values of fields. */
#include "query/sqlfields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"
#include "log/value.h"
#include "query/query_columns.h"

/*
 * Returns whether this is the name of a column that every event has. If so, the column of the field
 * gets a prefix. The comparison ignores case, as SQL does.
 */
static bool is_column(const char *name)
{
	for (size_t i = 0; i < QUERY_COLUMNS; i++)
		if (!strcasecmp(query_columns[i].name, name))
			return true;
	return false;
}

int sqlfields_find(const struct sqlfields *fields, const char *name)
{
	for (size_t i = 0; i < fields->count; i++)
		if (!strcmp(fields->field[i].field, name))
			return (int)i;
	return -1;
}

/*
 * Chooses the name of a field's column. SQL ignores case. So if the name differs from the name of
 * another column only in case, the function appends a number.
 */
static void name_column(const struct sqlfields *fields, struct sqlfield *added)
{
	snprintf(added->name, sizeof(added->name), "%s%s", is_column(added->field) ? "field." : "",
		 added->field);
	for (unsigned n = 2; n < 10; n++) {
		size_t i = 0;

		while (i < fields->count && strcasecmp(fields->field[i].name, added->name) != 0)
			i++;
		if (i == fields->count)
			return;
		snprintf(added->name, sizeof(added->name), "%s.%u", added->field, n);
	}
}

/* If there are SQLFIELDS_MAX columns already, the field gets no column. */
bool sqlfields_add_name(struct sqlfields *fields, const char *field)
{
	struct sqlfield *added;

	if (sqlfields_find(fields, field) >= 0 || fields->count == SQLFIELDS_MAX)
		return true;
	if (!vec_grow(&fields->field, fields->count, 1))
		return false;
	added = &fields->field[fields->count];
	added->field = field;
	name_column(fields, added);
	fields->count++;
	return true;
}

bool sqlfields_add(struct sqlfields *fields, const struct posix_trace_schema_np *schema)
{
	for (unsigned i = 0; i < schema->fields; i++)
		if (!sqlfields_add_name(fields, schema->field[i].name))
			return false;
	return true;
}

void sqlfields_free(struct sqlfields *fields)
{
	free(fields->field);
}

/* ------------------------------------------------------------------ values */

/*
 * The text of the last value that has a name or is an array. sqlfields.h says how long the text is
 * valid. Only one thread uses this buffer.
 */
static struct out scratch = { .fd = -1 };

/*
 * The pointer must not be NULL, even if the value is empty. Otherwise SQLite would treat the value
 * as NULL.
 */
static void set_bytes(struct sqlvalue *to, enum sqlvalue_kind kind, const void *bytes, size_t len)
{
	*to = (struct sqlvalue){ .kind = kind, .bytes = len ? bytes : "", .len = len };
}

/*
 * Stores all elements of an array as JSON. If the JSON text would be too long, the value remains
 * NULL.
 */
static void array_of(const struct posix_trace_schema_np *schema, unsigned field, const void *data,
		     size_t len, struct sqlvalue *to)
{
	struct json json = json_begin(&scratch);
	struct posix_trace_value_np value;

	scratch.used = 0;
	json_array(&json, NULL);
	for (unsigned i = 0; posix_trace_field_get_np(schema, field, i, data, len, 0, &value);
	     i++) {
		if (OUT_BYTES - scratch.used < 1024)
			return;
		value_json(&json, NULL, &value);
	}
	if (!json.needs_comma)
		return; /* the data ends before the first element */
	json_end_array(&json);
	set_bytes(to, SQLVALUE_TEXT, scratch.bytes, scratch.used);
}

/*
 * Stores the name of a value and returns true. The name is the label that the schema has for the
 * value, or the name of the error number or signal. Returns false if the value has no name. A value
 * of bits is not replaced by the names of its bits, so that SQL can compute with the bits.
 */
static bool name_of(const struct posix_trace_value_np *value, struct sqlvalue *to)
{
	char label[POSIX_TRACE_LABEL_MAX_NP + 1];

	if (!sqlfield_has_names(value->field) ||
	    !posix_trace_value_label_np(value, label, sizeof(label)))
		return false;
	scratch.used = 0;
	out_str(&scratch, label);
	set_bytes(to, SQLVALUE_TEXT, scratch.bytes, scratch.used);
	return true;
}

/* Stores a number, a text or bytes as they are in the data. */
static void plain_value(const struct posix_trace_value_np *value, struct sqlvalue *to)
{
	switch (value->field->form) {
	case POSIX_TRACE_FORM_SIGNED_NP:
		*to = (struct sqlvalue){ .kind = SQLVALUE_INTEGER, .integer = value->s64 };
		break;
	case POSIX_TRACE_FORM_FLOAT_NP:
		*to = (struct sqlvalue){ .kind = SQLVALUE_REAL, .real = value->f64 };
		break;
	case POSIX_TRACE_FORM_BYTES_NP:
		set_bytes(to,
			  value->field->type == POSIX_TRACE_TYPE_STR_NP ? SQLVALUE_TEXT
									: SQLVALUE_BLOB,
			  value->data, value->len);
		break;
	default:
		/*
		 * The integers of SQLite are signed, so a U64 that is too great becomes a real.
		 * Values of other types, such as addresses and bits, keep their 64 bits.
		 */
		if (value->u64 > INT64_MAX && (value->field->type == POSIX_TRACE_TYPE_U64_NP ||
					       value->field->type == POSIX_TRACE_TYPE_NS_NP))
			*to = (struct sqlvalue){ .kind = SQLVALUE_REAL,
						 .real = (double)value->u64 };
		else
			*to = (struct sqlvalue){ .kind = SQLVALUE_INTEGER,
						 .integer = (int64_t)value->u64 };
	}
}

/*
 * If the data ends before the field, the value is NULL. In a damaged log the data may have any
 * length, which posix_trace_field_get_np() checks.
 */
void sqlvalue_of(const struct posix_trace_schema_np *schema, unsigned field, const void *data,
		 size_t len, struct sqlvalue *to)
{
	struct posix_trace_value_np value;

	to->kind = SQLVALUE_NULL;
	if (schema->field[field].is_array)
		array_of(schema, field, data, len, to);
	else if (posix_trace_field_get_np(schema, field, 0, data, len, 0, &value) &&
		 !name_of(&value, to))
		plain_value(&value, to);
}
