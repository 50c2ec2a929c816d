/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* query_fields.c - the fields of all schemas as columns of one table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/query.h"
#include "query/query_columns.h"
#include "value.h"

static bool is_column(const char *name)
{
	for (size_t i = 0; i < QUERY_COLUMNS; i++)
		if (!sqlite3_stricmp(query_columns[i].name, name))
			return true;
	return false;
}

static int find(const struct query *query, const char *field)
{
	for (size_t i = 0; i < query->fields; i++)
		if (!strcmp(query->field[i].field, field))
			return (int)i;
	return -1;
}

/* SQL does not tell cases apart: a name that differs in them alone gets a number. */
static void name_column(const struct query *query, struct query_field *added)
{
	snprintf(added->name, sizeof(added->name), "%s%s", is_column(added->field) ? "field." : "",
		 added->field);
	for (unsigned n = 2; n < 10; n++) {
		size_t i = 0;

		while (i < query->fields && sqlite3_stricmp(query->field[i].name, added->name) != 0)
			i++;
		if (i == query->fields)
			return;
		snprintf(added->name, sizeof(added->name), "%s.%u", added->field, n);
	}
}

static bool add(struct query *query, const char *field)
{
	struct query_field *more;

	if (find(query, field) >= 0 || query->fields == QUERY_FIELDS)
		return true;
	more = realloc(query->field, (query->fields + 1) * sizeof(*more));
	if (!more)
		return false;
	query->field = more;
	more[query->fields].field = field;
	name_column(query, &more[query->fields]);
	query->fields++;
	return true;
}

static bool place(const struct query *query, struct query_log *log, const struct log_type *type)
{
	signed char *at = malloc(query->fields + 1);

	if (!at)
		return false;
	memset(at, -1, query->fields + 1);
	for (unsigned i = 0; i < type->schema->fields; i++) {
		int column = find(query, type->schema->field[i].name);

		if (column >= 0)
			at[column] = (signed char)i;
	}
	log->place[type->id] = at;
	return true;
}

static bool add_fields(struct query *query, const struct logfile *log)
{
	for (size_t i = 0; i < log->types; i++)
		for (unsigned f = 0; log->list[i]->schema && f < log->list[i]->schema->fields; f++)
			if (!add(query, log->list[i]->schema->field[f].name))
				return false;
	return true;
}

static bool place_fields(const struct query *query, struct query_log *log)
{
	const struct logfile *file = &log->file;

	log->place = calloc(file->ids + 1, sizeof(*log->place));
	if (!log->place)
		return false;
	log->ids = file->ids;
	for (size_t i = 0; i < file->types; i++)
		if (file->list[i]->schema && !place(query, log, file->list[i]))
			return false;
	return true;
}

bool query_fields_learn(struct query *query)
{
	bool good = true;

	for (unsigned i = 0; good && i < query->logs; i++)
		good = add_fields(query, &query->log[i].file);
	for (unsigned i = 0; good && i < query->logs; i++)
		good = place_fields(query, &query->log[i]);
	return good;
}

void query_fields_forget(struct query *query)
{
	for (unsigned i = 0; i < query->logs; i++) {
		struct query_log *log = &query->log[i];

		for (size_t id = 0; id < log->ids; id++)
			free(log->place[id]);
		free(log->place);
	}
	free(query->field);
}

/* ------------------------------------------------------------------ values */

static struct out scratch = { .fd = -1 };

static void result_scratch(sqlite3_context *context)
{
	sqlite3_result_text(context, scratch.bytes, (int)scratch.used, SQLITE_TRANSIENT);
}

/* All elements, as JSON has them: what is too long for that is NULL. */
static void result_array(sqlite3_context *context, const struct log_type *type, unsigned field,
			 const struct posix_trace_event_np *event)
{
	struct posix_trace_value_np value;

	scratch.used = 0;
	out_char(&scratch, '[');
	for (unsigned i = 0; posix_trace_field_get_np(type->schema, field, i, event->data,
						      event->data_len, 0, &value); i++) {
		if (OUT_BYTES - scratch.used < 1024)
			return;
		if (i)
			out_char(&scratch, ',');
		value_json(&scratch, &value);
	}
	if (scratch.used == 1)
		return; /* the payload ends before it */
	out_char(&scratch, ']');
	result_scratch(context);
}

/* The name of a value, where the schema or the C library has one. */
static bool result_name(sqlite3_context *context, const struct posix_trace_value_np *value)
{
	const char *name = value->field->value_names && !value->field->has_bits
				   ? posix_trace_value_name_np(value) : NULL;
	bool negative = value->s64 < 0;

	if (name) {
		sqlite3_result_text(context, name, -1, SQLITE_STATIC);
		return true;
	}
	if (value->field->type == POSIX_TRACE_TYPE_ERRNO_NP && value->s64 && value->s64 > -4096 &&
	    value->s64 < 4096)
		name = strerrorname_np((int)(negative ? -value->s64 : value->s64));
	if (!name)
		return false;
	scratch.used = 0;
	out_str(&scratch, negative ? "-" : "");
	out_str(&scratch, name);
	result_scratch(context);
	return true;
}

static void result_value(sqlite3_context *context, const struct posix_trace_value_np *value)
{
	switch (value->field->form) {
	case POSIX_TRACE_FORM_SIGNED_NP:
		sqlite3_result_int64(context, value->s64);
		break;
	case POSIX_TRACE_FORM_FLOAT_NP:
		sqlite3_result_double(context, value->f64);
		break;
	case POSIX_TRACE_FORM_BYTES_NP:
		if (value->field->type == POSIX_TRACE_TYPE_STR_NP)
			sqlite3_result_text64(context, value->len ? value->data : "", value->len,
					      SQLITE_TRANSIENT, SQLITE_UTF8);
		else
			sqlite3_result_blob64(context, value->len ? value->data : "", value->len,
					      SQLITE_TRANSIENT);
		break;
	default:
		/* SQLite's numbers are signed. Addresses and bits come as their 64 bits. */
		if (value->u64 > INT64_MAX && value->field->type == POSIX_TRACE_TYPE_U64_NP)
			sqlite3_result_double(context, (double)value->u64);
		else
			sqlite3_result_int64(context, (int64_t)value->u64);
	}
}

void query_field_result(sqlite3_context *context, const struct query_log *log, size_t field,
			const struct log_type *type, const struct posix_trace_event_np *event)
{
	struct posix_trace_value_np value;
	signed char number;

	if (!type->schema || type->id >= log->ids || !log->place[type->id])
		return;
	number = log->place[type->id][field];
	if (number < 0)
		return;
	if (type->schema->field[number].is_array)
		result_array(context, type, (unsigned)number, event);
	else if (posix_trace_field_get_np(type->schema, (unsigned)number, 0, event->data,
					  event->data_len, 0, &value) &&
		 !result_name(context, &value))
		result_value(context, &value);
}
