/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * latency_json.c - the results as one JSON object. Durations are numbers, times since 1970 strings.
 */
#include "latency/latency.h"

#include <string.h>

#include "base/out.h"
#include "base/text.h"
#include "show/line.h"

/* Adds a member; each begins with its comma. */
static void put_member(struct out *out, const char *name, uint64_t value)
{
	out_printf(out, ",\"%s\":%llu", name, (unsigned long long)value);
}

/* A string: a double cannot hold nanoseconds since 1970 exactly. */
static void time_member(struct out *out, const char *name, int64_t time_ns)
{
	out_printf(out, ",\"%s\":\"%lld\"", name, (long long)time_ns);
}

/* Writes a text of the log or of the command line as a JSON string. */
static void quoted(struct out *out, const char *text)
{
	text_json(out, text, strlen(text));
}

/* The figures of a series. Without a complete span it has no times. */
static void put_series(struct out *out, const struct latency *latency,
		   const struct latency_series *series)
{
	const struct histogram *time = &series->time;

	out_str(out, "{\"name\":");
	quoted(out, series->series->name);
	out_printf(out, ",\"kind\":\"%s\"", pairing_kind_name(series->series->kind));
	put_member(out, "count", time->count);
	/* A fixed number of decimals: %g could write an exponent. */
	out_printf(out, ",\"per_second\":%.3f", latency_rate(latency, time->count));
	if (time->count) {
		put_member(out, "min_ns", time->min);
		put_member(out, "p50_ns", histogram_percentile(time, 0.5));
		put_member(out, "p90_ns", histogram_percentile(time, 0.9));
		put_member(out, "p99_ns", histogram_percentile(time, 0.99));
		put_member(out, "p99_9_ns", histogram_percentile(time, 0.999));
		put_member(out, "max_ns", time->max);
		out_printf(out, ",\"mean_ns\":%.1f,\"total_ns\":%.0f",
			   time->total / (double)time->count, time->total);
	}
	if (series->cpu_count) {
		put_member(out, "cpu_count", series->cpu_count);
		put_member(out, "cpu_total_ns", series->cpu_ns);
		put_member(out, "cpu_max_ns", series->cpu_max_ns);
		out_printf(out, ",\"cpu_wall_ns\":%.0f", series->cpu_wall_ns);
	}
	put_member(out, "no_begin", series->series->no_begin);
	put_member(out, "no_end", series->series->no_end);
	put_member(out, "cut", series->series->cut);
	put_member(out, "dropped", series->series->dropped);
	put_member(out, "backwards", series->series->backwards);
	put_member(out, "lost", series->lost);
	out_char(out, '}');
}

/* The sum of the times of waiting or holding. */
static void put_sum(struct out *out, const char *name, const struct locks_sum *sum)
{
	out_printf(out, ",\"%s\":{\"count\":%llu", name, (unsigned long long)sum->count);
	put_member(out, "total_ns", sum->total_ns);
	put_member(out, "max_ns", sum->max_ns);
	out_char(out, '}');
}

/* The address of a lock, and the name that it had at the time. */
static void put_pointer(struct out *out, const struct latency *latency, const char *name, pid_t pid,
		    uint64_t pointer, int64_t time_ns)
{
	struct posix_trace_object_np object;
	const char *called = locks_name(&latency->log, pid, pointer, time_ns, &object);

	out_printf(out, "\"%s\":\"0x%llx\"", name, (unsigned long long)pointer);
	if (called) {
		out_printf(out, ",\"%s_name\":", name);
		quoted(out, called);
	}
}

