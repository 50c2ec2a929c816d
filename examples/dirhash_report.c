/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dirhash-report LOG - reads the log of dirhash and prints the parts of its time.
 *
 *	cc dirhash_report.c report_print.c -o dirhash-report \
 *		$(pkg-config --cflags --libs posixtrace)
 *
 * The program is an example of an analyzer. It finds event types by name in the list of the log,
 * compares identifiers only with posix_trace_eventid_equal(), and checks the length of the data
 * before it uses the data. It uses only the portable <trace.h>, without extensions.
 */
#define _XOPEN_SOURCE 700

#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILES_MAX (16u << 20) /* a log with this or a greater number of a file is damaged */

static struct report report;

static void die(const char *what, int error)
{
	fprintf(stderr, "dirhash-report: %s: %s\n", what, strerror(error));
	exit(1);
}

static void *grow(void *array, size_t count, size_t size)
{
	array = realloc(array, count * size);
	if (!array)
		die("out of memory", ENOMEM);
	return array;
}

/* --- event types ------------------------------------------------------------------------- */

static int type_of(const char *name)
{
	static const char *const names[EV_TYPES] = {
#define AS_NAME(symbol, name, schema) name,
		EVENT_TYPES(AS_NAME)
#undef AS_NAME
	};
	int type;

	for (type = 0; type < EV_TYPES; type++)
		if (!strcmp(names[type], name))
			return type;
	return -1;
}

static void read_types(trace_id_t log)
{
	trace_event_id_t id;
	int error, end;

	for (;;) {
		struct event_count *new;

		error = posix_trace_eventtypelist_getnext_id(log, &id, &end);
		if (error)
			die("posix_trace_eventtypelist_getnext_id", error);
		if (end)
			return;
		report.types = grow(report.types, report.type_count + 1, sizeof(*report.types));
		new = &report.types[report.type_count++];
		memset(new, 0, sizeof(*new));
		new->id = id;
		error = posix_trace_eventid_get_name(log, id, new->name);
		if (error)
			die("posix_trace_eventid_get_name", error);
		new->type = type_of(new->name);
	}
}

static struct event_count *find_type(trace_id_t log, trace_event_id_t id)
{
	size_t i;

	for (i = 0; i < report.type_count; i++)
		if (posix_trace_eventid_equal(log, report.types[i].id, id))
			return &report.types[i];
	return NULL;
}

/* --- events ------------------------------------------------------------------------------ */

/* Returns the entry of a file and makes it if it is new, or NULL if the number is too large. */
static struct file *file_at(uint32_t number)
{
	size_t room = report.file_count;

	if (number >= FILES_MAX)
		return NULL;
	if (number >= room) {
		room = (size_t)number + 1 + number / 2;
		report.files = grow(report.files, room, sizeof(*report.files));
		memset(report.files + report.file_count, 0,
		       (room - report.file_count) * sizeof(*report.files));
		report.file_count = room;
	}
	return &report.files[number];
}

static struct worker_total *worker_at(uint32_t number)
{
	if (number >= WORKERS_MAX)
		return NULL;
	if (number >= report.worker_count)
		report.worker_count = (size_t)number + 1;
	return &report.workers[number];
}

static void file_queued(uint32_t number, const char *path, size_t bytes, int64_t now)
{
	struct file *file = file_at(number);

	if (!file || file->path)
		return;
	file->queued_ns = now;
	file->path = grow(NULL, bytes + 1, 1);
	memcpy(file->path, path, bytes);
	file->path[bytes] = '\0';
}

static void file_hashed(const struct ev_hashed *hashed, int64_t now)
{
	struct file *file = file_at(hashed->file);
	struct worker_total *worker = worker_at(hashed->worker);

	if (!file || !worker)
		return;
	file->hashed_ns = now;
	file->bytes = hashed->bytes;
	file->worker = hashed->worker;
	worker->files++;
	worker->bytes += hashed->bytes;
	if (file->opened_ns)
		worker->busy_ns += now - file->opened_ns;
}

static void worker_event(int type, uint32_t number, int64_t now)
{
	struct worker_total *worker = worker_at(number);

	if (!worker)
		return;
	if (type == EV_WORKER_START)
		worker->start_ns = now;
	else
		worker->stop_ns = now;
}

