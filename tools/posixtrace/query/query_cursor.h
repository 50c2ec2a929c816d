/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query_cursor.h - the table events and where a statement is in it: query_events.c reads, query_plan.c
 * makes of a statement's conditions what is read.
 */
#ifndef POSIXTRACE_QUERY_CURSOR_H
#define POSIXTRACE_QUERY_CURSOR_H

#include "query/query.h"

#define QUERY_PASSES 16 /* types up to which grouping by reading again pays */

struct query_table {
	sqlite3_vtab base;
	struct query *query;
};

struct query_cursor {
	sqlite3_vtab_cursor base;
	struct query *query;
	trace_id_t trid;
	struct posix_trace_event_np event;
	const struct log_type *type;
	bool eof;
	sqlite3_int64 row;
	unsigned looks;              /* at the interrupt flag */

	int64_t begin_ns, end_ns;
	bool has_pid, has_tid, nothing;
	int64_t pid, tid;
	unsigned char *chosen;       /* by id of a type; NULL: all */
	size_t chosen_ids;
	unsigned pass, passes;       /* 0: one for all types */
	trace_event_id_t pass_type[QUERY_PASSES];
};

static inline bool query_is_chosen(const struct query_cursor *cursor, trace_event_id_t id)
{
	return !cursor->chosen || id >= cursor->chosen_ids || cursor->chosen[id];
}

/* SQLite's xBestIndex; and what its plan and arguments choose, into a cursor: SQLITE_OK or SQLITE_NOMEM. */
int query_plan(sqlite3_vtab *base, sqlite3_index_info *info);
int query_plan_take(struct query_cursor *cursor, const char *plan, int argc, sqlite3_value **argv);

#endif
