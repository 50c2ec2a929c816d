/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* query_fields.c - makes columns of the table events from the fields of all schemas. */
#include <stdlib.h>
#include <string.h>

#include "query/query.h"

/*
 * Makes an array for a type. For each column of a field the array has the index of the field in the
 * type's schema, or -1 if the type lacks the field. A signed char is enough, because a schema has
 * at most POSIX_TRACE_FIELDS_MAX_NP fields.
 */
static bool query_fields_place(const struct query *query, struct query_log *log,
			       const struct log_type *type)
{
	signed char *at = malloc(query->fields.count + 1);

	if (!at)
		return false;
	memset(at, -1, query->fields.count + 1);
	for (unsigned i = 0; i < type->schema->fields; i++) {
		int column = sqlfields_find(&query->fields, type->schema->field[i].name);

		if (column >= 0)
			at[column] = (signed char)i;
	}
	log->place[type->id] = at;
	return true;
}

/*
 * Adds the fields of a log to the columns. query_fields_read() calls this function for all logs
 * before it calls query_fields_place() for any log, because the columns depend on all logs.
 */
static bool add_fields(struct query *query, const struct logfile *log)
{
	for (size_t i = 0; i < log->types; i++)
		if (log->list[i]->schema && !sqlfields_add(&query->fields, log->list[i]->schema))
			return false;
	return true;
}

/*
 * Makes the arrays of all types of a log. A type without a schema has no array, and its fields are
 * NULL in all columns.
 */
static bool place_fields(const struct query *query, struct query_log *log)
{
	const struct logfile *file = &log->file;

	log->place = calloc(file->ids + 1, sizeof(*log->place));
	if (!log->place)
		return false;
	log->ids = file->ids;
	for (size_t i = 0; i < file->types; i++)
		if (file->list[i]->schema && !query_fields_place(query, log, file->list[i]))
			return false;
	return true;
}

/* If the function fails, query_fields_forget() frees what exists. */
bool query_fields_read(struct query *query)
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
	sqlfields_free(&query->fields);
}

/*
 * SQLite copies texts and blobs. An empty text or blob may have a null pointer. SQLite would make
 * NULL of a null pointer, so the function passes "" instead.
 */
void query_value_result(sqlite3_context *context, const struct sqlvalue *value)
{
	switch (value->kind) {
	case SQLVALUE_NULL:
		break;
	case SQLVALUE_INTEGER:
		sqlite3_result_int64(context, value->integer);
		break;
	case SQLVALUE_REAL:
		sqlite3_result_double(context, value->real);
		break;
	case SQLVALUE_TEXT:
		sqlite3_result_text64(context, value->len ? value->bytes : "", value->len,
				      SQLITE_TRANSIENT, SQLITE_UTF8);
		break;
	case SQLVALUE_BLOB:
		sqlite3_result_blob64(context, value->len ? value->bytes : "", value->len,
				      SQLITE_TRANSIENT);
		break;
	}
}

/*
 * In a damaged log an event may have a type that the log does not list. In that case the result is
 * NULL.
 */
void query_field_result(sqlite3_context *context, const struct query_log *log, size_t field,
			const struct log_type *type, const struct posix_trace_event_np *event)
{
	struct sqlvalue value;
	signed char number;

	if (!type->schema || type->id >= log->ids || !log->place[type->id])
		return;
	number = log->place[type->id][field];
	if (number < 0)
		return;
	sqlvalue_of(type->schema, (unsigned)number, event->data, event->data_len, &value);
	query_value_result(context, &value);
}
