/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query_tables.c - makes and fills the small tables, such as the tables of types, threads and
 * losses.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "log/equation.h"
#include "log/stacks.h"
#include "query/query.h"
#include "query/query_schema.h"
#include "spans/roles.h"
#include "symbols/symbols.h"

/* stacks with greater numbers are ignored, since a log that has them is hostile */
#define STACKS_MOST (1u << 20)

/*
 * SQLite copies the text, since the text may be invalid when the row is inserted. If "text" is a
 * null pointer, SQLite binds NULL.
 */
void query_bind_text(sqlite3_stmt *row, int column, const char *text)
{
	sqlite3_bind_text(row, column, text, -1, SQLITE_TRANSIENT);
}

/*
 * The bindings are removed, so that a column that the next row does not bind is NULL.
 * sqlite3_reset() returns the error of sqlite3_step().
 */
int query_insert_row(sqlite3_stmt *row)
{
	sqlite3_step(row);
	sqlite3_clear_bindings(row);
	return sqlite3_reset(row);
}

/*
 * Binds the neighbouring columns events, called and lost; "column" is the number of the column
 * events. The values are in the log's ledger, so no event is read.
 */
static void bind_ledger(sqlite3_stmt *row, int column, const struct posix_trace_ledger_np *ledger)
{
	sqlite3_bind_int64(row, column, (int64_t)ledger->reported);
	sqlite3_bind_int64(row, column + 1, (int64_t)ledger->called);
	sqlite3_bind_int64(row, column + 2, (int64_t)equation_lost(ledger));
}

/* Inserts a row of losses for each cause by which events of the type were lost. */
static int fill_losses(sqlite3_stmt *losses, const struct logfile *log, const char *name,
		       const struct posix_trace_ledger_np *ledger)
{
	int err = SQLITE_OK;

	for (int cause = 0; !err && cause < POSIX_TRACE_LOST_CAUSES_NP; cause++) {
		if (!ledger->lost[cause])
			continue;
		query_bind_text(losses, 1, name);
		query_bind_text(losses, 2, posix_trace_lost_name_np(cause));
		sqlite3_bind_int64(losses, 3, (int64_t)ledger->lost[cause]);
		query_bind_text(losses, 4, log->path);
		err = query_insert_row(losses);
	}
	return err;
}

/*
 * Inserts a row of types, and the rows of losses of the type. "role" may be NULL. If a type does
 * not begin or end a span, its columns role and span are NULL.
 */
static int fill_type(sqlite3_stmt *types, sqlite3_stmt *losses, const struct logfile *log,
		     const struct log_type *type, const struct role *role,
		     const struct posix_trace_ledger_np *ledger)
{
	int err;

	sqlite3_bind_int64(types, 1, type->id);
	query_bind_text(types, 2, type->name);
	bind_ledger(types, 3, ledger);
	if (type->schema && type->schema->level)
		sqlite3_bind_int(types, 6, type->schema->level);
	if (role && role->phase != POSIX_TRACE_POINT_NP) {
		query_bind_text(types, 7, role->phase == POSIX_TRACE_BEGIN_NP ? "begin" : "end");
		query_bind_text(types, 8, role->series->name);
	}
	query_bind_text(types, 9, type->schema_text);
	query_bind_text(types, 10, log->path);
	err = query_insert_row(types);
	return err ? err : fill_losses(losses, log, type->name, ledger);
}

/*
 * Inserts the rows of all types. It also stores the number of events of each type in events_of,
 * because query_plan.c needs this number to decide how often the log is read. If the ledger has no
 * line for a type, all numbers of the type are 0. The losses of events of unknown type get the
 * empty name, as in the table ledger, so that the losses of all rows are those of the log.
 */
static int fill_types(sqlite3_stmt *types, sqlite3_stmt *losses, struct query_log *query_log)
{
	struct logfile *log = &query_log->file;
	struct posix_trace_ledger_np unknown;
	struct pairing pairing;
	int err = SQLITE_OK;

	pairing_init(&pairing, NULL, NULL);
	pairing_names(&pairing, log);
	for (size_t i = 0; !err && i < log->types; i++) {
		struct posix_trace_ledger_np ledger = { 0 };

		posix_trace_get_ledger_type_np(log->trid, log->list[i]->id, &ledger);
		query_log->events_of[i] = ledger.reported;
		err = fill_type(types, losses, log, log->list[i], roles_of(&pairing, log->list[i]),
				&ledger);
	}
	if (!err && !posix_trace_get_ledger_type_np(log->trid, 0, &unknown))
		err = fill_losses(losses, log, "", &unknown);
	pairing_fini(&pairing);
	return err;
}

