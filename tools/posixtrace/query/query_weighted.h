/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query_weighted.h - statements that only count. Events that are equal in every column that the
 * statement uses become one row with a weight.
 *
 * SQLite needs about fifty nanoseconds for a row, and the reader of a log needs half of that. A
 * statement that groups events and computes counts, sums and averages of the groups does not look
 * at single rows. For such a statement the table events counts equal rows itself, with as many
 * threads as the command stat, and the aggregate functions use the weight of a row instead of 1.
 *
 * This is done only if nothing else depends on the number of rows: SQLite's plan is a single scan,
 * its groups are in the table's order, all functions of the statement are known to return the same
 * for equal rows, one of them counts, and the word DISTINCT does not occur. All other statements
 * are answered row by row. The results are equal except for the rounding of sums of reals.
 */
#ifndef POSIXTRACE_QUERY_QUERY_WEIGHTED_H
#define POSIXTRACE_QUERY_QUERY_WEIGHTED_H

#include "log/groups.h"
#include "query/query_cursor.h"

/*
 * Notes a function that the statement uses; SQLite's authorizer reports it while the statement is
 * prepared.
 */
void query_weighted_function(struct query *query, const char *name);

/* In query_weighted_functions.c. Returns SQLITE_OK or SQLite's error. */
int query_weighted_functions(struct query *query, sqlite3 *db);

/*
 * Returns true if the statement only counts. The rows are then counted, and the weighted functions
 * are registered.
 */
bool query_weighted_fits(struct query *query, sqlite3 *db, const char *sql);
void query_weighted_end(struct query *query);

/* For xBestIndex: returns true if weighted rows can be delivered in the order of the statement. */
bool query_weighted_plan(struct query *query, sqlite3_index_info *info, char *plan);

/*
 * query_weighted_sort() sorts the rows for the plan. query_weighted_next() moves the cursor to the
 * next one; it returns false after the last.
 */
void query_weighted_sort(struct query *query, const char *plan);
bool query_weighted_next(struct query_cursor *cursor);

#endif
