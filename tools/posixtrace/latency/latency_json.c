/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * latency_json.c - prints the results as one JSON object. Durations are numbers, but times since
 * 1970 are strings.
 *
 * A time since 1970 in nanoseconds is greater than 2^53, and programs that use double are exact
 * only up to 2^53. All arrays are written, even empty arrays, so that a program need not test
 * whether they exist.
 */
#include "latency/latency.h"

#include <string.h>

#include "base/json.h"
#include "base/out.h"
#include "base/text.h"
#include "show/line.h"
#include "symbols/data.h"

/* Writes the figures of a series. A series without a complete span has no times. */
static void put_series(struct json *json, const struct latency *latency,
		       const struct latency_series *series)
{
	const struct histogram *time = &series->time;

	json_object(json, NULL);
	json_string_member(json, "name", series->series->name);
	json_string_member(json, "kind", pairing_kind_name(series->series->kind));
	json_unsigned(json, "count", time->count);
	/* The format has a fixed number of decimals, because %g could write an exponent. */
	json_real(json, "per_second", "%.3f", latency_rate(latency, time->count));
	if (time->count) {
		json_unsigned(json, "min_ns", time->min);
		json_unsigned(json, "p50_ns", histogram_percentile(time, 0.5));
		json_unsigned(json, "p90_ns", histogram_percentile(time, 0.9));
		json_unsigned(json, "p99_ns", histogram_percentile(time, 0.99));
		json_unsigned(json, "p99_9_ns", histogram_percentile(time, 0.999));
		json_unsigned(json, "max_ns", time->max);
		json_real(json, "mean_ns", "%.1f", time->total / (double)time->count);
		json_real(json, "total_ns", "%.0f", time->total);
	}
	if (series->cpu_count) {
		json_unsigned(json, "cpu_count", series->cpu_count);
		json_unsigned(json, "cpu_total_ns", series->cpu_ns);
		json_unsigned(json, "cpu_max_ns", series->cpu_max_ns);
		json_real(json, "cpu_wall_ns", "%.0f", series->cpu_wall_ns);
	}
	json_unsigned(json, "no_begin", series->series->no_begin);
	json_unsigned(json, "no_end", series->series->no_end);
	json_unsigned(json, "cut", series->series->cut);
	json_unsigned(json, "dropped", series->series->dropped);
	json_unsigned(json, "backwards", series->series->backwards);
	json_unsigned(json, "lost", series->lost);
	json_end_object(json);
}

/* Writes the number, sum and maximum of times of waiting or holding as an object with this name. */
static void put_sum(struct json *json, const char *name, const struct locks_sum *sum)
{
	json_object(json, name);
	json_unsigned(json, "count", sum->count);
	json_unsigned(json, "total_ns", sum->total_ns);
	json_unsigned(json, "max_ns", sum->max_ns);
	json_end_object(json);
}

/*
 * Writes the address of a lock as a member called "name". If the lock had a name at this time,
 * writes this name as a second member, called "name_of_name".
 */
static void put_pointer(struct json *json, const struct latency *latency, const char *name,
			const char *name_of_name, pid_t pid, uint64_t pointer, int64_t time_ns)
{
	struct posix_trace_object_np object;
	const char *called = data_name(&latency->log, pid, pointer, time_ns, &object);

	json_address(json, name, pointer);
	if (called)
		json_string_member(json, name_of_name, called);
}

/*
 * Writes the locks and the waiting threads. Behind each of the two arrays, writes the sums of the
 * locks or of the threads beyond LOCKS_MAX.
 */
