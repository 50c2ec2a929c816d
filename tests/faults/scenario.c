/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "faults/scenario.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <trace_np.h>
#include <unistd.h>

#include "faults/play.h"
#include "support/memory_file.h"

/* A call that the test itself needs; no fault is put into it. */
int __real_ftruncate(int fd, off_t size);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*work)(void *),
			  void *arg);
pid_t __real_waitpid(pid_t pid, int *status, int options);

struct scenario_diary *scenario_diary;

void wrong(const char *format, ...)
{
	va_list args;

	if (scenario_diary->wrong[0])
		return;
	va_start(args, format);
	vsnprintf(scenario_diary->wrong, sizeof(scenario_diary->wrong), format, args);
	va_end(args);
}

int note(const char *call, int err)
{
	struct scenario_said *said = &scenario_diary->said[scenario_diary->steps];

	if (errno != 4711)
		wrong("errno was changed by %s", call);
	if (scenario_diary->steps == SCENARIO_STEPS) {
		wrong("too many steps");
		return err;
	}
	snprintf(said->step, sizeof(said->step), "%.*s", (int)strcspn(call, "("), call);
	said->err = err;
	scenario_diary->steps++;
	return err;
}

int file = -1;

int an_empty_file(void)
{
	if (__real_ftruncate(file, 0))
		wrong("the test's file: %d", errno);
	return file;
}

static int a_stream(pid_t pid, int policy, int log_policy, bool log, trace_id_t *trid)
{
	trace_attr_t attr;
	int err;

	posix_trace_attr_init(&attr);
	posix_trace_attr_setstreamfullpolicy(&attr, policy);
	posix_trace_attr_setlogfullpolicy(&attr, log_policy);
	posix_trace_attr_setlogsize(&attr, 64 << 10);
	posix_trace_attr_setstreamsize(&attr, 65536); /* the log of a scenario must lose no event */
	posix_trace_attr_setmaxdatasize(&attr, DATA);
	posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED);
	if (log)
		err = STEP(posix_trace_create_withlog(pid, &attr, an_empty_file(), trid));
	else
		err = STEP(posix_trace_create(pid, &attr, trid));
	posix_trace_attr_destroy(&attr);
	return err;
}

static void trace(trace_event_id_t id, unsigned n)
{
	unsigned char data[DATA] = { 0 };

	errno = 4711;
	for (unsigned i = 0; i < n; i++) {
		memcpy(data, &i, sizeof(i));
		posix_trace_event(id, data, sizeof(data));
	}
	if (errno != 4711)
		wrong("errno was changed by events");
}

void account(trace_id_t trid, trace_event_id_t id, uint64_t called)
{
	struct posix_trace_ledger_np ledger;
	uint64_t sum;

	if (STEP(posix_trace_get_ledger_type_np(trid, id, &ledger)))
		return;
	sum = ledger.reported + ledger.unread;
	for (int i = 0; i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		sum += ledger.lost[i];
	if (ledger.called != called || sum != called)
		wrong("%llu events: ledger has %llu called, %llu in its columns",
		      (unsigned long long)called, (unsigned long long)ledger.called,
		      (unsigned long long)sum);
}

static void read_all(trace_id_t trid, trace_event_id_t id, bool in_order)
{
	struct posix_trace_event_info info;
	int unavailable = 0, before = -1, number;
	unsigned char data[DATA];
	size_t len;

	for (int n = 0; n < 3 * EVENTS && !unavailable; n++) {
		errno = 4711;
		if (posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &len,
						 &unavailable)) {
			wrong("an event cannot be read");
			return;
		}
		if (unavailable || info.posix_event_id != id)
			continue;
		memcpy(&number, data, sizeof(number));
		if (in_order && number <= before)
			wrong("event %d after %d", number, before);
		before = number;
	}
}

bool begin(struct traced *traced, int policy, int log_policy, bool log, unsigned events)
{
	struct posix_trace_status_info status;

	if (STEP(posix_trace_eventid_open("fault", &traced->id)) ||
	    a_stream(0, policy, log_policy, log, &traced->trid))
		return false;
	traced->called = STEP(posix_trace_start(traced->trid)) ? 0 : events;
	trace(traced->id, events);
	if (log)
		STEP(posix_trace_flush(traced->trid));
	STEP(posix_trace_get_status(traced->trid, &status));
	return true;
}

