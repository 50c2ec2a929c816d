/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query_weighted.h - executes statements that only count. Events that are equal in all columns that
 * the statement uses become one row. The weight of the row is the number of these events.
 *
 * SQLite needs about fifty nanoseconds for a row, and the reader of a log needs half of that for an
 * event. If a statement only computes counts, sums and averages of groups, it does not need single
 * events. For such a statement the table events counts equal events itself, with as many threads as
 * the command stat uses. The aggregate functions then use the weight of a row instead of 1.
 *
 * This is done only if nothing else in the statement depends on the number of rows. SQLite's plan
 * must be a single scan, and its groups must be in the table's order. Each function of the
 * statement must count or be known to return the same result for equal rows. At least one function
 * must count, and the word DISTINCT must not occur. All other statements are executed row by row.
 * The results are equal in both cases, except for the rounding of sums of reals.
 */
#ifndef POSIXTRACE_QUERY_QUERY_WEIGHTED_H
#define POSIXTRACE_QUERY_QUERY_WEIGHTED_H

#include "log/groups.h"
#include "query/query_cursor.h"

/*
 * Notes a function that the statement uses. The authorizer calls query_weighted_function() while
 * SQLite prepares the statement.
 */
void query_weighted_function(struct query *query, const char *name);

/*
 * In query_weighted_functions.c. Replaces count(), sum(), total() and avg() by functions that use
 * the weight. Returns SQLITE_OK or SQLite's error.
 */
int query_weighted_functions(struct query *query, sqlite3 *db);

/*
 * If the statement only counts, counts the events of all logs, calls query_weighted_functions() and
 * returns true. query_weighted_end() frees the counts.
 */
bool query_weighted_fits(struct query *query, sqlite3 *db, const char *sql);
void query_weighted_end(struct query *query);

/*
 * xBestIndex calls this function. If the table can return weighted rows in the order of the
 * statement, the function writes the plan and returns true.
 */
bool query_weighted_plan(struct query *query, sqlite3_index_info *info, char *plan);

/*
 * query_weighted_sort() sorts the rows in the order of the plan. query_weighted_next() moves the
 * cursor to the next row. It returns false if there is no further row.
 */
void query_weighted_sort(struct query *query, const char *plan);
bool query_weighted_next(struct query_cursor *cursor);

#endif
