/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * query_print.c - prints the rows of a result: as a table, CSV or JSON.
 *
 * The columns of a table are as wide as the first rows need. If a later row has a wider value, the
 * value is printed in full.
 *
 * A statement such as "select * from events" has a column for each field of each event type, and
 * most columns are NULL in all rows. A table of many columns omits the columns that are NULL in the
 * first rows. If a later row has a value in an omitted column, a new header begins a table that has
 * this column, too. So no value is lost. The line behind the last table has the number of columns
 * that were never shown. These columns are NULL in every row.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/out.h"
#include "base/real.h"
#include "base/text.h"
#include "base/vec.h"
#include "query/query.h"

/*
 * The first rows determine the widths of the columns. At most LOOK_ROWS of these rows, and about
 * LOOK_BYTES bytes, are kept in memory. A column is at most WIDTH_MAX characters wide.
 */
#define LOOK_ROWS  1000
#define LOOK_BYTES (1024 * 1024)
#define WIDTH_MAX  200

/*
 * A table with at most this many columns omits none of them: it is readable, and the statement
 * usually names each column.
 */
#define COLUMNS_FEW 20

/*
 * Writes a number of SQLite's type REAL. If the number would look like an integer, the function
 * appends ".0".
 */
static void put_real(struct out *out, double value)
{
	char text[REAL_BYTES];

	real_text(text, value, false);
	out_str(out, text);
	if (!strpbrk(text, ".en"))
		out_str(out, ".0");
}

/*
 * Returns the bytes of a text or blob, and stores their number. If SQLite lacks memory for them,
 * there are no bytes. The next sqlite3_step() then fails, and the command prints the error.
 */
static const char *column_bytes(sqlite3_stmt *statement, int i, size_t *len)
{
	const void *bytes = sqlite3_column_type(statement, i) == SQLITE_BLOB ?
				    sqlite3_column_blob(statement, i) :
				    sqlite3_column_text(statement, i);

	*len = bytes ? (size_t)sqlite3_column_bytes(statement, i) : 0;
	return bytes ? bytes : "";
}

/*
 * Writes a value of the row. Texts are escaped, because they come from logs and may be shown on a
 * terminal. For NULL nothing is written.
 */
static void put_value(struct out *out, sqlite3_stmt *statement, int i)
{
	const char *bytes;
	size_t len;

	switch (sqlite3_column_type(statement, i)) {
	case SQLITE_INTEGER:
		out_signed(out, sqlite3_column_int64(statement, i));
		break;
	case SQLITE_FLOAT:
		put_real(out, sqlite3_column_double(statement, i));
		break;
	case SQLITE_TEXT:
		bytes = column_bytes(statement, i, &len);
		text_safe(out, bytes, len);
		break;
	case SQLITE_BLOB:
		bytes = column_bytes(statement, i, &len);
		out_hex(out, bytes, len);
		break;
	}
}

/* ------------------------------------------------------------------ a table */

/*
 * A value of the first rows: its position in look.bytes, and whether the value is a number. Numbers
 * are aligned to the right.
 */
struct cell {
	size_t at, len;
	bool number;
};

struct look { /* the first rows */
	char *const *name;   /* the names of the columns */
	struct cell *cell;
	size_t cells;
	char *bytes;
	size_t used, room;
	size_t *width;
	bool *number;        /* for each column: whether all values so far are numbers or NULL */
	bool *shown;         /* for each column: whether the table has it */
	int columns, last;   /* the number of columns; the last shown column */
};

/*
 * Writes the text of a value into "scratch". "scratch" has no file, so all bytes must fit into its
 * buffer. An escape has at most a few bytes for each byte of the value, so a value that is shorter
 * than an eighth of the buffer fits.
 */
static void cell_text(struct out *scratch, sqlite3_stmt *statement, int i)
{
	scratch->used = 0;
	if (sqlite3_column_type(statement, i) == SQLITE_NULL)
		out_char(scratch, '-');
	else if (sqlite3_column_bytes(statement, i) < OUT_BYTES / 8)
		put_value(scratch, statement, i);
	else
		out_str(scratch, "(too long for a table)");
}

