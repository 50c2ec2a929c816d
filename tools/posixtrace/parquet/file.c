/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "parquet/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/whole.h"
#include "parquet/thrift.h"

static const char magic[] = "PAR1";

struct parquet_group {
	size_t rows;
	/* number of columns of which the group has chunks; later columns were added afterwards */
	size_t columns;
	/* the offset in parquet.chunks at which the structures of the group end */
	size_t chunks_end;
	uint64_t at;
	uint64_t bytes, uncompressed;
};

/* Keeps this error if it is the first one. */
static void note_error(struct parquet *file, int err)
{
	if (!file->err)
		file->err = err;
}

static void write_bytes(struct parquet *file, const void *bytes, size_t len)
{
	if (!file->err)
		note_error(file, whole_write(file->fd, bytes, len));
	file->at += len;
}

void parquet_begin(struct parquet *file, int fd, enum codec codec)
{
	*file = (struct parquet){ .fd = fd, .codec = codec };
	write_bytes(file, magic, 4);
}

unsigned parquet_column(struct parquet *file, const char *name, enum column_kind kind)
{
	if (!vec_grow(&file->column, file->columns, 1) ||
	    !column_init(&file->column[file->columns], name, kind)) {
		note_error(file, ENOMEM);
		return 0;
	}
	return (unsigned)file->columns++;
}

static void set_value(struct parquet *file, unsigned column, const void *bytes, size_t len)
{
	if (!file->err)
		column_add(&file->column[column], file->rows, bytes, len);
}

void parquet_integer(struct parquet *file, unsigned column, int64_t value)
{
	set_value(file, column, &value, sizeof(value));
}

void parquet_real(struct parquet *file, unsigned column, double value)
{
	set_value(file, column, &value, sizeof(value));
}

void parquet_bytes(struct parquet *file, unsigned column, const void *bytes, size_t len)
{
	set_value(file, column, bytes, len);
	file->bytes += len;
}

/* The number is written with its most significant byte first. This byte contains only the sign. */
void parquet_wide(struct parquet *file, unsigned column, uint64_t value, bool is_signed)
{
	unsigned char bytes[COLUMN_WIDE_BYTES];

	bytes[0] = is_signed && value >> 63 ? 0xff : 0;
	for (unsigned i = 1; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(value >> 8 * (8 - i));
	set_value(file, column, bytes, sizeof(bytes));
}

/*
 * Writes the chunk of one column and appends its description to *chunks. During this time, the
 * column is in memory twice: as values and as pages.
 */
static void write_chunk(struct parquet *file, struct column *column, struct parquet_group *group,
			struct bytes *chunks)
{
	struct bytes pages = { .at = NULL };

	if (!file->err && !column_chunk(column, group->rows, file->codec, file->at, &pages, chunks,
					&group->uncompressed))
		note_error(file, ENOMEM);
	group->bytes += pages.used;
	write_bytes(file, pages.at, pages.used);
	bytes_free(&pages);
}

static void write_group(struct parquet *file)
{
	struct parquet_group *group;

	if (!file->rows || file->err)
		return;
	if (!vec_grow(&file->group, file->groups, 1)) {
		note_error(file, ENOMEM);
		return;
	}
	group = &file->group[file->groups++];
	*group = (struct parquet_group){ .rows = file->rows, .columns = file->columns,
					 .at = file->at };
	for (size_t i = 0; i < file->columns; i++)
		write_chunk(file, &file->column[i], group, &file->chunks);
	group->chunks_end = file->chunks.used;
	file->all_rows += file->rows;
	file->rows = file->bytes = 0;
}

/*
 * The sizes of all columns are added only now and then, because the file may have thousands of
 * columns.
 */
static bool is_full(const struct parquet *file)
{
	size_t bytes = 0;

	if (file->rows == PARQUET_ROWS || file->bytes >= 2 * (size_t)PARQUET_BYTES)
		return true;
	if (file->rows % 4096)
		return false;
	for (size_t i = 0; i < file->columns; i++)
		bytes += column_bytes(&file->column[i]);
	return bytes >= PARQUET_BYTES;
}

int parquet_end_row(struct parquet *file)
{
	file->rows++;
	if (is_full(file))
		write_group(file);
	return file->err;
}

/* ------------------------------------------------------------------ the footer */

static void put_schema(const struct parquet *file, struct thrift *thrift)
{
	thrift_list(thrift, 2, THRIFT_STRUCT, file->columns + 1);
	thrift_list_struct(thrift);
	thrift_text(thrift, 4, "schema");
	thrift_i32(thrift, 5, (int32_t)file->columns);
	thrift_end(thrift);
	for (size_t i = 0; i < file->columns; i++)
		column_schema(&file->column[i], thrift->to);
}

/*
 * Writes the description of a row group. A row group must have a chunk of each column. So the
 * function writes chunks now for the columns that were added after the group.
 */
static void put_group(struct parquet *file, struct thrift *thrift, size_t number)
{
	struct parquet_group *group = &file->group[number];
	size_t begin = number ? group[-1].chunks_end : 0;

	thrift_list_struct(thrift);
	thrift_list(thrift, 1, THRIFT_STRUCT, file->columns);
	bytes_add(thrift->to, file->chunks.at + begin, group->chunks_end - begin);
	for (size_t i = group->columns; i < file->columns; i++)
		write_chunk(file, &file->column[i], group, thrift->to);
	thrift_i64(thrift, 2, (int64_t)group->uncompressed);
	thrift_i64(thrift, 3, (int64_t)group->rows);
	thrift_i64(thrift, 5, (int64_t)group->at);
	thrift_i64(thrift, 6, (int64_t)group->bytes);
	thrift_end(thrift);
}

static void put_footer(struct parquet *file, struct bytes *to)
{
	struct thrift thrift = thrift_begin(to);

	thrift_i32(&thrift, 1, 2); /* the version of the format */
	put_schema(file, &thrift);
	thrift_i64(&thrift, 3, (int64_t)file->all_rows);
	thrift_list(&thrift, 4, THRIFT_STRUCT, file->groups);
	for (size_t i = 0; i < file->groups; i++)
		put_group(file, &thrift, i);
	thrift_text(&thrift, 6, "posixtrace");
	/* If a column has no order, readers ignore its least and greatest values. */
	thrift_list(&thrift, 7, THRIFT_STRUCT, file->columns);
	for (size_t i = 0; i < file->columns; i++) {
		thrift_list_struct(&thrift);
		thrift_struct(&thrift, 1);
		thrift_end(&thrift);
		thrift_end(&thrift);
	}
	thrift_end(&thrift);
}

int parquet_finish(struct parquet *file)
{
	struct bytes footer = { .at = NULL };
	uint32_t len;

	write_group(file);
	if (!file->err)
		put_footer(file, &footer);
	len = (uint32_t)footer.used;
	bytes_add(&footer, &len, sizeof(len));
	bytes_add(&footer, magic, 4);
	if (footer.failed || file->chunks.failed || footer.used > INT32_MAX)
		note_error(file, ENOMEM);
	write_bytes(file, footer.at, footer.used);
	bytes_free(&footer);
	return file->err;
}

void parquet_free(struct parquet *file)
{
	for (size_t i = 0; i < file->columns; i++)
		column_free(&file->column[i]);
	free(file->column);
	free(file->group);
	bytes_free(&file->chunks);
	*file = (struct parquet){ .fd = -1 };
}
