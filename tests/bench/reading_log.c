/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * reading_log.c - writes the log for the measurement of the tools: reading_log PATH EVENTS
 *
 * Four described event types in turn, with 8 to 24 bytes of data each; "job_begin" and "job_end"
 * are spans. The program flushes before the stream can be full, so the log has every event. The
 * law: every event is in the log. Prints their number, including the events of the stream itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "bench_stream.h"

#define FLUSH_EVERY 20000
#define TYPES       4

static const struct {
	const char *name, *schema;
	size_t bytes;
} types[TYPES] = {
	{ "job_begin", "u64 job; @begin job; @key job", 8 },
	{ "read", "u64 job; s32 fd; u32 bytes", 16 },
	{ "write", "u64 job; s32 fd; u32 bytes; ns took", 24 },
	{ "job_end", "u64 job; @end job; @key job", 8 },
};

static void open_types(trace_event_id_t id[TYPES])
{
	for (int i = 0; i < TYPES; i++) {
		int err;

		id[i] = bench_type(types[i].name);
		err = posix_trace_eventid_describe_np(id[i], types[i].schema);
		if (err)
			bench_die(types[i].schema, err);
	}
}

static void record(trace_id_t trid, const trace_event_id_t id[TYPES], uint64_t events)
{
	for (uint64_t i = 0; i < events; i++) {
		struct {
			uint64_t job;
			int32_t fd;
			uint32_t bytes;
			uint64_t took;
		} data = { i / TYPES, (int32_t)(i % 7), (uint32_t)(i % 4096), i % 1000 * 1000 };
		int err;

		posix_trace_event(id[i % TYPES], &data, types[i % TYPES].bytes);
		if (i % FLUSH_EVERY != FLUSH_EVERY - 1)
			continue;
		err = posix_trace_flush(trid);
		if (err)
			bench_die("flush", err);
	}
}

int main(int argc, char **argv)
{
	uint64_t events = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
	struct posix_trace_ledger_np ledger;
	trace_event_id_t id[TYPES];
	trace_attr_t attr;
	trace_id_t trid;
	size_t each;
	bool law;
	int fd, err;

	if (!events) {
		fprintf(stderr, "usage: reading_log PATH EVENTS\n");
		return 2;
	}
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		bench_die(argv[1], errno);
	open_types(id);
	posix_trace_attr_init(&attr);
	posix_trace_attr_getmaxusereventsize(&attr, 24, &each);
	trid = bench_stream(POSIX_TRACE_UNTIL_FULL, 2 * each * FLUSH_EVERY, fd);
	err = posix_trace_start(trid);
	if (err)
		bench_die("start", err);
	record(trid, id, events);
	posix_trace_stop(trid);
	law = bench_law(trid, id[0], (events + TYPES - 1) / TYPES);
	err = posix_trace_shutdown(trid);
	if (err)
		bench_die("shutdown", err);
	err = posix_trace_open(fd, &trid);
	if (!err)
		err = posix_trace_get_ledger_np(trid, &ledger);
	if (err)
		bench_die("opening the log", err);
	law &= !bench_lost(&ledger) && ledger.reported >= events;
	printf("%" PRIu64 "\n", ledger.reported);
	return !law;
}
