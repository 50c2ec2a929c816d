/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * attach.c - creates and ends streams of a busy process while another stream is read: attach CYCLES
 * [SEED]
 *
 * Eight threads trace numbers, each its own series, never far ahead of a reader that must see every
 * number once and in order. Meanwhile this process attaches to them and detaches, CYCLES times, in
 * different ways. Before and after, while the threads are paused, both processes must have the same
 * number of descriptors and mappings and the same amount of memory. Prints one line.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <trace_np.h>
#include <unistd.h>

#include "soak/estate.h"

#define THREADS     8
#define WARM_CYCLES 64 /* as many as there are attachments, so that each has been used */
#define AHEAD       4000
#define FIRST_USER  64
#define END         UINT64_MAX

struct event {
	uint32_t thread;
	uint32_t spare;
	uint64_t number;
};

/* The memory that the three processes share. */
static struct shared {
	struct {
		_Alignas(64) _Atomic uint64_t traced; /* written by the thread */
		_Atomic uint64_t read;                /* written by the reader */
		_Atomic bool stands;
	} thread[THREADS];
	_Alignas(64) _Atomic bool stop, ready, end;
	_Atomic unsigned one; /* number of events that thread 0 records while all others are
			       * paused */
	_Atomic uint64_t lost;
} *shared;

static unsigned seed;
static unsigned long faults;

static unsigned below(unsigned n)
{
	seed = seed * 1103515245 + 12345;
	return seed / 65536 % n;
}

static void die(const char *what, int err)
{
	fprintf(stderr, "attach: %s: %s\n", what, strerror(err));
	exit(2);
}

static void must(const char *what, int err)
{
	if (err)
		die(what, err);
}

/* The target. */

static trace_event_id_t type;

static void trace_next(unsigned me)
{
	struct event event = { .thread = me };

	event.number = atomic_load(&shared->thread[me].traced) + 1;
	posix_trace_event(type, &event, sizeof(event));
	atomic_store(&shared->thread[me].traced, event.number);
}

static void *live(void *argument)
{
	unsigned me = (unsigned)(uintptr_t)argument;

	while (!atomic_load(&shared->end)) {
		bool stop = atomic_load(&shared->stop);

		atomic_store(&shared->thread[me].stands, stop);
		if (stop && me == 0 && atomic_load(&shared->one)) {
			trace_next(me);
			atomic_fetch_sub(&shared->one, 1);
		} else if (stop || atomic_load(&shared->thread[me].traced) -
					   atomic_load(&shared->thread[me].read) > AHEAD) {
			sched_yield();
		} else {
			trace_next(me);
		}
	}
	return NULL;
}

static void __attribute__((noreturn)) be_traced(void)
{
	pthread_t thread[THREADS];

	must("posix_trace_eventid_open", posix_trace_eventid_open("n", &type));
	for (uintptr_t i = 0; i < THREADS; i++)
		must("pthread_create", pthread_create(&thread[i], NULL, live, (void *)i));
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	_exit(0);
}

/* The reader of the other stream. */

static bool is_next(const struct posix_trace_event_info *info, const struct event *event,
		    size_t len, uint64_t last)
{
	return info->posix_event_id == FIRST_USER && len == sizeof(*event) &&
	       event->thread < THREADS && event->number == last + 1;
}

static uint64_t lost_of(trace_id_t trid)
{
	struct posix_trace_ledger_np ledger;
	uint64_t lost = 0;

	must("posix_trace_get_ledger_np", posix_trace_get_ledger_np(trid, &ledger));
	for (int cause = 0; cause < POSIX_TRACE_LOST_CAUSES_NP; cause++)
		lost += ledger.lost[cause];
	return lost;
}

/* Reads all events that were recorded before the end. */
static void __attribute__((noreturn)) read_on(pid_t target)
{
	trace_attr_t attr;
	trace_id_t trid;

	must("posix_trace_attr_init", posix_trace_attr_init(&attr));
	must("setstreamfullpolicy",
	     posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL));
	must("setstreamsize", posix_trace_attr_setstreamsize(&attr, 8 << 20));
	must("posix_trace_create", posix_trace_create(target, &attr, &trid));
	must("posix_trace_start", posix_trace_start(trid));
	atomic_store(&shared->ready, true);
	for (;;) {
		bool end = atomic_load(&shared->end);
		struct posix_trace_event_info info;
		struct event event = { 0 };
		int unavailable;
		size_t len;

		must("posix_trace_trygetnext_event",
		     posix_trace_trygetnext_event(trid, &info, &event, sizeof(event), &len,
						  &unavailable));
		if (unavailable) {
			if (end)
				break;
			usleep(200);
		} else if (info.posix_event_id == POSIX_TRACE_START) {
			continue;
		} else if (!is_next(&info, &event, len,
				    atomic_load(&shared->thread[event.thread % THREADS].read))) {
			fprintf(stderr, "attach: event %u of %zu bytes: thread %u number %llu\n",
				(unsigned)info.posix_event_id, len, event.thread,
				(unsigned long long)event.number);
			_exit(1);
		} else {
			atomic_store(&shared->thread[event.thread].read, event.number);
		}
	}
	atomic_store(&shared->lost, lost_of(trid));
	posix_trace_shutdown(trid);
	_exit(0);
}

/* Attaches and detaches. */

