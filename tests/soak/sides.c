/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The controller and the target of a round. One of them scribbles, the other works. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <trace_np.h>
#include <unistd.h>

#include "soak/scribble.h"

#define STEPS      400 /* of the side that works, at least */
#define STEPS_MOST 20000
#define WORK_S     10 /* the side that works needs no longer, however slow its steps are */
#define TRACERS    2

static void await(_Atomic int *word, int value)
{
	while (atomic_load(word) < value)
		usleep(200);
}

/* The controller's side. */

static void check_event(const struct posix_trace_event_info *info, size_t len, size_t room)
{
	if (info->posix_event_id == 0 || info->posix_event_id >= 1024 || len > room)
		blame("reader", "was given an event of type", (long)info->posix_event_id);
	atomic_fetch_add(&shared->events, 1);
}

static void note(int err)
{
	if (err)
		atomic_fetch_add(&shared->refused, 1);
}

static void read_some(trace_id_t trid)
{
	struct posix_trace_event_info info;
	unsigned char data[64];
	int unavailable;
	size_t len;

	for (unsigned n = below(300); n; n--) {
		int err = posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &len,
						       &unavailable);

		note(err);
		if (err || unavailable)
			return;
		check_event(&info, len, sizeof(data));
	}
}

static void wait_a_little(trace_id_t trid)
{
	struct posix_trace_event_info info;
	unsigned char data[64];
	struct timespec until;
	int unavailable;
	size_t len;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	if (posix_trace_timedgetnext_event(trid, &info, data, sizeof(data), &len, &unavailable,
					   &until) == 0 &&
	    !unavailable)
		check_event(&info, len, sizeof(data));
}

static void list_names(trace_id_t trid)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;
	int unavailable = 0;

	note(posix_trace_eventtypelist_rewind(trid));
	for (int n = 0; n < 2000 && !unavailable; n++) {
		if (posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable) || unavailable)
			return;
		if (posix_trace_eventid_get_name(trid, id, name) == 0 &&
		    strnlen(name, sizeof(name)) == sizeof(name))
			blame("controller", "was given a name without an end, of", (long)id);
	}
}

static void ask(trace_id_t trid)
{
	struct posix_trace_status_info status;
	struct posix_trace_ledger_np ledger;
	struct posix_trace_thread_np thread;
	trace_event_set_t set;
	trace_attr_t attr;
	int unavailable;

	note(posix_trace_get_status(trid, &status));
	note(posix_trace_get_ledger_np(trid, &ledger));
	note(posix_trace_get_ledger_type_np(trid, 64, &ledger));
	note(posix_trace_get_ledger_thread_np(trid, below(4), &thread, &ledger, &unavailable));
	note(posix_trace_get_filter(trid, &set));
	if (posix_trace_get_attr(trid, &attr) == 0)
		posix_trace_attr_destroy(&attr);
}

static void seen_stream(void *arg, const struct posix_trace_stream_np *stream)
{
	(void)arg;
	if (strnlen(stream->name, sizeof(stream->name)) == sizeof(stream->name))
		blame("onlooker", "was given a name without an end", 0);
}