static void play_stream(void)
{
	struct traced traced;

	if (!begin(&traced, POSIX_TRACE_LOOP, POSIX_TRACE_LOOP, false, EVENTS))
		return;
	read_all(traced.trid, traced.id, true);
	account(traced.trid, traced.id, traced.called);
	STEP(posix_trace_stop(traced.trid));
	STEP(posix_trace_clear(traced.trid));
	STEP(posix_trace_shutdown(traced.trid));
}

static void *trace_in_thread(void *arg)
{
	trace(*(trace_event_id_t *)arg, EVENTS / 3);
	return NULL;
}

/* The first event of a thread, and the events of a child that inherits the stream. */
static void play_threads(void)
{
	trace_event_id_t id;
	pthread_t thread;
	trace_id_t trid;
	int status;
	pid_t child;

	if (STEP(posix_trace_eventid_open("fault", &id)))
		return;
	if (a_stream(0, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP, false, &trid))
		return;
	STEP(posix_trace_start(trid));
	if (__real_pthread_create(&thread, NULL, trace_in_thread, &id) == 0)
		pthread_join(thread, NULL);
	else
		trace(id, EVENTS / 3);
	child = fork();
	if (child == 0) {
		trace(id, EVENTS / 3);
		_exit(scenario_diary->wrong[0] != 0);
	}
	while (__real_waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	if (status)
		wrong("the child ended with %#x", status);
	read_all(trid, id, false); /* two events of each number */
	STEP(posix_trace_shutdown(trid));
}

static void visit(void *arg, const struct posix_trace_stream_np *stream)
{
	(void)stream;
	*(int *)arg = STEP(posix_trace_snapshot_np(stream, an_empty_file()));
}

static void play_look(void)
{
	struct posix_trace_ledger_np ledger;
	trace_event_id_t id;
	trace_id_t trid;
	int err = -1;

	if (STEP(posix_trace_eventid_open("fault", &id)))
		return;
	if (a_stream(0, POSIX_TRACE_LOOP, POSIX_TRACE_LOOP, false, &trid))
		return;
	STEP(posix_trace_start(trid));
	trace(id, 10);
	if (STEP(posix_trace_observe_np(0, visit, &err)) == 0 && err == 0)
		read_log(file, id, &ledger);
	STEP(posix_trace_shutdown(trid));
}

/* A target that traces until its pipe ends. */
static pid_t a_target(int *end)
{
	trace_event_id_t id;
	int ends[2];
	pid_t pid;
	char c;

	if (pipe(ends))
		return -1;
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		posix_trace_eventid_open("target", &id);
		while (read(ends[0], &c, 1) == 1)
			posix_trace_event(id, NULL, 0);
		_exit(0);
	}
	close(ends[0]);
	*end = ends[1];
	return pid;
}

static pid_t target;
static int target_end;

static void play_other(void)
{
	trace_event_id_t id;
	trace_id_t trid;

	if (a_stream(target, POSIX_TRACE_LOOP, POSIX_TRACE_LOOP, false, &trid))
		return;
	STEP(posix_trace_trid_eventid_open(trid, "other", &id));
	STEP(posix_trace_start(trid));
	read_all(trid, id, true);
	STEP(posix_trace_shutdown(trid));
}

void scenario_prepare(const struct scenario *scenario)
{
	trace_event_id_t id;

	file = memory_file("log", MFD_CLOEXEC);
	/* The state that a process has at its start. */
	if (posix_trace_eventid_open("begin", &id))
		wrong("no event type");
	if (scenario->play == play_other)
		target = a_target(&target_end);
}

void scenario_end(void)
{
	int status;

	close(file);
	if (target <= 0)
		return;
	close(target_end);
	waitpid(target, &status, 0);
	if (status)
		wrong("the target ended with %#x", status);
}

const struct scenario scenarios[] = {
	{ "stream", play_stream },
	{ "log-append", play_log_append },
	{ "log-loop", play_log_loop },
	{ "log-flusher", play_log_flusher },
	{ "threads", play_threads },
	{ "look", play_look },
	{ "other", play_other },
	{ "compose", play_compose },
};
const size_t scenario_count = sizeof(scenarios) / sizeof(scenarios[0]);
