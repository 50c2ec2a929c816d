/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query_cursor.h - the table events, and a cursor, which is the position of a scan in it.
 * query_events.c reads the events; query_plan.c translates the conditions of a statement.
 */
#ifndef POSIXTRACE_QUERY_QUERY_CURSOR_H
#define POSIXTRACE_QUERY_QUERY_CURSOR_H

#include "query/query.h"

#define QUERY_WEIGHTED 'w' /* the first letter of a weighted plan */
/*
 * if no more than this number of types have events, it is faster to read the log once for each type
 * than to sort the rows
 */
#define QUERY_PASSES 16

struct query_table {
	sqlite3_vtab base;
	struct query *query;
};

struct query_cursor {
	sqlite3_vtab_cursor base;
	struct query *query;
	unsigned log;                /* number of the current log */
	bool is_open;
	trace_id_t trid;
	struct posix_trace_event_np event;
	const struct log_type *type;
	bool eof;
	sqlite3_int64 row;
	/* number of events read so far; the interrupt flag is checked once for many events */
	unsigned looks;
	bool is_weighted;
	size_t next_group;

	int64_t begin_ns, end_ns;
	bool has_pid, has_tid, is_empty;
	int64_t pid, tid;
	/*
	 * for each log, and then for each id of a type: whether the type is selected; NULL: all
	 * types are selected
	 */
	unsigned char **chosen;
	/* for each log: whether it is excluded; NULL: no log is excluded */
	unsigned char *unwanted;
	unsigned pass, passes;       /* "passes" is 0 if the log is read once for all types */
	trace_event_id_t pass_type[QUERY_PASSES];
};

static inline struct query_log *query_log_of(const struct query_cursor *cursor)
{
	return &cursor->query->log[cursor->log];
}

static inline bool query_is_chosen(const struct query_cursor *cursor, trace_event_id_t id)
{
	const unsigned char *chosen = cursor->chosen ? cursor->chosen[cursor->log] : NULL;

	return !chosen || id >= query_log_of(cursor)->file.ids || chosen[id];
}

/* Frees the selection of a plan. */
void query_plan_forget(struct query_cursor *cursor);

/*
 * query_plan() is the xBestIndex of the table. query_plan_take() stores the conditions of a plan,
 * with the values in "argv", in the cursor. It returns SQLITE_OK or SQLITE_NOMEM.
 */
int query_plan(sqlite3_vtab *base, sqlite3_index_info *info);
int query_plan_take(struct query_cursor *cursor, const char *plan, int argc, sqlite3_value **argv);

#endif