/* Locks and waiting threads, each with the sum of those beyond the limit. */
static void put_locks(struct out *out, const struct latency *latency)
{
	const struct locks *locks = &latency->locks;

	out_str(out, ",\"locks\":[");
	for (size_t i = 0; i < locks->count; i++) {
		const struct lock *lock = &locks->lock[i];

		out_str(out, i ? ",{" : "{");
		put_pointer(out, latency, "lock", lock->pid, lock->pointer, lock->last_ns);
		put_member(out, "pid", (uint64_t)lock->pid);
		if (lock->type) {
			out_str(out, ",\"event\":");
			quoted(out, lock->type->name);
		}
		put_sum(out, "wait", &lock->wait);
		put_sum(out, "held", &lock->held);
		out_char(out, '}');
	}
	out_printf(out, "],\"other_locks\":{\"events\":%llu",
		   (unsigned long long)locks->other_events);
	put_sum(out, "wait", &locks->other_wait);
	put_sum(out, "held", &locks->other_held);
	out_str(out, "},\"waiters\":[");
	for (size_t i = 0; i < locks->waiters; i++) {
		const struct waiter *waiter = &locks->waiter[i];

		out_printf(out, "%s{\"pid\":%d,\"tid\":%d", i ? "," : "", (int)waiter->pid,
			   (int)waiter->tid);
		put_sum(out, "wait", &waiter->wait);
		out_char(out, ',');
		put_pointer(out, latency, "longest", waiter->pid, waiter->longest, waiter->last_ns);
		out_char(out, '}');
	}
	out_char(out, ']');
	put_sum(out, "other_waiters", &locks->other_waiters);
}

/*
 * Adds the events of a part as elements of an array. Lines of JSON end with a line end, which is
 * white space in an array.
 */
static void put_events(struct out *out, const struct latency *latency, const struct slow *slow,
		   enum slow_part part, bool *any)
{
	struct line_form form = { .json = true };
	const struct slow_event *event;

	for (size_t i = 0; (event = slowest_at(&latency->slowest, slow, part, i)); i++) {
		out_str(out, *any ? "," : "");
		*any = true;
		line_put(out, &form, &latency->log,
			 logfile_type((struct logfile *)&latency->log,
				      event->event.info.posix_event_id),
			 &event->event);
	}
}

/* A slow span with the events before, during and after it. */
static void put_slow(struct out *out, const struct latency *latency, const struct slow *slow)
{
	/* The events of a span are in two parts, because only its begin and its end are kept. */
	static const struct {
		const char *name;
		enum slow_part from, to;
	} rows[] = { { "before", SLOW_BEFORE, SLOW_BEFORE }, { "during", SLOW_FIRST, SLOW_LAST },
		     { "after", SLOW_AFTER, SLOW_AFTER } };
	const struct span *span = &slow->span;

	out_str(out, "{\"name\":");
	quoted(out, span->series->name);
	out_printf(out, ",\"kind\":\"%s\"", pairing_kind_name(span->series->kind));
	put_member(out, "duration_ns", span->time_ns);
	if (span->has_cpu)
		put_member(out, "cpu_ns", span->cpu_ns);
	time_member(out, "begin_ns", span->begin_ns);
	time_member(out, "end_ns", span->end_ns);
	out_printf(out, ",\"pid\":%d,\"begin_tid\":%d,\"tid\":%d", (int)span->pid,
		   (int)span->begin_tid, (int)span->tid);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool any = false;

		out_printf(out, ",\"%s\":[", rows[i].name);
		for (enum slow_part part = rows[i].from; part <= rows[i].to; part++)
			put_events(out, latency, slow, part, &any);
		out_char(out, ']');
	}
	/* Events in the middle of a long span are not kept, only counted. */
	if (slow->seen[SLOW_LAST] > latency->slowest.around)
		put_member(out, "during_hidden", slow->seen[SLOW_LAST] - latency->slowest.around);
	out_char(out, '}');
}

/* The order of the arrays is that of the text. */
void latency_json(struct out *out, const struct latency *latency)
{
	out_str(out, "{\"log\":");
	quoted(out, latency->log.path);
	put_member(out, "events", latency->events);
	put_member(out, "lost", latency->lost.total);
	time_member(out, "first_ns", latency->first_ns);
	time_member(out, "last_ns", latency->last_ns);
	put_member(out, "types_without_room", latency->pairing.types_without_room);
	out_str(out, ",\"series\":[");
	for (size_t i = 0; i < latency->count; i++) {
		out_str(out, i ? "," : "");
		put_series(out, latency, &latency->series[i]);
	}
	out_char(out, ']');
	put_locks(out, latency);
	out_str(out, ",\"slowest\":[");
	for (size_t i = 0; i < latency->slowest.count; i++) {
		out_str(out, i ? "," : "");
		put_slow(out, latency, &latency->slowest.slow[i]);
	}
	out_str(out, "]}\n");
}
