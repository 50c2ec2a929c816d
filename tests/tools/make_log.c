/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/make_log.c - writes logs for the tests of posixtrace. It is no test itself.
 *
 *	make_log KIND PATH [EVENTS]
 *
 * plain       EVENTS events of two threads, nothing lost
 * blocks      EVENTS events in blocks of a hundred, nothing lost
 * stopped     an UNTIL_FULL stream that stops itself full; events lost
 * overrun     a LOOP stream that overwrites unread events
 * loop        a LOOP log that overwrites its own events
 * evil        names and data that would harm a terminal or a JSON reader; the empty name
 * unfinished  a copy of a log that is still being written
 * big         EVENTS events of 8 bytes; nothing is lost, even of very many events
 *
 * Prints the number of user events that the log must hold, or "-" if that is not fixed.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>
#include <unistd.h>

static void must(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "make_log: %s: %s\n", what, strerror(err));
	exit(1);
}

static trace_id_t create(const char *path, int stream_policy, size_t stream_size, int log_policy,
			 size_t log_size)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	trace_attr_t attr;
	trace_id_t trid;

	must(fd < 0 ? errno : 0, path);
	must(posix_trace_attr_init(&attr), "attr_init");
	must(posix_trace_attr_setname(&attr, "make_log"), "setname");
	must(posix_trace_attr_setstreamfullpolicy(&attr, stream_policy), "setstreamfullpolicy");
	must(posix_trace_attr_setstreamsize(&attr, stream_size), "setstreamsize");
	must(posix_trace_attr_setmaxdatasize(&attr, 64), "setmaxdatasize");
	must(posix_trace_attr_setlogfullpolicy(&attr, log_policy), "setlogfullpolicy");
	if (log_size)
		must(posix_trace_attr_setlogsize(&attr, log_size), "setlogsize");
	must(posix_trace_create_withlog(0, &attr, fd, &trid), "create_withlog");
	posix_trace_attr_destroy(&attr);
	return trid;
}

static trace_event_id_t type_of(const char *name)
{
	trace_event_id_t id;

	must(posix_trace_eventid_open(name, &id), name);
	return id;
}

/*
 * Records half of the events, in pairs: the begin of a job with a text, and its end with a number.
 */
static void *jobs(void *arg)
{
	size_t events = *(const size_t *)arg;
	trace_event_id_t begin = type_of("job_begin"), end = type_of("job_end");

	for (size_t i = 0; i < events; i++) {
		char text[32];

		if (i % 2) {
			uint64_t number = i;

			posix_trace_event(end, &number, sizeof(number));
		} else {
			int len = snprintf(text, sizeof(text), "job %zu", i);

			posix_trace_event(begin, text, (size_t)len);
		}
	}
	return NULL;
}

static void two_threads(size_t events)
{
	size_t half[2] = { events / 2, events - events / 2 };
	pthread_t thread;

	must(pthread_create(&thread, NULL, jobs, &half[0]), "pthread_create");
	jobs(&half[1]);
	pthread_join(thread, NULL);
}

static void plain(const char *path, size_t events)
{
	trace_id_t trid = create(path, POSIX_TRACE_FLUSH, 4096 + 128 * events,
				 POSIX_TRACE_APPEND, 0);
	trace_event_set_t set;

	must(posix_trace_start(trid), "start");
	two_threads(events);
	posix_trace_eventset_empty(&set);
	posix_trace_eventset_add(type_of("job_end"), &set);
	must(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), "set_filter");
	must(posix_trace_stop(trid), "stop");
	must(posix_trace_shutdown(trid), "shutdown");
	printf("%zu\n", events);
}

static void lossy(const char *path, int policy, size_t events)
{
	trace_id_t trid = create(path, policy, 16384, POSIX_TRACE_APPEND, 0);

	must(posix_trace_start(trid), "start");
	jobs(&events);
	must(posix_trace_shutdown(trid), "shutdown");
	puts("-");
}

static void flush_and_wait(trace_id_t trid)
{
	struct posix_trace_status_info status;

	must(posix_trace_flush(trid), "flush");
	do {
		usleep(200);
		must(posix_trace_get_status(trid, &status), "get_status");
	} while (status.posix_stream_flush_status == POSIX_TRACE_FLUSHING);
}

static void in_pieces(trace_id_t trid, size_t events, size_t piece)
{
	must(posix_trace_start(trid), "start");
	for (size_t done = 0, n; done < events; done += n) {
		n = events - done < piece ? events - done : piece;
		jobs(&n);
		flush_and_wait(trid);
	}
	must(posix_trace_shutdown(trid), "shutdown");
}

