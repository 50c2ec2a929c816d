/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* top_page.c - what top shows, line by line. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "base/text.h"
#include "log/equation.h"
#include "top/top.h"

static struct out line = { .fd = -1 }; /* never so long that it would be written */

static void end_line(struct top_page *page, bool heading)
{
	struct top_page_line *more = realloc(page->line, (page->lines + 1) * sizeof(*more));

	if (more) {
		page->line = more;
		more[page->lines].text = strndup(line.bytes, line.used);
		more[page->lines].heading = heading;
		page->lines += more[page->lines].text != NULL;
	}
	line.used = 0;
}

static void heading(struct top_page *page, const char *text)
{
	if (page->lines)
		end_line(page, false);
	out_str(&line, text);
	end_line(page, true);
}

static void put_count(uint64_t count)
{
	out_printf(&line, "%12llu", (unsigned long long)count);
}

static void put_rate(double rate)
{
	out_printf(&line, rate < 10 && rate > 0 ? "%12.1f" : "%12.0f", rate);
}

/* In the unit that fits. */
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
	out_printf(&line, "%12s", text);
}

static void put_name(const char *name)
{
	out_str(&line, "  ");
	text_name(&line, name, strlen(name));
}

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
	out_printf(&line, "%llu events, %.0f/s, %llu lost", (unsigned long long)top->ledger.called,
		   top->rate, (unsigned long long)equation_lost(&top->ledger));
	equation_causes(&line, &top->ledger);
	end_line(page, false);
}

static bool order_by_total;

static int by_number(double x, double y)
{
	return x > y ? -1 : x < y;
}

static int order_types(const void *a, const void *b)
{
	const struct top_type *x = *(struct top_type *const *)a, *y = *(struct top_type *const *)b;
	int order = order_by_total ? 0 : by_number(x->rate, y->rate);

	if (!order)
		order = by_number((double)x->events, (double)y->events);
	return order ? order : x->id < y->id ? -1 : 1;
}

static int order_latencies(const void *a, const void *b)
{
	const struct top_type *x = *(struct top_type *const *)a, *y = *(struct top_type *const *)b;

	return by_number((double)x->latency->total_ns, (double)y->latency->total_ns);
}

static struct top_type **sorted_types(const struct top *top, size_t *count, bool latencies)
{
	struct top_type **type = malloc((top->types + 1) * sizeof(*type));

	*count = 0;
	for (size_t i = 0; type && i < top->types; i++)
		if (latencies ? top->type[i]->latency && top->type[i]->latency->count :
				top->type[i]->events)
			type[(*count)++] = top->type[i];
	if (*count)
		qsort(type, *count, sizeof(*type), latencies ? order_latencies : order_types);
	return type;
}

static void put_types(struct top_page *page, const struct top *top, size_t rows)
{
	size_t count;
	struct top_type **type = sorted_types(top, &count, false);

	heading(page, "    EVENTS/S      EVENTS        LOST  EVENT TYPE");
	for (size_t i = 0; i < count && i < rows; i++) {
		put_rate(type[i]->rate);
		put_count(type[i]->events);
		put_count(type[i]->lost);
		put_name(type[i]->name);
		end_line(page, false);
	}
	free(type);
}

static void put_latencies(struct top_page *page, const struct top *top, size_t rows)
{
	size_t count;
	struct top_type **type = sorted_types(top, &count, true);

	if (count)
		heading(page, "       COUNT         50%         90%         99%         MAX       "
			      "TOTAL  DURATION OF");
	for (size_t i = 0; i < count && i < rows; i++) {
		const struct top_latency *latency = type[i]->latency;
		bool is_span = type[i]->schema->role != POSIX_TRACE_POINT_NP;

		put_count(latency->count);
		put_time(top_percentile(latency, 0.5));
		put_time(top_percentile(latency, 0.9));
		put_time(top_percentile(latency, 0.99));
		put_time(latency->max_ns);
		put_time(latency->total_ns);
		put_name(is_span ? type[i]->schema->span : type[i]->name);
		end_line(page, false);
	}
	free(type);
}

static int order_threads(const void *a, const void *b)
{
	const struct top_thread *x = a, *y = b;
	int order = order_by_total ? 0 : by_number(x->rate, y->rate);

	if (!order)
		order = by_number((double)x->events, (double)y->events);
	return order ? order : x->tid < y->tid ? -1 : 1;
}

/* Of one that runs. */
static void put_thread_name(const struct top_thread *thread)
{
	char path[64], name[PROCESS_NAME_BYTES];
	ssize_t len = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)thread->pid, (int)thread->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		len = read(fd, name, sizeof(name) - 1);
		close(fd);
	}
	if (len <= 0)
		return;
	name[len - (name[len - 1] == '\n')] = '\0';
	put_name(name);
}

static void put_threads(struct top_page *page, const struct top_source *source,
			const struct top *top, size_t rows)
{
	struct top_thread *thread = malloc((top->threads + 1) * sizeof(*thread));

	if (!thread)
		return;
	if (top->threads) {
		memcpy(thread, top->thread, top->threads * sizeof(*thread));
		qsort(thread, top->threads, sizeof(*thread), order_threads);
	}
	heading(page, "    EVENTS/S      EVENTS         PID         TID  THREAD");
	for (size_t i = 0, shown = 0; i < top->threads && shown < rows; i++) {
		if (!thread[i].events || !thread[i].tid || thread[i].pid == getpid())
			continue;
		put_rate(thread[i].rate);
		put_count(thread[i].events);
		out_printf(&line, "%12d%12d", (int)thread[i].pid, (int)thread[i].tid);
		if (source->pid)
			put_thread_name(&thread[i]);
		end_line(page, false);
		shown++;
	}
	free(thread);
}

static int order_locks(const void *a, const void *b)
{
	const struct top_lock *const *x = a, *const *y = b;

	return by_number((double)(*x)->total_ns, (double)(*y)->total_ns);
}

static void put_locks(struct top_page *page, const struct top_source *source, const struct top *top,
		      size_t rows)
{
	const struct top_lock **lock = malloc((top->locks + 1) * sizeof(*lock));
	struct posix_trace_object_np object;
	size_t count = 0;

	for (size_t i = 0; lock && i < TOP_LOCKS; i++)
		if (top->lock[i].waits && count < top->locks)
			lock[count++] = &top->lock[i];
	if (count) {
		qsort(lock, count, sizeof(*lock), order_locks);
		heading(page, "       WAITS      WAITED         MAX         PID  CONTENDED LOCK");
	}
	for (size_t i = 0; i < count && i < rows; i++) {
		put_count(lock[i]->waits);
		put_time(lock[i]->total_ns);
		put_time(lock[i]->max_ns);
		out_printf(&line, "%12d", (int)lock[i]->pid);
		put_name(lock[i]->type->name);
		out_printf(&line, " 0x%llx", (unsigned long long)lock[i]->pointer);
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

static void put_streams(struct top_page *page, const struct top_source *source, size_t rows)
{
	if (!source->pid)
		return;
	heading(page, "        FILL        SIZE      EVENTS        LOST  STREAM");
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

void top_page_fini(struct top_page *page)
{
	for (size_t i = 0; i < page->lines; i++)
		free(page->line[i].text);
	free(page->line);
}
