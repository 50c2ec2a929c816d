/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/victim.c - traces until it is killed, or reads the log that a killed process has left, for
 * test_killed.sh. It is no test itself.
 *
 *	victim trace POLICY PATH    POLICY: append, until-full, loop; never ends by itself
 *	victim read POLICY PATH     prints how many events the log has
 *	victim work THREADS [S]     waits for others to trace it, up to 8 threads; never ends
 *	                            either, or is killed after S seconds
 *	victim burst N              records N events in one thread and ends
 *	victim box PATH            as trace, into a LOOP stream whose memory is the file PATH
 *	victim spans S              records spans and other events for S seconds of processor time
 *	victim fall N               a LOOP stream with N events of one thread, then abort()
 *	victim check PATH           as read, of a log that another process has made of it
 *
 * Each thread's events are payloads numbered from 0. "read" exits with 1 and prints a reason in
 * four cases: the log does not open as the log of a dead writer, an event is damaged, a thread's
 * events are out of order, or an event is missing although the log reports no loss. "check"
 * requires the log of a writer that was not killed, and accepts events from any number on.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <trace_np.h>
#include <unistd.h>

#include "support/payload.h"
#include "support/random.h"

#define THREADS  3
#define MOST     8
#define MAX_DATA 200

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "victim: %s: %s\n", what, why);
	exit(1);
}

static void must(int err, const char *what)
{
	if (err)
		fail(what, strerror(err));
}

static int policy_of(const char *name)
{
	return !strcmp(name, "append") ? POSIX_TRACE_APPEND :
	       !strcmp(name, "loop") ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL;
}

static void *work(void *arg)
{
	uint32_t who = (uint32_t)(uintptr_t)arg;
	uint64_t random = who + 1;
	unsigned char data[MAX_DATA];
	trace_event_id_t id;

	must(posix_trace_eventid_open("payload", &id), "eventid_open");
	for (uint64_t n = 0;; n++) {
		size_t len = random_between(&random, PAYLOAD_MIN, sizeof(data));

		payload_make(data, len, who, n);
		posix_trace_event(id, data, len);
		if (n % 32 == 0)
			usleep(200);
	}
	return NULL;
}

static void trace(int policy, const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	trace_attr_t attr;
	pthread_t thread;
	trace_id_t trid;

	must(fd < 0 ? errno : 0, path);
	must(posix_trace_attr_init(&attr), "attr_init");
	must(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH), "setstreamfullpolicy");
	must(posix_trace_attr_setmaxdatasize(&attr, MAX_DATA), "setmaxdatasize");
	must(posix_trace_attr_setlogfullpolicy(&attr, policy), "setlogfullpolicy");
	/*
	 * A LOOP log wraps many times. An UNTIL_FULL log may become full before the process ends.
	 */
	must(posix_trace_attr_setlogsize(&attr, policy == POSIX_TRACE_LOOP ? 100000 : 1000000),
	     "setlogsize");
	must(posix_trace_create_withlog(0, &attr, fd, &trid), "create_withlog");
	must(posix_trace_start(trid), "start");
	for (uintptr_t who = 0; who < THREADS; who++)
		must(pthread_create(&thread, NULL, work, (void *)who), "pthread_create");
	for (;;) { /* flushes often; a full stream is flushed in addition */
		posix_trace_flush(trid);
		usleep(1500);
	}
}

static void trace_into_box(const char *path)
{
	trace_attr_t attr;
	pthread_t thread;
	trace_id_t trid;

	must(posix_trace_attr_init(&attr), "attr_init");
	must(posix_trace_attr_setname(&attr, "box"), "setname");
	must(posix_trace_attr_setmaxdatasize(&attr, MAX_DATA), "setmaxdatasize");
	must(posix_trace_attr_setbacking_np(&attr, path), "setbacking");
	must(posix_trace_create(0, &attr, &trid), path);
	must(posix_trace_start(trid), "start");
	for (uintptr_t who = 0; who < THREADS; who++)
		must(pthread_create(&thread, NULL, work, (void *)who), "pthread_create");
	for (;;)
		pause();
}

struct reading {
	bool any_beginning; /* the log may lack its first events, as a LOOP log does */
	bool loss_told;
	int64_t last[MOST];
};

static void take(struct reading *reading, const void *data, size_t len)
{
	uint64_t number;
	uint32_t who;

	if (!payload_read(data, len, &who, &number) || who >= MOST)
		fail("an event", "not whole");
	if ((int64_t)number <= reading->last[who])
		fail("a thread's events", "out of order");
	if ((int64_t)number != reading->last[who] + 1 && !reading->loss_told &&
	    !(reading->any_beginning && reading->last[who] < 0))
		fail("an event", "missing without a word");
	reading->last[who] = (int64_t)number;
}