/*
 * Inserts a row for each thread. The number of threads is not known in advance, so the loop ends
 * when there is no further thread.
 */
static int fill_threads(sqlite3_stmt *row, const struct logfile *log)
{
	struct posix_trace_ledger_np ledger;
	struct posix_trace_thread_np thread;
	int unavailable, err = SQLITE_OK;

	for (size_t i = 0; !err; i++) {
		if (posix_trace_get_ledger_thread_np(log->trid, i, &thread, &ledger,
						     &unavailable) ||
		    unavailable)
			break;
		sqlite3_bind_int64(row, 1, thread.pid);
		sqlite3_bind_int64(row, 2, thread.tid);
		sqlite3_bind_int64(row, 3, (int64_t)thread.thread);
		bind_ledger(row, 4, &ledger);
		query_bind_text(row, 7, log->path);
		err = query_insert_row(row);
	}
	return err;
}

/*
 * Inserts a row for each object. An object of the kind CHILD has no row, because it is only a note
 * that one process is the parent of another.
 */
static int fill_objects(sqlite3_stmt *row, const struct logfile *log)
{
	struct posix_trace_object_np object;
	int unavailable, err = SQLITE_OK;

	posix_trace_object_rewind_np(log->trid);
	while (!err && !posix_trace_object_getnext_np(log->trid, &object, &unavailable) &&
	       !unavailable) {
		if (object.kind == POSIX_TRACE_OBJECT_CHILD_NP)
			continue;
		query_bind_text(row, 1, posix_trace_object_kind_name_np(object.kind));
		sqlite3_bind_int64(row, 2, object.pid);
		sqlite3_bind_int64(row, 3, (int64_t)object.pointer);
		query_bind_text(row, 4, object.name);
		sqlite3_bind_int64(row, 5, object.time_ns);
		query_bind_text(row, 6, log->path);
		err = query_insert_row(row);
	}
	return err;
}

/*
 * Inserts a row for each frame of a stack. "event" is the first event that refers to the stack. The
 * names of the functions are those of the process and the time of this event.
 */
static int fill_frames(sqlite3_stmt *row, const struct logfile *log,
		       const struct posix_trace_event_np *event, const struct stacks_found *stack)
{
	int err = SQLITE_OK;

	for (size_t i = 0; !err && i < stack->count; i++) {
		const struct symbol *symbol = symbols_of_frame(log->trid, event->info.posix_pid,
							       stack, i, event->time_ns);
		char source[PATH_MAX + 16];

		sqlite3_bind_int64(row, 1, stack->number);
		sqlite3_bind_int64(row, 2, event->info.posix_pid);
		sqlite3_bind_int64(row, 3, (int64_t)i);
		sqlite3_bind_int64(row, 4, (int64_t)stack->frame[i]);
		if (symbol) {
			query_bind_text(row, 5, symbol->name);
			snprintf(source, sizeof(source), "%s:%u", symbol->file ? symbol->file : "",
				 symbol->line);
			query_bind_text(row, 6, symbol->file ? source : symbol->module);
		}
		query_bind_text(row, 7, log->path);
		err = query_insert_row(row);
	}
	return err;
}

/*
 * If the log has stacks, reads the whole log once with a separate reader. A stack is inserted when
 * the first event refers to it. "done" has an element for each number of a stack; it is true when
 * the stack has been inserted.
 */
