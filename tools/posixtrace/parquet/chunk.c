/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * chunk.c - writes a column chunk: a page with the dictionary, if there is one, and a page with all
 * rows.
 *
 * The numbers of fields and the values of enumerations come from parquet.thrift
 * (github.com/apache/parquet-format).
 */
#include "parquet/column_part.h"
#include "parquet/rle.h"
#include "parquet/thrift.h"

enum { TYPE_INT64 = 2, TYPE_DOUBLE = 5, TYPE_BYTE_ARRAY = 6, TYPE_FIXED = 7 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_RLE_DICTIONARY = 8 };
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };
enum { CONVERTED_UTF8 = 0, CONVERTED_DECIMAL = 5, CONVERTED_UINT_64 = 14 };

static int type_of(enum column_kind kind)
{
	switch (kind) {
	case COLUMN_INTEGER:
	case COLUMN_UNSIGNED:
		return TYPE_INT64;
	case COLUMN_REAL:
		return TYPE_DOUBLE;
	case COLUMN_WIDE:
		return TYPE_FIXED;
	case COLUMN_TEXT:
	case COLUMN_BLOB:
		break;
	}
	return TYPE_BYTE_ARRAY;
}

/*
 * Writes the logical type of the column, if it has one. A logical type is a union: a structure with
 * one field. The number of this field is the number of the type. The value of the field is a
 * structure that may be empty.
 */
static void put_logical(struct thrift *thrift, enum column_kind kind)
{
	if (kind != COLUMN_TEXT && kind != COLUMN_UNSIGNED && kind != COLUMN_WIDE)
		return;
	thrift_struct(thrift, 10);
	if (kind == COLUMN_TEXT) {
		thrift_struct(thrift, 1);
	} else if (kind == COLUMN_WIDE) {
		thrift_struct(thrift, 5);
		thrift_i32(thrift, 1, 0);   /* scale */
		thrift_i32(thrift, 2, 20);  /* precision */
	} else {
		thrift_struct(thrift, 10);
		thrift_i8(thrift, 1, 64);      /* bitWidth */
		thrift_bool(thrift, 2, false); /* isSigned */
	}
	thrift_end(thrift);
	thrift_end(thrift);
}

/* Writes the type twice: as a converted type for older readers, and as a logical type. */
void column_schema(const struct column *column, struct bytes *to)
{
	struct thrift thrift = thrift_begin(to);
	enum column_kind kind = column->kind;

	thrift_i32(&thrift, 1, type_of(kind));
	if (kind == COLUMN_WIDE)
		thrift_i32(&thrift, 2, COLUMN_WIDE_BYTES);
	thrift_i32(&thrift, 3, 1); /* optional */
	thrift_text(&thrift, 4, column->name);
	if (kind == COLUMN_TEXT)
		thrift_i32(&thrift, 6, CONVERTED_UTF8);
	if (kind == COLUMN_UNSIGNED)
		thrift_i32(&thrift, 6, CONVERTED_UINT_64);
	if (kind == COLUMN_WIDE) {
		thrift_i32(&thrift, 6, CONVERTED_DECIMAL);
		thrift_i32(&thrift, 7, 0);
		thrift_i32(&thrift, 8, 20);
	}
	put_logical(&thrift, kind);
	thrift_end(&thrift);
}

/*
 * Appends a page: its header, then its compressed bytes. "values" is the number of values. In a
 * data page this number includes the NULLs.
 */
static bool put_page(struct bytes *pages, enum codec codec, int type, const struct bytes *page,
		     size_t values, int encoding, uint64_t *uncompressed)
{
	struct bytes packed = { .at = NULL }, header = { .at = NULL };
	struct thrift thrift = thrift_begin(&header);
	bool good = !page->failed && page->used <= INT32_MAX && values <= INT32_MAX &&
		    codec_put(codec, &packed, page->at, page->used) && packed.used <= INT32_MAX;

	if (good) {
		thrift_i32(&thrift, 1, type);
		thrift_i32(&thrift, 2, (int32_t)page->used);
		thrift_i32(&thrift, 3, (int32_t)packed.used);
		thrift_struct(&thrift, type == PAGE_DATA ? 5 : 7);
		thrift_i32(&thrift, 1, (int32_t)values);
		thrift_i32(&thrift, 2, encoding);
		if (type == PAGE_DATA) {
			/* encoding of the definition levels */
			thrift_i32(&thrift, 3, ENCODING_RLE);
			/* encoding of the repetition levels, which do not occur */
			thrift_i32(&thrift, 4, ENCODING_RLE);
		}
		thrift_end(&thrift);
		thrift_end(&thrift);
		bytes_add(pages, header.at, header.used);
		bytes_add(pages, packed.at, packed.used);
		*uncompressed += header.used + page->used;
		good = !header.failed && !pages->failed;
	}
	bytes_free(&header);
	bytes_free(&packed);
	return good;
}

