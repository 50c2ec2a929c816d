/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query.h - logs as a database: the interface of the files of the command query.
 *
 * events and spans are virtual tables. They read the logs one after the other at each scan; each
 * cursor opens the current log for itself. The other tables are small and are filled before the
 * statement runs.
 *
 * Memory: SQLite's is limited; it sorts in temporary files if necessary.
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
	/* number of events of each type, by the type's index in the log's list */
	uint64_t *events_of;
	/* length of place; events of a damaged log may have greater ids */
	size_t ids;
	/* for each type and each field: the field's index in the type's schema, or -1 */
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
	bool plain;                   /* rows must have the same numbers in every scan */
	bool weighted;                /* equal events are one row, see query_weighted.h: */
	/* the statement has a function that counts; has one that may differ for equal rows */
	bool counts, strange;
	uint64_t columns;             /* the columns that distinguish rows */
	struct group *group;
	size_t groups;
	uint64_t weight;              /* of the current row */
	struct remote *remote;        /* a fleet's database; NULL: the tables are of logs */
	struct meter meter;
};

extern volatile sig_atomic_t query_interrupted;

/* In query_fields.c. Returns false without memory. */
bool query_fields_learn(struct query *query);
void query_fields_forget(struct query *query);

/* Makes the value the result of a column or function. Texts and blobs are copied. */
void query_value_result(sqlite3_context *context, const struct sqlvalue *value);

/* Sets the value of the field's column for this event. */
void query_field_result(sqlite3_context *context, const struct query_log *log, size_t field,
			const struct log_type *type, const struct posix_trace_event_np *event);

/* In query_events.c and query_spans.c: the modules. Their auxiliary data is the struct query. */
extern const sqlite3_module query_events;
extern const sqlite3_module query_spans;

/* Opens a separate reader of the log. Returns 0 or an error number. */
int query_open_log(const struct query_log *log, trace_id_t *trid);

/* Notes whether this reader has met damage. */
void query_note_damage(struct query_log *log, trace_id_t trid);

/*
 * Restricts a reader to the events from begin_ns to end_ns, both included, and moves it to the
 * first one. Returns SQLITE_OK or SQLITE_IOERR.
 */
int query_go_to(struct query_log *log, trace_id_t trid, int64_t begin_ns, int64_t end_ns);

/*
 * In query_plan.c. query_time_comparison() returns a letter for a comparison of a time, or 0 if the
 * comparison cannot be used. query_bound() narrows the window of time. The window may remain too
 * wide by a nanosecond. Values that are no numbers leave the window as it is, since SQLite compares
 * again.
 */
char query_time_comparison(int op);
void query_bound(int64_t *begin_ns, int64_t *end_ns, char op, sqlite3_value *value);

/* In query_tables.c and query_functions.c. Return SQLITE_OK or SQLite's error. */
int query_tables(sqlite3 *db, struct query *query);
int query_functions(sqlite3 *db, struct query *query);

/*
 * In query_tables.c. Fills the table of stacks, which takes the reading of whole logs: only for a
 * statement that reads it.
 */
int query_tables_stacks(sqlite3 *db, struct query *query);

/*
 * In query_tables.c. query_bind_text() copies the text; NULL is NULL. query_insert_row() inserts
 * the bound values and removes the bindings.
 */
void query_bind_text(sqlite3_stmt *row, int column, const char *text);
int query_insert_row(sqlite3_stmt *row);

/* In query_facts.c: fills ledger, logs, hosts and clocks. row is indexed by enum query_tables. */
int query_facts(sqlite3_stmt **row, const struct logfile *log);

/*
 * In query_nearest.c. Returns a text for the end of SQLite's message about an unknown name: the
 * most similar name, or "" if the message concerns no name or none is near. It removes the
 * database's authorizer. Valid until the next call.
 */
const char *query_hint(sqlite3 *db, const char *message);

/* In query_print.c: prints the rows of a statement. */
enum query_form { QUERY_TABLE, QUERY_CSV, QUERY_JSON };

/* Returns the last result of sqlite3_step(). */
int query_print(sqlite3_stmt *statement, enum query_form form);

#endif
