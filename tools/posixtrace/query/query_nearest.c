/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* query_nearest.c - finds the table, column or function that a mistyped name probably meant. */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "query/query.h"

#define NAME_BYTES 256

/*
 * Executes the statement and offers the first column of each row. The most similar name is copied,
 * because it is valid only until the next row.
 */
static void offer_rows(sqlite3 *db, const char *sql, struct nearest *nearest, char best[NAME_BYTES])
{
	sqlite3_stmt *rows = NULL;

	if (sqlite3_prepare_v2(db, sql, -1, &rows, NULL) != SQLITE_OK)
		return;
	while (sqlite3_step(rows) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(rows, 0);

		if (!name || strlen(name) >= NAME_BYTES)
			continue;
		nearest_offer(nearest, name);
		if (nearest->name != name)
			continue;
		strcpy(best, name);
		nearest->name = best;
	}
	sqlite3_finalize(rows);
}

/*
 * Returns whether an event type has this name. The user may have omitted the quotes. Without
 * quotes, SQL reads io.open as the column open of a table io.
 */
static bool is_event_type(sqlite3 *db, const char *name)
{
	sqlite3_stmt *row = NULL;
	bool is = false;

	if (!sqlite3_prepare_v2(db, "SELECT 1 FROM types WHERE name = ?", -1, &row, NULL)) {
		sqlite3_bind_text(row, 1, name, -1, SQLITE_STATIC);
		is = sqlite3_step(row) == SQLITE_ROW;
	}
	sqlite3_finalize(row);
	return is;
}

/*
 * "kinds" has the beginnings of SQLite's messages. If a version of SQLite has other messages, the
 * function returns no hint. The function removes the authorizer, because the authorizer refuses the
 * pragmas in these statements.
 */
const char *query_hint(sqlite3 *db, const char *message)
{
	static const struct {
		const char *message, *sql;
	} kinds[] = {
		{ "no such table: ", "SELECT name FROM sqlite_schema WHERE type = 'table'" },
		{ "no such column: ", "SELECT i.name FROM sqlite_schema AS m, "
				      "pragma_table_xinfo(m.name) AS i WHERE m.type = 'table'" },
		{ "no such function: ", "SELECT DISTINCT name FROM pragma_function_list" },
	};
	static char hint[2 * NAME_BYTES];
	char best[NAME_BYTES];
	struct nearest nearest;

	hint[0] = '\0';
	sqlite3_set_authorizer(db, NULL, NULL);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t len = strlen(kinds[i].message);
		const char *name = message + len, *dot = strrchr(message, '.');

		if (strncmp(message, kinds[i].message, len) != 0)
			continue;
		if (is_event_type(db, name)) {
			snprintf(hint, sizeof(hint), "; put text in single quotes: '%s'", name);
			break;
		}
		nearest_begin(&nearest, dot ? dot + 1 : name);
		offer_rows(db, kinds[i].sql, &nearest, best);
		/*
		 * If the distance is 0, exactly this name exists, but in another table. So the name
		 * is not mistyped.
		 */
		if (nearest.name && nearest.distance)
			snprintf(hint, sizeof(hint), "%s", nearest_hint(&nearest));
		else if (nearest.name)
			snprintf(hint, sizeof(hint), "; another table has it");
	}
	return hint;
}
