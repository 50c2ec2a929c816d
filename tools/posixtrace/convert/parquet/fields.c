/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fields.c - the fields of schemas as columns of the table "events". */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/out.h"
#include "base/real.h"
#include "base/vec.h"
#include "convert/parquet/parquet.h"

/*
 * Returns a kind of column that can hold every value that sqlvalue_of() returns for the field. If
 * values of a field have names, some of its values are texts and others are numbers, so the field
 * needs a column of texts.
 */
static enum column_kind kind_of(const struct posix_trace_field_np *field)
{
	if (field->is_array || (field->value_names && !field->has_bits) ||
	    field->type == POSIX_TRACE_TYPE_ERRNO_NP || field->type == POSIX_TRACE_TYPE_SIGNAL_NP)
		return COLUMN_TEXT;
	switch (field->form) {
	case POSIX_TRACE_FORM_FLOAT_NP:
		return COLUMN_REAL;
	case POSIX_TRACE_FORM_BYTES_NP:
		return field->type == POSIX_TRACE_TYPE_STR_NP ? COLUMN_TEXT : COLUMN_BLOB;
	default:
		return field->type == POSIX_TRACE_TYPE_U64_NP ||
				       field->type == POSIX_TRACE_TYPE_NS_NP ?
			       COLUMN_UNSIGNED :
			       COLUMN_INTEGER;
	}
}

static bool is_whole(enum column_kind kind)
{
	return kind == COLUMN_INTEGER || kind == COLUMN_UNSIGNED || kind == COLUMN_WIDE;
}

/* Returns a kind of column that can hold the values of the kinds a and b. */
static enum column_kind kind_with(enum column_kind a, enum column_kind b)
{
	return a == b ? a : is_whole(a) && is_whole(b) ? COLUMN_WIDE : COLUMN_TEXT;
}

/*
 * Names a further column of a field. A field gets a further column for values that do not fit into
 * its existing columns.
 */
static void name_further(const struct parquet_fields *fields, struct parquet_field *added)
{
	for (unsigned n = 2; n < 100; n++) {
		size_t i = 0;

		snprintf(added->name, sizeof(added->name), "%s.%u", added->field, n);
		while (i < fields->count && strcasecmp(fields->field[i].name, added->name) != 0)
			i++;
		if (i == fields->count)
			return;
	}
}

/*
 * Adds a column. The first column of a field has the same name as in query. Returns false if memory
 * is lacking.
 */
static bool add_field(struct parquet_fields *fields, const char *field, enum column_kind kind,
		      bool is_first)
{
	struct parquet_field *added;
	int name;

	if (!vec_grow(&fields->field, fields->count, 1) ||
	    !sqlfields_add_name(&fields->names, field))
		return false;
	added = &fields->field[fields->count];
	*added = (struct parquet_field){ .field = field, .kind = kind };
	name = sqlfields_find(&fields->names, field);
	if (name < 0)
		/*
		 * The command query has a limited number of columns for fields, so this field gets
		 * no column.
		 */
		return true;
	if (is_first)
		strcpy(added->name, fields->names.field[name].name);
	else
		name_further(fields, added);
	fields->count++;
	return true;
}

/*
 * Finds the column for a field of this kind, or adds one. The kind of a column can change until the
 * file has the column. Only a damaged log, or a source that is not a log, has types that appear
 * later.
 */
static bool place_field(struct parquet_fields *fields, const char *field, enum column_kind kind,
			uint32_t *place)
{
	const size_t before = fields->count;
	bool is_first = true;

	for (size_t i = 0; i < before; i++) {
		struct parquet_field *at = &fields->field[i];
		enum column_kind both = kind_with(at->kind, kind);

		if (strcmp(at->field, field) != 0)
			continue;
		is_first = false;
		if (i < fields->made && both != at->kind)
			continue;
		at->kind = both;
		*place = (uint32_t)i + 1;
		return true;
	}
	if (!add_field(fields, field, kind, is_first))
		return false;
	/* If no column was added, *place becomes 0: the field has no column. */
	*place = fields->count > before ? (uint32_t)fields->count : 0;
	return true;
}