static int fill_stacks(sqlite3_stmt *row, struct query_log *log)
{
	struct stacks stacks = { .entries = 0 };
	struct posix_trace_event_np event;
	struct stacks_found found;
	uint64_t stack_events = 0;
	bool *done = NULL;
	size_t dones = 0;
	trace_id_t trid;
	int unavailable, err = SQLITE_OK;

	for (size_t i = 0; i < log->file.types; i++)
		if (stacks_is_type(log->file.list[i]->name, log->file.list[i]->schema))
			stack_events = log->events_of[i];
	if (!stack_events || query_open_log(log, &trid))
		return SQLITE_OK;
	while (!err && !posix_trace_getnext_np(trid, &event, &unavailable) && !unavailable) {
		const struct log_type *type =
			logfile_type(&log->file, event.info.posix_event_id);

		if (stacks_take(&stacks, type, &event) ||
		    !stacks_find(&stacks, type, &event, &found) || found.number >= STACKS_MOST ||
		    !vec_reach(&done, &dones, found.number) || done[found.number])
			continue;
		done[found.number] = true;
		err = fill_frames(row, &log->file, &event, &found);
	}
	posix_trace_close(trid);
	stacks_fini(&stacks);
	free(done);
	return err;
}

/*
 * Inserts a row about the stream. If the attributes of the stream cannot be read, the columns for
 * the attributes are empty or NULL.
 */
static int fill_stream(sqlite3_stmt *row, const struct logfile *log,
		       const struct posix_trace_ledger_np *ledger)
{
	char name[TRACE_NAME_MAX + 1] = "";
	struct timespec created;
	trace_attr_t attr;

	if (!posix_trace_attr_init(&attr)) {
		if (!posix_trace_get_attr(log->trid, &attr)) {
			posix_trace_attr_getname(&attr, name);
			if (!posix_trace_attr_getcreatetime(&attr, &created))
				sqlite3_bind_int64(row, 7, when_timespec(&created));
		}
		posix_trace_attr_destroy(&attr);
	}
	query_bind_text(row, 1, log->path);
	query_bind_text(row, 2, name);
	sqlite3_bind_int64(row, 3, log->info.pid);
	query_bind_text(row, 4, log->info.host);
	query_bind_text(row, 5, log->info.clock);
	sqlite3_bind_int64(row, 6, (int64_t)log->info.clock_hz);
	sqlite3_bind_int64(row, 8, log->info.first_ns);
	sqlite3_bind_int64(row, 9, log->info.last_ns);
	bind_ledger(row, 10, ledger);
	sqlite3_bind_int(row, 13, log->info.complete);
	sqlite3_bind_int64(row, 14, (int64_t)log->info.file_bytes);
	return query_insert_row(row);
}

/* Inserts the rows of one log into all tables except for the table of stacks. */
static int fill_log(sqlite3_stmt *row[QUERY_TABLES], struct query_log *log)
{
	struct posix_trace_ledger_np ledger = { 0 };
	int err;

	posix_trace_get_ledger_np(log->file.trid, &ledger);
	log->events = ledger.reported;
	err = fill_types(row[QUERY_TYPES], row[QUERY_LOSSES], log);
	if (!err)
		err = fill_threads(row[QUERY_THREADS], &log->file);
	if (!err)
		err = fill_objects(row[QUERY_OBJECTS], &log->file);
	if (!err)
		err = fill_stream(row[QUERY_STREAMS], &log->file, &ledger);
	return err ? err : query_facts(row, &log->file);
}

static int query_tables_fill(sqlite3_stmt *row[QUERY_TABLES], struct query *query)
{
	int err = SQLITE_OK;

	for (unsigned i = 0; !err && i < query->logs; i++) {
		err = fill_log(row, &query->log[i]);
		query->events += query->log[i].events;
	}
	return err;
}

