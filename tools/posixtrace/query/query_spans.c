/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query_spans.c - the virtual table spans. It has the same spans that the command latency finds.
 *
 * The event that ends a span makes a row. A span without an end makes no row.
 */
#include <string.h>

#include "query/query.h"
#include "query/query_schema.h"
#include "choose/function_names.h"
#include "spans/pairing.h"
#include "spans/single.h"

struct table {
	sqlite3_vtab base;
	struct query *query;
};

/* span.series is valid while the cursor's pairing exists, and type as long as the query. */
struct row {
	struct span span;
	const struct log_type *type;
};

struct cursor {
	sqlite3_vtab_cursor base;
	struct query *query;
	unsigned log;
	bool is_open;
	trace_id_t trid;
	int64_t begin_ns, end_ns;
	struct pairing pairing;
	bool has_pairing;
	const struct log_type *type;   /* the type of the current event */
	struct row row[QUERY_SPANS_OF_EVENT];
	unsigned rows, at;
	uint64_t ordinal;
	bool eof;
};

/* The columns in the order of the declaration in query_spans_connect(). */
enum { NAME, KIND, BEGIN, END, DURATION, CPU, PID, TID, BEGIN_TID, EVENT, LOG };

static int query_spans_connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
			       sqlite3_vtab **result, char **error)
{
	struct table *table;
	char *sql = query_schema_sql(&query_schema[QUERY_SPANS], "");
	int err = sql ? sqlite3_declare_vtab(db, sql) : SQLITE_NOMEM;

	(void)argc;
	(void)argv;
	(void)error;
	sqlite3_free(sql);
	if (err)
		return err;
	table = sqlite3_malloc(sizeof(*table));
	if (!table)
		return SQLITE_NOMEM;
	memset(table, 0, sizeof(*table));
	table->query = aux;
	*result = &table->base;
	return SQLITE_OK;
}

static int query_spans_disconnect(sqlite3_vtab *base)
{
	sqlite3_free(base);
	return SQLITE_OK;
}

/*
 * If a condition is a lower bound for the beginning of spans, a scan need not read the events
 * before this bound. If it is an upper bound for the end of spans, a scan need not read the events
 * after this bound. An upper bound for the beginning does not help, because the span may end at any
 * later time. A lower bound for the end does not help, because the span may begin at any earlier
 * time. The plan has a letter for each argument: b for a bound of the beginning, e for a bound of
 * the end.
 */
static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	struct query *query = ((struct table *)base)->query;
	double part = 1;
	char *plan = sqlite3_malloc(info->nConstraint + 1), *p = plan;

	if (!plan)
		return SQLITE_NOMEM;
	for (int i = 0; i < info->nConstraint; i++) {
		int column = info->aConstraint[i].iColumn;
		char op = query_time_comparison(info->aConstraint[i].op);
		bool is_begin = column == BEGIN && (op == '>' || op == '=');
		bool is_end = column == END && (op == '<' || op == '=');

		if (query->plain || !info->aConstraint[i].usable || (!is_begin && !is_end))
			continue;
		*p++ = is_begin ? 'b' : 'e';
		info->aConstraintUsage[i].argvIndex = (int)(p - plan);
		part /= 10;
	}
	*p = '\0';
	info->idxStr = plan;
	info->needToFreeIdxStr = 1;
	info->estimatedCost = 20 * (double)query->events * part + 100;
	info->estimatedRows = (sqlite3_int64)((double)query->events / 2 * part) + 1;
	return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **result)
{
	struct cursor *cursor = sqlite3_malloc(sizeof(*cursor));

	if (!cursor)
		return SQLITE_NOMEM;
	memset(cursor, 0, sizeof(*cursor));
	cursor->query = ((struct table *)base)->query;
	*result = &cursor->base;
	return SQLITE_OK;
}

/*
 * Closes the current log and its pairing. Spans that have not ended are dropped and make no rows.
 */
static void leave_log(struct cursor *cursor)
{
	if (cursor->has_pairing)
		pairing_fini(&cursor->pairing);
	cursor->has_pairing = false;
	if (!cursor->is_open)
		return;
	query_note_damage(&cursor->query->log[cursor->log], cursor->trid);
	posix_trace_close(cursor->trid);
	cursor->is_open = false;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	leave_log(cursor);
	sqlite3_free(cursor);
	return SQLITE_OK;
}

/*
 * The pairing calls this function for each span that an event ends. The array "row" has a fixed
 * size, so that a hostile log cannot make the tool use more memory. If an event ends more than
 * QUERY_SPANS_OF_EVENT spans, the other spans are dropped.
 */
static void query_spans_take(void *arg, const struct span *span,
			     const struct posix_trace_event_np *end)
{
	struct cursor *cursor = arg;

	(void)end;
	if (cursor->rows < QUERY_SPANS_OF_EVENT)
		cursor->row[cursor->rows++] = (struct row){ *span, cursor->type };
}

/*
 * Each log has a separate pairing, because no span begins in one log and ends in another. A pairing
 * needs the log's types, so it is made when the log is opened.
 */
