/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sqlfields.h - makes columns of one table from the fields of all schemas. The commands that make
 * such tables use these names and values: query, and convert for the databases that it writes.
 */
#ifndef POSIXTRACE_QUERY_SQLFIELDS_H
#define POSIXTRACE_QUERY_SQLFIELDS_H

#include <stdbool.h>
#include <trace_np.h>

/* the greatest number of columns of fields; SQLite allows 2000 columns in a table */
#define SQLFIELDS_MAX 1900

struct sqlfield {
	char name[POSIX_TRACE_FIELD_NAME_MAX_NP + 8]; /* name of the column */
	const char *field;
};

struct sqlfields {
	struct sqlfield *field;    /* all fields of all schemas, each name once */
	size_t count;
};

/*
 * Adds a column for each field of the schema that has no column yet. Returns false if memory is
 * lacking.
 */
bool sqlfields_add(struct sqlfields *fields, const struct posix_trace_schema_np *schema);
/*
 * Adds a column for a field that has no column yet. The name must remain valid as long as *fields.
 * Returns false if memory is lacking.
 */
bool sqlfields_add_name(struct sqlfields *fields, const char *field);
/*
 * Returns the index of the column for the field with this name, or -1 if no column is for such a
 * field.
 */
int sqlfields_find(const struct sqlfields *fields, const char *name);
void sqlfields_free(struct sqlfields *fields);

enum sqlvalue_kind { SQLVALUE_NULL, SQLVALUE_INTEGER, SQLVALUE_REAL, SQLVALUE_TEXT, SQLVALUE_BLOB };

struct sqlvalue {
	enum sqlvalue_kind kind;
	int64_t integer;
	double real;
	/* valid until the next call of sqlvalue_of(), and only as long as the event */
	const void *bytes;
	size_t len;
};

/* Returns whether the value of a field can be a name in place of an integer: sqlvalue_of(). */
static inline bool sqlfield_has_names(const struct posix_trace_field_np *field)
{
	return !field->has_bits && field->type != POSIX_TRACE_TYPE_WAIT_NP &&
	       (field->value_names || field->type == POSIX_TRACE_TYPE_ERRNO_NP ||
		field->type == POSIX_TRACE_TYPE_SIGNAL_NP);
}

/* Stores the value that a field has in an event with this data. */
void sqlvalue_of(const struct posix_trace_schema_np *schema, unsigned field, const void *data,
		 size_t len, struct sqlvalue *value);

#endif
