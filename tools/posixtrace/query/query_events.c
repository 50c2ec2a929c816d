/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* query_events.c - the virtual table events. Each scan by SQLite reads the logs. */
#include <string.h>

#include "log/fields.h"
#include "query/query_columns.h"
#include "query/query_cursor.h"
#include "query/query_weighted.h"
#include "symbols/symbols.h"

/* ------------------------------------------------------------------ the table */

/*
 * Declares the columns that all events have, and behind them the columns of fields. The names of
 * fields come from logs, so %w doubles the quotes in them.
 */
static int query_events_connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
				sqlite3_vtab **result, char **error)
{
	struct query *query = aux;
	sqlite3_str *sql = sqlite3_str_new(db);
	struct query_table *table;
	char *text;
	int err;

	(void)argc;
	(void)argv;
	(void)error;
	sqlite3_str_appendall(sql, "CREATE TABLE events(");
	for (size_t i = 0; i < QUERY_COLUMNS; i++)
		sqlite3_str_appendf(sql, "%s%s %s", i ? "," : "", query_columns[i].name,
				    query_columns[i].type);
	for (size_t i = 0; i < query->fields.count; i++)
		sqlite3_str_appendf(sql, ",\"%w\"", query->fields.field[i].name);
	sqlite3_str_appendchar(sql, 1, ')');
	text = sqlite3_str_finish(sql);
	err = text ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;
	sqlite3_free(text);
	if (err)
		return err;
	table = sqlite3_malloc(sizeof(*table));
	if (!table)
		return SQLITE_NOMEM;
	memset(table, 0, sizeof(*table));
	table->query = query;
	*result = &table->base;
	return SQLITE_OK;
}

static int query_events_disconnect(sqlite3_vtab *base)
{
	sqlite3_free(base);
	return SQLITE_OK;
}

/* ------------------------------------------------------------------ cursors */

/*
 * Opens the log once more, because each reader needs its own position. The library skips damaged
 * parts, and the rest of the log gives rows.
 */
int query_open_log(const struct query_log *log, trace_id_t *trid)
{
	return posix_trace_open_np(log->file.fd, LOGFILE_REOPEN, trid);
}

/*
 * The cursor opens its log only at its first scan, since SQLite also opens cursors that it never
 * uses.
 */
static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **result)
{
	struct query_cursor *cursor = sqlite3_malloc(sizeof(*cursor));

	if (!cursor)
		return SQLITE_NOMEM;
	memset(cursor, 0, sizeof(*cursor));
	cursor->query = ((struct query_table *)base)->query;
	*result = &cursor->base;
	return SQLITE_OK;
}

/*
 * The function first notes the damage that the reader has found, because a closed reader no longer
 * has this information.
 */
static void close_log(struct query_cursor *cursor)
{
	if (!cursor->is_open)
		return;
	query_note_damage(query_log_of(cursor), cursor->trid);
	posix_trace_close(cursor->trid);
	cursor->is_open = false;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	struct query_cursor *cursor = (struct query_cursor *)base;

	close_log(cursor);
	query_plan_forget(cursor);
	sqlite3_free(cursor);
	return SQLITE_OK;
}

void query_note_damage(struct query_log *log, trace_id_t trid)
{
	log->gap |= logfile_reader_is_damaged(trid);
}

/*
 * If the reader was used for another scan, it still has the time limit of that scan. So the
 * function removes this limit first.
 */
int query_seek(struct query_log *log, trace_id_t trid, int64_t begin_ns, int64_t end_ns)
{
	int err = posix_trace_until_np(trid, NULL);
	struct logfile window = { .trid = trid, .info = log->file.info };

	query_note_damage(log, trid);
	if (!err)
		err = posix_trace_rewind(trid);
	if (!err)
		err = logfile_window(&window, begin_ns, end_ns);
	return err ? SQLITE_IOERR : SQLITE_OK;
}

/*
 * Moves to the beginning of the current log. The function does not open a log twice, because the
 * inner loop of a join scans the log once for each row of the outer loop.
 */
static int seek_begin(struct query_cursor *cursor)
{
	if (!cursor->is_open && query_open_log(query_log_of(cursor), &cursor->trid))
		return SQLITE_CANTOPEN;
	cursor->is_open = true;
	return query_seek(query_log_of(cursor), cursor->trid, cursor->begin_ns, cursor->end_ns);
}

/*
 * Opens the log with the number "log". If the plan excludes this log, the function opens the next
 * log that is not excluded. If there is no such log, it sets the member "eof".
 */
