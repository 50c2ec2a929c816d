/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * columns.c - prints the header and the lines of a report by templates. Lines have no blanks at
 * their end. All functions write to a struct out, which keeps write errors for its owner.
 */
#include "report/template/columns.h"

#include <string.h>

#include "report/template/print.h"

#define VALUE_BYTES PRINT_BYTES
/* The text of an event is moved to the right by this many columns for each level. */
#define LEVEL_WIDTH 8

/* The columns from left to right. The text of the event follows the last column. */
enum column { ID, PROCESS_NAME, PID, TID, ELAPSED, DELTA_MS, DELTA_US, COLUMNS };

static const struct {
	const char *name;
	int width;             /* negative: the column is aligned to the left */
} form[COLUMNS] = {
	[ID] = { "ID", -4 },
	[PROCESS_NAME] = { "PROCESS NAME", -14 },
	[PID] = { "PID", -8 },
	[TID] = { "TID", -16 },
	[ELAPSED] = { "ELAPSED_SEC", 14 },
	[DELTA_MS] = { "DELTA_MSEC", 13 },
	[DELTA_US] = { "DELTA_USEC", 10 },
};

void columns_init(struct columns *columns)
{
	*columns = (struct columns){ .ids = true };
}

/* Returns whether the options select a column. They select at most one of DELTA_MS and DELTA_US. */
static bool is_shown(const struct columns *columns, enum column column)
{
	switch (column) {
	case ID:
		return columns->ids;
	case PROCESS_NAME:
		return columns->exec;
	case PID:
		return columns->pid;
	case TID:
		return columns->tid;
	case ELAPSED:
		return columns->timestamp < 3;
	case DELTA_MS:
		return columns->timestamp == 0;
	default:
		return columns->timestamp == 2;
	}
}

/*
 * The difference of two times. A log may contain any two times, so "ns" may need all of its 64
 * bits.
 */
struct span {
	uint64_t ns;
	bool negative;
};

/*
 * The subtraction is unsigned, because the times of a damaged log may have any value of 64
 * bits.
 */
static struct span span_of(int64_t from_ns, int64_t to_ns)
{
	bool negative = to_ns < from_ns;

	return (struct span){
		negative ? (uint64_t)from_ns - (uint64_t)to_ns
			 : (uint64_t)to_ns - (uint64_t)from_ns,
		negative,
	};
}

/*
 * Writes a span in a unit, which has 10^digits nanoseconds. "shown" is the number of digits to
 * write behind the point; further digits are dropped. Returns the end of the written text.
 */
static char *put_span(char *p, struct span span, uint64_t unit_ns, unsigned digits, unsigned shown)
{
	if (span.negative)
		*p++ = '-';
	p = put_unsigned(p, span.ns / unit_ns);
	if (!shown)
		return p;
	*p++ = '.';
	return put_digits(p, span.ns % unit_ns, digits) - (digits - shown);
}

/* Writes the value of the column for the event. Returns the end of the written text. */
static char *value_of(char *value, const struct columns *columns, enum column column,
		      const struct template_event *event)
{
	struct span delta = { 0, false };

	if (columns->any)
		delta = span_of(columns->previous_ns, event->time_ns);
	switch (column) {
	case ID:
		return value + print_id(value, event->id);
	case PROCESS_NAME: /* no log has it */
		*value = '?';
		return value + 1;
	case PID:
		return value + print_number(value, (uint64_t)event->pid, 'D', 8);
	case TID:
		return put_unsigned(value, event->tid);
	case ELAPSED:
		return put_span(value, span_of(columns->first_ns, event->time_ns), 1000000000, 9,
				columns->timestamp == 1 ? 6 : 9);
	case DELTA_MS:
		return put_span(value, delta, 1000000, 6, 6);
	default:
		return put_span(value, delta, 1000, 3, 0);
	}
}

/* A line that is being written. Blanks are not written until something visible follows them. */
struct line {
	struct out *out;
	size_t blanks;
};

/* Blanks are only counted; text_of() writes them as soon as something visible follows. */
static void columns_blanks(struct line *line, size_t count)
{
	line->blanks += count;
}

/*
 * Writes a text that is one physical line, without \n. The blanks at its end are only counted.
 */
static void text_of(struct line *line, const char *text, size_t len)
{
	size_t used = len;

	while (used && text[used - 1] == ' ')
		used--;
	if (!used) {
		line->blanks += len;
		return;
	}
	for (; line->blanks; line->blanks--)
		out_char(line->out, ' ');
	out_bytes(line->out, text, used);
	line->blanks = len - used;
}

/* Ends the line. Blanks that were only counted are dropped. */
static void end_line(struct line *line)
{
	out_char(line->out, '\n');
	line->blanks = 0;
}

static size_t width_of(enum column column)
{
	return (size_t)(form[column].width < 0 ? -form[column].width : form[column].width);
}

/*
 * A value that is wider than the column is not shortened. It moves the rest of the line to the
 * right.
 */
static void columns_cell(struct line *line, enum column column, const char *value, size_t len)
{
	size_t width = width_of(column);
	size_t pad = len < width ? width - len : 0;

	if (form[column].width > 0)
		columns_blanks(line, pad);
	text_of(line, value, len);
	if (form[column].width < 0)
		columns_blanks(line, pad);
	columns_blanks(line, 1);
}

/*
 * The header contains the name of each level at the column where the texts of its events begin. An
 * empty line follows the header.
 */
void columns_header(struct out *out, const struct columns *columns)
{
	static const char levels[] = "APPL    SYSCALL KERNEL  INTERRUPT";
	struct line line = { .out = out };

	for (enum column column = 0; column < COLUMNS; column++)
		if (is_shown(columns, column))
			columns_cell(&line, column, form[column].name, strlen(form[column].name));
	text_of(&line, levels, sizeof(levels) - 1);
	end_line(&line);
	end_line(&line);
}

/*
 * Returns the margin: the column at which the text of an event of level APPL begins. Each further
 * level adds LEVEL_WIDTH. The further lines of a text begin with blanks up to this column.
 */
static size_t columns_margin(const struct columns *columns)
{
	size_t width = 0;

	for (enum column column = 0; column < COLUMNS; column++)
		if (is_shown(columns, column))
			width += width_of(column) + 1;
	return width;
}

/*
 * Prints an event. The further lines of its text begin at the margin plus the indentation of the
 * level. This is exactly below the first line, unless a value was wider than its column. The
 * difference of the next event is computed from the time of this event.
 */
void columns_event(struct out *out, struct columns *columns, const struct template_event *event,
		   enum level level, const char *text, size_t len)
{
	struct line line = { .out = out };
	const char *end = text + len, *newline;
	char value[VALUE_BYTES];

	for (enum column column = 0; column < COLUMNS; column++) {
		if (!is_shown(columns, column))
			continue;
		columns_cell(&line, column, value,
			     (size_t)(value_of(value, columns, column, event) - value));
	}
	columns_blanks(&line, LEVEL_WIDTH * (size_t)level);
	while ((newline = memchr(text, '\n', (size_t)(end - text)))) {
		text_of(&line, text, (size_t)(newline - text));
		end_line(&line);
		columns_blanks(&line, columns_margin(columns) + LEVEL_WIDTH * (size_t)level);
		text = newline + 1;
	}
	text_of(&line, text, (size_t)(end - text));
	end_line(&line);
	columns->previous_ns = event->time_ns;
	columns->any = true;
}
