/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * top_page.c - the pages of top, line by line.
 *
 * A page is an array of lines that does not depend on a terminal, so the screen and --batch show
 * the same text. Names from the process or the log may be hostile, so they are written by
 * text_name() and text_safe(), which escape them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "base/procfile.h"
#include "base/text.h"
#include "base/vec.h"
#include "live/blocked.h"
#include "log/equation.h"
#include "log/thread_name.h"
#include "top/top.h"

/*
 * The line that is being made. It is far shorter than the buffer, so it is never written to a file.
 */
static struct out line = { .fd = -1 };

/*
 * Appends the current line to the page. If memory is lacking, the line is omitted, because a page
 * that lacks a line is better than the end of the command.
 */
static void end_line(struct top_page *page, bool heading)
{
	if (vec_grow(&page->line, page->lines, 1)) {
		struct top_page_line *next = &page->line[page->lines];

		next->text = strndup(line.bytes, line.used);
		next->heading = heading;
		page->lines += next->text != NULL;
	}
	line.used = 0;
}

/* Begins a part with an empty line and its heading. */
static void top_page_heading(struct top_page *page, const char *text)
{
	if (page->lines)
		end_line(page, false);
	out_str(&line, text);
	end_line(page, true);
}

/* All columns of numbers have twelve characters, so the headings are constants. */
static void put_count(uint64_t count)
{
	out_printf(&line, "%12llu", (unsigned long long)count);
}

/*
 * Writes a rate. Rates below 10 are written with one decimal, because they would be too coarse
 * without it.
 */
static void put_rate(double rate)
{
	out_printf(&line, rate < 10 && rate > 0 ? "%12.1f" : "%12.0f", rate);
}

/* Writes a blank and a duration with its unit, in at least twelve columns together. */
static void put_time(uint64_t ns)
{
	char text[24];

	if (ns < 10000)
		snprintf(text, sizeof(text), "%llu ns", (unsigned long long)ns);
	else if (ns < 10000000)
		snprintf(text, sizeof(text), "%.1f us", (double)ns / 1e3);
	else if (ns < UINT64_C(10000000000))
		snprintf(text, sizeof(text), "%.1f ms", (double)ns / 1e6);
	else
		snprintf(text, sizeof(text), "%.1f s", (double)ns / 1e9);
	out_printf(&line, " %11s", text);
}

static void put_name(const char *name)
{
	out_str(&line, "  ");
	text_name(&line, name, strlen(name));
}

/* Writes the head of the page: the source and its totals. */
static void put_top(struct top_page *page, const struct top_source *source, const struct top *top)
{
	if (source->pid) {
		out_printf(&line, "process %d (", (int)source->pid);
		text_safe(&line, source->program, strlen(source->program));
		out_printf(&line, "), %.1f s%s", top->seconds,
			   source->ended ? ", it has ended" : "");
	} else {
		text_safe(&line, source->log.path, strlen(source->log.path));
		out_printf(&line, ", %.3f s", top->seconds);
	}
	end_line(page, true);
	out_printf(&line, "%llu event%s, %.0f/s, %llu lost", (unsigned long long)top->ledger.called,
		   text_plural(top->ledger.called), top->rate,
		   (unsigned long long)equation_lost(&top->ledger));
	equation_causes(&line, &top->ledger);
	end_line(page, false);
}

static bool order_by_total; /* for the comparison functions, which have no argument */

/* Orders two numbers so that the greater one comes first. */
static int by_number(double x, double y)
{
	return x > y ? -1 : x < y;
}

/*
 * Compares two types by rate or total. If these are equal, the ids decide, so that rows do not
 * change places without reason.
 */
static int order_types(const void *a, const void *b)
{
	const struct top_type *x = *(struct top_type *const *)a, *y = *(struct top_type *const *)b;
	int order = order_by_total ? 0 : by_number(x->rate, y->rate);

	if (!order)
		order = by_number((double)x->events, (double)y->events);
	return order ? order : x->id < y->id ? -1 : 1;
}

/* Orders latencies by total time, the greatest first. */
static int order_latencies(const void *a, const void *b)
{
	const struct top_type *x = *(struct top_type *const *)a, *y = *(struct top_type *const *)b;

	return by_number((double)x->total_ns, (double)y->total_ns);
}

/*
 * Returns the types that have events or, if "latencies" is true, the types that have durations, in
 * the order of the page. The caller frees the array; it is NULL if memory is lacking.
 */
static struct top_type **sorted_types(const struct top *top, size_t *count, bool latencies)
{
	struct top_type **type = malloc((top->types + 1) * sizeof(*type));

	*count = 0;
	for (size_t i = 0; type && i < top->types; i++)
		if (latencies ? top->type[i]->time.count : top->type[i]->events)
			type[(*count)++] = top->type[i];
	if (*count)
		qsort(type, *count, sizeof(*type), latencies ? order_latencies : order_types);
	return type;
}

