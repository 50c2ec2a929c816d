/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pick_put.c - writes the columns of --fields as text. To pad a column, the code measures the text
 * that the column has added to the buffer. So the buffer must not be flushed within a line, and
 * must have room for the whole line. But the tool flushes its output before it prints a message,
 * for example that a file with symbols is missing. So a line is made in a buffer of its own.
 */
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "log/fields.h"
#include "log/sysdata.h"
#include "log/value.h"
#include "show/line.h"
#include "show/pick_part.h"
#include "symbols/symbols.h"

/*
 * Writes the id of a process or thread, or a level. Writes "-" if the number is not positive: an id
 * of 0 means the stream itself, and a level of 0 means that the schema has no level.
 */
static void text_number(struct out *out, int64_t id)
{
	if (id > 0)
		out_signed(out, id);
	else
		out_char(out, '-');
}

/*
 * Writes the fields of the data and removes the blank that fields_text() writes before them. If the
 * text was so long that the buffer was flushed, the blank may remain.
 */
static bool described_data(struct out *out, const struct pick_cell *cell)
{
	size_t before = out->used;

	if (!fields_text(out, cell->log, cell->type, cell->event, cell->line->when))
		return false;
	if (out->used > before && out->bytes[before] == ' ')
		memmove(out->bytes + before, out->bytes + before + 1, --out->used - before);
	return true;
}

/* Writes the data in the first form that is possible, as text_data() in line.c does. */
static void text_data(struct out *out, const struct pick_cell *cell)
{
	const struct posix_trace_event_np *event = cell->event;

	if (!event->data_len && !fields_has_message(cell->type))
		out_char(out, '-');
	else if (described_data(out, cell) || sysdata_text(out, cell->log, event))
		return;
	else if (text_is_text(event->data, event->data_len, false))
		text_quoted(out, event->data, event->data_len);
	else
		out_hex(out, event->data, event->data_len);
}

/* Writes a field. A whole array is written in brackets. */
static void text_field(struct out *out, const struct pick_cell *cell,
		       const struct pick_column *column, int field)
{
	bool list = pick_is_list(cell, column, field);
	struct posix_trace_value_np value;
	unsigned index = 0;

	while (pick_next_value(cell, column, field, &index, &value)) {
		if (list)
			out_char(out, index == 1 ? '[' : ' ');
		value_text(out, cell->log, cell->event, &value, cell->line->when);
		if (!list)
			return;
	}
	out_char(out, index ? ']' : '-');
}

/*
 * Writes the source line of the event's address if 'source' is true, and otherwise the function of
 * the address. Writes "-" if the line or the function is unknown.
 */
static void text_symbol(struct out *out, const struct pick_cell *cell, bool source)
{
	const struct symbol *symbol = symbols_of(cell->log, cell->event);

	if (!symbol || (source && !symbol->file))
		out_char(out, '-');
	else if (source)
		symbols_source(out, symbol);
	else
		text_safe(out, symbol->name, strlen(symbol->name));
}

/* Writes the names of the event's flags with commas between them, or "-" if it has none. */
static void text_flags(struct out *out, const struct posix_trace_event_np *event)
{
	const char *name[PICK_FLAGS_MAX];
	unsigned count = pick_flags(event, name);

	for (unsigned i = 0; i < count; i++) {
		if (i)
			out_char(out, ',');
		out_str(out, name[i]);
	}
	if (!count)
		out_char(out, '-');
}

/* Writes the value of column i. */
static void text_cell(struct out *out, struct pick *pick, unsigned i, const struct pick_cell *cell)
{
	const struct pick_column *column = &pick->column[i];
	const struct posix_trace_event_np *event = cell->event;

	switch (column->fact) {
	case PICK_TIME:
		out_done(out, when_put(out_room(out), event->time_ns, cell->line->when));
		break;
	case PICK_DELTA:
		out_done(out, when_put_span(out_room(out), cell->line->delta_ns, true));
		break;
	case PICK_PID:
		text_number(out, event->info.posix_pid);
		break;
	case PICK_TID:
		text_number(out, event->tid);
		break;
	case PICK_THREAD:
		pick_put_hex(out, (uint64_t)event->info.posix_thread_id);
		break;
	case PICK_ADDRESS:
		pick_put_hex(out, (uintptr_t)event->info.posix_prog_address);
		break;
	case PICK_EVENT:
		out_bytes(out, cell->type->shown, cell->type->shown_len);
		break;
	case PICK_ID:
		out_unsigned(out, event->info.posix_event_id);
		break;
	case PICK_LEVEL:
		text_number(out, cell->type->schema ? cell->type->schema->level : 0);
		break;
	case PICK_LEN:
		out_unsigned(out, event->data_len);
		break;
	case PICK_DATA:
		text_data(out, cell);
		break;
	case PICK_FLAGS:
		text_flags(out, event);
		break;
	case PICK_LOG:
		text_safe(out, cell->line->log_name, strlen(cell->line->log_name));
		break;
	case PICK_SYMBOL:
	case PICK_SOURCE:
		text_symbol(out, cell, column->fact == PICK_SOURCE);
		break;
	case PICK_FIELD:
		text_field(out, cell, column,
			   cell->type->schema ? pick_field(pick, cell->type->schema, i) : -1);
		break;
	}
}

