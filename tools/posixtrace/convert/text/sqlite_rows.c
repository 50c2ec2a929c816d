/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sqlite_rows.c - a virtual table whose rows are in memory. A statement reads the rows once, from
 * the beginning to the end.
 */
#include "convert/text/sqlite_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rows_table {
	sqlite3_vtab base;     /* first, as SQLite requires */
	struct rows *rows;
};

/* The position of a statement that reads the rows. */
struct rows_cursor {
	sqlite3_vtab_cursor base; /* first, as SQLite requires */
	const struct rows *rows;
	size_t at;
};

/* ------------------------------------------------------------------ the virtual table */

/*
 * SQLite calls this function when the first statement names the table. When the database is closed,
 * SQLite frees the table by disconnect_rows().
 */
static int connect_rows(sqlite3 *db, void *rows, int argc, const char *const *argv,
			sqlite3_vtab **made, char **error)
{
	struct rows_table *table;
	char sql[16 + 5 * ROWS_COLUMNS], *end = sql;
	int answer;

	(void)argc;
	(void)argv;
	(void)error;
	/* The columns have no types, so that a value keeps its own type. */
	end += sprintf(end, "CREATE TABLE x(c1");
	for (unsigned i = 2; i <= ROWS_COLUMNS; i++)
		end += sprintf(end, ",c%u", i);
	strcpy(end, ")");
	answer = sqlite3_declare_vtab(db, sql);
	if (answer != SQLITE_OK)
		return answer;
	table = sqlite3_malloc(sizeof(*table));
	if (!table)
		return SQLITE_NOMEM;
	*table = (struct rows_table){ .rows = rows };
	*made = &table->base;
	return SQLITE_OK;
}

/* Frees the table, but not the rows, which belong to the sink. */
static int disconnect_rows(sqlite3_vtab *table)
{
	sqlite3_free(table);
	return SQLITE_OK;
}

/* The only plan is that SQLite reads all rows in their order. */
static int plan_rows(sqlite3_vtab *table, sqlite3_index_info *info)
{
	(void)table;
	info->estimatedCost = ROWS_COUNT;
	info->estimatedRows = ROWS_COUNT;
	return SQLITE_OK;
}

/* Makes the cursor of a statement. Only one statement reads the rows at a time. */
static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **made)
{
	struct rows_cursor *cursor = sqlite3_malloc(sizeof(*cursor));

	if (!cursor)
		return SQLITE_NOMEM;
	*cursor = (struct rows_cursor){ .rows = ((struct rows_table *)table)->rows };
	*made = &cursor->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static int first_row(sqlite3_vtab_cursor *cursor, int number, const char *plan, int argc,
		     sqlite3_value **argv)
{
	(void)number;
	(void)plan;
	(void)argc;
	(void)argv;
	((struct rows_cursor *)cursor)->at = 0;
	return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *cursor)
{
	((struct rows_cursor *)cursor)->at++;
	return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
	const struct rows_cursor *cursor = (const struct rows_cursor *)base;

	return cursor->at >= cursor->rows->count;
}

/* The bytes of a value remain at their place until rows_clear(), so SQLite need not copy them. */
static int get_cell(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	const struct rows_cursor *cursor = (const struct rows_cursor *)base;
	const struct rows_cell *cell = &cursor->rows->cell[cursor->at][column + 1];

	switch ((enum sqlvalue_kind)cell->kind) {
	case SQLVALUE_NULL: /* a result that is not set is NULL */
		break;
	case SQLVALUE_INTEGER:
		sqlite3_result_int64(context, cell->integer);
		break;
	case SQLVALUE_REAL:
		sqlite3_result_double(context, cell->real);
		break;
	case SQLVALUE_TEXT:
		sqlite3_result_text(context, cell->bytes, (int)cell->len, SQLITE_STATIC);
		break;
	case SQLVALUE_BLOB:
		sqlite3_result_blob(context, cell->bytes, (int)cell->len, SQLITE_STATIC);
		break;
	}
	return SQLITE_OK;
}

/* SQLite requires this function, although no statement uses the number of a row. */
static int get_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
	*rowid = (sqlite3_int64)((struct rows_cursor *)cursor)->at;
	return SQLITE_OK;
}

