/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query_weighted.h - statements that only count: rows of events that are the same in every column
 * that the statement uses come once, with a weight.
 *
 * SQLite takes some fifty nanoseconds for each row, a log's reader half of that. A statement that
 * groups events and asks for counts, sums and averages of the groups does not see its rows one by
 * one: for such a statement the table events counts equal rows by itself, with as many threads as
 * posixtrace stat has, and the aggregate functions take the weight of a row instead of one.
 *
 * That is done only if nothing else can see how often a row comes: SQLite's own plan is one scan
 * and no more, its groups come in the table's order, all functions of the statement are known to be
 * the same for the same row, one of them counts, and the word DISTINCT does not occur. Every other
 * statement is answered row by row. Either way the answer is the same, but for the rounding of sums
 * of reals.
 */
#ifndef POSIXTRACE_QUERY_QUERY_WEIGHTED_H
#define POSIXTRACE_QUERY_QUERY_WEIGHTED_H

#include "log/groups.h"
#include "query/query_cursor.h"

/*
 * A function that the statement uses, as SQLite's authorizer says while the statement is prepared.
 */
void query_weighted_function(struct query *query, const char *name);

/* query_weighted_functions.c: SQLITE_OK, or what SQLite says. */
int query_weighted_functions(struct query *query, sqlite3 *db);

/*
 * Whether the statement is one of those; then the rows are counted and the functions by weight are
 * there.
 */
bool query_weighted_fits(struct query *query, sqlite3 *db, const char *sql);
void query_weighted_end(struct query *query);

/* For xBestIndex: whether rows come by weight, in the order that the statement asks for. */
bool query_weighted_plan(struct query *query, sqlite3_index_info *info, char *plan);

/* The rows in that plan's order; the next of them into the cursor, false: there is none. */
void query_weighted_sort(struct query *query, const char *plan);
bool query_weighted_next(struct query_cursor *cursor);

#endif
