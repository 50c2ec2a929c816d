/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report.h - the data that dirhash-report reads from a log (dirhash_report.c) and prints
 * (report_print.c).
 *
 * Units     times are in nanoseconds since the Epoch; 0 if the log has no such event.
 */
#ifndef DIRHASH_REPORT_H
#define DIRHASH_REPORT_H

#include "dirhash_events.h"

#include <stddef.h>
#include <trace.h>

#define WORKERS_MAX 256

struct event_count {
	trace_event_id_t id;
	char name[TRACE_EVENT_NAME_MAX + 1];
	int type; /* enum event_type, or -1 for an event type of another program */
	unsigned long count;
	unsigned long long bytes; /* of data */
};

struct file {
	char *path; /* NULL if the log has no FILE_QUEUED of the file */
	int64_t queued_ns;
	int64_t opened_ns;
	int64_t hashed_ns;
	uint64_t bytes;
	uint32_t worker;
};

struct worker_total {
	unsigned long files;
	unsigned long long bytes;
	int64_t busy_ns; /* sum over the worker's files of the time from FILE_OPEN to FILE_HASHED */
	int64_t start_ns;
	int64_t stop_ns;
};

struct report {
	struct event_count *types;
	size_t type_count;
	struct file *files;
	size_t file_count;
	struct worker_total workers[WORKERS_MAX];
	size_t worker_count;
	unsigned long events;
	unsigned long truncated; /* events whose data was cut to max-data-size */
	unsigned long malformed; /* dirhash events whose data is too short */
	uint32_t queue_longest;
	int64_t first_ns;
	int64_t last_ns;
};

void report_print(const struct report *report);

#endif
