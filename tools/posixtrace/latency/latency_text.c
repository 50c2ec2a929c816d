/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * latency_text.c - prints the results as tables. A series without complete spans is omitted in the
 * tables of durations.
 *
 * Names from a log may be hostile, so the functions of text.h write them. Columns are as wide as
 * their headings. A number that is wider moves the rest of its line to the right.
 */
#include "latency/latency.h"

#include <string.h>

#include "base/brief.h"
#include "base/out.h"
#include "base/text.h"
#include "show/line.h"
#include "symbols/data.h"

/* Writes a duration in a column of nine characters. */
static void put_column(struct out *out, double ns)
{
	char text[BRIEF_BYTES];

	out_printf(out, " %8s", brief_ns(text, ns));
}

/*
 * Ends a row with the name of the series. If events of the types of the series were lost, their
 * number follows.
 */
static void put_series_name(struct out *out, const struct latency_series *series)
{
	out_str(out, "  ");
	text_name(out, series->series->name, strlen(series->series->name));
	if (series->lost)
		out_printf(out, " (%llu event%s lost)", (unsigned long long)series->lost,
			   text_plural(series->lost));
	out_char(out, '\n');
}

/* Returns whether a series has a duration. */
static bool has_times(const struct latency *latency)
{
	for (size_t i = 0; i < latency->count; i++)
		if (latency->series[i].time.count)
			return true;
	return false;
}

/* Prints the table of durations. */
static void print_times(struct out *out, const struct latency *latency)
{
	if (!has_times(latency)) {
		out_str(out, "\nno span has ended, and no event has a duration\n");
		return;
	}
	out_str(out,
		"\n       count    per second      min      p50      p90      p99    p99.9      max"
		"    total  span or event\n");
	for (size_t i = 0; i < latency->count; i++) {
		const struct histogram *time = &latency->series[i].time;

		if (!time->count)
			continue;
		out_printf(out, "%12llu %13.1f", (unsigned long long)time->count,
			   latency_rate(latency, time->count));
		put_column(out, (double)time->min);
		put_column(out, (double)histogram_percentile(time, 0.5));
		put_column(out, (double)histogram_percentile(time, 0.9));
		put_column(out, (double)histogram_percentile(time, 0.99));
		put_column(out, (double)histogram_percentile(time, 0.999));
		put_column(out, (double)time->max);
		put_column(out, time->total);
		put_series_name(out, &latency->series[i]);
	}
}

/* Prints the table of CPU times, if any span has a CPU time. */
static void print_cpu(struct out *out, const struct latency *latency)
{
	bool any = false;

	for (size_t i = 0; i < latency->count; i++) {
		const struct latency_series *series = &latency->series[i];

		if (!series->cpu_count)
			continue;
		if (!any)
			out_str(out, "\n       count wall tot. cpu tot. cpu max. cpu/wall  span or "
				     "event\n");
		any = true;
		out_printf(out, "%12llu", (unsigned long long)series->cpu_count);
		put_column(out, series->cpu_wall_ns);
		put_column(out, (double)series->cpu_ns);
		put_column(out, (double)series->cpu_max_ns);
		out_printf(out, " %7.1f%%", series->cpu_wall_ns > 0 ?
			   100.0 * (double)series->cpu_ns / series->cpu_wall_ns : 0.0);
		put_series_name(out, series);
	}
}

/*
 * Prints the table of the beginnings and ends that belong to no complete span. They do not
 * contribute to durations.
 */