/* Prepares the statement that inserts a row of a table. */
static int prepare_row(sqlite3 *db, const struct query_schema *schema, sqlite3_stmt **row)
{
	static const char values[] = "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?";
	char *sql = sqlite3_mprintf("INSERT INTO %s VALUES(%.*s)", schema->name,
				    2 * (int)query_schema_columns(schema) - 1, values);
	int err = sql ? sqlite3_prepare_v2(db, sql, -1, row, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	return err;
}

/*
 * Makes a table and prepares the statement that inserts a row into it. The virtual tables events
 * and spans are not made in this way.
 */
static int make_table(sqlite3 *db, const struct query_schema *schema, sqlite3_stmt **row)
{
	char *table = query_schema_sql(schema, "");
	int err = table ? sqlite3_exec(db, table, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(table);
	return err ? err : prepare_row(db, schema, row);
}

/*
 * Fills the table of stacks. It reads each log that has stacks, and searches the functions of the
 * frames.
 */
int query_tables_stacks(sqlite3 *db, struct query *query)
{
	sqlite3_stmt *row = NULL;
	int err = prepare_row(db, &query_schema[QUERY_STACKS], &row);

	if (!err)
		err = sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
	for (unsigned i = 0; !err && i < query->logs; i++)
		err = fill_stacks(row, &query->log[i]);
	sqlite3_finalize(row);
	return err ? err : sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
}

/*
 * The view "stored" counts the events that the logs have, while the table "ledger" has the numbers
 * that the writers have counted. The views "rates" and "durations" equal the views of a fleet's
 * database (fleet.c), except for the percentiles. The percentiles are exact here: each is the least
 * duration that the given percentage of all durations do not exceed, as in latency.
 *
 * The user may name a log twice, but each of its events must be joined once. In "rates", the GROUP
 * BY of the inner SELECT has numbers of columns and not names. A field of events may have the name
 * "minute", and GROUP BY with this name would use the field and not the expression.
 */
#define HOSTS "(SELECT DISTINCT log, host, pid FROM logs) USING (log)"
static const char views_sql[] =
	"CREATE VIEW stored AS SELECT host, pid, name, count, log FROM "
	"(SELECT log, name, count(*) AS count FROM events GROUP BY log, name) JOIN " HOSTS ";"
	"CREATE VIEW rates AS SELECT minute, host, name, sum(n) AS events FROM "
	"(SELECT log, name, time - time % 60000000000 AS minute, count(*) AS n FROM events "
	"GROUP BY 1, 2, 3) JOIN " HOSTS " GROUP BY minute, host, name;"
	"CREATE VIEW durations AS SELECT minute, host, name, count(*) AS spans, "
	"max(iif(place = (n * 50 - 1) / 100, duration, NULL)) AS p50, "
	"max(iif(place = (n * 95 - 1) / 100, duration, NULL)) AS p95, "
	"max(iif(place = (n * 99 - 1) / 100, duration, NULL)) AS p99, "
	"max(duration) AS longest FROM "
	"(SELECT minute, host, name, duration, count(*) OVER (PARTITION BY minute, host, name) "
	"AS n, row_number() OVER (PARTITION BY minute, host, name ORDER BY duration) - 1 AS place "
	"FROM (SELECT \"end\" - \"end\" % 60000000000 AS minute, host, span AS name, duration "
	"FROM spans JOIN " HOSTS " WHERE duration IS NOT NULL AND \"end\" IS NOT NULL AND "
	"span IS NOT NULL)) GROUP BY minute, host, name;";

/*
 * All tables except for the table of stacks are filled here, before a statement runs, and do not
 * change later. The database needs no journal, since it is in memory and never rolled back.
 */
int query_tables(sqlite3 *db, struct query *query)
{
	sqlite3_stmt *row[QUERY_TABLES] = { NULL };
	int err = sqlite3_create_module(db, "events", &query_events, query);

	if (!err)
		err = sqlite3_create_module(db, "spans", &query_spans, query);
	if (!err)
		err = sqlite3_exec(db, "PRAGMA journal_mode = OFF; BEGIN;"
				   "CREATE VIRTUAL TABLE events USING events;"
				   "CREATE VIRTUAL TABLE spans USING spans;", NULL, NULL, NULL);
	for (int i = QUERY_SPANS + 1; !err && i < QUERY_TABLES; i++)
		err = make_table(db, &query_schema[i], &row[i]);
	if (!err)
		err = sqlite3_exec(db, views_sql, NULL, NULL, NULL);
	if (!err)
		err = query_tables_fill(row, query);
	for (int i = 0; i < QUERY_TABLES; i++)
		sqlite3_finalize(row[i]);
	return err ? err : sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
}

int query_tables_open(const char *name, struct query *query, sqlite3 **db)
{
	int err = sqlite3_open_v2(name, db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
				  SQLITE_OPEN_NOMUTEX, NULL);

	/* The table spans counts its progress in the meter, but no progress line is shown. */
	query->meter.next = UINT64_MAX;
	if (!err)
		err = query_tables(*db, query);
	return err ? err : query_tables_stacks(*db, query);
}