/* Writes the part of event types. */
static void put_types(struct top_page *page, const struct top *top, size_t rows)
{
	size_t count;
	struct top_type **type = sorted_types(top, &count, false);

	top_page_heading(page, "    EVENTS/S      EVENTS        LOST  EVENT TYPE");
	for (size_t i = 0; i < count && i < rows; i++) {
		put_rate(type[i]->rate);
		put_count(type[i]->events);
		put_count(type[i]->lost);
		put_name(type[i]->name);
		end_line(page, false);
	}
	free(type);
}

/* Writes the part of latencies. The part is omitted if there are no latencies. */
static void put_latencies(struct top_page *page, const struct top *top, size_t rows)
{
	size_t count;
	struct top_type **type = sorted_types(top, &count, true);

	if (count)
		top_page_heading(
			page, "       COUNT         50%         90%         99%         MAX       "
			      "TOTAL  DURATION OF");
	for (size_t i = 0; i < count && i < rows; i++) {
		const struct histogram *time = &type[i]->time;

		put_count(time->count);
		put_time(histogram_percentile(time, 0.5));
		put_time(histogram_percentile(time, 0.9));
		put_time(histogram_percentile(time, 0.99));
		put_time(time->max);
		put_time(type[i]->total_ns);
		/* A span has a name of its own, which its begin and end share. */
		put_name(type[i]->is_span && type[i]->span ? type[i]->span : type[i]->name);
		end_line(page, false);
	}
	free(type);
}

/* A line of the part of threads. */
struct row {
	struct top_thread thread;
	const struct top_state *state; /* NULL: unknown */
};

/* Returns the share of the time in which the thread ran or was ready to run. */
static double active_share(const struct row *row)
{
	return row->state && row->state->is_known ? row->state->running + row->state->ready : 0;
}

/*
 * Compares two threads by rate or total. If these are equal, a thread that needs the processors
 * more comes first; then the thread numbers decide.
 */
static int order_threads(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = order_by_total ? 0 : by_number(x->thread.rate, y->thread.rate);

	if (!order)
		order = by_number((double)x->thread.events, (double)y->thread.events);
	if (!order)
		order = by_number(active_share(x), active_share(y));
	return order ? order : x->thread.tid < y->thread.tid ? -1 : 1;
}

/* Reads the name that a thread has now. Returns false if it has ended. */
static bool read_name(const struct row *row, char name[PROCESS_NAME_BYTES])
{
	return procfile_name(row->state ? row->state->seen_pid : row->thread.pid,
			     row->state ? row->state->seen_tid : row->thread.tid, name,
			     PROCESS_NAME_BYTES);
}

/* Returns whether the process in /proc that read_name() examines is the one of the thread. */
static bool has_number(const struct top_source *source, const struct row *row)
{
	return row->state || (source->pid && row->thread.pid == source->pid) ||
	       top_states_has_child(&source->states, row->thread.pid);
}

/*
 * Writes the name of a thread. For a thread of a log, or a thread that has ended, writes the last
 * name that the trace has of it, if there is one.
 */
static void put_thread_name(const struct top_source *source, const struct row *row)
{
	const struct top_thread *thread = &row->thread;
	struct posix_trace_object_np object;
	char name[PROCESS_NAME_BYTES];

	if (has_number(source, row) && read_name(row, name))
		put_name(name);
	else if (thread_name_find(source->trid, thread->pid, thread->handle, INT64_MAX, &object))
		put_name(object.name);
}

/* Writes the shares of a thread's time, or dashes if they are not known. */
static void put_shares(const struct top_state *state)
{
	if (state && state->is_known)
		out_printf(&line, "%7.1f%%%6.1f%%%7.1f%%", 100 * state->running,
			   100 * state->ready, 100 * state->blocked);
	else
		out_printf(&line, "%8s%7s%8s", "-", "-", "-");
}

/*
 * Writes the system call in which a thread is blocked now. The kernel says it only to those who may
 * debug the process, and the line ends without it otherwise.
 */
static void put_call(const struct top_state *state)
{
	const char *name = NULL;

	if (state && (state->letter == 'S' || state->letter == 'D'))
		name = blocked_call_name(state->seen_pid, state->seen_tid);
	if (name)
		out_printf(&line, "  in %s", name);
}

/*
 * Returns the rows of threads, in the order of the page: threads with events, and threads of the
 * process without events. The threads of this command are omitted. The stream has events of this
 * command, because the command controls the stream. The caller frees the array; it is NULL if
 * memory is lacking.
 */
static struct row *sorted_threads(const struct top_source *source, const struct top *top,
				  size_t *count)
{
	const struct top_states *states = &source->states;
	struct row *row = calloc(top->threads + states->count + 1, sizeof(*row));
	bool *has_events = calloc(states->count + 1, sizeof(*has_events));
	size_t rows = 0;

	*count = 0;
	if (!row || !has_events) {
		free(row);
		free(has_events);
		return NULL;
	}
	for (size_t i = 0; i < top->threads; i++) {
		const struct top_thread *thread = &top->thread[i];

		if (!thread->events || !thread->tid || thread->pid == getpid())
			continue;
		row[rows].thread = *thread;
		row[rows].state = top_states_find(states, thread->pid, thread->tid);
		if (row[rows].state)
			has_events[row[rows].state - states->state] = true;
		rows++;
	}
	for (size_t i = 0; i < states->count; i++) {
		if (has_events[i])
			continue;
		row[rows].thread.pid = states->state[i].pid;
		row[rows].thread.tid = states->state[i].tid;
		row[rows++].state = &states->state[i];
	}
	free(has_events);
	if (rows)
		qsort(row, rows, sizeof(*row), order_threads);
	*count = rows;
	return row;
}

