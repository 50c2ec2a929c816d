/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* table.c - a file with the columns of a table of query. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "convert/parquet/parquet.h"
#include "convert/plain.h"

int parquet_table_create(struct parquet_table *table, int folder, const char *name,
			 enum codec codec)
{
	char path[64];

	snprintf(path, sizeof(path), "%s.parquet", name);
	table->fd = openat(folder, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (table->fd < 0)
		return errno;
	table->is_open = true;
	parquet_begin(&table->file, table->fd, codec);
	return table->file.err;
}

int parquet_table_open(struct parquet_table *table, int folder, const struct query_schema *schema,
		       enum codec codec)
{
	int err = parquet_table_create(table, folder, schema->name, codec);

	for (size_t i = 0; !err && i < query_schema_columns(schema); i++)
		parquet_column(&table->file, schema->column[i].name,
			       schema->column[i].is_text ? COLUMN_TEXT : COLUMN_INTEGER);
	return err ? err : table->file.err;
}

int parquet_table_end(struct parquet_table *table)
{
	int err = parquet_finish(&table->file);

	if (close(table->fd) && !err)
		err = errno;
	table->fd = -1;
	return err;
}

void parquet_table_close(struct parquet_table *table)
{
	if (!table->is_open)
		return;
	parquet_free(&table->file);
	if (table->fd >= 0)
		close(table->fd);
	table->is_open = false;
}

/*
 * Bytes that are not UTF-8 must be escaped, because programs that read Parquet refuse a whole file
 * if one text in it is not UTF-8.
 */
void parquet_text(struct parquet *file, unsigned column, const void *text, size_t len)
{
	char *plain;

	if (text_is_utf8(text, len)) {
		parquet_bytes(file, column, text, len);
		return;
	}
	plain = plain_copy(text, len);
	if (plain)
		parquet_bytes(file, column, plain, strlen(plain));
	else if (!file->err)
		file->err = ENOMEM;
	free(plain);
}

void parquet_string(struct parquet *file, unsigned column, const char *text)
{
	if (text)
		parquet_text(file, column, text, strlen(text));
}