static int open_log_from(struct cursor *cursor, unsigned number)
{
	struct query_log *log = &cursor->query->log[number];

	leave_log(cursor);
	cursor->eof = number == cursor->query->logs;
	if (cursor->eof)
		return SQLITE_OK;
	cursor->log = number;
	if (query_open_log(log, &cursor->trid))
		return SQLITE_CANTOPEN;
	cursor->is_open = true;
	pairing_init(&cursor->pairing, query_spans_take, cursor);
	cursor->has_pairing = true;
	function_names(&cursor->pairing, &log->file);
	if (!pairing_begin(&cursor->pairing, &log->file) || cursor->pairing.err)
		return SQLITE_NOMEM;
	return query_seek(log, cursor->trid, cursor->begin_ns, cursor->end_ns);
}

/*
 * Moves to the next row, which is the next span that the last event has ended. If there is no such
 * span, the function reads events until one ends a span. Each log is read once, from begin_ns to
 * end_ns.
 */
static int query_spans_next(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;
	struct posix_trace_event_np event;
	struct query_log *log;
	int unavailable, err;

	if (++cursor->at < cursor->rows)
		return SQLITE_OK;
	while (cursor->at >= cursor->rows) {
		cursor->at = cursor->rows = 0;
		if (++cursor->ordinal % 65536 == 0 && query_interrupted)
			return SQLITE_INTERRUPT;
		if (posix_trace_getnext_np(cursor->trid, &event, &unavailable))
			return SQLITE_IOERR;
		if (unavailable) {
			err = open_log_from(cursor, cursor->log + 1);
			if (err || cursor->eof)
				return err;
			continue;
		}
		log = &cursor->query->log[cursor->log];
		meter_step(&cursor->query->meter);
		if (event.flags & POSIX_TRACE_EVENT_GAP_NP)
			log->gap = true;
		cursor->type = logfile_type(&log->file, event.info.posix_event_id);
		pairing_event(&cursor->pairing, cursor->type, &event, cursor->ordinal, true);
		if (cursor->pairing.err)
			return SQLITE_NOMEM;
		cursor->at = cursor->query->lacks_events && cursor->rows &&
			     single_is(&cursor->row[0].span);
	}
	return SQLITE_OK;
}

static int query_spans_filter(sqlite3_vtab_cursor *base, int number, const char *plan, int argc,
			      sqlite3_value **argv)
{
	struct cursor *cursor = (struct cursor *)base;
	int err;

	(void)number;
	cursor->begin_ns = INT64_MIN;
	cursor->end_ns = INT64_MAX;
	for (int i = 0; i < argc; i++)
		query_bound(&cursor->begin_ns, &cursor->end_ns, plan[i] == 'b' ? '>' : '<',
			    argv[i]);
	cursor->rows = cursor->at = 0;
	cursor->ordinal = 0;
	err = open_log_from(cursor, 0);
	return err || cursor->eof ? err : query_spans_next(base);
}

static int is_eof(sqlite3_vtab_cursor *base)
{
	return ((struct cursor *)base)->eof;
}

static int query_spans_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number)
{
	struct cursor *cursor = (struct cursor *)base;
	const struct row *row = &cursor->row[cursor->at];
	const struct span *span = &row->span;

	switch (number) {
	case NAME: /* SQLite copies the name, because it is valid only as long as the pairing */
		sqlite3_result_text(context, span->series->name, -1, SQLITE_TRANSIENT);
		break;
	case KIND:
		sqlite3_result_text(context, pairing_kind_name(span->series->kind), -1,
				    SQLITE_STATIC);
		break;
	case BEGIN:
		sqlite3_result_int64(context, span->begin_ns);
		break;
	case END:
		sqlite3_result_int64(context, span->end_ns);
		break;
	case DURATION:
		sqlite3_result_int64(context, span_signed_ns(span));
		break;
	case CPU:
		if (span->has_cpu)
			sqlite3_result_int64(context, (int64_t)span->cpu_ns);
		break;
	case PID:
		sqlite3_result_int64(context, span->pid);
		break;
	case TID:
		sqlite3_result_int64(context, span->tid);
		break;
	case BEGIN_TID:
		sqlite3_result_int64(context, span->begin_tid);
		break;
	case LOG:
		sqlite3_result_text(context, cursor->query->log[cursor->log].file.path, -1,
				    SQLITE_STATIC);
		break;
	case EVENT:
		sqlite3_result_text(context, row->type->name, (int)row->type->name_len,
				    SQLITE_STATIC);
		break;
	}
	return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *row)
{
	const struct cursor *cursor = (struct cursor *)base;

	*row = (sqlite3_int64)((cursor->ordinal - 1) * QUERY_SPANS_OF_EVENT + cursor->at);
	return SQLITE_OK;
}

const sqlite3_module query_spans = {
	.xCreate = query_spans_connect,
	.xConnect = query_spans_connect,
	.xBestIndex = best_index,
	.xDisconnect = query_spans_disconnect,
	.xDestroy = query_spans_disconnect,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = query_spans_filter,
	.xNext = query_spans_next,
	.xEof = is_eof,
	.xColumn = query_spans_column,
	.xRowid = row_id,
};
