/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sqlite_schema.h - the tables of the database and the statements that fill them. */
#ifndef POSIXTRACE_CONVERT_TEXT_SQLITE_SCHEMA_H
#define POSIXTRACE_CONVERT_TEXT_SQLITE_SCHEMA_H

#include <sqlite3.h>

#include "convert/format.h"
#include "query/sqlfields.h"

enum statement { INSERT_EVENT, INSERT_TYPE, INSERT_THREAD, INSERT_NAME, INSERT_OBJECT, INSERT_LOST,
		 INSERT_LEDGER, INSERT_LOG, INSERT_FACT, INSERT_SPAN, INSERT_PLAIN, STATEMENTS };

/*
 * The statements that create the tables and begin the transaction. sqlite.c commits this
 * transaction at the end.
 */
extern const char sqlite_schema[];

/*
 * In sqlite_views.c: creates the views events, types, threads, losses and objects, which have the
 * contents of the tables of posixtrace query. "type" has all event types; "log" is the name of a
 * single log, or NULL. Returns SQLITE_OK or the error of SQLite.
 */
int sqlite_views(sqlite3 *db, const struct sqlfields *fields, const struct fmt_type *const *type,
		 size_t types, const char *log);

/* The text of each INSERT statement. */
extern const char *const sqlite_statements[STATEMENTS];

#endif
