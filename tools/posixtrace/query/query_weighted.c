/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* query_weighted.c - recognizes statements that only count, and counts equal rows for them. */
#include "query/query_weighted.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "base/vec.h"
#include "log/tally.h"
#include "log/tally_parts.h"
#include "query/query_columns.h"

/* ------------------------------------------------------------------ the statement */

/*
 * If a function of SQL is in neither of the two lists, the statement cannot be computed from counts
 * of equal rows, and query->strange becomes true. There are two reasons. The function may return
 * different results for equal rows, as random() does. And its result may depend on each row, as the
 * result of group_concat() does. So a function of a newer SQLite causes no wrong results.
 */
void query_weighted_function(struct query *query, const char *name)
{
	static const char *const counts[] = { "count", "sum", "total", "avg" };
	static const char *const same[] = {
		"min", "max", "abs", "ceil", "char", "coalesce", "floor", "format", "glob", "hex",
		"ifnull", "iif", "instr", "length", "like", "lower", "ltrim", "nullif", "printf",
		"quote", "replace", "round", "rtrim", "sign", "substr", "substring", "trim",
		"typeof", "unicode", "upper", "at", "stamp",
	};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (!sqlite3_stricmp(counts[i], name)) {
			query->counts = true;
			return;
		}
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (!sqlite3_stricmp(same[i], name))
			return;
	query->strange = true;
}

/*
 * Returns true if SQLite's plan for the statement is a single scan of a virtual table. The plan may
 * also sort the result of the statement.
 */
static bool is_one_scan(sqlite3 *db, const char *sql)
{
	char *explain = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", sql);
	sqlite3_stmt *plan = NULL;
	unsigned scans = 0, others = 0;

	if (explain && !sqlite3_prepare_v2(db, explain, -1, &plan, NULL))
		while (sqlite3_step(plan) == SQLITE_ROW) {
			const char *detail = (const char *)sqlite3_column_text(plan, 3);

			if (detail && !strncmp(detail, "SCAN ", 5) &&
			    strstr(detail, "VIRTUAL TABLE"))
				scans++;
			else if (!detail || !text_ends_with(detail, "ORDER BY"))
				others++;
		}
	sqlite3_finalize(plan);
	sqlite3_free(explain);
	return scans == 1 && !others;
}

/* ------------------------------------------------------------------ rows */

/*
 * Returns the property that determines the value of a column: events with the same property have
 * the same value. Returns 0 for the column log, because all events of a log have the same value,
 * and -1 if no property determines the value.
 */
static int property_of(int column)
{
	switch (column) {
	case QUERY_NAME:
	case QUERY_TYPE:
	case QUERY_LEVEL:
		return GROUPS_TYPE;
	case QUERY_PID:
		return GROUPS_PID;
	case QUERY_TID:
		return GROUPS_TID;
	case QUERY_THREAD:
		return GROUPS_THREAD;
	case QUERY_ADDRESS:
		return GROUPS_ADDRESS;
	case QUERY_LEN:
		return GROUPS_LEN;
	case QUERY_FLAGS:
		return GROUPS_FLAGS;
	case QUERY_LOG:
		return 0;
	}
	return -1;
}

/*
 * Computes the properties by which events must be grouped. "used" is SQLite's set of used columns,
 * in which bit 63 is for all columns from 63 on. Returns false if no property determines the value
 * of a used column.
 */
static bool columns_fit_groups(uint64_t used, unsigned *columns)
{
	*columns = 0;
	for (int i = 0; i < 64; i++) {
		int one = used & UINT64_C(1) << i ? property_of(i) : 0;

		if (one < 0)
			return false;
		*columns |= (unsigned)one;
	}
	return true;
}

/*
 * Appends the groups of a log to the groups of the query, and stores the number of the log in each
 * of them.
 */
static bool query_weighted_keep(struct query *query, const struct groups *groups, unsigned log)
{
	if (!vec_grow(&query->group, query->groups, groups->count))
		return false;
	for (size_t i = 0; i < groups->count; i++) {
		query->group[query->groups] = groups->group[i];
		query->group[query->groups++].log = log;
	}
	return true;
}

/*
 * Counts the groups of a log. Returns false after an interrupt, if memory is lacking, or if there
 * are more than GROUPS_MAX groups. In these cases the statement is executed row by row, without
 * groups.
 */
static bool count_log(struct query *query, unsigned log, unsigned columns)
{
	struct groups *groups = groups_new(columns, &query_interrupted);
	struct logfile *file = &query->log[log].file;
	bool good = groups && !tally_groups(groups, file, tally_threads(file)) &&
		    !groups_finish(groups) && query_weighted_keep(query, groups, log);

	groups_free(groups);
	return good;
}

/*
 * Counts the groups of all logs. The function runs before the statement, so that no scan can fail
 * later.
 */
static bool count_all(struct query *query)
{
	unsigned columns;

	/* For a fleet's database, the server counts when the table is scanned. */
	if (query->remote)
		return true;
	if (!columns_fit_groups(query->columns, &columns))
		return false;
	for (unsigned i = 0; i < query->logs; i++)
		if (!count_log(query, i, columns))
			return false;
	return true;
}

void query_weighted_end(struct query *query)
{
	free(query->group);
	query->group = NULL;
	query->groups = 0;
	query->weighted = false;
}

/*
 * is_one_scan() prepares the statement, so SQLite calls xBestIndex and with it
 * query_weighted_plan(), which sets query->columns. If the statement does not use the table events,
 * query->columns remains UINT64_MAX. The function searches the text of the statement for the word
 * DISTINCT. If the word is only a part of a text or name, the statement is needlessly executed row
 * by row, which only costs time.
 */