static void print_unmatched(struct out *out, const struct latency *latency)
{
	bool any = false;

	for (size_t i = 0; i < latency->count; i++) {
		const struct series *series = latency->series[i].series;

		if (!(series->no_begin | series->no_end | series->cut | series->dropped |
		      series->backwards))
			continue;
		if (!any)
			out_str(out, "\n    no begin       no end cut by loss    no room  backwards"
				     "  unmatched in\n");
		any = true;
		out_printf(out, "%12llu %12llu %11llu %10llu %10llu",
			   (unsigned long long)series->no_begin, (unsigned long long)series->no_end,
			   (unsigned long long)series->cut, (unsigned long long)series->dropped,
			   (unsigned long long)series->backwards);
		put_series_name(out, &latency->series[i]);
	}
	if (latency->pairing.types_without_room)
		out_printf(out, "\n%llu event types beyond the limit of %d spans are not shown\n",
			   (unsigned long long)latency->pairing.types_without_room, PAIRING_SERIES);
}

/* ------------------------------------------------------------------ locks */

/* Writes the number, total, mean and maximum of times of waiting or holding. */
static void put_sum(struct out *out, const struct locks_sum *sum)
{
	out_printf(out, "%9llu", (unsigned long long)sum->count);
	put_column(out, (double)sum->total_ns);
	put_column(out, sum->count ? (double)sum->total_ns / (double)sum->count : 0);
	put_column(out, (double)sum->max_ns);
}

/* Writes the address of a lock and the name that it had at that time, if the log has one. */
static void lock_name(struct out *out, const struct latency *latency, pid_t pid, uint64_t pointer,
		      int64_t time_ns)
{
	struct posix_trace_object_np object;
	/* The address is always written, because several locks may have the same name. */
	const char *called = data_name(&latency->log, pid, pointer, time_ns, &object);

	out_printf(out, "0x%llx", (unsigned long long)pointer);
	if (called) {
		out_char(out, ' ');
		text_quoted(out, called, strlen(called));
	}
}

/* Prints the locks in the order of the total time for which threads waited. */
static void print_locks(struct out *out, const struct latency *latency)
{
	const struct locks *locks = &latency->locks;

	if (!locks->count)
		return;
	out_str(out, "\n    waits    total     mean      max    holds    total     mean      max"
		     "     pid  lock\n");
	for (size_t i = 0; i < locks->count; i++) {
		const struct lock *lock = &locks->lock[i];

		put_sum(out, &lock->wait);
		put_sum(out, &lock->held);
		out_printf(out, " %7d  ", (int)lock->pid);
		lock_name(out, latency, lock->pid, lock->pointer, lock->last_ns);
		if (lock->type) {
			out_char(out, ' ');
			out_bytes(out, lock->type->shown, lock->type->shown_len);
		}
		out_char(out, '\n');
	}
	if (!locks->other_events)
		return;
	put_sum(out, &locks->other_wait);
	put_sum(out, &locks->other_held);
	out_printf(out, "       -  others than the first %d\n", LOCKS_MAX);
}

/* Prints the threads in the order of the total time for which they waited. */
static void print_waiters(struct out *out, const struct latency *latency)
{
	const struct locks *locks = &latency->locks;

	if (!locks->waiters)
		return;
	out_str(out, "\n    waits    total     mean      max     pid     tid  longest wait for\n");
	for (size_t i = 0; i < locks->waiters; i++) {
		const struct waiter *waiter = &locks->waiter[i];

		put_sum(out, &waiter->wait);
		out_printf(out, " %7d %7d  ", (int)waiter->pid, (int)waiter->tid);
		lock_name(out, latency, waiter->pid, waiter->longest, waiter->last_ns);
		out_char(out, '\n');
	}
	/* All threads beyond LOCKS_MAX together have one row. */
	if (locks->other_waiters.count) {
		put_sum(out, &locks->other_waiters);
		out_printf(out, "       -       -  others than the first %d\n", LOCKS_MAX);
	}
}

/* ------------------------------------------------------------------ the slowest */

