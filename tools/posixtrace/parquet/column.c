/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* column.c - collects the values of a column, their runs and their bounds. */
#include "parquet/column.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "parquet/column_part.h"

bool column_init(struct column *column, const char *name, enum column_kind kind)
{
	*column = (struct column){ .name = strdup(name), .kind = kind, .has_bounds = true };
	return column->name;
}

void column_free(struct column *column)
{
	dictionary_clear(&column->dictionary);
	bytes_free(&column->plain);
	free(column->name);
	free(column->run);
	free(column->index);
}

/* Returns whether the length of each value precedes the value. */
static bool column_has_length(const struct column *column)
{
	return column->kind == COLUMN_TEXT || column->kind == COLUMN_BLOB;
}

/*
 * Adds rows that all have a value, or that all have none. Runs of both kinds alternate, and the
 * first run has rows without a value.
 */
static bool add_run(struct column *column, bool has_value, size_t rows)
{
	if (!column->runs) {
		if (!vec_reserve(&column->run, &column->run_room, 0, 2))
			return false;
		column->run[column->runs++] = 0;
	}
	if ((column->runs % 2 == 0) != has_value) {
		if (!vec_reserve(&column->run, &column->run_room, column->runs, 1))
			return false;
		column->run[column->runs++] = 0;
	}
	column->run[column->runs - 1] += (uint32_t)rows;
	column->rows += rows;
	return true;
}

bool column_skip_to(struct column *column, size_t row)
{
	return row == column->rows || add_run(column, false, row - column->rows);
}

/* Replaces the indices by the values that they mean. From then on the column has no dictionary. */
static void leave_dictionary(struct column *column)
{
	for (size_t i = 0; i < column->indices; i++) {
		size_t len;
		const char *plain = dictionary_value(&column->dictionary, column->index[i], &len);

		bytes_add(&column->plain, plain, len);
	}
	column->indices = 0;
	dictionary_clear(&column->dictionary);
	column->has_no_dictionary = column->is_varied = true;
}

/*
 * Adds a value, which is given in the encoding PLAIN. If the dictionary does not accept the value,
 * it is kept in this encoding.
 */
static void add_plain(struct column *column, const void *plain, size_t len)
{
	uint32_t index;

	if (column->has_no_dictionary) {
		bytes_add(&column->plain, plain, len);
		return;
	}
	if (vec_reserve(&column->index, &column->index_room, column->indices, 1) &&
	    dictionary_index(&column->dictionary, plain, len, &index)) {
		column->index[column->indices++] = index;
		return;
	}
	leave_dictionary(column);
	bytes_add(&column->plain, plain, len);
}

/* Compares numbers with or without sign, depending on their kind, and texts by their bytes. */
static int compare_bound(enum column_kind kind, const void *a, size_t a_len,
			 const struct column_bound *b)
{
	size_t len = a_len < b->len ? a_len : b->len;
	int64_t x, y;
	int order;

	if (kind == COLUMN_TEXT) {
		order = memcmp(a, b->bytes, len);
		return order ? order : (a_len > b->len) - (a_len < b->len);
	}
	memcpy(&x, a, sizeof(x));
	memcpy(&y, b->bytes, sizeof(y));
	if (kind == COLUMN_UNSIGNED)
		return ((uint64_t)x > (uint64_t)y) - ((uint64_t)x < (uint64_t)y);
	return (x > y) - (x < y);
}

static void set_bound(struct column_bound *bound, const void *bytes, size_t len)
{
	bound->len = len;
	memcpy(bound->bytes, bytes, len);
}

/*
 * Makes the bounds include this value. Only integers and short texts have bounds. Readers ignore
 * the bounds of other kinds or misunderstand them, because NaN has no order and blobs have several
 * orders.
 */
static void widen_bounds(struct column *column, const void *bytes, size_t len)
{
	bool is_first = column->values == 1;

	if (!column->has_bounds || len > COLUMN_BOUND_BYTES ||
	    (column->kind != COLUMN_INTEGER && column->kind != COLUMN_UNSIGNED &&
	     column->kind != COLUMN_TEXT)) {
		column->has_bounds = false;
		return;
	}
	if (is_first || compare_bound(column->kind, bytes, len, &column->least) < 0)
		set_bound(&column->least, bytes, len);
	if (is_first || compare_bound(column->kind, bytes, len, &column->greatest) > 0)
		set_bound(&column->greatest, bytes, len);
}

/*
 * Adds the length of a text or blob and then its bytes. If the text is short, the length and the
 * bytes are first joined in an array on the stack.
 */
static void add_text(struct column *column, const void *text, size_t len)
{
	const uint32_t length = (uint32_t)len; /* the machine is little endian, like the file */
	char plain[1024];

	if (len <= sizeof(plain) - sizeof(length)) {
		memcpy(plain, &length, sizeof(length));
		if (len)
			memcpy(plain + sizeof(length), text, len);
		add_plain(column, plain, sizeof(length) + len);
		return;
	}
	/* Long texts seldom repeat, so a dictionary would not help. */
	if (!column->has_no_dictionary)
		leave_dictionary(column);
	bytes_add(&column->plain, &length, sizeof(length));
	bytes_add(&column->plain, text, len);
}

void column_add(struct column *column, size_t row, const void *bytes, size_t len)
{
	if (!column_skip_to(column, row) || !add_run(column, true, 1)) {
		column->failed = true;
		return;
	}
	column->values++;
	widen_bounds(column, bytes, len);
	if (column_has_length(column))
		add_text(column, bytes, len);
	else
		add_plain(column, bytes, len);
}

size_t column_bytes(const struct column *column)
{
	return column->plain.used + column->dictionary.plain.used +
	       (column->indices + column->runs) * sizeof(uint32_t);
}

/*
 * The next row group gets a new dictionary, unless the values of an earlier row group did not fit
 * into one.
 */
void column_clear(struct column *column)
{
	dictionary_clear(&column->dictionary);
	column->plain.used = 0;
	column->rows = column->values = column->runs = column->indices = 0;
	column->has_no_dictionary = column->is_varied;
	column->has_bounds = true;
}
