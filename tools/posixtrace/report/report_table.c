/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_table.c - prints events as a table. A value that is wider than its column moves the rest
 * of the line and is never shortened. Names and data are escaped, since a terminal may display
 * them.
 */
#include "report/report_table.h"

#include "base/text.h"
#include "log/fields.h"
#include "show/line.h"

#define DELTA_WIDTH 14
#define ID_WIDTH    7
#define EVENT_WIDTH 24

/*
 * Returns the width of a time in a form of base/when.h: nanoseconds; UTC, with a Z at its end;
 * local time.
 */
static size_t time_width(enum when_form when)
{
	return when == WHEN_RAW ? 19 : when == WHEN_UTC ? 30 : 29;
}

static void report_table_pad(struct out *out, size_t used, size_t width)
{
	for (; used < width; used++)
		out_char(out, ' ');
}

static void report_table_right(struct out *out, const char *text, size_t len, size_t width)
{
	report_table_pad(out, len, width);
	out_bytes(out, text, len);
	out_char(out, ' ');
}

static void report_table_left(struct out *out, const char *text, size_t len, size_t width)
{
	text_safe(out, text, len);
	report_table_pad(out, text_columns(text, len), width);
	out_char(out, ' ');
}

/* If the user has selected columns, show/pick.h writes their header. */
void report_table_header(struct out *out, const struct report_table *table)
{
	if (table->pick) {
		pick_header(out, table->pick, table->when);
		return;
	}
	if (table->log_width)
		report_table_left(out, "LOG", 3, table->log_width);
	report_table_left(out, "TIME", 4, time_width(table->when));
	report_table_right(out, "DELTA", 5, DELTA_WIDTH);
	report_table_right(out, "PROCESS", 7, ID_WIDTH);
	report_table_right(out, "THREAD", 6, ID_WIDTH);
	report_table_left(out, "EVENT", 5, EVENT_WIDTH);
	out_str(out, "FIELDS\n");
}

/*
 * Returns the time since the event that was printed last, or 0 for the first event. A damaged trace
 * may have any times. If the difference does not fit in 64 bits, the nearest number is returned.
 */
static int64_t report_table_delta(const struct report_table *table, int64_t time_ns)
{
	int64_t ns = 0;

	if (table->any && __builtin_sub_overflow(time_ns, table->previous_ns, &ns))
		ns = time_ns < table->previous_ns ? INT64_MIN : INT64_MAX;
	return ns;
}

/*
 * Writes the number of a process or thread. The number is 0 for an event of the stream itself,
 * because no thread has recorded this event.
 */
static void report_table_number(struct out *out, pid_t id)
{
	char text[24];

	if (id)
		report_table_right(out, text, (size_t)(put_unsigned(text, (unsigned)id) - text),
				   ID_WIDTH);
	else
		report_table_right(out, "-", 1, ID_WIDTH);
}

/*
 * Writes the data in the first form that applies: the fields of the schema, the data of a system
 * event, text in quotes, bytes in hexadecimal.
 */
static void report_table_data(struct out *out, const struct report_table *table,
			      const struct logfile *log, const struct log_type *type,
			      const struct posix_trace_event_np *event)
{
	/*
	 * fields_text() writes a blank before its text. The other forms need a blank, too, because
	 * the name of the type precedes them.
	 */
	if (fields_text(out, log, type, event, table->when))
		return;
	out_char(out, ' ');
	line_plain_data(out, log, event);
}

static void picked_event(struct out *out, struct report_table *table, const struct logfile *log,
			 const struct log_type *type, const struct posix_trace_event_np *event)
{
	const struct pick_line line = {
		.when = table->when,
		.delta_ns = report_table_delta(table, event->time_ns),
		.log_name = log->path ? log->path : "-",
	};

	pick_columns(out, table->pick, &line, log, type, event);
}

/* Writes an event in all columns. Flags are behind the data, because most events have none. */
static void whole_event(struct out *out, struct report_table *table, const struct logfile *log,
			const struct log_type *type, const struct posix_trace_event_np *event)
{
	char text[WHEN_BYTES];

	if (table->log_width)
		report_table_left(out, table->log_name, strlen(table->log_name), table->log_width);
	report_table_left(out, text, (size_t)(when_put(text, event->time_ns, table->when) - text),
			  time_width(table->when));
	report_table_right(
		out, text,
		(size_t)(when_put_span(text, report_table_delta(table, event->time_ns), true) -
			 text),
		DELTA_WIDTH);
	report_table_number(out, event->info.posix_pid);
	report_table_number(out, event->tid);
	out_bytes(out, type->shown, type->shown_len);
	if (event->data_len || fields_has_message(type)) {
		report_table_pad(out, text_columns(type->shown, type->shown_len), EVENT_WIDTH);
		report_table_data(out, table, log, type, event);
	}
	line_put_marks(out, event);
	out_char(out, '\n');
}

/*
 * The delta is the time since the event that was printed last. Unselected events between these two
 * events do not change it.
 */
void report_table_event(struct out *out, struct report_table *table, const struct logfile *log,
			const struct log_type *type, const struct posix_trace_event_np *event)
{
	if (table->pick)
		picked_event(out, table, log, type, event);
	else
		whole_event(out, table, log, type, event);
	table->any = true;
	table->previous_ns = event->time_ns;
}
