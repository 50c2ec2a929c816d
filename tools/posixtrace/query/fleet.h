/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fleet.h - the tables of a fleet's database in ClickHouse. The command ship makes and fills them;
 * query --at reads them; other programs read the views.
 *
 * Rows. Each table of query, such as spans, is a view of a table of rows, spans_rows. A row has, in
 * addition to the columns of the view:
 *
 *	row_day      the day on which its log was begun; all rows of a day are one partition
 *	row_source   the number of its log: a hash of the log's UUID and its host
 *	row_seq      its number among the rows that the table has of its log
 *	row_attempt  the random number of the INSERT that has added it
 *
 * Exactly once. A table of ClickHouse has no unique keys, and an INSERT whose answer is lost may
 * still be executed later. If it is uncertain whether an INSERT succeeded, ship adds the number of
 * its attempt to the table voided, and then repeats the INSERT with a new number. The views omit
 * the rows of voided attempts, no matter when these rows arrive. It does no harm to add an attempt
 * to voided twice.
 *
 * Fields. The fields of an event are in three arrays of equal length. They have, for each field, a
 * key, the value as an integer, and the value as a text. The key is a hash of the field's name and
 * of the kind of its value. If each field of a fleet had a column of its own, the table would have
 * thousands of columns, nearly all empty, and each would need files in each part. The table with
 * the name fields lists the names of all fields.
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
	/* every table of rows begins with this number of these columns */
	FLEET_ROW_COLUMNS = FLEET_HOST + 1
};

extern const struct fleet_columns {
	const char *name, *type;
} fleet_events[FLEET_COLUMNS];

/* The bits of a value in the column FLEET_FLAGS. */
enum { FLEET_TRUNCATED = 1, FLEET_LATE = 2 };

/*
 * A field of the fleet, and the kinds of its values so far, as bits 1 << enum sqlvalue_kind. The
 * bit of the kind NULL means that a schema has the field.
 */
struct fleet_field {
	char name[POSIX_TRACE_FIELD_NAME_MAX_NP + 1];
	unsigned kinds;
};

/*
 * Returns whether the view events has a column for the field. It has one if events have values of
 * the field, and if the field's name does not begin with row_, as the names of the columns of
 * events_rows begin.
 */
bool fleet_has_column(const struct fleet_field *field);

/* Returns the key of a field's values of this kind. */
uint64_t fleet_key(const char *field, enum sqlvalue_kind kind);

/*
 * Appends the statement with this index. All these statements together make the database with its
 * tables and views, except for the view events. Returns false if there is no such statement. If
 * "replica" is not NULL, the tables are replicated, with the server's macro {shard}. It is then the
 * name of the server's replica, normally FLEET_REPLICA.
 */
bool fleet_create_sql(unsigned index, const char *database, const char *replica, struct bytes *sql);
#define FLEET_REPLICA "{replica}" /* the server's macro */

/* Views that count or sum up the rows. */
enum fleet_view { FLEET_STORED, FLEET_RATES, FLEET_DURATIONS };

/*
 * Appends the "SELECT ..." by which the view is made. A statement can use it in place of the view,
 * which may be missing.
 */
void fleet_view_sql(enum fleet_view view, const char *database, struct bytes *sql);

/*
 * Returns whether the statement makes a view for dashboards, which no command needs. A user without
 * the right to make views can ship nevertheless.
 */
bool fleet_is_optional(unsigned index);

/*
 * Appends the names of all tables and views that these statements make, in the form 'voided',
 * 'fields' and so on. fleet_optional_sql() appends only the names that no command needs.
 */
void fleet_names_sql(struct bytes *sql);
void fleet_optional_sql(struct bytes *sql);

/* Appends the "SELECT ..." by which the view events is made, with columns for these fields. */
void fleet_events_view(const char *database, const struct sqlfields *columns,
		       const struct fleet_field *field, size_t fields, struct bytes *sql);

/* Appends the condition under which a row counts: its attempt is not voided. */
void fleet_counts_sql(const char *database, struct bytes *sql);

#endif
