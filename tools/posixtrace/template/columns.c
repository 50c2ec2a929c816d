/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "template/columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "template/print.h"

#define VALUE_BYTES 64
#define LEVEL_WIDTH 8

enum column { ID, PROCESS_NAME, PID, TID, ELAPSED, DELTA_MS, DELTA_US, COLUMNS };

static const struct {
	const char *name;
	int width;             /* negative: to the left */
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

/* Any two times: their difference may need a bit more. The rest that no digit has is cut. */
static void put_time(char *value, __int128 ns, unsigned unit_ns, unsigned decimals)
{
	bool negative = ns < 0;
	unsigned __int128 size = negative ? -(unsigned __int128)ns : (unsigned __int128)ns;
	int len = snprintf(value, VALUE_BYTES, "%s%" PRIu64, negative ? "-" : "",
			   (uint64_t)(size / unit_ns));

	if (!decimals)
		return;
	/* A unit has as many digits as there are decimals, or more. */
	snprintf(value + len, VALUE_BYTES - (size_t)len, unit_ns == 1000000 ? ".%06u" : ".%09u",
		 (unsigned)(size % unit_ns));
	value[(size_t)len + 1 + decimals] = '\0';
}

static void value_of(char *value, const struct columns *columns, enum column column,
		     const struct template_event *event)
{
	__int128 elapsed_ns = (__int128)event->time_ns - columns->first_ns;
	__int128 delta_ns = columns->any ? (__int128)event->time_ns - columns->previous_ns : 0;

	switch (column) {
	case ID:
		value[print_id(value, event->id)] = '\0';
		break;
	case PROCESS_NAME: /* no log knows it */
		strcpy(value, "?");
		break;
	case PID:
		snprintf(value, VALUE_BYTES, "%" PRId64, event->pid);
		break;
	case TID:
		snprintf(value, VALUE_BYTES, "%" PRIu64, event->tid);
		break;
	case ELAPSED:
		put_time(value, elapsed_ns, 1000000000, columns->timestamp == 1 ? 6 : 9);
		break;
	case DELTA_MS:
		put_time(value, delta_ns, 1000000, 6);
		break;
	default:
		put_time(value, delta_ns, 1000, 0);
		break;
	}
}

/* A line, whose blanks at the end are kept back until something follows them. */
struct line {
	struct out *out;
	size_t blanks;
};

static void blanks(struct line *line, size_t count)
{
	line->blanks += count;
}

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

static void end_line(struct line *line)
{
	out_char(line->out, '\n');
	line->blanks = 0;
}

static size_t width_of(enum column column)
{
	return (size_t)(form[column].width < 0 ? -form[column].width : form[column].width);
}

static void cell(struct line *line, enum column column, const char *value)
{
	size_t len = strlen(value), width = width_of(column);
	size_t pad = len < width ? width - len : 0;

	if (form[column].width > 0)
		blanks(line, pad);
	text_of(line, value, len);
	if (form[column].width < 0)
		blanks(line, pad);
	blanks(line, 1);
}

void columns_header(struct out *out, const struct columns *columns)
{
	static const char levels[] = "APPL    SYSCALL KERNEL  INTERRUPT";
	struct line line = { .out = out };

	for (enum column column = 0; column < COLUMNS; column++)
		if (is_shown(columns, column))
			cell(&line, column, form[column].name);
	text_of(&line, levels, sizeof(levels) - 1);
	end_line(&line);
	end_line(&line);
}

/* The column at which the text of lines begins that have no columns of their own. */
static size_t margin(const struct columns *columns)
{
	size_t width = 0;

	for (enum column column = 0; column < COLUMNS; column++)
		if (is_shown(columns, column))
			width += width_of(column) + 1;
	return width;
}

void columns_event(struct out *out, struct columns *columns, const struct template_event *event,
		   enum level level, const char *text, size_t len)
{
	struct line line = { .out = out };
	const char *end = text + len, *newline;
	char value[VALUE_BYTES];

	for (enum column column = 0; column < COLUMNS; column++) {
		if (!is_shown(columns, column))
			continue;
		value_of(value, columns, column, event);
		cell(&line, column, value);
	}
	blanks(&line, LEVEL_WIDTH * (size_t)level);
	while ((newline = memchr(text, '\n', (size_t)(end - text)))) {
		text_of(&line, text, (size_t)(newline - text));
		end_line(&line);
		blanks(&line, margin(columns) + LEVEL_WIDTH * (size_t)level);
		text = newline + 1;
	}
	text_of(&line, text, (size_t)(end - text));
	end_line(&line);
	columns->previous_ns = event->time_ns;
	columns->any = true;
}