/* Returns the number of characters in a text. Continuation bytes of UTF-8 are not counted. */
static size_t width_of(const char *text, size_t len)
{
	size_t width = 0;

	for (size_t i = 0; i < len; i++)
		width += ((unsigned char)text[i] & 0xc0) != 0x80;
	return width;
}

static bool is_number(sqlite3_stmt *statement, int i)
{
	int type = sqlite3_column_type(statement, i);

	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

/*
 * Adds a cell. The texts of all cells are in one array. The array may move when it grows, so a cell
 * has a position in the array and no pointer. Returns false if memory is lacking.
 */
static bool query_print_keep(struct look *look, const char *text, size_t len, bool number)
{
	if (!vec_reserve(&look->bytes, &look->room, look->used, len) ||
	    !vec_grow(&look->cell, look->cells, 1))
		return false;
	if (len) /* the array exists only if a text has been added */
		memcpy(look->bytes + look->used, text, len);
	look->cell[look->cells++] = (struct cell){ look->used, len, number };
	look->used += len;
	return true;
}

/* Adapts the width of a column to a value. */
static void widen_column(struct look *look, int i, size_t width)
{
	if (width > look->width[i])
		look->width[i] = width < WIDTH_MAX ? width : WIDTH_MAX;
}

/*
 * Adds the cells of a row and adapts the widths of the columns. number[i] remains true if all
 * values of column i are numbers or NULL. The header of such a column is aligned to the right.
 */
static bool look_at_row(struct look *look, struct out *scratch, sqlite3_stmt *statement)
{
	for (int i = 0; i < look->columns; i++) {
		cell_text(scratch, statement, i);
		widen_column(look, i, width_of(scratch->bytes, scratch->used));
		if (sqlite3_column_type(statement, i) != SQLITE_NULL) {
			look->number[i] &= is_number(statement, i);
			look->shown[i] = true;
		}
		if (!query_print_keep(look, scratch->bytes, scratch->used, is_number(statement, i)))
			return false;
	}
	return true;
}

/*
 * Prints a cell of a shown column, padded to the width of the column. Behind the last shown column
 * there are no blanks. A value that is wider than its column is printed in full.
 */
static void put_cell(const struct look *look, int i, const char *text, size_t len, bool right)
{
	size_t width = width_of(text, len);
	size_t pad = width < look->width[i] ? look->width[i] - width : 0;

	if (!look->shown[i])
		return;
	for (size_t n = 0; right && n < pad; n++)
		out_char(&out_stdout, ' ');
	out_bytes(&out_stdout, text, len);
	if (i == look->last) {
		out_char(&out_stdout, '\n');
		return;
	}
	for (size_t n = right ? pad : 0; n < pad + 2; n++)
		out_char(&out_stdout, ' ');
}

/* Prints the names of the shown columns. */
static void put_header(const struct look *look, struct out *scratch)
{
	for (int i = 0; i < look->columns; i++) {
		const char *name = look->name[i];

		scratch->used = 0;
		text_safe(scratch, name, strnlen(name, 1000));
		put_cell(look, i, scratch->bytes, scratch->used, look->number[i]);
	}
}

/* Prints the rows that were kept. */
static void put_look(const struct look *look)
{
	for (size_t n = 0; n < look->cells; n++) {
		const struct cell *cell = &look->cell[n];

		put_cell(look, (int)(n % (size_t)look->columns), look->bytes + cell->at, cell->len,
			 cell->number);
	}
}

/*
 * Chooses the shown columns after the first rows. A table that has few columns or no rows, or whose
 * values are all NULL, has all columns.
 */
static void choose_columns(struct look *look)
{
	bool omits = false;

	for (int i = 0; i < look->columns && look->columns > COLUMNS_FEW; i++)
		omits |= look->shown[i];
	for (int i = 0; i < look->columns; i++) {
		look->shown[i] |= !omits;
		if (look->shown[i])
			look->last = i;
	}
}

/*
 * Prints a row behind the first rows. If the row has a value in an omitted column, a header with
 * this column precedes the row.
 */
static void put_later_row(struct look *look, struct out *scratch, sqlite3_stmt *statement)
{
	bool has_more = false;

	for (int i = 0; i < look->columns; i++) {
		if (look->shown[i] || sqlite3_column_type(statement, i) == SQLITE_NULL)
			continue;
		cell_text(scratch, statement, i);
		widen_column(look, i, width_of(scratch->bytes, scratch->used));
		look->shown[i] = has_more = true;
		look->number[i] = is_number(statement, i);
		if (i > look->last)
			look->last = i;
	}
	if (has_more) {
		out_char(&out_stdout, '\n');
		put_header(look, scratch);
	}
	for (int i = 0; i < look->columns; i++) {
		cell_text(scratch, statement, i);
		put_cell(look, i, scratch->bytes, scratch->used, is_number(statement, i));
	}
}

/* Prints the number of columns that the table omitted in all rows. */
static void put_omitted(const struct look *look)
{
	int omitted = 0;

	for (int i = 0; i < look->columns; i++)
		omitted += !look->shown[i];
	if (omitted)
		out_printf(&out_stdout, "%d column%s omitted: NULL in every row; --csv and --json "
			   "print all columns\n", omitted, omitted == 1 ? "" : "s");
}

/*
 * Collects the first rows and prints them. Each later row is printed immediately, so that the
 * memory does not depend on the number of rows. If an error occurs, the rows before it are printed
 * nevertheless.
 */
static int print_table(sqlite3_stmt *statement, char *const *name)
{
	static struct out scratch = { .fd = -1 };
	struct look look = { .name = name, .columns = sqlite3_column_count(statement) };
	size_t columns = (size_t)look.columns;
	int answer = SQLITE_NOMEM;

	look.width = calloc(columns, sizeof(*look.width));
	look.number = malloc(columns);
	look.shown = calloc(columns, sizeof(*look.shown));
	if (!look.width || !look.number || !look.shown)
		goto out;
	for (size_t i = 0; i < columns; i++) {
		look.number[i] = true;
		look.width[i] = width_of(name[i], strnlen(name[i], WIDTH_MAX));
	}
	while ((answer = sqlite3_step(statement)) == SQLITE_ROW &&
	       look.cells < LOOK_ROWS * columns && look.used < LOOK_BYTES) {
		if (!look_at_row(&look, &scratch, statement)) {
			answer = SQLITE_NOMEM;
			goto out;
		}
	}
	choose_columns(&look);
	put_header(&look, &scratch);
	put_look(&look);
	for (; answer == SQLITE_ROW && !out_stdout.err; answer = sqlite3_step(statement))
		put_later_row(&look, &scratch, statement);
	/* After an error it is unknown whether the columns are NULL in every row. */
	if (answer == SQLITE_DONE)
		put_omitted(&look);
out:
	free(look.width);
	free(look.number);
	free(look.shown);
	free(look.cell);
	free(look.bytes);
	return answer;
}

/* ------------------------------------------------------------------ CSV */

/*
 * Returns whether a text must be quoted. A text with a character that a spreadsheet may mistake for
 * a separator is quoted, too. The empty text is quoted, so that it differs from NULL.
 */
static bool needs_quotes(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (strchr(",\" ;\t'\r\n", text[i]))
			return true;
	return !len;
}

/*
 * Writes a text as a cell of CSV (RFC 4180). If needs_quotes() returns true, the text is quoted,
 * and each quote in it is doubled. If a spreadsheet would treat the text as a formula, an
 * apostrophe is written before the text. If "exactly" is true, the bytes of the text are written
 * unchanged, otherwise unsafe characters are escaped.
 */
static void csv_text(const char *text, size_t len, bool exactly)
{
	bool quotes = needs_quotes(text, len);

	if (quotes)
		out_char(&out_stdout, '"');
	if (text_is_formula(text, len))
		out_char(&out_stdout, '\'');
	for (size_t begin = 0, i = 0; i <= len; i++) {
		if (i < len && text[i] != '"')
			continue;
		if (exactly)
			out_bytes(&out_stdout, text + begin, i - begin);
		else
			text_safe(&out_stdout, text + begin, i - begin);
		if (i < len)
			out_str(&out_stdout, "\"\"");
		begin = i + 1;
	}
	if (quotes)
		out_char(&out_stdout, '"');
}

/*
 * If the output is a file or pipe, texts are written exactly. If it is a terminal, unsafe
 * characters are escaped.
 */
static int print_csv(sqlite3_stmt *statement, char *const *name)
{
	int columns = sqlite3_column_count(statement), answer;
	bool exactly = !isatty(out_stdout.fd);
	const char *text;
	size_t len;

	for (int i = 0; i < columns; i++) {
		if (i)
			out_char(&out_stdout, ',');
		csv_text(name[i], strlen(name[i]), exactly);
	}
	out_char(&out_stdout, '\n');
	while ((answer = sqlite3_step(statement)) == SQLITE_ROW && !out_stdout.err) {
		for (int i = 0; i < columns; i++) {
			if (i)
				out_char(&out_stdout, ',');
			if (sqlite3_column_type(statement, i) == SQLITE_TEXT) {
				text = column_bytes(statement, i, &len);
				csv_text(text, len, exactly);
			} else {
				put_value(&out_stdout, statement, i);
			}
		}
		out_char(&out_stdout, '\n');
	}
	return answer;
}

/* ------------------------------------------------------------------ JSON */

/*
 * Writes a value of the row. An integer beyond 2^53 becomes a string, since most programs read
 * numbers as doubles, which may not hold such an integer exactly.
 */
static void json_value(struct json *json, sqlite3_stmt *statement, int i)
{
	static const int64_t exact = INT64_C(1) << 53;
	const char *bytes;
	int64_t integer;
	size_t len;

	switch (sqlite3_column_type(statement, i)) {
	case SQLITE_TEXT:
		bytes = column_bytes(statement, i, &len);
		json_text(json, NULL, bytes, len);
		return;
	case SQLITE_INTEGER:
		integer = sqlite3_column_int64(statement, i);
		if (integer > exact || integer < -exact)
			json_exact(json, NULL, integer);
		else
			json_signed(json, NULL, integer);
		return;
	case SQLITE_BLOB:
		bytes = column_bytes(statement, i, &len);
		json_hex(json, NULL, bytes, len);
		return;
	case SQLITE_FLOAT:
		if (isfinite(sqlite3_column_double(statement, i))) {
			json_name(json, NULL);
			put_value(json->out, statement, i);
			return;
		}
		break;
	}
	json_null(json, NULL);
}

/* If two columns of the result have the same name, the object has two members of this name. */
static int print_json(sqlite3_stmt *statement, char *const *name)
{
	struct json json = json_begin(&out_stdout);
	int columns = sqlite3_column_count(statement), answer;

	while ((answer = sqlite3_step(statement)) == SQLITE_ROW && !out_stdout.err) {
		json_object(&json, NULL);
		for (int i = 0; i < columns; i++) {
			json_text_name(&json, name[i], strlen(name[i]));
			json_value(&json, statement, i);
		}
		json_end_line(&json);
	}
	return answer;
}

/* ------------------------------------------------------------------ the names of the columns */

static void free_names(char **name, int columns)
{
	for (int i = 0; name && i < columns; i++)
		free(name[i]);
	free(name);
}

/*
 * Returns copies of the names of all columns, or NULL if memory is lacking. SQLite also returns no
 * name if it lacks memory. Because of the copies, that can happen only before the first row.
 */
static char **copy_names(sqlite3_stmt *statement)
{
	const int columns = sqlite3_column_count(statement);
	char **name = calloc((size_t)columns + 1, sizeof(*name));

	for (int i = 0; name && i < columns; i++) {
		const char *given = sqlite3_column_name(statement, i);

		name[i] = given ? strdup(given) : NULL;
		if (!name[i]) {
			free_names(name, columns);
			return NULL;
		}
	}
	return name;
}

int query_print(sqlite3_stmt *statement, enum query_form form)
{
	char **name = copy_names(statement);
	int answer;

	if (!name)
		return SQLITE_NOMEM;
	answer = form == QUERY_JSON ? print_json(statement, name) :
		 form == QUERY_CSV ? print_csv(statement, name) : print_table(statement, name);
	free_names(name, sqlite3_column_count(statement));
	return answer;
}