/* Returns the size of the structure in the data of an event. The path behind it may be empty. */
static size_t least_bytes(int type)
{
	switch (type) {
	case EV_FILE_QUEUED:
	case EV_FILE_OPEN:
		return sizeof(struct ev_file);
	case EV_QUEUE_FULL:
	case EV_QUEUE_EMPTY:
	case EV_QUEUE_LENGTH:
		return sizeof(struct ev_queue);
	case EV_FILE_CHUNK:
		return sizeof(struct ev_chunk);
	case EV_FILE_HASHED:
		return sizeof(struct ev_hashed);
	case EV_FILE_ERROR:
	case EV_DIR_ERROR:
		return sizeof(struct ev_error);
	case EV_WORKER_START:
	case EV_WORKER_STOP:
		return sizeof(struct ev_worker);
	case EV_WALK_DONE:
		return sizeof(struct ev_walk);
	default:
		return 0;
	}
}

static void take_event(int type, const char *data, size_t bytes, int64_t now)
{
	union { /* a copy, because `data` is not aligned */
		struct ev_file file;
		struct ev_queue queue;
		struct ev_hashed hashed;
		struct ev_worker worker;
	} u;
	size_t least = least_bytes(type);
	struct file *file;

	if (bytes < least) {
		report.malformed++;
		return;
	}
	memcpy(&u, data, least < sizeof(u) ? least : sizeof(u));
	switch (type) {
	case EV_FILE_QUEUED:
		file_queued(u.file.file, data + least, bytes - least, now);
		break;
	case EV_FILE_OPEN:
		file = file_at(u.file.file);
		if (file)
			file->opened_ns = now;
		break;
	case EV_FILE_HASHED:
		file_hashed(&u.hashed, now);
		break;
	case EV_QUEUE_LENGTH:
		if (u.queue.length > report.queue_longest)
			report.queue_longest = u.queue.length;
		break;
	case EV_WORKER_START:
	case EV_WORKER_STOP:
		worker_event(type, u.worker.worker, now);
		break;
	}
}

static void read_events(trace_id_t log)
{
	struct posix_trace_event_info event;
	struct event_count *type;
	char data[EV_DATA_MAX];
	size_t bytes;
	int error, end;
	int64_t now;

	for (;;) {
		error = posix_trace_getnext_event(log, &event, data, sizeof(data), &bytes, &end);
		if (error)
			die("posix_trace_getnext_event", error);
		if (end)
			return;
		now = (int64_t)event.posix_timestamp.tv_sec * 1000000000 +
		      event.posix_timestamp.tv_nsec;
		if (report.events++ == 0)
			report.first_ns = now;
		report.last_ns = now;
		if (event.posix_truncation_status == POSIX_TRACE_TRUNCATED_RECORD)
			report.truncated++;
		type = find_type(log, event.posix_event_id);
		if (!type)
			continue;
		type->count++;
		type->bytes += bytes;
		if (type->type >= 0)
			take_event(type->type, data, bytes, now);
	}
}

/* --- main -------------------------------------------------------------------------------- */

/* Prints warnings before the figures, because missing events make every figure doubtful. */
static void print_header(trace_id_t log, const char *path)
{
	struct posix_trace_status_info status;
	char name[TRACE_NAME_MAX + 1];
	trace_attr_t attr;
	int error;

	error = posix_trace_get_attr(log, &attr);
	if (!error)
		error = posix_trace_attr_getname(&attr, name);
	if (error)
		die("posix_trace_get_attr", error);
	posix_trace_attr_destroy(&attr);
	printf("%s: stream \"%s\"\n", path, name);

	error = posix_trace_get_status(log, &status);
	if (error)
		die("posix_trace_get_status", error);
	if (status.posix_stream_overrun_status == POSIX_TRACE_OVERRUN)
		printf("WARNING: events were lost in the stream\n");
	if (status.posix_log_overrun_status == POSIX_TRACE_OVERRUN)
		printf("WARNING: events were lost in the log\n");
	if (status.posix_stream_flush_error)
		printf("WARNING: a flush failed: %s\n", strerror(status.posix_stream_flush_error));
}

int main(int argc, char **argv)
{
	trace_id_t log;
	int error, fd;

	if (argc != 2) {
		fprintf(stderr, "usage: dirhash-report LOG\n");
		return 2;
	}
	fd = open(argv[1], O_RDONLY);
	if (fd < 0)
		die(argv[1], errno);
	error = posix_trace_open(fd, &log);
	if (error == EINVAL) {
		fprintf(stderr, "dirhash-report: %s: no trace log that can be read here\n",
			argv[1]);
		return 1;
	}
	if (error)
		die(argv[1], error);
	print_header(log, argv[1]);
	read_types(log);
	read_events(log);
	report_print(&report);
	error = posix_trace_close(log);
	if (error)
		die("posix_trace_close", error);
	return fflush(stdout) ? 1 : 0;
}
