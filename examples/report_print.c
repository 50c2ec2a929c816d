/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _XOPEN_SOURCE 700

#include "report.h"

#include <stdio.h>
#include <stdlib.h>

#define SLOWEST 10

static double ms(int64_t ns)
{
	return (double)ns / 1e6;
}

static double us(int64_t ns)
{
	return (double)ns / 1e3;
}

static int by_count(const void *a, const void *b)
{
	const struct event_count *x = a, *y = b;

	return (x->count < y->count) - (x->count > y->count);
}

static int by_value(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int64_t service_ns(const struct file *file)
{
	return file->hashed_ns - file->opened_ns;
}

static int by_service(const void *a, const void *b)
{
	const struct file *const *x = a, *const *y = b;
	int64_t s = service_ns(*x), t = service_ns(*y);

	return (s < t) - (s > t);
}

static void print_types(const struct report *report)
{
	size_t i;

	qsort(report->types, report->type_count, sizeof(*report->types), by_count);
	printf("\nevents by type\n");
	for (i = 0; i < report->type_count && report->types[i].count > 0; i++)
		printf("  %10lu  %12llu bytes  %s\n", report->types[i].count,
		       report->types[i].bytes, report->types[i].name);
	printf("  %10lu  in %.3f s\n", report->events,
	       ms(report->last_ns - report->first_ns) / 1e3);
	if (report->truncated)
		printf("  %10lu  with data cut to max-data-size\n", report->truncated);
	if (report->malformed)
		printf("  %10lu  with data too short to be dirhash's\n", report->malformed);
}

static void print_percentiles(const char *what, int64_t *ns, size_t count)
{
	static const int percent[] = { 50, 90, 99 };
	size_t i;

	if (count == 0)
		return;
	qsort(ns, count, sizeof(*ns), by_value);
	printf("  %-22s", what);
	for (i = 0; i < sizeof(percent) / sizeof(percent[0]); i++)
		printf("  p%d %10.1f us", percent[i], us(ns[(count - 1) * percent[i] / 100]));
	printf("  max %10.1f us\n", us(ns[count - 1]));
}

static void print_slowest(const struct file **done, size_t count)
{
	size_t i;

	qsort(done, count, sizeof(*done), by_service);
	printf("\nthe slowest files, open to hashed\n");
	for (i = 0; i < count && i < SLOWEST; i++)
		printf("  %10.1f us  %12llu bytes  worker %-3lu  %s\n", us(service_ns(done[i])),
		       (unsigned long long)done[i]->bytes, (unsigned long)done[i]->worker,
		       done[i]->path ? done[i]->path : "(path not in the log)");
}

static void print_latency(const struct report *report)
{
	const struct file **done = malloc((report->file_count + 1) * sizeof(*done));
	int64_t *ns = malloc((report->file_count + 1) * sizeof(*ns));
	size_t i, count = 0, waited = 0;

	if (!done || !ns) {
		fprintf(stderr, "dirhash-report: out of memory\n");
		exit(1);
	}
	for (i = 0; i < report->file_count; i++)
		if (report->files[i].opened_ns && report->files[i].hashed_ns)
			done[count++] = &report->files[i];

	if (count == 0)
		goto out;
	printf("\nlatency of %lu files\n", (unsigned long)count);
	for (i = 0; i < count; i++)
		ns[i] = service_ns(done[i]);
	print_percentiles("open to hashed", ns, count);
	for (i = 0; i < count; i++)
		if (done[i]->queued_ns)
			ns[waited++] = done[i]->opened_ns - done[i]->queued_ns;
	print_percentiles("queued to open", ns, waited);
	printf("  longest queue left behind by a worker: %lu\n",
	       (unsigned long)report->queue_longest);

	print_slowest(done, count);
out:
	free(done);
	free(ns);
}

static void print_workers(const struct report *report)
{
	size_t i;

	printf("\nworkers\n");
	for (i = 0; i < report->worker_count; i++) {
		const struct worker_total *w = &report->workers[i];

		printf("  %3lu  %8lu files  %14llu bytes  busy %10.1f ms", (unsigned long)i,
		       w->files, w->bytes, ms(w->busy_ns));
		if (w->start_ns && w->stop_ns > w->start_ns)
			printf(" of %10.1f ms", ms(w->stop_ns - w->start_ns));
		printf("\n");
	}
}

void report_print(const struct report *report)
{
	print_types(report);
	print_latency(report);
	print_workers(report);
}