static void work_for_others(unsigned threads)
{
	pthread_t thread;

	for (uintptr_t who = 0; who < threads && who < MOST; who++)
		must(pthread_create(&thread, NULL, work, (void *)who), "pthread_create");
	for (;;)
		pause();
}

static void burst(uint64_t events)
{
	unsigned char data[MAX_DATA];
	trace_event_id_t id;

	must(posix_trace_eventid_open("payload", &id), "eventid_open");
	for (uint64_t n = 0; n < events; n++) {
		payload_make(data, sizeof(data), 0, n);
		posix_trace_event(id, data, sizeof(data));
	}
}

static void fall(uint64_t events)
{
	unsigned char data[PAYLOAD_MIN];
	trace_event_id_t id;
	trace_attr_t attr;
	trace_id_t trid;

	must(posix_trace_attr_init(&attr), "attr_init");
	must(posix_trace_attr_setname(&attr, "fallen"), "attr_setname");
	must(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP), "setstreamfullpolicy");
	must(posix_trace_create(0, &attr, &trid), "create");
	must(posix_trace_eventid_open("payload", &id), "eventid_open");
	must(posix_trace_start(trid), "start");
	for (uint64_t n = 0; n < events; n++) {
		payload_make(data, sizeof(data), 0, n);
		posix_trace_event(id, data, sizeof(data));
	}
	abort();
}

/* Opens a type. If schema is NULL, the type has no schema. */
static trace_event_id_t type_of(const char *name, const char *schema)
{
	trace_event_id_t id;

	must(posix_trace_eventid_open(name, &id), "eventid_open");
	if (schema)
		must(posix_trace_eventid_describe_np(id, schema), "eventid_describe_np");
	return id;
}

/*
 * Records spans of two kinds and a plain event in turn, for some seconds of processor time. Readers
 * recognize one kind of spans by schemas, and the other kind by names.
 */
static void record_spans(unsigned seconds)
{
	const trace_event_id_t id[] = {
		type_of("job.on", "@begin job"), type_of("step_begin", NULL),
		type_of("tick", NULL), type_of("step_end", NULL), type_of("job.off", "@end job"),
	};

	while (clock() < (clock_t)seconds * CLOCKS_PER_SEC)
		for (size_t i = 0; i < sizeof(id) / sizeof(*id); i++)
			posix_trace_event(id[i], NULL, 0);
}

static void read_log(bool any_beginning, int flush_error, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), unavailable;
	struct reading reading = { .any_beginning = any_beginning,
				   .last = { -1, -1, -1, -1, -1, -1, -1, -1 } };
	struct posix_trace_status_info status;
	struct posix_trace_event_info info;
	unsigned char data[4096];
	char name[TRACE_EVENT_NAME_MAX + 1];
	unsigned long events = 0;
	trace_id_t trid;
	size_t len;

	must(fd < 0 ? errno : 0, path);
	must(posix_trace_open(fd, &trid), "open");
	must(posix_trace_get_status(trid, &status), "get_status");
	if (status.posix_stream_flush_error != flush_error)
		fail("flush error", strerror(status.posix_stream_flush_error));
	for (;; events++) {
		must(posix_trace_getnext_event(trid, &info, data, sizeof(data), &len,
					       &unavailable), "getnext_event");
		if (unavailable)
			break;
		must(posix_trace_eventid_get_name(trid, info.posix_event_id, name), "get_name");
		if (info.posix_event_id == POSIX_TRACE_OVERFLOW)
			reading.loss_told = true;
		if (!strcmp(name, "payload"))
			take(&reading, data, len);
	}
	must(posix_trace_close(trid), "close");
	printf("%lu\n", events);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "work"))
		alarm((unsigned)atoi(argv[3]));
	if ((argc == 3 || argc == 4) && !strcmp(argv[1], "work"))
		work_for_others((unsigned)atoi(argv[2]));
	else if (argc == 3 && !strcmp(argv[1], "burst"))
		burst(strtoull(argv[2], NULL, 10));
	else if (argc == 3 && !strcmp(argv[1], "box"))
		trace_into_box(argv[2]);
	else if (argc == 3 && !strcmp(argv[1], "spans"))
		record_spans((unsigned)atoi(argv[2]));
	else if (argc == 3 && !strcmp(argv[1], "fall"))
		fall(strtoull(argv[2], NULL, 10));
	else if (argc == 3 && !strcmp(argv[1], "check"))
		read_log(true, 0, argv[2]);
	else if (argc == 4 && !strcmp(argv[1], "trace"))
		trace(policy_of(argv[2]), argv[3]);
	else if (argc == 4 && !strcmp(argv[1], "read"))
		read_log(policy_of(argv[2]) == POSIX_TRACE_LOOP, EIO, argv[3]);
	else
		return 2;
	return 0;
}