bool query_weighted_fits(struct query *query, sqlite3 *db, const char *sql)
{
	bool good = query->counts && !query->strange && !strcasestr(sql, "distinct");

	query->columns = UINT64_MAX;
	query->weighted = good;
	good = good && is_one_scan(db, sql) && query->columns != UINT64_MAX && count_all(query) &&
	       !query_weighted_functions(query, db);
	if (!good)
		query_weighted_end(query);
	return good;
}

/* ------------------------------------------------------------------ the plan */

/*
 * Behind its first letter, the plan has two letters for each column by which the rows are ordered:
 * one for the column, one for ascending or descending order.
 */
bool query_weighted_plan(struct query *query, sqlite3_index_info *info, char *plan)
{
	uint64_t used = (uint64_t)info->colUsed;
	unsigned columns;
	char *p = plan;

	if (!columns_fit_groups(used, &columns) || (query->group && query->columns != used))
		return false;
	*p++ = QUERY_WEIGHTED;
	for (int i = 0; i < info->nOrderBy; i++) {
		if (info->aOrderBy[i].iColumn < 0)
			return false;
		*p++ = (char)('a' + info->aOrderBy[i].iColumn);
		*p++ = info->aOrderBy[i].desc ? 'd' : 'a';
	}
	*p = '\0';
	query->columns = used;
	info->orderByConsumed = 1;
	info->estimatedRows = 100;
	info->estimatedCost = 100;
	return true;
}

/*
 * The query and the order of the current sort. They are variables, because qsort(3) cannot pass
 * them to query_weighted_compare(). They may be static, because only one cursor is sorted at a
 * time.
 */
static const struct query *sorted;
static const char *sorted_by;

static const struct log_type *type_of(const struct group *group)
{
	return logfile_type(&sorted->log[group->log].file, group->type);
}

/* Compares two numbers as signed numbers, because the integers of SQLite are signed. */
static int by_number(uint64_t a, uint64_t b)
{
	return ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b);
}

/* Compares the names of two groups' types by bytes, and then by length, as SQLite's BINARY does. */
static int by_name(const struct group *a, const struct group *b)
{
	const struct log_type *x = type_of(a), *y = type_of(b);
	size_t least = x->name_len < y->name_len ? x->name_len : y->name_len;
	int names = memcmp(x->name, y->name, least);

	return names ? names : (x->name_len > y->name_len) - (x->name_len < y->name_len);
}

/*
 * Returns the level of a group's type. For a type without a level it returns 0. In SQL such a level
 * is NULL, which precedes all numbers as 0 does.
 */
static uint64_t level_of(const struct group *group)
{
	const struct log_type *type = type_of(group);

	return type->schema ? (uint64_t)type->schema->level : 0;
}

/*
 * Returns a number for a group's flags. The numbers have the order of the values of the column
 * flags: NULL, "late", "truncated", "truncated,late".
 */
static uint64_t flags_of(const struct group *group)
{
	return group->truncated ? 2 + group->late : group->late;
}

static int compare_column(int column, const struct group *a, const struct group *b)
{
	switch (column) {
	case QUERY_NAME:
		return by_name(a, b);
	case QUERY_TYPE:
		return by_number(a->type, b->type);
	case QUERY_LEVEL:
		return by_number(level_of(a), level_of(b));
	case QUERY_PID:
		return by_number((uint64_t)a->pid, (uint64_t)b->pid);
	case QUERY_TID:
		return by_number((uint64_t)a->tid, (uint64_t)b->tid);
	case QUERY_THREAD:
		return by_number(a->thread, b->thread);
	case QUERY_ADDRESS:
		return by_number(a->address, b->address);
	case QUERY_LEN:
		return by_number(a->len, b->len);
	case QUERY_FLAGS:
		return by_number(flags_of(a), flags_of(b));
	case QUERY_LOG:
		return strcmp(sorted->log[a->log].file.path, sorted->log[b->log].file.path);
	}
	return 0;
}

/*
 * The rows must be exactly in the order that query_weighted_plan() has promised, because SQLite
 * does not sort the rows again, and joins only neighbouring rows to a group.
 */
static int query_weighted_compare(const void *x, const void *y)
{
	for (const char *by = sorted_by; *by; by += 2) {
		int order = compare_column(by[0] - 'a', x, y);

		if (order)
			return by[1] == 'd' ? -order : order;
	}
	return 0;
}

void query_weighted_sort(struct query *query, const char *plan)
{
	sorted = query;
	sorted_by = plan + 1;
	if (query->groups)
		qsort(query->group, query->groups, sizeof(*query->group), query_weighted_compare);
}

/*
 * Makes the next group the current row. The event gets the properties of the group. All other
 * properties of the event are 0, because the statement does not use them. query->weight becomes the
 * number of events in the group.
 */
bool query_weighted_next(struct query_cursor *cursor)
{
	struct query *query = cursor->query;
	const struct group *group = query->group + cursor->next_group;
	struct posix_trace_event_np *event = &cursor->event;

	query->weight = 1;
	if (cursor->next_group == query->groups)
		return false;
	cursor->next_group++;
	memset(event, 0, sizeof(*event));
	event->info.posix_event_id = group->type;
	event->info.posix_pid = group->pid;
	event->info.posix_thread_id = (pthread_t)group->thread;
	event->info.posix_prog_address = (void *)(uintptr_t)group->address;
	event->info.posix_truncation_status = group->truncated ? POSIX_TRACE_TRUNCATED_RECORD
							       : POSIX_TRACE_NOT_TRUNCATED;
	event->flags = group->late ? POSIX_TRACE_EVENT_LATE_NP : 0;
	event->tid = group->tid;
	event->data_len = group->len;
	cursor->log = group->log;
	cursor->type = logfile_type(&query_log_of(cursor)->file, group->type);
	query->weight = group->weight;
	return true;
}
