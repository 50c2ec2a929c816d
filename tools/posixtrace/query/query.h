/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query.h - the common interface of the files of the command query, which shows logs as a database.
 *
 * The tables events and spans are virtual. Each scan of them reads the logs one after the other.
 * Cursors do not share open logs: each cursor opens the log that it reads. The other tables are
 * small and are filled before the statement runs.
 *
 * The memory of SQLite is limited. It sorts in temporary files if necessary.
 */
#ifndef POSIXTRACE_QUERY_QUERY_H
#define POSIXTRACE_QUERY_QUERY_H

#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>

#include "base/meter.h"
#include "base/when.h"
#include "log/logfile.h"
#include "query/sqlfields.h"

struct query_log {
	struct logfile file;
	uint64_t events;
	/* the number of events of each type, by the type's index in the log's list */
	uint64_t *events_of;
	/* number of elements of "place"; an event of a damaged log may have an id beyond them */
	size_t ids;
	/*
	 * the index of a field in the schema of a type, or -1 if the type lacks the field; indexed
	 * by the type's id and then by the column of the field
	 */
	signed char **place;
	bool gap;                     /* a reader skipped a damaged part */
};

struct group;

struct query {
	struct query_log *log;
	unsigned logs;
	enum when_form when;
	uint64_t events;              /* number of events in all logs */
	int64_t first_ns, last_ns;
	struct sqlfields fields;      /* all fields of all schemas, each name once */
	bool reads_stacks;            /* the statement reads the table of stacks */
	/* scans ignore the conditions, so that a row has the same number in every scan */
	bool plain;
	/*
	 * The table spans lacks a span for which single_is() is true (spans/single.h), if it is
	 * the first one that its event ends. The rows keep their numbers.
	 */
	bool lacks_events;
	bool weighted;                /* equal events are one row; see query_weighted.h */
	/*
	 * "counts": the statement has a function that counts rows. "strange": it has a function
	 * whose results may differ for equal rows, or may depend on the number of rows.
	 */
	bool counts, strange;
	uint64_t columns;             /* the set of columns that distinguish rows */
	struct group *group;
	size_t groups;
	uint64_t weight;              /* the number of events that the current row represents */
	/* a fleet's database; NULL: SQLite reads the tables from logs */
	struct remote *remote;
	bool lacks; /* the fleet's database lacks rows that the statement has read */
	struct meter meter;
};

extern volatile sig_atomic_t query_interrupted;

/*
 * In query_fields.c. query_fields_read() collects the fields of all schemas; it returns false if
 * memory is lacking. query_fields_forget() frees them.
 */
bool query_fields_read(struct query *query);
void query_fields_forget(struct query *query);

/* Sets the result of a column or function to the value. Texts and blobs are copied. */
void query_value_result(sqlite3_context *context, const struct sqlvalue *value);

/* Sets the result of a column to the value of the field in this event. */
void query_field_result(sqlite3_context *context, const struct query_log *log, size_t field,
			const struct log_type *type, const struct posix_trace_event_np *event);

/*
 * The modules of the virtual tables, in query_events.c and query_spans.c. SQLite passes the struct
 * query to them as auxiliary data.
 */
extern const sqlite3_module query_events;
extern const sqlite3_module query_spans;

/* Opens a separate reader of the log. Returns 0 or an error number. */
int query_open_log(const struct query_log *log, trace_id_t *trid);

/* If this reader of the log has found damage, sets the member "gap" of "log". */
void query_note_damage(struct query_log *log, trace_id_t trid);

/*
 * Restricts a reader to the events from begin_ns to end_ns, including these two times, and moves it
 * to the first such event. Returns SQLITE_OK or SQLITE_IOERR.
 */
int query_seek(struct query_log *log, trace_id_t trid, int64_t begin_ns, int64_t end_ns);

/*
 * In query_plan.c. query_time_comparison() returns a letter for a comparison operator of SQLite, or
 * 0 if the operator cannot bound a time. query_bound() narrows the window of time by a comparison.
 * The window may remain too wide by a nanosecond, and a value that is not a number does not change
 * the window. The result of the statement is right in both cases, because SQLite compares again.
 */
char query_time_comparison(int op);
void query_bound(int64_t *begin_ns, int64_t *end_ns, char op, sqlite3_value *value);

/*
 * query_tables() makes and fills the tables; query_functions() adds the SQL functions. Both return
 * SQLITE_OK or SQLite's error.
 */
int query_tables(sqlite3 *db, struct query *query);
int query_functions(sqlite3 *db, struct query *query);

/*
 * In query_tables.c. Fills the table of stacks. Because this reads the whole logs, it is called
 * only for a statement that reads this table.
 */
int query_tables_stacks(sqlite3 *db, struct query *query);

/*
 * In query_tables.c. Opens a database of this name, which is "" or ":memory:", and fills all its
 * tables. Returns an error of SQLite or 0. The caller closes *db in both cases.
 */
int query_tables_open(const char *name, struct query *query, sqlite3 **db);

/*
 * In query_tables.c. query_bind_text() binds a copy of the text; a null pointer becomes NULL.
 * query_insert_row() inserts the bound values as a row and then removes the bindings.
 */
void query_bind_text(sqlite3_stmt *row, int column, const char *text);
int query_insert_row(sqlite3_stmt *row);

/*
 * In query_facts.c: fills ledger, logs, hosts and clocks. "row" has an INSERT for each table,
 * indexed by enum query_tables.
 */
int query_facts(sqlite3_stmt **row, const struct logfile *log);

/*
 * In query_nearest.c. If SQLite's message is about an unknown name, returns a text with the most
 * similar name, which the caller appends to the message. Returns "" if the message is about
 * something else, or if no name is similar. The function removes the database's authorizer. The
 * text is valid until the next call.
 */
const char *query_hint(sqlite3 *db, const char *message);

/* In query_print.c: the forms in which query_print() prints the rows of a statement. */
enum query_form { QUERY_TABLE, QUERY_CSV, QUERY_JSON };

/*
 * Prints the rows of a statement. Returns the last result of sqlite3_step(), which is SQLITE_DONE
 * after all rows.
 */
int query_print(sqlite3_stmt *statement, enum query_form form);

#endif