static void put_locks(struct json *json, const struct latency *latency)
{
	const struct locks *locks = &latency->locks;

	json_array(json, "locks");
	for (size_t i = 0; i < locks->count; i++) {
		const struct lock *lock = &locks->lock[i];

		json_object(json, NULL);
		put_pointer(json, latency, "lock", "lock_name", lock->pid, lock->pointer,
			    lock->last_ns);
		json_unsigned(json, "pid", (uint64_t)lock->pid);
		if (lock->type)
			json_string_member(json, "event", lock->type->name);
		put_sum(json, "wait", &lock->wait);
		put_sum(json, "held", &lock->held);
		json_end_object(json);
	}
	json_end_array(json);
	json_object(json, "other_locks");
	json_unsigned(json, "events", locks->other_events);
	put_sum(json, "wait", &locks->other_wait);
	put_sum(json, "held", &locks->other_held);
	json_end_object(json);
	json_array(json, "waiters");
	for (size_t i = 0; i < locks->waiters; i++) {
		const struct waiter *waiter = &locks->waiter[i];

		json_object(json, NULL);
		json_signed(json, "pid", waiter->pid);
		json_signed(json, "tid", waiter->tid);
		put_sum(json, "wait", &waiter->wait);
		put_pointer(json, latency, "longest", "longest_name", waiter->pid, waiter->longest,
			    waiter->last_ns);
		json_end_object(json);
	}
	json_end_array(json);
	put_sum(json, "other_waiters", &locks->other_waiters);
}

/* Writes the events of a part as elements of the open array. */
static void put_events(struct json *json, const struct latency *latency, const struct slow *slow,
		       enum slow_part part)
{
	struct line_form form = { .json = true, .is_part = true };
	const struct slow_event *event;

	for (size_t i = 0; (event = slowest_at(&latency->slowest, slow, part, i)); i++) {
		json_name(json, NULL);
		line_put(json->out, &form, &latency->log,
			 logfile_type((struct logfile *)&latency->log,
				      event->event.info.posix_event_id),
			 &event->event);
	}
}

/* Writes a slow span with the events before, during and after it. */
static void put_slow(struct json *json, const struct latency *latency, const struct slow *slow)
{
	/*
	 * The events during a span are in two parts, SLOW_FIRST and SLOW_LAST, because only the
	 * first and the last events of a long span are kept.
	 */
	static const struct {
		const char *name;
		enum slow_part from, to;
	} rows[] = { { "before", SLOW_BEFORE, SLOW_BEFORE }, { "during", SLOW_FIRST, SLOW_LAST },
		     { "after", SLOW_AFTER, SLOW_AFTER } };
	const struct span *span = &slow->span;

	json_object(json, NULL);
	json_string_member(json, "name", span->series->name);
	json_string_member(json, "kind", pairing_kind_name(span->series->kind));
	json_unsigned(json, "duration_ns", span->time_ns);
	if (span->has_cpu)
		json_unsigned(json, "cpu_ns", span->cpu_ns);
	json_exact(json, "begin_ns", span->begin_ns);
	json_exact(json, "end_ns", span->end_ns);
	json_signed(json, "pid", span->pid);
	json_signed(json, "begin_tid", span->begin_tid);
	json_signed(json, "tid", span->tid);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_array(json, rows[i].name);
		for (enum slow_part part = rows[i].from; part <= rows[i].to; part++)
			put_events(json, latency, slow, part);
		json_end_array(json);
	}
	/* The events in the middle of a long span are not kept. Only their number is written. */
	if (slow->seen[SLOW_LAST] > latency->slowest.around)
		json_unsigned(json, "during_hidden",
			      slow->seen[SLOW_LAST] - latency->slowest.around);
	json_end_object(json);
}

/* The elements of each array are in the order in which the text form prints them. */
void latency_json(struct out *out, const struct latency *latency)
{
	struct json json = json_begin(out);

	json_object(&json, NULL);
	json_string_member(&json, "log", latency->log.path);
	json_unsigned(&json, "events", latency->events);
	json_unsigned(&json, "lost", latency->lost.total);
	json_unsigned(&json, "not_traced", latency->lost.untraced);
	json_exact(&json, "first_ns", latency->first_ns);
	json_exact(&json, "last_ns", latency->last_ns);
	json_unsigned(&json, "types_without_room", latency->pairing.types_without_room);
	json_array(&json, "series");
	for (size_t i = 0; i < latency->count; i++)
		put_series(&json, latency, &latency->series[i]);
	json_end_array(&json);
	put_locks(&json, latency);
	json_array(&json, "slowest");
	for (size_t i = 0; i < latency->slowest.count; i++)
		put_slow(&json, latency, &latency->slowest.slow[i]);
	json_end_array(&json);
	json_end_line(&json);
}