static trace_id_t attach(pid_t target)
{
	static const int policy[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL };
	trace_attr_t attr;
	trace_id_t trid;

	must("posix_trace_attr_init", posix_trace_attr_init(&attr));
	must("setstreamfullpolicy", posix_trace_attr_setstreamfullpolicy(&attr, policy[below(2)]));
	must("setstreamsize", posix_trace_attr_setstreamsize(&attr, 1u << (13 + below(6))));
	must("posix_trace_create", posix_trace_create(target, &attr, &trid));
	must("posix_trace_attr_destroy", posix_trace_attr_destroy(&attr));
	return trid;
}

/* The available events of the stream are in order for each thread. */
static void read_some(trace_id_t trid)
{
	uint64_t last[THREADS] = { 0 };

	for (unsigned n = 1 + below(200); n; n--) {
		struct posix_trace_event_info info;
		struct event event;
		int unavailable;
		size_t len;

		must("posix_trace_trygetnext_event",
		     posix_trace_trygetnext_event(trid, &info, &event, sizeof(event), &len,
						  &unavailable));
		if (unavailable)
			return;
		if (info.posix_event_id < FIRST_USER)
			continue;
		if (len != sizeof(event) || event.thread >= THREADS ||
		    event.number <= last[event.thread]) {
			fprintf(stderr, "attach: a stream is out of order\n");
			faults++;
			return;
		}
		last[event.thread] = event.number;
	}
}

static void cycle(pid_t target)
{
	unsigned how = below(5);
	trace_id_t trid = attach(target);

	if (how > 0)
		must("posix_trace_start", posix_trace_start(trid));
	for (unsigned n = how > 1 ? below(4) : 0; n; n--)
		sched_yield();
	if (how > 2)
		read_some(trid);
	if (how > 3)
		must("posix_trace_stop", posix_trace_stop(trid));
	must("posix_trace_shutdown", posix_trace_shutdown(trid));
}

/*
 * The threads are paused, and the last to trace was alone, so all memory that could be freed is
 * freed.
 */
static void calm(pid_t target)
{
	atomic_store(&shared->stop, true);
	for (int i = 0; i < THREADS; i++)
		while (!atomic_load(&shared->thread[i].stands))
			usleep(100);
	for (int i = 0; i < THREADS; i++)
		while (atomic_load(&shared->thread[i].read) <
		       atomic_load(&shared->thread[i].traced))
			usleep(100);
	for (int i = 0; i < 2; i++) {
		trace_id_t trid = attach(target);

		for (int event = 0; event < 2; event++) {
			atomic_store(&shared->one, 1);
			while (atomic_load(&shared->one))
				usleep(100);
			if (event == 0)
				must("posix_trace_shutdown", posix_trace_shutdown(trid));
		}
	}
}

/*
 * The memory of the stream that is read follows its use: it grows until the stream was once as full
 * as it gets. A leak grows in each round.
 */
#define ROUNDS 4

static void compare(const char *whose, const struct estate *before, const struct estate *after,
		    unsigned long heap)
{
	if (!estate_is_as_before(before, after, heap)) {
		fprintf(stderr, "attach: %s has more than before\n", whose);
		faults++;
	}
}

static int end_of(pid_t child)
{
	int status;

	return waitpid(child, &status, 0) == child ? status : -1;
}

int main(int argc, char **argv)
{
	unsigned long cycles = argc > 1 ? strtoul(argv[1], NULL, 10) : 300;
	struct estate before, after, own_before, own_after;
	uint64_t events = 0;
	pid_t target, reader;

	seed = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 4711;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		die("mmap", errno);
	atomic_store(&shared->stop, true);
	target = fork();
	if (target == 0)
		be_traced();
	reader = fork();
	if (reader == 0)
		read_on(target);
	while (!atomic_load(&shared->ready) && waitpid(reader, NULL, WNOHANG) == 0)
		usleep(1000);
	atomic_store(&shared->stop, false);
	for (int i = 0; i < WARM_CYCLES; i++)
		cycle(target);
	calm(target);
	own_after = estate_of(getpid());
	after = estate_of(target);
	for (int round = 0; round < ROUNDS; round++) {
		own_before = own_after;
		before = after;
		atomic_store(&shared->stop, false);
		for (unsigned long i = 0; i < cycles; i++) {
			cycle(target);
			if (kill(reader, 0) != 0 ||
			    (i % 64 == 0 && waitpid(reader, NULL, WNOHANG) != 0)) {
				fprintf(stderr, "attach: the reader is gone in cycle %lu\n", i);
				kill(target, SIGKILL);
				return 1;
			}
		}
		calm(target);
		own_after = estate_of(getpid());
		after = estate_of(target);
		if (estate_is_as_before(&before, &after, 0) &&
		    estate_is_as_before(&own_before, &own_after, MEMORY_BOUND))
			break;
	}
	compare("the target", &before, &after, 0); /* a target allocates nothing */
	compare("the controller", &own_before, &own_after, MEMORY_BOUND);
	atomic_store(&shared->end, true);
	faults += end_of(target) != 0;
	faults += end_of(reader) != 0;
	for (int i = 0; i < THREADS; i++) {
		uint64_t traced = atomic_load(&shared->thread[i].traced);

		faults += atomic_load(&shared->thread[i].read) != traced;
		events += traced;
	}
	faults += atomic_load(&shared->lost) != 0;
	printf("SOAK attach cycles=%lu threads=%d events=%llu lost=%llu", cycles, THREADS,
	       (unsigned long long)events, (unsigned long long)atomic_load(&shared->lost));
	estate_tell("target", &before, &after);
	estate_tell("controller", &own_before, &own_after);
	printf(" faults=%lu\n", faults);
	return faults != 0;
}
