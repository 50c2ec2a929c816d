/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * logs.c - writes the small tables of logs. The rows come from the tables of the command query. If
 * these tables are large, SQLite keeps them in its own temporary file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "convert/parquet/parquet.h"
#include "query/query.h"

/*
 * Copies the structs that describe the logs of the conversion into the query. The logs themselves
 * remain open.
 */
static int borrow_logs(struct query *query, const struct fmt_flow *flow)
{
	query->log = calloc(flow->object_logs, sizeof(*query->log));
	if (!query->log)
		return ENOMEM;
	for (; query->logs < flow->object_logs; query->logs++) {
		struct query_log *log = &query->log[query->logs];

		log->file = *flow->logs[query->logs];
		log->events_of = calloc(log->file.types + 1, sizeof(*log->events_of));
		if (!log->events_of)
			return ENOMEM;
	}
	return 0;
}

/*
 * Copies the structs back. The query may have found further types of a damaged log, so that an
 * array of the log has moved.
 */
static void return_logs(struct query *query, const struct fmt_flow *flow)
{
	for (unsigned i = 0; i < query->logs; i++) {
		*flow->logs[i] = query->log[i].file;
		free(query->log[i].events_of);
	}
	free(query->log);
}

static void copy_row(sqlite3_stmt *row, struct parquet *file, const struct query_schema *schema)
{
	for (int i = 0; i < (int)query_schema_columns(schema); i++) {
		unsigned column = (unsigned)i;
		const unsigned char *text;

		if (sqlite3_column_type(row, i) == SQLITE_NULL)
			continue;
		/* If SQLite lacks memory, it returns no text, and the next sqlite3_step() fails. */
		text = schema->column[i].is_text ? sqlite3_column_text(row, i) : NULL;
		if (text)
			parquet_text(file, column, text, (size_t)sqlite3_column_bytes(row, i));
		else if (!schema->column[i].is_text)
			parquet_integer(file, column, sqlite3_column_int64(row, i));
	}
}

/*
 * Writes a table with the rows of the table in query. Returns 0, an error number, or -1 for an
 * error of SQLite.
 */
static int copy_table(const struct parquet_sink *sink, sqlite3 *db,
		      const struct query_schema *schema)
{
	char *sql = sqlite3_mprintf("SELECT * FROM %s", schema->name);
	struct parquet_table table = { .fd = -1 };
	sqlite3_stmt *row = NULL;
	int answer = sql ? sqlite3_prepare_v2(db, sql, -1, &row, NULL) : SQLITE_NOMEM;
	int err = answer ? -1 : parquet_table_open(&table, sink->folder, schema, sink->codec);

	while (!err && (answer = sqlite3_step(row)) == SQLITE_ROW) {
		copy_row(row, &table.file, schema);
		err = parquet_end_row(&table.file);
	}
	if (!err)
		err = answer == SQLITE_DONE ? parquet_table_end(&table) : -1;
	parquet_table_close(&table);
	sqlite3_finalize(row);
	sqlite3_free(sql);
	return err;
}

int parquet_logs(const struct parquet_sink *sink)
{
	struct query query = { .logs = 0 };
	sqlite3 *db = NULL;
	int err = borrow_logs(&query, sink->flow), answer = SQLITE_OK;

	/* An empty name means a temporary database. */
	if (!err)
		answer = query_tables_open("", &query, &db);
	if (!err && answer)
		err = -1;
	for (int i = QUERY_SPANS + 1; !err && i < QUERY_TABLES; i++)
		if (parquet_has_logs(sink) || i > QUERY_LOSSES)
			err = copy_table(sink, db, &query_schema[i]);
	if (err == -1)
		say("%s: %s", sink->shown, db ? sqlite3_errmsg(db) : sqlite3_errstr(answer));
	sqlite3_close(db);
	return_logs(&query, sink->flow);
	return err;
}
