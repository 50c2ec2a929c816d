/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sqlfields.h - the fields of schemas as columns of one table. The command query and the databases
 * that the command convert makes have the same names and values.
 */
#ifndef POSIXTRACE_QUERY_SQLFIELDS_H
#define POSIXTRACE_QUERY_SQLFIELDS_H

#include <stdbool.h>
#include <trace_np.h>

#define SQLFIELDS_MAX 1900 /* columns of fields; SQLite allows 2000 in a table */

struct sqlfield {
	char name[POSIX_TRACE_FIELD_NAME_MAX_NP + 8]; /* name of the column */
	const char *field;
};

struct sqlfields {
	struct sqlfield *field;    /* all fields of all schemas, each name once */
	size_t count;
};

/* Adds columns for new fields. Returns false without memory. */
bool sqlfields_add(struct sqlfields *fields, const struct posix_trace_schema_np *schema);
/* Adds a column for a field, unless it has one. The name must live as long as fields. */
bool sqlfields_add_name(struct sqlfields *fields, const char *field);
/* Returns the index of the column of the field with this name, -1 if there is none. */
int sqlfields_find(const struct sqlfields *fields, const char *name);
void sqlfields_free(struct sqlfields *fields);

enum sqlvalue_kind { SQLVALUE_NULL, SQLVALUE_INTEGER, SQLVALUE_REAL, SQLVALUE_TEXT, SQLVALUE_BLOB };

struct sqlvalue {
	enum sqlvalue_kind kind;
	int64_t integer;
	double real;
	const void *bytes;         /* valid until the next value, or the end of the event */
	size_t len;
};

/* Stores the value of a field in an event with this data. */
void sqlvalue_of(const struct posix_trace_schema_np *schema, unsigned field, const void *data,
		 size_t len, struct sqlvalue *value);

#endif
