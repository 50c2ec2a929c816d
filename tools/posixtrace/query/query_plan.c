/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query_plan.c - translates the conditions of a statement, so that the table events passes fewer
 * rows to SQLite.
 *
 * Conditions on time use the log's index. Conditions on names, types, processes and threads select
 * rows while the log is read. SQLite checks all conditions again, so the table may pass too many
 * rows. If a statement groups by name or type, and only few types have events, the log is read once
 * for each type. This is much faster than to sort all rows.
 *
 * The plan is a string. For each argument of xFilter it has a letter for the column and a letter
 * for the comparison. Behind these letters it has the order of the rows, if the table returns the
 * rows in an order.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "query/query_columns.h"
#include "query/query_cursor.h"
#include "query/query_weighted.h"

/*
 * The function treats < like <=, and > like >=, because the window of time may be too wide by one
 * nanosecond.
 */
char query_time_comparison(int op)
{
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return '=';
	case SQLITE_INDEX_CONSTRAINT_GE:
	case SQLITE_INDEX_CONSTRAINT_GT:
		return '>';
	case SQLITE_INDEX_CONSTRAINT_LE:
	case SQLITE_INDEX_CONSTRAINT_LT:
		return '<';
	}
	return 0;
}

/*
 * Returns the letter of the plan for a comparison of the column, or 0 if the cursor cannot use the
 * comparison.
 */
static char query_plan_comparison(int column, int op)
{
	if (column == QUERY_TIME)
		return query_time_comparison(op);
	if (op == SQLITE_INDEX_CONSTRAINT_EQ)
		return column == QUERY_NAME || column == QUERY_TYPE || column == QUERY_PID ||
		       column == QUERY_TID || column == QUERY_LOG ? '=' : 0;
	return op == SQLITE_INDEX_CONSTRAINT_GLOB && column == QUERY_NAME ? '*' : 0;
}

/*
 * Returns an estimate of the part of the rows that satisfies a condition. SQLite uses the estimates
 * to choose the order of a join, so only their order of magnitude matters.
 */
static double rows_left(int column, char op)
{
	if (column == QUERY_TIME)
		return op == '=' ? 0.00001 : 0.1;
	return op == '*' ? 0.5 : 0.1;
}

/*
 * Returns the number of types that have events. If the log is read once for each type, this number
 * is the number of readings.
 */
static size_t types_with_events(const struct query_log *log)
{
	size_t count = 0;

	for (size_t i = 0; i < log->file.types; i++)
		count += log->events_of[i] > 0;
	return count;
}

/*
 * Returns the letter of the column by which the statement orders the rows, if the cursor can return
 * the rows in this order; otherwise 0. The cursor can return rows only in an ascending order by
 * name or by type: it reads the log once for each type. This is impossible for several logs,
 * because each log would have its own order. It is also impossible for a damaged log, which may
 * have events of types that the log does not list. With many types, sorting is faster. Names are
 * ordered by bytes, as SQLite's BINARY does.
 */
static char query_plan_order(const struct query *query, const sqlite3_index_info *info)
{
	int column;

	if (query->logs != 1 || info->nOrderBy != 1 || info->aOrderBy[0].desc ||
	    !query->log->file.whole || !query->log->file.info.complete ||
	    types_with_events(query->log) > QUERY_PASSES)
		return 0;
	column = info->aOrderBy[0].iColumn;
	return column == QUERY_NAME || column == QUERY_TYPE ? (char)('a' + column) : 0;
}

/*
 * SQLite calls this function several times for a statement, with different sets of usable
 * constraints. "plan" has room for two letters for each argument, two for the order, and the NUL. A
 * weighted plan consists of one letter, and of two letters for each column of the order.
 */