static int open_log_from(struct query_cursor *cursor, unsigned log)
{
	if (log != cursor->log)
		close_log(cursor);
	while (log < cursor->query->logs && cursor->unwanted && cursor->unwanted[log])
		log++;
	cursor->eof = log == cursor->query->logs;
	if (cursor->eof)
		return SQLITE_OK;
	if (log != cursor->log)
		close_log(cursor);
	cursor->log = log;
	return seek_begin(cursor);
}

/*
 * Returns whether the event fits the conditions of the plan. SQLite checks all conditions again. So
 * this function may return true for an event that does not fit, but must never return false for one
 * that fits.
 */
static bool is_wanted(const struct query_cursor *cursor)
{
	const struct posix_trace_event_np *event = &cursor->event;

	return event->time_ns >= cursor->begin_ns && event->time_ns <= cursor->end_ns &&
	       (!cursor->has_pid || event->info.posix_pid == cursor->pid) &&
	       (!cursor->has_tid || event->tid == cursor->tid) &&
	       (cursor->passes ? event->info.posix_event_id == cursor->pass_type[cursor->pass]
			       : query_is_chosen(cursor, event->info.posix_event_id));
}

/*
 * Is called at the end of a log. Reads the log again for the next type of the plan, or continues
 * with the next log.
 */
static int next_pass(struct query_cursor *cursor)
{
	if (++cursor->pass < cursor->passes)
		return seek_begin(cursor);
	return open_log_from(cursor, cursor->log + 1);
}

/*
 * Moves to the next wanted event. This function checks the interrupt flag, too. If no event fits
 * the conditions, SQLite gets no rows for a long time and does not call its progress handler during
 * this time.
 */
static int query_events_next(sqlite3_vtab_cursor *base)
{
	struct query_cursor *cursor = (struct query_cursor *)base;
	int unavailable, err;

	if (cursor->is_weighted) {
		cursor->row++;
		cursor->eof = !query_weighted_next(cursor);
		return SQLITE_OK;
	}
	for (;;) {
		if (++cursor->looks % 65536 == 0 && query_interrupted)
			return SQLITE_INTERRUPT;
		if (posix_trace_getnext_np(cursor->trid, &cursor->event, &unavailable))
			return SQLITE_IOERR;
		if (__builtin_expect(unavailable, 0)) {
			err = next_pass(cursor);
			if (err || cursor->eof)
				return err;
			continue;
		}
		meter_step(&cursor->query->meter);
		if (cursor->event.flags & POSIX_TRACE_EVENT_GAP_NP)
			query_log_of(cursor)->gap = true;
		if (is_wanted(cursor))
			break;
	}
	cursor->type = logfile_type(&query_log_of(cursor)->file, cursor->event.info.posix_event_id);
	cursor->row++;
	return SQLITE_OK;
}

/*
 * Begins a scan. query_plan() has made the plan, and "argv" has the values of the plan's
 * conditions. If the cursor still has the first log open, the scan uses the reader of that log
 * again. If the cursor has another log open, the function closes the reader of that log.
 */
static int query_events_filter(sqlite3_vtab_cursor *base, int number, const char *plan, int argc,
			       sqlite3_value **argv)
{
	struct query_cursor *cursor = (struct query_cursor *)base;
	int err;

	(void)number;
	if (cursor->log)
		close_log(cursor);
	err = *plan == QUERY_WEIGHTED ? SQLITE_OK : query_plan_take(cursor, plan, argc, argv);
	cursor->row = 0;
	cursor->is_weighted = *plan == QUERY_WEIGHTED;
	if (cursor->is_weighted) {
		query_weighted_sort(cursor->query, plan);
		cursor->next_group = 0;
		return query_events_next(base);
	}
	cursor->eof = cursor->is_empty;
	if (!err && !cursor->eof)
		err = open_log_from(cursor, 0);
	return err || cursor->eof ? err : query_events_next(base);
}

/* ------------------------------------------------------------------ rows */

static int is_eof(sqlite3_vtab_cursor *base)
{
	return ((struct query_cursor *)base)->eof;
}

/* Sets the result to the event's message. Without a message the result is NULL. */
static void result_message(sqlite3_context *context, const struct posix_trace_schema_np *schema,
			   const struct posix_trace_event_np *event)
{
	char text[MESSAGE_BYTES];
	size_t len;

	if (!schema || !schema->format)
		return;
	len = posix_trace_message_print_np(schema, event->data, event->data_len, 0, text,
					   sizeof(text));
	sqlite3_result_text(context, text, (int)(len < sizeof(text) ? len : sizeof(text) - 1),
			    SQLITE_TRANSIENT);
}

/* Sets the result to the names of the event's flags. */
static void result_flags(sqlite3_context *context, const struct posix_trace_event_np *event)
{
	bool truncated = event->info.posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED;
	bool late = event->flags & POSIX_TRACE_EVENT_LATE_NP;

	sqlite3_result_text(context, query_flags(truncated, late), -1, SQLITE_STATIC);
}

