/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query_cursor.h - the table events and the position of a statement in it. query_events.c reads;
 * query_plan.c translates conditions.
 */
#ifndef POSIXTRACE_QUERY_QUERY_CURSOR_H
#define POSIXTRACE_QUERY_QUERY_CURSOR_H

#include "query/query.h"

#define QUERY_WEIGHTED 'w' /* the first letter of a weighted plan */
#define QUERY_PASSES 16 /* number of types up to which repeated reading is faster than sorting */

struct query_table {
	sqlite3_vtab base;
	struct query *query;
};

struct query_cursor {
	sqlite3_vtab_cursor base;
	struct query *query;
	unsigned log;                /* the current one */
	bool is_open;
	trace_id_t trid;
	struct posix_trace_event_np event;
	const struct log_type *type;
	bool eof;
	sqlite3_int64 row;
	unsigned looks;              /* steps since the interrupt flag was checked */
	bool is_weighted;
	size_t next_group;

	int64_t begin_ns, end_ns;
	bool has_pid, has_tid, nothing;
	int64_t pid, tid;
	/* for each log and type: whether it is selected; NULL: all are */
	unsigned char **chosen;
	unsigned char *unwanted;     /* for each log: whether it is excluded; NULL: none is */
	unsigned pass, passes;       /* 0: one pass for all types */
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
 * query_plan() is SQLite's xBestIndex. query_plan_take() stores the selection by a plan and its
 * arguments in the cursor; it returns SQLITE_OK or SQLITE_NOMEM.
 */
int query_plan(sqlite3_vtab *base, sqlite3_index_info *info);
int query_plan_take(struct query_cursor *cursor, const char *plan, int argc, sqlite3_value **argv);

#endif
