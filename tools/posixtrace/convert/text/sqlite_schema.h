/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sqlite_schema.h - the tables of a database, and how rows get into them. */
#ifndef POSIXTRACE_CONVERT_TEXT_SQLITE_SCHEMA_H
#define POSIXTRACE_CONVERT_TEXT_SQLITE_SCHEMA_H

#include <sqlite3.h>

#include "convert/format.h"
#include "query/sqlfields.h"

enum statement { INSERT_EVENT, INSERT_TYPE, INSERT_THREAD, INSERT_NAME, INSERT_OBJECT, INSERT_LOST,
		 INSERT_LEDGER, INSERT_LOG, INSERT_FACT, INSERT_SPAN, STATEMENTS };

/* What makes the tables, and begins a transaction. */
extern const char sqlite_schema[];

/*
 * convert/text/sqlite_views.c: makes the tables that posixtrace query has, with its names, of those
 * above; type is all event types, log the only log or NULL. SQLITE_OK, or what SQLite says.
 */
int sqlite_views(sqlite3 *db, const struct sqlfields *fields, const struct fmt_type *const *type,
		 size_t types, const char *log);

/* An INSERT each. */
extern const char *const sqlite_statements[STATEMENTS];

#endif
