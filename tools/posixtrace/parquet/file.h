/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * file.h - writes a table as a file of Apache Parquet (github.com/apache/parquet-format). The file
 * consists of row groups of bounded size, and a footer with the columns and the offsets of all
 * chunks.
 *
 * The caller adds columns, also between rows. Rows that were written before have NULL in such a
 * column. For each row the caller sets the values that the row has, and then calls
 * parquet_end_row().
 *
 * Memory    A row group, and about 80 bytes for each column of each row group that was written.
 * Errors    The first error is kept, and all functions then do nothing. One thread uses a file.
 */
#ifndef POSIXTRACE_PARQUET_FILE_H
#define POSIXTRACE_PARQUET_FILE_H

#include "parquet/column.h"

/* greatest number of rows of a group; DuckDB prefers this number */
#define PARQUET_ROWS  122880
#define PARQUET_BYTES (16u << 20)  /* approximate number of bytes of values in a group */

struct parquet_group; /* a row group that was written */

struct parquet {
	int fd;
	enum codec codec;
	struct column *column;
	size_t columns;
	size_t rows;             /* number of rows in the current row group */
	size_t bytes;            /* length of all texts and blobs of the current row group */
	uint64_t at;             /* the number of bytes written */
	uint64_t all_rows;
	struct parquet_group *group;
	size_t groups;
	struct bytes chunks;     /* the structures ColumnChunk of all groups */
	int err;
};

/*
 * Begins a file. The descriptor "fd" must be at the beginning of an empty file. The caller closes
 * the descriptor.
 */
void parquet_begin(struct parquet *file, int fd, enum codec codec);

/*
 * Adds a column and returns its number, or 0 after an error. The name must be UTF-8; the function
 * copies it.
 */
unsigned parquet_column(struct parquet *file, const char *name, enum column_kind kind);

/*
 * These functions set the value of a column in the current row, at most once for each row. Texts
 * must be UTF-8.
 */
void parquet_integer(struct parquet *file, unsigned column, int64_t value);
void parquet_real(struct parquet *file, unsigned column, double value);
void parquet_bytes(struct parquet *file, unsigned column, const void *bytes, size_t len);
/*
 * Sets the value of a column COLUMN_WIDE in the current row. The value has 64 bits, with or without
 * a sign.
 */
void parquet_wide(struct parquet *file, unsigned column, uint64_t value, bool is_signed);

/* Ends the row. Returns 0 or the error number of the file. */
int parquet_end_row(struct parquet *file);

/* Writes the last row group and the footer. Returns 0 or the error number of the file. */
int parquet_finish(struct parquet *file);
/* Frees the memory. */
void parquet_free(struct parquet *file);

#endif