static void blocks(const char *path, size_t events)
{
	in_pieces(create(path, POSIX_TRACE_FLUSH, 65536, POSIX_TRACE_APPEND, 0), events, 100);
	printf("%zu\n", events);
}

static void loop(const char *path, size_t events)
{
	in_pieces(create(path, POSIX_TRACE_FLUSH, 1 << 20, POSIX_TRACE_LOOP, 65536), events, 1000);
	puts("-");
}

static void evil(const char *path)
{
	static const char *const names[] = {
		"clear\033[2J\033[31m", "quote\"back\\slash", "line\nbreak\ttab\rreturn",
		"c1\302\233control", "broken\377utf8\302", "over\342\200\256ride",
		"null\001bell\a\177", "d\303\251j\303\240 vu",
	};
	static const char *const data[] = {
		"\033]0;title\a", "say \"hello\\\"", "two\nlines\t.", "\302\233 31m",
		"\377\376\302", "\342\200\256evil", "\001\002\a", "d\303\251j\303\240 vu",
	};
	trace_id_t trid = create(path, POSIX_TRACE_FLUSH, 65536, POSIX_TRACE_APPEND, 0);
	size_t count = sizeof(names) / sizeof(names[0]);

	must(posix_trace_start(trid), "start");
	for (size_t i = 0; i < count; i++) {
		trace_event_id_t id = type_of(names[i]);

		for (size_t j = 0; j < count; j++)
			posix_trace_event(id, data[j], strlen(data[j]) + (i == j));
	}
	posix_trace_event(POSIX_TRACE_UNNAMED_USER_EVENT, "padded\0\0\0\0", 10);
	posix_trace_event(POSIX_TRACE_UNNAMED_USER_EVENT, "A\0\0\0", 4);
	posix_trace_event(POSIX_TRACE_UNNAMED_USER_EVENT, NULL, 0);
	posix_trace_event(type_of(""), "nameless", 8);
	must(posix_trace_shutdown(trid), "shutdown");
	printf("%zu\n", count * count + 4);
}

static void copy(const char *from, const char *to)
{
	char buffer[65536];
	size_t n;
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");

	must(in && out ? 0 : errno, "copy");
	while ((n = fread(buffer, 1, sizeof(buffer), in)))
		fwrite(buffer, 1, n, out);
	must(fclose(in) || fclose(out) ? errno : 0, "copy");
}

static void unfinished(const char *path, size_t events)
{
	trace_id_t trid;
	char *live;

	must(asprintf(&live, "%s.live", path) < 0 ? ENOMEM : 0, path);
	trid = create(live, POSIX_TRACE_FLUSH, 4096 + 128 * events, POSIX_TRACE_APPEND, 0);
	must(posix_trace_start(trid), "start");
	two_threads(events);
	flush_and_wait(trid);
	copy(live, path);
	must(posix_trace_shutdown(trid), "shutdown");
	unlink(live);
	free(live);
	printf("%zu\n", events);
}

static void big(const char *path, size_t events)
{
	trace_id_t trid = create(path, POSIX_TRACE_FLUSH, 32 << 20, POSIX_TRACE_APPEND, 0);
	trace_event_id_t id = type_of("tick");

	must(posix_trace_start(trid), "start");
	for (uint64_t i = 0; i < events; i++) {
		posix_trace_event(id, &i, sizeof(i));
		if (i % 200000 == 199999)
			flush_and_wait(trid);
	}
	must(posix_trace_shutdown(trid), "shutdown");
	printf("%zu\n", events);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "", *path = argc > 2 ? argv[2] : "";
	size_t events = argc > 3 ? strtoul(argv[3], NULL, 10) : 1000;

	if (!strcmp(kind, "plain"))
		plain(path, events);
	else if (!strcmp(kind, "blocks"))
		blocks(path, events);
	else if (!strcmp(kind, "stopped"))
		lossy(path, POSIX_TRACE_UNTIL_FULL, events);
	else if (!strcmp(kind, "overrun"))
		lossy(path, POSIX_TRACE_LOOP, events);
	else if (!strcmp(kind, "loop"))
		loop(path, events);
	else if (!strcmp(kind, "evil"))
		evil(path);
	else if (!strcmp(kind, "unfinished"))
		unfinished(path, events);
	else if (!strcmp(kind, "big"))
		big(path, events);
	else
		return 2;
	return 0;
}