bool parquet_fields_add(struct parquet_fields *fields, const struct fmt_type *type)
{
	const struct posix_trace_schema_np *schema = type->fields;
	struct parquet_plan *plan;

	if (!vec_reach(&fields->plan, &fields->plans, type->index))
		return false;
	if (!schema)
		return true;
	plan = &fields->plan[type->index];
	plan->field = calloc(schema->fields + 1, sizeof(*plan->field));
	if (!plan->field)
		return false;
	plan->fields = schema->fields;
	for (unsigned i = 0; i < schema->fields; i++)
		if (!place_field(fields, schema->field[i].name, kind_of(&schema->field[i]),
				 &plan->field[i]))
			return false;
	return true;
}

void parquet_fields_make(struct parquet_fields *fields, struct parquet *file)
{
	for (; fields->made < fields->count; fields->made++) {
		struct parquet_field *field = &fields->field[fields->made];

		field->column = parquet_column(file, field->name, field->kind);
	}
}

void parquet_fields_free(struct parquet_fields *fields)
{
	for (size_t i = 0; i < fields->plans; i++)
		free(fields->plan[i].field);
	free(fields->plan);
	free(fields->field);
	sqlfields_free(&fields->names);
}

/* ------------------------------------------------------------------ values */

/*
 * Writes any value as a text. Numbers are written in decimal digits, and bytes in hexadecimal
 * digits.
 */
static void put_as_text(struct parquet *file, unsigned column, const struct sqlvalue *value)
{
	char number[REAL_BYTES + 24], *hex;

	switch (value->kind) {
	case SQLVALUE_NULL:
		break;
	case SQLVALUE_INTEGER:
		parquet_bytes(file, column, number,
			      (size_t)(put_signed(number, value->integer) - number));
		break;
	case SQLVALUE_REAL:
		real_text(number, value->real, false);
		parquet_string(file, column, number);
		break;
	case SQLVALUE_TEXT:
		parquet_text(file, column, value->bytes, value->len);
		break;
	case SQLVALUE_BLOB:
		hex = malloc(2 * value->len + 1);
		if (hex)
			parquet_bytes(file, column, hex,
				      (size_t)(put_hex_bytes(hex, value->bytes, value->len) - hex));
		else if (!file->err)
			file->err = ENOMEM;
		free(hex);
		break;
	}
}

/*
 * Writes an unsigned integer of 64 bits. The function does not use the struct sqlvalue, in which a
 * number greater than INT64_MAX is a real.
 */
static void put_u64(struct parquet *file, const struct parquet_field *field, uint64_t number)
{
	char text[24];

	if (field->kind == COLUMN_WIDE)
		parquet_wide(file, field->column, number, false);
	else if (field->kind == COLUMN_TEXT)
		parquet_bytes(file, field->column, text,
			      (size_t)(put_unsigned(text, number) - text));
	else
		parquet_integer(file, field->column, (int64_t)number);
}

static void put_value(struct parquet *file, const struct parquet_field *field,
		      const struct sqlvalue *value)
{
	if (value->kind == SQLVALUE_NULL)
		return;
	switch (field->kind) {
	case COLUMN_INTEGER:
	case COLUMN_UNSIGNED:
		parquet_integer(file, field->column, value->integer);
		break;
	case COLUMN_WIDE:
		parquet_wide(file, field->column, (uint64_t)value->integer, true);
		break;
	case COLUMN_REAL:
		parquet_real(file, field->column, value->real);
		break;
	case COLUMN_BLOB:
		parquet_bytes(file, field->column, value->bytes, value->len);
		break;
	case COLUMN_TEXT:
		put_as_text(file, field->column, value);
		break;
	}
}

/* The fields of a schema have different names, so a column gets at most one value in each row. */
void parquet_fields_put(struct parquet_fields *fields, struct parquet *file,
			const struct fmt_event *event)
{
	const struct posix_trace_schema_np *schema = event->type->fields;
	const struct parquet_plan *plan = &fields->plan[event->type->index];

	for (unsigned i = 0; schema && i < plan->fields; i++) {
		const struct parquet_field *field = &fields->field[plan->field[i] - 1];
		struct posix_trace_value_np number;
		struct sqlvalue value;

		if (!plan->field[i])
			continue;
		if (kind_of(&schema->field[i]) == COLUMN_UNSIGNED) {
			if (posix_trace_field_get_np(schema, i, 0, event->data, event->data_len, 0,
						     &number))
				put_u64(file, field, number.u64);
			continue;
		}
		sqlvalue_of(schema, i, event->data, event->data_len, &value);
		put_value(file, field, &value);
	}
}
