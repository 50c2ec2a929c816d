/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fleet.h - the tables of a fleet's database in ClickHouse. The command ship makes and fills them;
 * query --at reads them; other programs read the views.
 *
 * Rows. Each table of query, such as spans, is a view of rows, spans_rows. In addition to the
 * columns of the view, a row has these columns:
 *
 * 	row_day      the day on which the row's log was begun
 * 	row_source   the number of the row's log: a hash of the log's UUID and host
 * 	row_seq      the row's number among all rows of its log in this table
 * 	row_attempt  the random number of the INSERT that has added the row
 *
 * Partitions. A day has FLEET_PARTITIONS partitions, and a log is in one of them, by its number.
 * The server only merges parts of one partition. With P parts of equal size it merges each row
 * about 0.75 ln P times, so several partitions with fewer parts cost it less. Databases of older
 * versions have one partition for a day. Both kinds work, and so does any other number of
 * partitions.
 *
 * Parts. Each INSERT makes a part of a table, and each column of a part has two files, a nullable
 * one four. The replicas write, copy and merge these files, so many parts and columns cost them
 * more than the rows. So a log has two INSERTs if it is not large: its events are in events_rows,
 * and the rows of all other tables of query are in other_rows. spans_rows, types_rows and so on are
 * views of other_rows. A row of it has the number of its table (fleet_table_number()), its integers
 * and its texts in two arrays, in the order of the columns, and a bit for each column that is NULL.
 * events_rows has no columns for what few events have. Such facts are elements of the arrays for
 * fields (below), with the keys of enum fleet_fact. Columns of the kind ALIAS compute these facts
 * from the arrays, so the same statements read all layouts.
 *
 * Spans. Most spans are one event with its duration, such as a call of the C library. Such a span
 * has no row in other_rows. The event has the duration in row_took, and spans_rows computes the
 * span from the event. row_seq of spans_rows is the number of the event that ends the span, times
 * QUERY_SPANS_OF_EVENT, plus the number of the span among those that the event ends. So the spans
 * of both tables have one order, which is that of the table spans of query. A type may get its
 * schema after its first events were sent. Their row_took then lacks spans that the pairing finds
 * now, and their rows lack fields. Then ship voids the events and sends all of them again.
 *
 * Layouts. A database keeps the tables that an older version has made. FLEET_COMPACT has a row of
 * other_rows for each span, and an array with a text for each field. FLEET_SHARED has a column
 * for each fact in events_rows, and spans_rows is a table with nullable columns. The rows of the
 * other tables are in summary_rows, which has the name of the table in each row. FLEET_SEPARATE is
 * like FLEET_SHARED, but it has a table for each of the other tables.
 *
 * Exactly once. A table of ClickHouse has no unique keys, and an INSERT whose answer is lost may
 * still be executed later. If it is uncertain whether an INSERT succeeded, ship adds the number of
 * this attempt to the table "voided", and then repeats the INSERT with a new number. The views omit
 * the rows of voided attempts, no matter when these rows arrive. An attempt may be added to the
 * table "voided" more than once.
 *
 * Fields. The fields of an event are in two arrays of equal length. For each field, the arrays have
 * a key and a number. The key is a hash of the field's name and of the kind of its value. The
 * number is the value, or the place of a text: its first byte, times 2 to the power of 32, plus its
 * length. Places count in the data of the event, followed by row_text. Most texts of fields are in
 * the data, and row_text has the others. An array of texts would cost the server more than all
 * other columns. The older layouts have this array, row_texts, beside the numbers. Here it is an
 * ALIAS, which only older versions of query read. A column for each field would give the table
 * thousands of columns. Nearly all of these columns would be empty, and each column would need
 * files in each part. The table "fields" lists the names of all fields.
 *
 * Marks. A position of ship describes the rows of certain tables. If the tables are removed and
 * made again, the position describes nothing. So a process that makes tables adds a mark to the
 * table "fields", before it makes any other table: a row whose name is "tables " and a random
 * number. No field has such a name. The sum of the numbers is the identity of the tables. This
 * identity changes when any table is made again, and is the same on all replicas. It is 0 if the
 * tables have no mark yet.
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
	FLEET_DATA, FLEET_KEYS, FLEET_NUMBERS, FLEET_TEXTS,
	/* FLEET_LEAN and FLEET_COMPACT: the flags, and the level times FLEET_LEVEL_UNIT */
	FLEET_MARKS,
	/* only FLEET_LEAN: the duration of the span that the event is, plus 1; 0: it is none */
	FLEET_TOOK,
	/* columns of FLEET_SHARED and FLEET_SEPARATE; the other layouts have an ALIAS instead */
	FLEET_LEVEL, FLEET_FLAGS, FLEET_FUNCTION, FLEET_FILE, FLEET_LINE, FLEET_MODULE,
	FLEET_LABELS, FLEET_MESSAGE,
	FLEET_COLUMNS,
	/* number of the columns up to FLEET_HOST, with which every table of rows begins */
	FLEET_ROW_COLUMNS = FLEET_HOST + 1
};