int query_plan(sqlite3_vtab *base, sqlite3_index_info *info)
{
	struct query *query = ((struct query_table *)base)->query;
	double rows = (double)query->events + 1, cost = rows;
	char *plan = sqlite3_malloc(2 * (info->nConstraint + info->nOrderBy) + 3), *p = plan;
	int arguments = 0;
	char by;

	if (!plan)
		return SQLITE_NOMEM;
	if (query->weighted && query_weighted_plan(query, info, plan)) {
		info->idxStr = plan;
		info->needToFreeIdxStr = 1;
		return SQLITE_OK;
	}
	for (int i = 0; i < info->nConstraint; i++) {
		int column = info->aConstraint[i].iColumn;
		char op = column < 0 ? 0 : query_plan_comparison(column, info->aConstraint[i].op);

		if (query->plain || !op || !info->aConstraint[i].usable ||
		    ((column == QUERY_NAME || column == QUERY_LOG) &&
		     strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0))
			continue;
		info->aConstraintUsage[i].argvIndex = ++arguments;
		*p++ = (char)('a' + column);
		*p++ = op;
		rows *= rows_left(column, op);
		if (column == QUERY_TIME || column == QUERY_LOG)
			/*
			 * These conditions let a scan read less of the logs. All other conditions
			 * only omit rows.
			 */
			cost *= rows_left(column, op);
	}
	by = query->plain ? 0 : query_plan_order(query, info);
	if (by) {
		info->orderByConsumed = 1;
		*p++ = '#';
		*p++ = by;
	}
	*p = '\0';
	info->idxStr = plan;
	info->needToFreeIdxStr = 1;
	info->estimatedRows = (sqlite3_int64)rows + 1;
	info->estimatedCost = cost + 10 * rows + 1;
	return SQLITE_OK;
}

/* ------------------------------------------------------------------ filters */

void query_plan_forget(struct query_cursor *cursor)
{
	for (unsigned i = 0; cursor->chosen && i < cursor->query->logs; i++)
		sqlite3_free(cursor->chosen[i]);
	sqlite3_free(cursor->chosen);
	sqlite3_free(cursor->unwanted);
	cursor->chosen = NULL;
	cursor->unwanted = NULL;
}

/*
 * Allocates memory by SQLite's function, so that HEAP_BYTES limits this memory, too, and sets all
 * bytes to "value". Returns NULL if memory is lacking.
 */
static void *query_plan_get(size_t bytes, int value)
{
	void *memory = sqlite3_malloc64(bytes);

	return memory ? memset(memory, value, bytes) : NULL;
}

/*
 * Makes the array "chosen" for all logs and types if it does not exist yet. At first all types are
 * selected. If memory is lacking, returns false, and query_plan_forget() frees what exists.
 */
static bool query_plan_choose(struct query_cursor *cursor)
{
	const struct query *query = cursor->query;

	if (cursor->chosen)
		return true;
	cursor->chosen = query_plan_get(query->logs * sizeof(*cursor->chosen), 0);
	for (unsigned i = 0; cursor->chosen && i < query->logs; i++) {
		cursor->chosen[i] = query_plan_get(query->log[i].file.ids + 1, 1);
		if (!cursor->chosen[i])
			return false;
	}
	return cursor->chosen != NULL;
}

/*
 * Excludes the types of a log that do not satisfy the condition. All conditions must hold, so a
 * type that is excluded is never selected again. If the log does not list a type, the name of its
 * number is unknown here, so conditions on names do not exclude the number.
 */
static void only_types_of(const struct logfile *log, unsigned char *chosen, int column, char op,
			  const char *text, sqlite3_int64 number)
{
	for (size_t id = 0; id < log->ids; id++) {
		const struct log_type *type = log->by_id[id];
		bool good = true;

		if (column == QUERY_TYPE)
			good = (sqlite3_int64)id == number;
		else if (type)
			good = op == '*' ? !sqlite3_strglob(text, type->name)
					 : !strcmp(text, type->name);
		chosen[id] &= good;
	}
}

/*
 * Excludes the types that do not satisfy a condition on the name or the type. Returns false if
 * memory is lacking.
 */
static bool only_types(struct query_cursor *cursor, int column, char op, sqlite3_value *value)
{
	const char *text = (const char *)sqlite3_value_text(value);

	if (column == QUERY_TYPE ? sqlite3_value_type(value) != SQLITE_INTEGER
				 : sqlite3_value_type(value) != SQLITE_TEXT)
		return true; /* only SQLite checks such a condition */
	if (!text || !query_plan_choose(cursor))
		return false;
	for (unsigned i = 0; i < cursor->query->logs; i++)
		only_types_of(&cursor->query->log[i].file, cursor->chosen[i], column, op, text,
			      sqlite3_value_int64(value));
	return true;
}

/*
 * Excludes the logs whose name is not the value. The scan does not open excluded logs.
 */
static bool only_log(struct query_cursor *cursor, sqlite3_value *value)
{
	const char *text = (const char *)sqlite3_value_text(value);
	const struct query *query = cursor->query;

	if (sqlite3_value_type(value) != SQLITE_TEXT)
		return true;
	if (!cursor->unwanted)
		cursor->unwanted = query_plan_get(query->logs, 0);
	if (!text || !cursor->unwanted)
		return false;
	for (unsigned i = 0; i < query->logs; i++)
		cursor->unwanted[i] |= strcmp(text, query->log[i].file.path) != 0;
	return true;
}