/* Makes room in the buffer for a line of usual length, so that its columns can be padded. */
static void make_line_room(struct out *out)
{
	if (OUT_BYTES - out->used < OUT_BYTES / 8)
		out_flush(out);
}

/*
 * Makes a line in a buffer of its own, and appends the line to the output. A line that is too long
 * for this buffer is made again in the output, where a flush may make its padding wrong.
 */
static void put_line(struct out *out, struct pick *pick, const struct pick_cell *cell,
		     void (*make)(struct out *, struct pick *, const struct pick_cell *))
{
	static struct out whole = { .fd = -1 };

	whole.used = 0;
	whole.err = 0;
	make(&whole, pick, cell);
	if (!whole.err) {
		out_bytes(out, whole.bytes, whole.used);
		return;
	}
	make_line_room(out);
	make(out, pick, cell);
}

/*
 * A tab always separates two columns, because text_quoted() and text_safe() escape the tabs in
 * values.
 */
static void make_tabs(struct out *out, struct pick *pick, const struct pick_cell *cell)
{
	for (unsigned i = 0; i < pick->count; i++) {
		if (i)
			out_char(out, '\t');
		text_cell(out, pick, i, cell);
	}
	out_char(out, '\n');
}

void pick_tabs(struct out *out, struct pick *pick, const struct pick_line *line,
	       const struct logfile *log, const struct log_type *type,
	       const struct posix_trace_event_np *event)
{
	const struct pick_cell cell = { line, log, type, event };

	put_line(out, pick, &cell, make_tabs);
}

/* Returns true for numbers, which are aligned to the right. */
static bool is_right(const struct pick_column *column)
{
	return column->fact == PICK_DELTA || column->fact == PICK_PID ||
	       column->fact == PICK_TID || column->fact == PICK_ID || column->fact == PICK_LEVEL ||
	       column->fact == PICK_LEN;
}

static void put_blanks(struct out *out, size_t used, size_t width)
{
	for (; used < width; used++)
		out_char(out, ' ');
}

/*
 * Pads column i. 'before' was the length of the buffer when the column began. If the line is very
 * long, the buffer may have been flushed since then, and the column may get no padding.
 */
static void pad_column(struct out *out, const struct pick *pick, unsigned i, size_t before)
{
	const struct pick_column *column = &pick->column[i];

	if (i + 1 == pick->count)
		return;
	if (!is_right(column) && out->used >= before)
		put_blanks(out, text_columns(out->bytes + before, out->used - before),
			   column->width);
	out_char(out, ' ');
}

/* Returns the width of a time in this form. */
static size_t time_width(enum when_form when)
{
	return when == WHEN_RAW ? 19 : when == WHEN_UTC ? 30 : 29;
}

/* The titles of facts are written in capitals, the titles of fields as the user wrote them. */
void pick_header(struct out *out, struct pick *pick, enum when_form when)
{
	make_line_room(out);
	for (unsigned i = 0; i < pick->count; i++) {
		struct pick_column *column = &pick->column[i];
		size_t len = strlen(column->label), before = out->used;

		if (column->fact == PICK_TIME)
			column->width = time_width(when);
		if (is_right(column))
			put_blanks(out, len, column->width);
		for (size_t n = 0; n < len; n++)
			out_char(out, column->fact == PICK_FIELD ? column->label[n]
								 : (char)toupper(column->label[n]));
		pad_column(out, pick, i, before);
	}
	out_char(out, '\n');
}

/* The last column is not padded, so lines have no blanks at their ends. */
static void make_columns(struct out *out, struct pick *pick, const struct pick_cell *cell)
{
	static struct out scratch = { .fd = -1 }; /* for the text of numbers */

	for (unsigned i = 0; i < pick->count; i++) {
		size_t before = out->used;

		if (is_right(&pick->column[i])) {
			scratch.used = 0;
			text_cell(&scratch, pick, i, cell);
			put_blanks(out, text_columns(scratch.bytes, scratch.used),
				   pick->column[i].width);
			out_bytes(out, scratch.bytes, scratch.used);
		} else {
			text_cell(out, pick, i, cell);
		}
		pad_column(out, pick, i, before);
	}
	out_char(out, '\n');
}

void pick_columns(struct out *out, struct pick *pick, const struct pick_line *line,
		  const struct logfile *log, const struct log_type *type,
		  const struct posix_trace_event_np *event)
{
	const struct pick_cell cell = { line, log, type, event };

	put_line(out, pick, &cell, make_columns);
}
