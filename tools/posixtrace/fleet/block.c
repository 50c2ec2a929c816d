/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* block.c - makes blocks in the format Native (clickhouse.com/docs/en/interfaces/formats). */
#include "fleet/block.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

void bytes_quoted(struct bytes *bytes, const char *text, size_t len)
{
	bytes_str(bytes, "'");
	for (size_t i = 0; i < len; i++) {
		/*
		 * A backslash is escaped, too, because in a text of ClickHouse's SQL a backslash
		 * begins an escape.
		 */
		if (text[i] == '\'' || text[i] == '\\')
			bytes_str(bytes, "\\");
		if (text[i])
			bytes_add(bytes, &text[i], 1);
		else
			bytes_str(bytes, "\\0");
	}
	bytes_str(bytes, "'");
}

static void add_string(struct bytes *bytes, const void *text, size_t len)
{
	bytes_varint(bytes, len);
	bytes_add(bytes, text, len);
}

void block_init(struct block *block)
{
	memset(block, 0, sizeof(*block));
}

void block_column(struct block *block, const char *name, const char *type)
{
	if (!vec_grow(&block->column, block->columns, 1)) {
		block->failed = true;
		return;
	}
	block->column[block->columns++] = (struct block_column){ .name = name, .type = type };
}

void block_free(struct block *block)
{
	for (unsigned i = 0; i < block->columns; i++) {
		bytes_free(&block->column[i].values);
		bytes_free(&block->column[i].nulls);
		bytes_free(&block->column[i].ends);
	}
	free(block->column);
	memset(block, 0, sizeof(*block));
}

void block_clear(struct block *block)
{
	for (unsigned i = 0; i < block->columns; i++) {
		block->column[i].values.used = 0;
		block->column[i].nulls.used = 0;
		block->column[i].ends.used = 0;
		block->column[i].elements = 0;
	}
	block->rows = 0;
}

void block_long_text(struct block *block, unsigned column, const void *text, size_t len)
{
	if (column < block->columns)
		add_string(&block->column[column].values, text, len);
}

void block_null(struct block *block, unsigned column, bool is_null)
{
	uint8_t value = is_null;

	if (column < block->columns)
		bytes_add(&block->column[column].nulls, &value, 1);
}

size_t block_bytes(const struct block *block)
{
	size_t sum = 0;

	for (unsigned i = 0; i < block->columns; i++)
		sum += block->column[i].values.used;
	return sum;
}

static void add_part(struct http_body *body, const void *at, size_t len)
{
	body->part[body->parts++] = (struct http_part){ at, len };
	body->len += len;
}

/*
 * In a column of arrays the ends precede the elements. In a nullable column the bytes for NULLs
 * precede the values. The address of *heads is known when it has all names and types.
 */
bool block_body(const struct block *block, struct bytes *heads, struct http_body *body)
{
	size_t *end = calloc(block->columns + 1, sizeof(*end));
	bool failed = !end || block->failed;

	*body = (struct http_body){ .part = calloc(4 * block->columns + 1, sizeof(*body->part)) };
	bytes_varint(heads, block->columns);
	bytes_varint(heads, block->rows);
	for (unsigned i = 0; end && i < block->columns; i++) {
		add_string(heads, block->column[i].name, strlen(block->column[i].name));
		add_string(heads, block->column[i].type, strlen(block->column[i].type));
		end[i + 1] = heads->used;
	}
	failed |= !body->part || heads->failed;
	for (unsigned i = 0; !failed && i < block->columns; i++) {
		const struct block_column *column = &block->column[i];

		add_part(body, heads->at + end[i], end[i + 1] - end[i]);
		add_part(body, column->ends.at, column->ends.used);
		add_part(body, column->nulls.at, column->nulls.used);
		add_part(body, column->values.at, column->values.used);
		failed = column->values.failed || column->nulls.failed || column->ends.failed;
	}
	free(end);
	return !failed;
}

void block_names(const struct block *block, struct bytes *to)
{
	for (unsigned i = 0; i < block->columns; i++)
		bytes_printf(to, "%s`%s`", i ? ", " : "", block->column[i].name);
}