extern const struct fleet_columns {
	const char *name, *type;
} fleet_events[FLEET_COLUMNS];

/*
 * The keys of facts in the arrays of fields, with the layouts FLEET_LEAN and FLEET_COMPACT. They
 * are in the database, so they must never change. With FLEET_COMPACT the line is the number of
 * FLEET_FACT_FILE.
 */
enum fleet_fact {
	FLEET_FACT_FUNCTION = 1, FLEET_FACT_FILE, FLEET_FACT_MODULE, FLEET_FACT_LABELS,
	FLEET_FACT_MESSAGE, FLEET_FACT_LINE
};

#define FLEET_LEVEL_UNIT 4 /* the flags are less */

/* The columns of other_rows and summary_rows behind FLEET_HOST. */
enum fleet_summary_column {
	FLEET_TABLE = FLEET_ROW_COLUMNS, FLEET_NULLS, FLEET_INTEGERS, FLEET_STRINGS,
	FLEET_SUMMARY_COLUMNS
};

/* The tables that have the rows: see above. */
enum fleet_layout { FLEET_LEAN, FLEET_COMPACT, FLEET_SHARED, FLEET_SEPARATE };

#define FLEET_PARTITIONS 16 /* partitions of a day */

#define FLEET_OTHER   "other_rows"   /* FLEET_LEAN and FLEET_COMPACT */
#define FLEET_SUMMARY "summary_rows" /* FLEET_SHARED */

/* Returns whether the layout has facts in the arrays, and spans in the table of small tables. */
static inline bool fleet_has_facts(enum fleet_layout layout)
{
	return layout <= FLEET_COMPACT;
}

/* Returns a column of events_rows, or NULL if the layout has no such column for INSERTs. */
const struct fleet_columns *fleet_event_column(size_t i, enum fleet_layout layout);

/* Returns a column behind FLEET_HOST of the table that has the rows of several tables of query. */
const struct fleet_columns *fleet_summary_column(size_t i, enum fleet_layout layout);

/*
 * Returns whether the rows of the table of query are in a table with the rows of others. Its name
 * is that of fleet_summary_table().
 */
bool fleet_is_shared(int table, enum fleet_layout layout);
const char *fleet_summary_table(enum fleet_layout layout);

/* Returns the name of the table that has the rows of the table "logs": one for each summary. */
const char *fleet_logs_table(enum fleet_layout layout);

/* The bits of a value in the column FLEET_FLAGS. */
enum { FLEET_TRUNCATED = 1, FLEET_LATE = 2 };

/*
 * A field of the fleet. "kinds" has a bit 1 << enum sqlvalue_kind for each kind of the field's
 * values so far. The bit of the kind NULL means that a schema has the field.
 */
struct fleet_field {
	char name[POSIX_TRACE_FIELD_NAME_MAX_NP + 1];
	unsigned kinds;
};

/*
 * Returns whether the view events has a column for the field. The view has one if events have
 * values of the field, and if the field's name does not begin with row_. The prefix row_ is
 * reserved for the columns of events_rows.
 */