/*
 * Because xCreate is NULL, a table with the name of the module exists without a CREATE statement.
 */
static const sqlite3_module module = {
	.iVersion = 1, .xConnect = connect_rows, .xBestIndex = plan_rows,
	.xDisconnect = disconnect_rows, .xDestroy = disconnect_rows, .xOpen = open_cursor,
	.xClose = close_cursor, .xFilter = first_row, .xNext = next_row, .xEof = is_at_end,
	.xColumn = get_cell, .xRowid = get_rowid,
};

/* ------------------------------------------------------------------ the rows */

struct rows *rows_new(sqlite3 *db, const char *table, unsigned columns)
{
	/* After calloc() all cells are NULL, so the first row is empty. */
	struct rows *rows = calloc(1, sizeof(*rows));

	if (!rows)
		return NULL;
	rows->columns = columns;
	if (sqlite3_create_module(db, table, &module, rows) == SQLITE_OK)
		return rows;
	free(rows);
	return NULL;
}

/* Frees the values for which the array "bytes" had no room. */
static void free_large(struct rows *rows)
{
	while (rows->large) {
		struct rows_large *next = rows->large->next;

		free(rows->large);
		rows->large = next;
	}
}

void rows_free(struct rows *rows)
{
	if (!rows)
		return;
	free_large(rows);
	free(rows);
}

char *rows_room(struct rows *rows, size_t len)
{
	struct rows_large *large;

	if (len <= ROWS_BYTES - rows->used)
		return rows->bytes + rows->used;
	large = malloc(sizeof(*large) + len);
	if (!large) {
		rows->failed = true;
		return NULL;
	}
	large->next = rows->large;
	rows->large = large;
	return large->bytes;
}

void rows_done(struct rows *rows, unsigned column, enum sqlvalue_kind kind, const char *bytes,
	       size_t len)
{
	struct rows_cell *cell = rows_at(rows, column);

	cell->kind = kind;
	cell->len = (uint32_t)len;
	cell->bytes = bytes;
	/* A value with separate memory does not use the array "bytes". */
	if (bytes == rows->bytes + rows->used)
		rows->used += len;
}

void rows_bytes(struct rows *rows, unsigned column, enum sqlvalue_kind kind, const void *bytes,
		size_t len)
{
	char *to = rows_room(rows, len);

	if (!to)
		return;
	if (len)
		memcpy(to, bytes, len);
	rows_done(rows, column, kind, to, len);
}

void rows_value(struct rows *rows, unsigned column, const struct sqlvalue *value)
{
	switch (value->kind) {
	case SQLVALUE_NULL:
		break;
	case SQLVALUE_INTEGER:
		rows_integer(rows, column, value->integer);
		break;
	case SQLVALUE_REAL:
		rows_at(rows, column)->kind = SQLVALUE_REAL;
		rows_at(rows, column)->real = value->real;
		break;
	default:
		rows_bytes(rows, column, value->kind, value->bytes, value->len);
	}
}

bool rows_end(struct rows *rows)
{
	/*
	 * The rows count as full when half of the array "bytes" is used, so that a value rarely
	 * needs separate memory.
	 */
	if (++rows->count == ROWS_COUNT || rows->used > ROWS_BYTES / 2 || rows->large)
		return true;
	memset(rows->cell[rows->count], 0, (rows->columns + 1) * sizeof(rows->cell[0][0]));
	return false;
}

void rows_clear(struct rows *rows)
{
	/*
	 * Only the first row is cleared here. rows_end() clears each further row before its use,
	 * because most batches do not use all rows.
	 */
	free_large(rows);
	rows->count = 0;
	rows->used = 0;
	rows->is_rare = false;
	memset(rows->cell[0], 0, (rows->columns + 1) * sizeof(rows->cell[0][0]));
}