/* Prints an event near a slow span; > and < mark the span's beginning and end. */
static void event_line(struct out *out, const struct latency *latency, struct line_form *form,
		       const struct slow_event *event, const struct span *span)
{
	bool is_end = event->ordinal == span->end_ordinal;
	/*
	 * The cast removes const, because logfile_type() may add a type to the log. The types of
	 * all kept events have been added before, so the call changes nothing.
	 */
	const struct log_type *type = logfile_type((struct logfile *)&latency->log,
						   event->event.info.posix_event_id);

	out_str(out, event->ordinal == span->begin_ordinal ? "  > " : is_end ? "  < " : "    ");
	line_put(out, form, &latency->log, type, &event->event);
}

/* Prints the events of a part, the oldest first. */
static void put_part(struct out *out, const struct latency *latency, struct line_form *form,
		     const struct slow *slow, enum slow_part which)
{
	const struct slow_event *event;

	for (size_t i = 0; (event = slowest_at(&latency->slowest, slow, which, i)); i++)
		event_line(out, latency, form, event, &slow->span);
}

/* Prints a slow span with the events around it. */
static void print_slow(struct out *out, const struct latency *latency, const struct slow *slow,
		       size_t number, enum when_form when)
{
	const struct span *span = &slow->span;
	struct line_form form = { .when = when };
	char text[BRIEF_BYTES], time[WHEN_BYTES];
	/*
	 * SLOW_LAST keeps the last events during the span, at most "around" of them. The events
	 * before them were overwritten, and only their number is printed.
	 */
	uint64_t hidden = slow->seen[SLOW_LAST] > latency->slowest.around ?
			  slow->seen[SLOW_LAST] - latency->slowest.around : 0;

	out_printf(out, "\nslowest %zu: %s, from %s, pid %d tid %d", number,
		   brief_ns(text, (double)span->time_ns), when_string(time, span->begin_ns, when),
		   (int)span->pid, (int)span->begin_tid);
	if (span->tid != span->begin_tid)
		out_printf(out, " to tid %d", (int)span->tid);
	if (span->has_cpu)
		out_printf(out, ", cpu %s", brief_ns(text, (double)span->cpu_ns));
	out_char(out, ':');
	out_char(out, ' ');
	text_name(out, span->series->name, strlen(span->series->name));
	out_char(out, '\n');
	/* With --around 0 no events were kept. */
	if (!latency->slowest.around)
		return;
	put_part(out, latency, &form, slow, SLOW_BEFORE);
	put_part(out, latency, &form, slow, SLOW_FIRST);
	if (hidden)
		out_printf(out, "    ... %llu event%s\n", (unsigned long long)hidden,
			   text_plural(hidden));
	put_part(out, latency, &form, slow, SLOW_LAST);
	put_part(out, latency, &form, slow, SLOW_AFTER);
}

/* Prints all tables. The caller has sorted the series and the locks. */
void latency_text(struct out *out, const struct latency *latency, enum when_form form)
{
	char span[WHEN_BYTES];
	int64_t ns;

	/* In a damaged log the difference of the times may overflow. */
	if (__builtin_sub_overflow(latency->last_ns, latency->first_ns, &ns))
		ns = INT64_MAX;
	text_safe(out, latency->log.path, strlen(latency->log.path));
	out_printf(out, ": %llu event%s, %s s", (unsigned long long)latency->events,
		   text_plural(latency->events), when_span_string(span, ns));
	if (latency->lost.total)
		out_printf(out, ", %llu event%s of these types lost",
			   (unsigned long long)latency->lost.total,
			   text_plural(latency->lost.total));
	if (latency->lost.untraced)
		out_printf(out, ", %llu call%s of these types not traced",
			   (unsigned long long)latency->lost.untraced,
			   text_plural(latency->lost.untraced));
	out_char(out, '\n');
	print_times(out, latency);
	print_cpu(out, latency);
	print_unmatched(out, latency);
	print_locks(out, latency);
	print_waiters(out, latency);
	for (size_t i = 0; i < latency->slowest.count; i++)
		print_slow(out, latency, &latency->slowest.slow[i], i + 1, form);
}
