/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query_schema.h - the names and types of the columns of all tables but events. The command query
 * has these tables for logs, the command ship makes them in a fleet's database, and query --at
 * reads them there.
 */
#ifndef POSIXTRACE_QUERY_QUERY_SCHEMA_H
#define POSIXTRACE_QUERY_QUERY_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

enum query_tables {
	QUERY_SPANS, QUERY_TYPES, QUERY_THREADS, QUERY_LOSSES, QUERY_OBJECTS, QUERY_STACKS,
	QUERY_STREAMS, QUERY_LEDGER, QUERY_LOGS, QUERY_HOSTS, QUERY_CLOCKS,
	QUERY_TABLES
};

#define QUERY_SCHEMA_COLUMNS 16

struct query_schema {
	const char *name;
	struct query_schema_column {
		const char *name;       /* NULL behind the last one */
		bool is_text;           /* else an integer */
	} column[QUERY_SCHEMA_COLUMNS];
};

extern const struct query_schema query_schema[QUERY_TABLES];

/* Returns the number of columns. */
size_t query_schema_columns(const struct query_schema *schema);
/* Returns whether the table has a column of this name. */
bool query_schema_has(const struct query_schema *schema, const char *column);

/*
 * Returns "CREATE TABLE NAME(...)", with the text more before the closing parenthesis, in memory of
 * sqlite3_malloc(). NULL without memory.
 */
char *query_schema_sql(const struct query_schema *schema, const char *more);

#endif