bool fleet_has_column(const struct fleet_field *field);

/* Returns the key of a field's values of this kind. */
uint64_t fleet_key(const char *field, enum sqlvalue_kind kind);

/*
 * Appends the statement with this index. All these statements together make the database with its
 * tables and views of the layout, except for the view events. Returns false if there is no such
 * statement. If "replica" is NULL, the tables are not replicated. Otherwise "replica" is the name
 * of the server's replica, normally FLEET_REPLICA, and the tables are replicated with the server's
 * macro {shard}.
 */
bool fleet_create_sql(unsigned index, enum fleet_layout layout, const char *database,
		      const char *replica, struct bytes *sql);
#define FLEET_REPLICA "{replica}" /* the server's macro */

/* Returns whether the statement makes the table "fields", which has the marks. */
bool fleet_makes_fields(unsigned index);

/*
 * fleet_mark_sql() appends the statement that adds a mark. fleet_identity_sql() appends the SELECT
 * for the identity of the tables. Its answer is one number in the format RowBinary.
 */
void fleet_mark_sql(const char *database, uint64_t number, struct bytes *sql);
void fleet_identity_sql(const char *database, struct bytes *sql);

/* Views that count or sum up the rows. */
enum fleet_view { FLEET_STORED, FLEET_RATES, FLEET_DURATIONS };

/*
 * Appends the "SELECT ..." that defines the view. If the view may be missing in the database, a
 * statement can use this SELECT in its place.
 */
void fleet_view_sql(enum fleet_view view, const char *database, struct bytes *sql);

/*
 * Returns whether the statement makes a view for dashboards, which no command needs. A user without
 * the right to make views can ship nevertheless.
 */
bool fleet_is_optional(unsigned index, enum fleet_layout layout);

/*
 * Appends the names of all tables and views that the statements of fleet_create_sql() make, in the
 * form 'voided', 'fields' and so on. fleet_optional_sql() appends only the names that no command
 * needs. fleet_small_sql() appends only the names of the tables that only FLEET_SEPARATE has.
 */
void fleet_names_sql(struct bytes *sql);
void fleet_optional_sql(struct bytes *sql);
void fleet_small_sql(struct bytes *sql);

/*
 * Returns the name of the table that has the rows of a table of query: "events_rows" for
 * QUERY_EVENTS. Returns NULL if the name was already returned for a table with a lower number.
 */
const char *fleet_rows_table(int table, enum fleet_layout layout);

/*
 * Appends the expression of a text of a field or fact. "index" is the expression of its index in
 * the arrays; the text is empty if the index is 0.
 */
void fleet_text_sql(const char *index, enum fleet_layout layout, struct bytes *sql);

/* Appends the "SELECT ..." that defines the view events, with columns for these fields. */
void fleet_events_view(enum fleet_layout layout, const char *database,
		       const struct sqlfields *columns, const struct fleet_field *field,
		       size_t fields, struct bytes *sql);

/*
 * Returns the number of a table of query in row_table, if the layout has facts. In the database the
 * numbers must never change.
 */
int fleet_table_number(int table, enum fleet_layout layout);

/*
 * Appends the SELECT for the tables that have a column of FLEET_LEAN only: the sum of their bits,
 * as a text. It is a part of a statement.
 */
enum { FLEET_LEAN_EVENTS = 1, FLEET_LEAN_OTHER = 2 };
void fleet_lean_sql(const char *database, struct bytes *sql);

/*
 * The events of a log have a sum, by which ship recognizes that it now finds other spans in them
 * than when it sent them, or that events had no schema then. fleet_took_sql() appends the
 * expression of this sum, which is 0 without FLEET_LEAN. fleet_took() returns what one event adds.
 * "is_described": the row has a level, a message or a field, and each of these comes from the
 * schema.
 */
void fleet_took_sql(enum fleet_layout layout, struct bytes *sql);
uint64_t fleet_took(uint64_t seq, uint64_t took, bool is_described);

/* Appends the SQL condition that is true for the rows of all attempts that are not voided. */
void fleet_counts_sql(const char *database, struct bytes *sql);

#endif