/*
 * The function rounds a real so that the window becomes larger and not smaller. If a real is NAN
 * or does not fit into 64 bits, its conversion is undefined, so the window is not changed.
 */
void query_bound(int64_t *begin_ns, int64_t *end_ns, char op, sqlite3_value *value)
{
	int64_t low, high;

	if (sqlite3_value_type(value) == SQLITE_INTEGER) {
		low = high = sqlite3_value_int64(value);
	} else if (sqlite3_value_type(value) == SQLITE_FLOAT) {
		double ns = sqlite3_value_double(value);

		if (!(fabs(ns) < 9e18))
			return;
		low = (int64_t)floor(ns);
		high = (int64_t)ceil(ns);
	} else {
		return;
	}
	if (op != '<' && low > *begin_ns)
		*begin_ns = low;
	if (op != '>' && high < *end_ns)
		*end_ns = high;
}

/*
 * Stores the number that a condition requires. If the value is a text that looks like a number,
 * only SQLite checks the condition, because SQLite converts the text as the column requires. If two
 * conditions require different numbers in one column, no row fits, and the function sets *nothing.
 */
static void only_number(bool *has, int64_t *number, bool *nothing, sqlite3_value *value)
{
	if (sqlite3_value_type(value) != SQLITE_INTEGER)
		return;
	if (*has && *number != sqlite3_value_int64(value))
		*nothing = true;
	*has = true;
	*number = sqlite3_value_int64(value);
}

/*
 * Compares types for qsort(3). In a damaged log two types may have the same name. Such types are
 * ordered by their ids, so that the order does not depend on the algorithm of qsort(3).
 */
static int by_name(const void *a, const void *b)
{
	const struct log_type *const *x = a, *const *y = b;
	int names = strcmp((*x)->name, (*y)->name);

	return names ? names : ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

static int by_id(const void *a, const void *b)
{
	const struct log_type *const *x = a, *const *y = b;

	return ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

/*
 * Lists the types for which the log is read one after the other. These types have events and are
 * not excluded.
 */
static void plan_passes(struct query_cursor *cursor, int column)
{
	const struct query_log *only = cursor->query->log;
	const struct logfile *log = &only->file;
	const struct log_type *type[QUERY_PASSES];
	unsigned count = 0;

	for (size_t i = 0; i < log->types && count < QUERY_PASSES; i++)
		if (only->events_of[i] && query_is_chosen(cursor, log->list[i]->id))
			type[count++] = log->list[i];
	if (count)
		qsort(type, count, sizeof(*type), column == QUERY_NAME ? by_name : by_id);
	else
		cursor->is_empty = true;
	for (unsigned i = 0; i < count; i++)
		cursor->pass_type[i] = type[i]->id;
	cursor->passes = count;
	if (count > 1)
		cursor->query->meter.total += (count - 1) * cursor->query->events;
}

/*
 * argv has the values in the order of the letters in the plan, because query_plan() has set
 * argvIndex in this order.
 */
int query_plan_take(struct query_cursor *cursor, const char *plan, int argc, sqlite3_value **argv)
{
	query_plan_forget(cursor);
	cursor->log = 0;
	cursor->begin_ns = INT64_MIN;
	cursor->end_ns = INT64_MAX;
	cursor->has_pid = cursor->has_tid = cursor->is_empty = false;
	cursor->pass = cursor->passes = 0;
	for (int i = 0; i < argc; i++, plan += 2) {
		int column = plan[0] - 'a';

		if (column == QUERY_TIME)
			query_bound(&cursor->begin_ns, &cursor->end_ns, plan[1], argv[i]);
		else if (column == QUERY_PID)
			only_number(&cursor->has_pid, &cursor->pid, &cursor->is_empty, argv[i]);
		else if (column == QUERY_TID)
			only_number(&cursor->has_tid, &cursor->tid, &cursor->is_empty, argv[i]);
		else if (!(column == QUERY_LOG ? only_log(cursor, argv[i])
					       : only_types(cursor, column, plan[1], argv[i])))
			return SQLITE_NOMEM;
	}
	if (*plan == '#')
		plan_passes(cursor, plan[1] - 'a');
	return SQLITE_OK;
}
