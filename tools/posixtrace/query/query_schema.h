/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query_schema.h - the names and types of the columns of all tables except for events. For logs,
 * the command query makes these tables. The command ship makes them in a fleet's database, where
 * query --at reads them.
 */
#ifndef POSIXTRACE_QUERY_QUERY_SCHEMA_H
#define POSIXTRACE_QUERY_QUERY_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

/* The numbers of the tables are in databases (fleet.h), so a new table gets the next number. */
enum query_tables {
	QUERY_SPANS, QUERY_TYPES, QUERY_THREADS, QUERY_LOSSES, QUERY_OBJECTS, QUERY_STACKS,
	QUERY_STREAMS, QUERY_LEDGER, QUERY_LOGS, QUERY_HOSTS, QUERY_CLOCKS,
	QUERY_TABLES,
	QUERY_EVENTS = -1
};

#define QUERY_SCHEMA_COLUMNS 16
/*
 * An event makes rows of the table spans for at most this number of spans. If one whole log is
 * read, the row ID of a span is the number of the event that ends it, counted from 0 and multiplied
 * by this number, plus the number of the span among those of the event. This number is in databases
 * (fleet.h), so it must never change.
 */
#define QUERY_SPANS_OF_EVENT 64

struct query_schema {
	const char *name;
	struct query_schema_column {
		const char *name;       /* NULL behind the last column */
		/* the column's type is text; otherwise it is integer */
		bool is_text;
	} column[QUERY_SCHEMA_COLUMNS];
};

extern const struct query_schema query_schema[QUERY_TABLES];

/* Returns the name of a table. "table" may be QUERY_EVENTS. */
static inline const char *query_table_name(int table)
{
	return table == QUERY_EVENTS ? "events" : query_schema[table].name;
}

/* Returns the number of columns. */
size_t query_schema_columns(const struct query_schema *schema);
/* Returns whether the table has a column of this name. */
bool query_schema_has(const struct query_schema *schema, const char *column);

/*
 * Returns "CREATE TABLE NAME(...)" with the text "more" before the closing parenthesis. The caller
 * frees it by sqlite3_free(). Returns NULL if memory is lacking.
 */
char *query_schema_sql(const struct query_schema *schema, const char *more);

#endif
