/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sqlite_schema.h - the tables of a database, and how rows get into them. */
#ifndef POSIXTRACE_FORMATS_SQLITE_SCHEMA_H
#define POSIXTRACE_FORMATS_SQLITE_SCHEMA_H

enum statement { INSERT_EVENT, INSERT_TYPE, INSERT_THREAD, INSERT_NAME, INSERT_OBJECT, INSERT_LOST,
		 INSERT_LEDGER, INSERT_FACT, STATEMENTS };

/* What makes the tables, and begins a transaction. */
extern const char sqlite_schema[];

/* An INSERT each. */
extern const char *const sqlite_statements[STATEMENTS];

#endif
