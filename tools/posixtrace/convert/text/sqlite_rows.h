/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sqlite_rows.h - rows that SQLite inserts many at a time.
 *
 * A statement that inserts one row opens the table, searches its end and closes it for each row. So
 * this file keeps many rows, and SQLite reads them as a virtual table (sqlite.org/vtab.html) with
 * the columns c1, c2 ...: "INSERT INTO event SELECT NULL,c2,c3 FROM new_event" inserts all of them.
 *
 * The caller sets cells of the current row, which is empty at first, and ends the row by
 * rows_end(). Columns are numbered from 1, as in SQL.
 */
#ifndef POSIXTRACE_CONVERT_TEXT_SQLITE_ROWS_H
#define POSIXTRACE_CONVERT_TEXT_SQLITE_ROWS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/sqlfields.h"

#define ROWS_COLUMNS 48
#define ROWS_COUNT   256
/* room for the texts and blobs of all rows; further values get separate memory */
#define ROWS_BYTES   (128 * 1024)

struct rows_cell {
	uint32_t kind;         /* enum sqlvalue_kind; 0: NULL */
	uint32_t len;
	union {
		int64_t integer;
		double real;
		const void *bytes;
	};
};

struct rows_large {            /* memory of a value for which "bytes" has no room */
	struct rows_large *next;
	char bytes[];
};

struct rows {
	/* this number of columns, from c1 on, is cleared for each row */
	unsigned columns;
	size_t count;
	size_t used;           /* used part of "bytes" */
	bool failed;           /* memory was lacking for a value */
	bool is_rare;          /* a row has values that few events have */
	struct rows_large *large;
	struct rows_cell cell[ROWS_COUNT][ROWS_COLUMNS + 1];
	char bytes[ROWS_BYTES];
};

/* Makes the empty rows and their virtual table. Returns NULL if memory is lacking. */
struct rows *rows_new(sqlite3 *db, const char *table, unsigned columns);
/* Frees the rows, after the database was closed. */
void rows_free(struct rows *rows);

static inline struct rows_cell *rows_at(struct rows *rows, unsigned column)
{
	return &rows->cell[rows->count][column];
}

static inline void rows_integer(struct rows *rows, unsigned column, int64_t number)
{
	struct rows_cell *cell = rows_at(rows, column);

	cell->kind = SQLVALUE_INTEGER;
	cell->integer = number;
}

/*
 * rows_room() returns room for a text or blob of len bytes, or NULL if memory is lacking. The
 * caller writes the value into this room, and rows_done() makes it the value of the cell.
 * rows_bytes() copies a value.
 */
char *rows_room(struct rows *rows, size_t len);
void rows_done(struct rows *rows, unsigned column, enum sqlvalue_kind kind, const char *bytes,
	       size_t len);
void rows_bytes(struct rows *rows, unsigned column, enum sqlvalue_kind kind, const void *bytes,
		size_t len);

/* Sets any value. */
void rows_value(struct rows *rows, unsigned column, const struct sqlvalue *value);

/* Ends the row. Returns true if the rows are full; the caller must then insert them. */
bool rows_end(struct rows *rows);

/* Removes all rows, after they were inserted. */
void rows_clear(struct rows *rows);

#endif
