/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * block.h - makes blocks in ClickHouse's format Native. A block consists of columns with an equal
 * number of rows.
 *
 * If a server receives only a part of a block, it reports an error and stores none of the block's
 * rows. The format RowBinary does not have this property: if a request in this format is cut behind
 * a row, the rest is a valid request.
 *
 * For each row, the caller adds a value to each column and then calls block_end_row(). If memory
 * was lacking in one of these calls, block_body() returns false. One thread uses a block at a time.
 */
#ifndef POSIXTRACE_FLEET_BLOCK_H
#define POSIXTRACE_FLEET_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "fleet/http.h"

/* Appends a text in quotes, with escapes as ClickHouse reads them in SQL. */
void bytes_quoted(struct bytes *bytes, const char *text, size_t len);

struct block_column {
	const char *name, *type;
	struct bytes values;
	struct bytes nulls;          /* if the type is Nullable(...): one byte for each row */
	/*
	 * if the type is Array(...): for each row, the number of elements up to the end of the row
	 */
	struct bytes ends;
	uint64_t elements;           /* if the type is Array(...): number of elements so far */
};

struct block {
	struct block_column *column;
	unsigned columns;
	uint64_t rows;
	bool failed;
};

/*
 * block_init() makes a block without columns. block_column() adds a column; name and type must
 * remain valid as long as the block.
 */
void block_init(struct block *block);
void block_column(struct block *block, const char *name, const char *type);
void block_free(struct block *block);
/* Removes the rows and keeps the columns and their memory. */
void block_clear(struct block *block);

/*
 * These functions append a value to a column. The column's type must have the size of the value.
 * For block_text() it must be String. They copy the bytes of a number as they are, because the
 * format is little endian, like x86-64 and arm64.
 */
static inline void block_u8(struct block *block, unsigned column, uint8_t value)
{
	if (column < block->columns)
		bytes_add(&block->column[column].values, &value, sizeof(value));
}

static inline void block_u16(struct block *block, unsigned column, uint16_t value)
{
	if (column < block->columns)
		bytes_add(&block->column[column].values, &value, sizeof(value));
}

static inline void block_u32(struct block *block, unsigned column, uint32_t value)
{
	if (column < block->columns)
		bytes_add(&block->column[column].values, &value, sizeof(value));
}

static inline void block_u64(struct block *block, unsigned column, uint64_t value)
{
	if (column < block->columns)
		bytes_add(&block->column[column].values, &value, sizeof(value));
}

/* Appends a text of any length. Only block_text() calls it. */
void block_long_text(struct block *block, unsigned column, const void *text, size_t len);

static inline void block_text(struct block *block, unsigned column, const void *text, size_t len)
{
	const uint8_t digit = (uint8_t)len;

	/* The length is a varint. If it has one byte, this is the length itself. */
	if (column >= block->columns || len > 127) {
		block_long_text(block, column, text, len);
		return;
	}
	bytes_add(&block->column[column].values, &digit, 1);
	bytes_add(&block->column[column].values, text, len);
}

/*
 * Appends whether a value of a column Nullable(...) is NULL. The caller also appends the value
 * itself, even if it is NULL.
 */
void block_null(struct block *block, unsigned column, bool is_null);
/*
 * Ends an array of the column. The array consists of the values that were appended last. "elements"
 * is the number of these values.
 */
static inline void block_array(struct block *block, unsigned column, unsigned elements)
{
	struct block_column *to;

	if (column >= block->columns)
		return;
	to = &block->column[column];
	to->elements += elements;
	bytes_add(&to->ends, &to->elements, sizeof(to->elements));
}

static inline void block_end_row(struct block *block)
{
	block->rows++;
}

/* Returns the number of bytes of all values so far. */
size_t block_bytes(const struct block *block);

/*
 * Makes the body of a request with the block in the format Native. The body refers to the values of
 * the block and to *heads, which must be empty. The caller frees *heads and body->part. Returns
 * false if memory is or was lacking.
 */
bool block_body(const struct block *block, struct bytes *heads, struct http_body *body);

/* Appends the names of the columns with commas between them. */
void block_names(const struct block *block, struct bytes *to);

#endif