/* Writes the part of threads. A log has no states of the present. */
static void put_threads(struct top_page *page, const struct top_source *source,
			const struct top *top, size_t rows)
{
	size_t count;
	struct row *row = sorted_threads(source, top, &count);

	top_page_heading(page, source->pid ? "    EVENTS/S      EVENTS RUNNING  READY BLOCKED"
					     "     PID     TID  THREAD"
					   : "    EVENTS/S      EVENTS         PID         TID"
					     "  THREAD");
	for (size_t i = 0; i < count && i < rows; i++) {
		put_rate(row[i].thread.rate);
		put_count(row[i].thread.events);
		if (source->pid)
			put_shares(row[i].state);
		out_printf(&line, source->pid ? "%8d%8d" : "%12d%12d", (int)row[i].thread.pid,
			   (int)row[i].thread.tid);
		put_thread_name(source, &row[i]);
		put_call(row[i].state);
		end_line(page, false);
	}
	free(row);
}

/* Orders locks by total waiting time, the greatest first. */
static int order_locks(const void *a, const void *b)
{
	const struct lock *const *x = a, *const *y = b;

	return by_number((double)(*x)->wait.total_ns, (double)(*y)->wait.total_ns);
}

/* Writes the part of contended locks, in order of the total time that threads waited for them. */
static void put_locks(struct top_page *page, const struct top_source *source, const struct top *top,
		      size_t rows)
{
	const struct lock **lock = malloc((top->locks.count + 1) * sizeof(*lock));
	struct posix_trace_object_np object;
	size_t count = 0;

	for (size_t i = 0; lock && i < top->locks.count; i++)
		if (top->locks.lock[i].wait.count)
			lock[count++] = &top->locks.lock[i];
	if (count) {
		qsort(lock, count, sizeof(*lock), order_locks);
		top_page_heading(
			page, "       WAITS      WAITED         MAX         PID  CONTENDED LOCK");
	}
	for (size_t i = 0; i < count && i < rows; i++) {
		put_count(lock[i]->wait.count);
		put_time(lock[i]->wait.total_ns);
		put_time(lock[i]->wait.max_ns);
		out_printf(&line, "%12d", (int)lock[i]->pid);
		put_name(lock[i]->type->name);
		out_printf(&line, " 0x%llx", (unsigned long long)lock[i]->pointer);
		/* The page shows the present, so the newest name of the object is used. */
		if (!posix_trace_object_find_np(source->trid, lock[i]->pid, lock[i]->pointer,
						INT64_MAX, &object)) {
			out_str(&line, " \"");
			text_safe(&line, object.name, strlen(object.name));
			out_char(&line, '"');
		}
		end_line(page, false);
	}
	free(lock);
}

/* Writes the part of streams. For a log there is no such part. */
static void put_streams(struct top_page *page, const struct top_source *source, size_t rows)
{
	if (!source->pid)
		return;
	top_page_heading(page, "        FILL        SIZE      EVENTS        LOST  STREAM");
	for (size_t i = 0; i < source->streams.count && i < rows; i++) {
		const struct streams_one *one = &source->streams.one[i];

		out_printf(&line, "%11u%%", streams_fill_percent(one));
		out_printf(&line, "%11lluK", (unsigned long long)one->is.stream_size / 1024);
		put_count(one->is.recorded);
		put_count(streams_lost(one));
		put_name(one->is.name);
		out_printf(&line, " (%s)", streams_status(one));
		end_line(page, false);
	}
}

/* The parts are in a fixed order, so that the eye finds them again on the next page. */
void top_page_make(struct top_page *page, const struct top_source *source, const struct top *top,
		   enum top_view view, bool by_total, size_t rows)
{
	memset(page, 0, sizeof(*page));
	order_by_total = by_total;
	put_top(page, source, top);
	if (view == TOP_ALL || view == TOP_TYPES)
		put_types(page, top, rows);
	if (view == TOP_ALL || view == TOP_LATENCIES)
		put_latencies(page, top, rows);
	if (view == TOP_ALL || view == TOP_THREADS)
		put_threads(page, source, top, rows);
	if (view == TOP_ALL || view == TOP_LOCKED)
		put_locks(page, source, top, rows);
	if (view == TOP_ALL || view == TOP_STREAMS)
		put_streams(page, source, rows);
}

/* Frees the lines. */
void top_page_fini(struct top_page *page)
{
	for (size_t i = 0; i < page->lines; i++)
		free(page->line[i].text);
	free(page->line);
}