/*
 * Sets the result to a part of the event's symbol. SQLite copies texts, because the symbol may be
 * freed later.
 */
static void result_symbol(sqlite3_context *context, const struct query_cursor *cursor, int column)
{
	const struct symbol *symbol = symbols_of(&query_log_of(cursor)->file, &cursor->event);
	const char *text = NULL;

	if (!symbol)
		return;
	switch (column) {
	case QUERY_FUNCTION:
		text = symbol->is_function ? symbol->name : NULL;
		break;
	case QUERY_SOURCE:
		text = symbol->file;
		break;
	case QUERY_MODULE:
		text = symbol->module;
		break;
	case QUERY_LINE:
		if (symbol->line)
			sqlite3_result_int64(context, symbol->line);
		return;
	}
	if (text)
		sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

/*
 * Sets the result to a JSON object, which has the labels of the event's values. If no value has a
 * label, the result is NULL.
 */
static void result_labels(sqlite3_context *context, const struct query_cursor *cursor)
{
	static struct out text = { .fd = -1 };
	struct json json = json_begin(&text);

	text.used = 0;
	if (fields_labels(&json, &query_log_of(cursor)->file, cursor->type, &cursor->event))
		sqlite3_result_text(context, text.bytes, (int)text.used, SQLITE_TRANSIENT);
}

/*
 * SQLite calls this function only for the columns that the statement uses. So columns that need
 * much time are computed here and not earlier. SQLITE_STATIC is for texts that remain valid until
 * the statement ends. SQLite copies all other texts. If the function sets no result, the column is
 * NULL.
 */
static int query_events_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number)
{
	struct query_cursor *cursor = (struct query_cursor *)base;
	const struct posix_trace_event_np *event = &cursor->event;

	switch (number) {
	case QUERY_TIME:
		sqlite3_result_int64(context, event->time_ns);
		break;
	case QUERY_NAME:
		sqlite3_result_text(context, cursor->type->name, (int)cursor->type->name_len,
				    SQLITE_STATIC);
		break;
	case QUERY_TYPE:
		sqlite3_result_int64(context, event->info.posix_event_id);
		break;
	case QUERY_PID:
		sqlite3_result_int64(context, event->info.posix_pid);
		break;
	case QUERY_TID:
		sqlite3_result_int64(context, event->tid);
		break;
	case QUERY_THREAD:
		sqlite3_result_int64(context, (int64_t)event->info.posix_thread_id);
		break;
	case QUERY_ADDRESS:
		sqlite3_result_int64(context, (intptr_t)event->info.posix_prog_address);
		break;
	case QUERY_LEVEL:
		if (cursor->type->schema && cursor->type->schema->level)
			sqlite3_result_int(context, cursor->type->schema->level);
		break;
	case QUERY_LEN:
		sqlite3_result_int64(context, (sqlite3_int64)event->data_len);
		break;
	case QUERY_DATA:
		sqlite3_result_blob64(context, event->data_len ? event->data : "", event->data_len,
				      SQLITE_TRANSIENT);
		break;
	case QUERY_FLAGS:
		result_flags(context, event);
		break;
	case QUERY_LOG:
		sqlite3_result_text(context, query_log_of(cursor)->file.path, -1, SQLITE_STATIC);
		break;
	case QUERY_FUNCTION:
	case QUERY_SOURCE:
	case QUERY_LINE:
	case QUERY_MODULE:
		result_symbol(context, cursor, number);
		break;
	case QUERY_LABELS:
		result_labels(context, cursor);
		break;
	case QUERY_MESSAGE:
		result_message(context, cursor->type->schema, event);
		break;
	default:
		query_field_result(context, query_log_of(cursor), (size_t)(number - QUERY_COLUMNS),
				   cursor->type, event);
	}
	return SQLITE_OK;
}

/*
 * The number of a row is its position in the scan, so it is unique only within the scan. If SQLite
 * compares row numbers of several scans, query->plain is set. All scans then return all rows, so
 * the numbers agree.
 */
static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *row)
{
	*row = ((struct query_cursor *)base)->row;
	return SQLITE_OK;
}

/*
 * xCreate and xConnect are the same function, because the table stores nothing in the database.
 * There is no xUpdate, so the table is read-only.
 */
const sqlite3_module query_events = {
	.xCreate = query_events_connect,
	.xConnect = query_events_connect,
	.xBestIndex = query_plan,
	.xDisconnect = query_events_disconnect,
	.xDestroy = query_events_disconnect,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = query_events_filter,
	.xNext = query_events_next,
	.xEof = is_eof,
	.xColumn = query_events_column,
	.xRowid = row_id,
};