static void change(trace_id_t trid)
{
	trace_event_set_t set;
	trace_event_id_t id;
	char name[16];

	snprintf(name, sizeof(name), "c%u", below(600));
	note(posix_trace_trid_eventid_open(trid, name, &id));
	posix_trace_eventset_empty(&set);
	posix_trace_eventset_add(64 + below(4), &set);
	note(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	posix_trace_eventset_empty(&set);
	note(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
}

static int new_stream(pid_t target, int log, trace_id_t *trid)
{
	static const int policy[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH };
	trace_attr_t attr;
	int err;

	posix_trace_attr_init(&attr);
	posix_trace_attr_setstreamfullpolicy(&attr, policy[below(log < 0 ? 2 : 3)]);
	posix_trace_attr_setstreamsize(&attr, 1u << (12 + below(7)));
	posix_trace_attr_setinherited(&attr, below(2) ? POSIX_TRACE_INHERITED :
							POSIX_TRACE_CLOSE_FOR_CHILD);
	err = log < 0 ? posix_trace_create(target, &attr, trid) :
			posix_trace_create_withlog(target, &attr, log, trid);
	posix_trace_attr_destroy(&attr);
	return err;
}

static void step_of_controller(pid_t target, trace_id_t trid, bool has_log)
{
	trace_id_t other;

	switch (below(has_log ? 8 : 12)) {
	case 0:
		ask(trid);
		break;
	case 1:
		list_names(trid);
		break;
	case 2:
		note(posix_trace_stop(trid));
		note(posix_trace_start(trid));
		break;
	case 3:
		change(trid);
		break;
	case 4:
		posix_trace_observe_np(target, seen_stream, NULL);
		break;
	case 5:
		if (below(4) == 0 && new_stream(target, -1, &other) == 0) {
			note(posix_trace_start(other));
			read_some(other);
			note(posix_trace_shutdown(other));
		}
		break;
	case 6:
		note(has_log ? posix_trace_flush(trid) : 0);
		break;
	case 7:
		if (below(16) == 0)
			note(posix_trace_clear(trid));
		break;
	case 8:
		wait_a_little(trid);
		break;
	default:
		read_some(trid);
	}
}

void control(pid_t target, bool scribbles, int log)
{
	time_t enough = time(NULL) + WORK_S;
	trace_id_t trid;

	await(&shared->ready, 1);
	if (new_stream(target, log, &trid) || posix_trace_start(trid)) {
		blame("controller", "has no stream of", (long)target);
		_exit(0);
	}
	atomic_store(&shared->ready, 2);
	if (scribbles) {
		usleep(2000);
		scribble(target);
		atomic_store(&shared->done, true);
	} else {
		for (int n = 0; n < STEPS_MOST && (!atomic_load(&shared->done) ||
						   (n < STEPS && time(NULL) < enough));
		     n++) {
			step_of_controller(target, trid, log >= 0);
			atomic_fetch_add(&shared->steps, 1);
		}
	}
	if (below(2)) {
		atomic_store(&shared->end, true);
		kill(getpid(), SIGKILL);
	}
	posix_trace_shutdown(trid);
	atomic_store(&shared->end, true);
	_exit(0);
}

/* The target's side. */

static void trace_in_child(trace_event_id_t type)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		for (int i = 0; i < 20; i++)
			posix_trace_event(type, &i, sizeof(i));
		_exit(0);
	}
	if (child > 0 && (waitpid(child, &status, 0) != child || status))
		blame("child of the target", "ended with status", status);
}

static void trace_itself(void)
{
	trace_id_t trid;

	if (posix_trace_create(0, NULL, &trid))
		return;
	posix_trace_start(trid);
	read_some(trid);
	posix_trace_shutdown(trid);
}

static void *trace(void *argument)
{
	unsigned char data[5000] = { 0 };
	trace_event_id_t type = 0;
	unsigned life = (unsigned)(uintptr_t)argument;

	posix_trace_eventid_open("u", &type);
	for (unsigned n = 0; n < 200 * STEPS_MOST && !atomic_load(&shared->end); n++) {
		life = life * 1103515245 + 12345;
		posix_trace_event(type, data, life / 65536 % 64 == 0 ? life / 65536 % sizeof(data) :
								       life / 65536 % 48);
		if (n % 64 == 0) {
			atomic_fetch_add(&shared->steps, 1);
			usleep(50);
		}
	}
	return NULL;
}

void be_traced(bool scribbles)
{
	pthread_t tracer[TRACERS];
	trace_event_id_t type;
	char name[16];

	if (posix_trace_eventid_open("u", &type))
		_exit(1);
	for (uintptr_t i = 0; i < TRACERS; i++)
		if (pthread_create(&tracer[i], NULL, trace, (void *)(i + 1)))
			_exit(1);
	atomic_store(&shared->ready, 1);
	await(&shared->ready, 2);
	if (scribbles) {
		usleep(2000);
		scribble(getpid());
		atomic_store(&shared->done, true);
	}
	for (int n = 0; n < STEPS_MOST && !atomic_load(&shared->end); n++) {
		snprintf(name, sizeof(name), "t%u", below(600));
		posix_trace_eventid_open(name, &type);
		posix_trace_event(type, &n, sizeof(n));
		if (!scribbles && n % 50 == 10)
			trace_in_child(type);
		if (!scribbles && n % 50 == 30)
			trace_itself();
		atomic_fetch_add(&shared->steps, 1);
		usleep(100);
	}
	for (int i = 0; i < TRACERS; i++)
		pthread_join(tracer[i], NULL);
	_exit(0);
}
