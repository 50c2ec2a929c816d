/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query.h - logs as a database: what the files of posixtrace query share.
 *
 * events and spans are virtual tables that read the logs whenever they are asked, one after the
 * other; each cursor has the one at hand opened for itself. The other tables are small and are
 * filled before the statement runs.
 *
 * Memory    SQLite's is limited; what does not fit is sorted in temporary files.
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
	uint64_t *events_of;          /* by the log's index of types */
	size_t ids;                   /* of place: more may be met in a damaged log */
	signed char **place;          /* by a type's id: by field the number in its schema, or -1 */
	bool gap;                     /* a damaged part was skipped */
};

struct group;

struct query {
	struct query_log *log;
	unsigned logs;
	enum when_form when;
	uint64_t events;              /* of all logs */
	int64_t first_ns, last_ns;
	struct sqlfields fields;      /* all fields of all schemas, each name once */
	bool plain;                   /* rows have to have the same numbers in every scan */
	bool weighted;                /* of events that are the same, see query_weighted.h: */
	bool counts, strange;         /* a function counts; one may differ for the same row */
	uint64_t columns;             /* that tell rows apart */
	struct group *group;
	size_t groups;
	uint64_t weight;              /* of the row at hand */
	struct meter meter;
};

extern volatile sig_atomic_t query_interrupted;

/* query_fields.c. False: no memory. */
bool query_fields_learn(struct query *query);
void query_fields_forget(struct query *query);

/* What an event's column of a field is. */
void query_field_result(sqlite3_context *context, const struct query_log *log, size_t field,
			const struct log_type *type, const struct posix_trace_event_np *event);

/* query_events.c, query_spans.c: the modules; their auxiliary data is the struct query. */
extern const sqlite3_module query_events;
extern const sqlite3_module query_spans;

/* A reader of the log of its own. 0 or an error number. */
int query_open_log(const struct query_log *log, trace_id_t *trid);

/* A reader that has read: whether it met damage is noted. */
void query_note_damage(struct query_log *log, trace_id_t trid);

/*
 * Of the log at hand only these times, both included; from its first event on. SQLITE_OK or
 * SQLITE_IOERR.
 */
int query_go_to(struct query_log *log, trace_id_t trid, int64_t begin_ns, int64_t end_ns);

/*
 * query_plan.c: the letter of a comparison of a time, 0: of no use; and what it leaves of a window,
 * which may be too wide by a nanosecond. Of what is no number, SQLite knows what it means.
 */
char query_time_comparison(int op);
void query_bound(int64_t *begin_ns, int64_t *end_ns, char op, sqlite3_value *value);

/* query_tables.c, query_functions.c: SQLITE_OK, or what SQLite says. */
int query_tables(sqlite3 *db, struct query *query);
int query_functions(sqlite3 *db, struct query *query);

/*
 * query_nearest.c: a text to stand behind SQLite's message about a name that it does not know: the
 * nearest name. Empty: the message is about no name, or none is near. The call ends the authorizer
 * of the database. Valid until the next call.
 */
const char *query_hint(sqlite3 *db, const char *message);

/* query_print.c: the rows of a statement. */
enum query_form { QUERY_TABLE, QUERY_CSV, QUERY_JSON };

/* What sqlite3_step() said last. */
int query_print(sqlite3_stmt *statement, enum query_form form);

#endif
