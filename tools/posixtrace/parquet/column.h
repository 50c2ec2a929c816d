/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * column.h - keeps the values of one column in the current row group, and writes them as a column
 * chunk.
 *
 * Values are kept as indices of a dictionary until the dictionary becomes too large, and then in
 * the encoding PLAIN. A NULL has no value. Lengths of runs show which rows have a value. So a row
 * needs almost no memory in the columns in which it has no value.
 */
#ifndef POSIXTRACE_PARQUET_COLUMN_H
#define POSIXTRACE_PARQUET_COLUMN_H

#include "parquet/codec.h"
#include "parquet/dictionary.h"

enum column_kind {
	COLUMN_INTEGER,  /* INT64, signed */
	COLUMN_UNSIGNED, /* INT64 with the logical type of an unsigned integer */
	COLUMN_WIDE,     /* DECIMAL(20,0): signed or unsigned integers of 64 bits */
	COLUMN_REAL,     /* DOUBLE */
	COLUMN_TEXT,     /* BYTE_ARRAY with the logical type STRING */
	COLUMN_BLOB      /* BYTE_ARRAY */
};

#define COLUMN_WIDE_BYTES 9
#define COLUMN_BOUND_BYTES 64 /* a chunk with a longer text has no bounds */

/* The least or the greatest value of a column chunk, in the encoding of statistics. */
struct column_bound {
	size_t len;
	unsigned char bytes[COLUMN_BOUND_BYTES];
};

struct column {
	char *name;
	enum column_kind kind;
	size_t rows;             /* number of rows in the row group, with and without a value */
	size_t values;           /* the number of rows with a value */
	uint32_t *run;           /* alternating numbers of rows without a value and with a value */
	size_t runs, run_room;
	bool has_no_dictionary;  /* the values are in the encoding PLAIN */
	/* some values of this or an earlier row group did not fit into a dictionary */
	bool is_varied;
	struct dictionary dictionary;
	uint32_t *index;         /* the index of each value in the dictionary */
	size_t indices, index_room;
	struct bytes plain;
	bool has_bounds;         /* "least" and "greatest" are bounds of all values so far */
	struct column_bound least, greatest;
	bool failed;             /* there was no memory for a value */
};

/* Makes a column without values. Returns false if memory is lacking. */
bool column_init(struct column *column, const char *name, enum column_kind kind);
void column_free(struct column *column);

/*
 * Adds a value to the row with this number in its row group. The rows between the last row with a
 * value and this one have no value. For a number the bytes are in the machine's order, except that
 * the COLUMN_WIDE_BYTES of a COLUMN_WIDE begin with the most significant byte. A text or blob has
 * any bytes.
 */
void column_add(struct column *column, size_t row, const void *bytes, size_t len);

/*
 * Returns approximately the number of bytes of the values. The caller uses this to limit the size
 * of a row group.
 */
size_t column_bytes(const struct column *column);

/* Appends the description of the column for the footer: a structure SchemaElement. */
void column_schema(const struct column *column, struct bytes *to);

/*
 * Appends the pages of the column to *pages and a structure ColumnChunk to *chunk, and begins an
 * empty row group. "at" is the offset of the pages in the file. The rows of the group that have no
 * value yet get NULL. The size of the pages without compression is added to *uncompressed. Returns
 * false if memory is lacking.
 */
bool column_chunk(struct column *column, size_t rows, enum codec codec, uint64_t at,
		  struct bytes *pages, struct bytes *chunk, uint64_t *uncompressed);

#endif
