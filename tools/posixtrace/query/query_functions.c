/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* query_functions.c - SQL functions that convert times from and to the forms that people write. */
#include "choose/bound.h"
#include "query/query.h"

/*
 * at(TIME) returns nanoseconds since 1970, for example for at('10:15'), at('+1.5s') or
 * at('2025-02-03T10:15:32Z').
 */
static void query_functions_at(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	const struct query *query = sqlite3_user_data(context);
	const char *text = (const char *)sqlite3_value_text(argv[0]);
	struct bound bound;
	char *message;

	(void)argc;
	if (!text)
		return;
	if (bound_parse(text, query->when == WHEN_UTC, &bound)) {
		sqlite3_result_int64(context, bound_at(&bound, query->first_ns, query->last_ns, 0));
		return;
	}
	message = sqlite3_mprintf("at(%Q): %s", text, bound_reason(text));
	sqlite3_result_error(context, message ? message : "at(): this is not a time", -1);
	sqlite3_free(message);
}

/* stamp(time) returns the time in the form in which the command dump prints times. */
static void query_functions_stamp(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	const struct query *query = sqlite3_user_data(context);
	char text[WHEN_BYTES];

	(void)argc;
	if (sqlite3_value_numeric_type(argv[0]) != SQLITE_INTEGER)
		return;
	when_string(text, sqlite3_value_int64(argv[0]), query->when);
	sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

/*
 * Within one statement both functions always return the same result for the same argument. So
 * SQLite computes at('10:15') once, and query_plan.c can use the result as a bound of the time.
 */
int query_functions(sqlite3 *db, struct query *query)
{
	int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
	int err =
		sqlite3_create_function(db, "at", 1, flags, query, query_functions_at, NULL, NULL);

	return err ? err
		   : sqlite3_create_function(db, "stamp", 1, flags, query, query_functions_stamp,
					     NULL, NULL);
}
