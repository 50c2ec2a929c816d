/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * block.h - rows in the format Native of ClickHouse: a block of columns with the number of rows.
 *
 * A server that receives only a part of a block reports an error and stores no row of it. This does
 * not hold for RowBinary, where the first rows of a cut request are a valid request.
 *
 * A caller adds a value to each column of a row, then calls block_end_row(). An error of memory is
 * kept in failed. One thread uses a block at a time.
 */
#ifndef POSIXTRACE_FLEET_BLOCK_H
#define POSIXTRACE_FLEET_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/* Appends text in quotes, with the escapes of SQL in ClickHouse. */
void bytes_quoted(struct bytes *bytes, const char *text, size_t len);

struct block_column {
	const char *name, *type;
	struct bytes values;
	struct bytes nulls;          /* of Nullable(...): a byte for each row */
	struct bytes ends;           /* of Array(...): the number of elements up to each row */
	uint64_t elements;           /* of Array(...), so far */
};

struct block {
	struct block_column *column;
	unsigned columns;
	uint64_t rows;
	bool failed;
};

/* Makes a block without columns; block_column() adds one. The texts must live as long. */
void block_init(struct block *block);
void block_column(struct block *block, const char *name, const char *type);
void block_free(struct block *block);
/* Removes the rows and keeps the columns and their memory. */
void block_clear(struct block *block);

/* Append a value. The type of the column must have this size or be String. */
void block_u8(struct block *block, unsigned column, uint8_t value);
void block_u16(struct block *block, unsigned column, uint16_t value);
void block_u32(struct block *block, unsigned column, uint32_t value);
void block_u64(struct block *block, unsigned column, uint64_t value);
void block_text(struct block *block, unsigned column, const void *text, size_t len);
/* Say whether the value of a Nullable(...) is NULL; the value itself is appended too. */
void block_null(struct block *block, unsigned column, bool is_null);
/* Says that the values appended since the previous row are the elements of an array. */
void block_array(struct block *block, unsigned column, unsigned elements);
void block_end_row(struct block *block);

/* Returns the number of bytes of all values so far. */
size_t block_bytes(const struct block *block);

/* Appends the block as the server reads it, and the names of its columns with commas. */
void block_put(const struct block *block, struct bytes *to);
void block_names(const struct block *block, struct bytes *to);

#endif
