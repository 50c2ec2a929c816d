/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fleet.h - the tables of a fleet's database in ClickHouse. The command ship makes and fills them;
 * query --at reads them; other programs read the views.
 *
 * Rows. Each table of query, such as spans, is a view of a table of rows, spans_rows. A row has, in
 * addition to the columns of the view:
 *
 *	row_day      on which its log was begun: the partition, so that logs are deleted as a whole
 *	row_source   the number of its log: a hash of the log's UUID and its host
 *	row_seq      its number in the table, for its log
 *	row_attempt  the number of the INSERT that brought it, random
 *
 * Exactly once. A table of ClickHouse has no unique keys, and an INSERT whose answer is lost may
 * still be executed later. So an INSERT whose success is uncertain is repeated under a new attempt,
 * after the old attempt was added to the table voided. Views omit the rows of voided attempts, at
 * whatever time they arrive. Adding an attempt to voided twice has no effect.
 *
 * Fields. The fields of an event are three arrays of the same length: a key for each field, its
 * value as an integer, and as a text. The key is a hash of the field's name and of the kind of the
 * value. A table with a column for each field of a fleet would have thousands of columns, nearly
 * all of them empty, and each of them costs files in each part. The table fields lists the names.
 */
#ifndef POSIXTRACE_QUERY_FLEET_H
#define POSIXTRACE_QUERY_FLEET_H

#include "fleet/block.h"
#include "query/query_schema.h"
#include "query/sqlfields.h"

/* The columns of events_rows. */
enum fleet_column {
	FLEET_DAY, FLEET_ATTEMPT, FLEET_SOURCE, FLEET_SEQ, FLEET_HOST, FLEET_PROCESS, FLEET_LOG,
	FLEET_TIME, FLEET_NAME, FLEET_TYPE, FLEET_PID, FLEET_TID, FLEET_THREAD, FLEET_ADDRESS,
	FLEET_LEVEL, FLEET_FLAGS, FLEET_DATA, FLEET_FUNCTION, FLEET_FILE, FLEET_LINE, FLEET_MODULE,
	FLEET_LABELS, FLEET_MESSAGE, FLEET_KEYS, FLEET_NUMBERS, FLEET_TEXTS,
	FLEET_COLUMNS,
	FLEET_ROW_COLUMNS = FLEET_HOST + 1 /* the first ones are in each table of rows */
};

extern const struct fleet_columns {
	const char *name, *type;
} fleet_events[FLEET_COLUMNS];

/* Bits of FLEET_FLAGS. */
enum { FLEET_TRUNCATED = 1, FLEET_LATE = 2 };

/*
 * A field of the fleet, and the kinds of its values so far: bits 1 << enum sqlvalue_kind. The kind
 * NULL says that a schema has the field.
 */
struct fleet_field {
	char name[POSIX_TRACE_FIELD_NAME_MAX_NP + 1];
	unsigned kinds;
};

/*
 * Returns whether the view events has a column for the field: it needs a value, and its name must
 * not hide a column of events_rows in the expressions.
 */
bool fleet_has_column(const struct fleet_field *field);

/* Returns the key of a field's values of this kind. */
uint64_t fleet_key(const char *field, enum sqlvalue_kind kind);

/*
 * Appends the statement with this index that makes the database and its tables, but for the view
 * events. Returns false if there are no more. is_replicated: the tables are replicated, by the
 * macros {shard} and {replica} of the server.
 */
bool fleet_create_sql(unsigned index, const char *database, bool is_replicated, struct bytes *sql);

/* Appends the names of all that these statements make in the database: 'voided', ... */
void fleet_names_sql(struct bytes *sql);

/* Appends "SELECT ..." of the view events with these fields. */
void fleet_events_view(const char *database, const struct sqlfields *columns,
		       const struct fleet_field *field, size_t fields, struct bytes *sql);

/* Appends the condition that a row counts. */
void fleet_counts_sql(const char *database, struct bytes *sql);

#endif