/*
 * Appends the length of the levels and then the levels, which say for each row whether it has a
 * value.
 */
static void put_levels(const struct column *column, struct bytes *page)
{
	struct bytes levels = { .at = NULL };
	uint32_t len;
	struct rle rle;

	rle_begin(&rle, &levels, 1);
	for (size_t i = 0; i < column->runs; i++)
		rle_put(&rle, i % 2, column->run[i]);
	rle_end(&rle);
	len = (uint32_t)levels.used;
	bytes_add(page, &len, sizeof(len));
	bytes_add(page, levels.at, levels.used);
	page->failed = page->failed || levels.failed;
	bytes_free(&levels);
}

/*
 * Appends the indices of the values in the dictionary. An index has at least one bit, because some
 * readers do not expect a width of 0.
 */
static void put_indices(const struct column *column, struct bytes *page)
{
	unsigned width = rle_width(column->dictionary.count - 1);
	unsigned char byte;
	struct rle rle;

	byte = (unsigned char)(width ? width : 1);
	bytes_add(page, &byte, 1);
	rle_begin(&rle, page, byte);
	for (size_t i = 0; i < column->indices; i++)
		rle_put(&rle, column->index[i], 1);
	rle_end(&rle);
}

static void put_statistics(struct thrift *thrift, const struct column *column)
{
	thrift_struct(thrift, 12);
	thrift_i64(thrift, 3, (int64_t)(column->rows - column->values)); /* null_count */
	if (column->values && column->has_bounds) {
		thrift_binary(thrift, 5, column->greatest.bytes, column->greatest.len);
		thrift_binary(thrift, 6, column->least.bytes, column->least.len);
	}
	thrift_end(thrift);
}

/* Appends the structure ColumnChunk with its ColumnMetaData. */
static void put_chunk(const struct column *column, enum codec codec, bool has_dictionary,
		      uint64_t at, size_t dictionary_bytes, size_t bytes, uint64_t uncompressed,
		      struct bytes *to)
{
	struct thrift thrift = thrift_begin(to);

	thrift_i64(&thrift, 2, 0); /* file_offset, which the format no longer uses */
	thrift_struct(&thrift, 3);
	thrift_i32(&thrift, 1, type_of(column->kind));
	thrift_list(&thrift, 2, THRIFT_I32, has_dictionary ? 3 : 2);
	thrift_list_i32(&thrift, ENCODING_PLAIN);
	thrift_list_i32(&thrift, ENCODING_RLE);
	if (has_dictionary)
		thrift_list_i32(&thrift, ENCODING_RLE_DICTIONARY);
	thrift_list(&thrift, 3, THRIFT_BINARY, 1);
	thrift_list_text(&thrift, column->name);
	thrift_i32(&thrift, 4, (int32_t)codec);
	thrift_i64(&thrift, 5, (int64_t)column->rows);
	thrift_i64(&thrift, 6, (int64_t)uncompressed);
	thrift_i64(&thrift, 7, (int64_t)bytes);
	thrift_i64(&thrift, 9, (int64_t)(at + dictionary_bytes)); /* data_page_offset */
	if (has_dictionary)
		thrift_i64(&thrift, 11, (int64_t)at);
	put_statistics(&thrift, column);
	thrift_end(&thrift);
	thrift_end(&thrift);
}

bool column_chunk(struct column *column, size_t rows, enum codec codec, uint64_t at,
		  struct bytes *pages, struct bytes *chunk, uint64_t *uncompressed)
{
	bool has_dictionary = column->indices > 0;
	struct bytes page = { .at = NULL };
	size_t begin = pages->used, dictionary_bytes;
	uint64_t sum = 0;
	bool good = column_skip_to(column, rows) && !column->failed;

	if (good && has_dictionary)
		good = put_page(pages, codec, PAGE_DICTIONARY, &column->dictionary.plain,
				column->dictionary.count, ENCODING_PLAIN, &sum);
	dictionary_bytes = pages->used - begin;
	put_levels(column, &page);
	if (has_dictionary)
		put_indices(column, &page);
	else
		bytes_add(&page, column->plain.at, column->plain.used);
	page.failed = page.failed || column->plain.failed;
	good = good && put_page(pages, codec, PAGE_DATA, &page, column->rows,
				has_dictionary ? ENCODING_RLE_DICTIONARY : ENCODING_PLAIN, &sum);
	bytes_free(&page);
	if (good)
		put_chunk(column, codec, has_dictionary, at, dictionary_bytes,
			  pages->used - begin, sum, chunk);
	*uncompressed += sum;
	column_clear(column);
	return good && !chunk->failed;
}
