/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "soak/lives.h"

#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <trace_np.h>
#include <unistd.h>

#define BORN_MOST   24
#define SETTLED_MS  10000 /* seconds within which an account must be closed */

struct soak *soak;
unsigned seed;

unsigned below(unsigned n)
{
	seed = seed * 1103515245 + 12345;
	return seed / 65536 % n;
}

void nap_us(long us)
{
	struct timespec nap = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&nap, NULL);
}

static void *live_beside(void *arg)
{
	trace_event_id_t type = *(trace_event_id_t *)arg;

	for (unsigned n = 0;; n++) {
		posix_trace_event(type, &n, sizeof(n));
		if (n % 50 == 0)
			nap_us(100);
	}
	return NULL;
}

/* Executes this program again, in its own process or as a child. */
static void execute(unsigned generation, int soak_fd, bool spawn)
{
	char number[3][16], name[] = "families", option[] = LIVE_ON;
	char *argv[] = { name, option, number[0], number[1], number[2], NULL };
	pid_t child;

	snprintf(number[0], sizeof(number[0]), "%u", generation + 1);
	snprintf(number[1], sizeof(number[1]), "%u", below(1u << 30));
	snprintf(number[2], sizeof(number[2]), "%d", soak_fd);
	atomic_fetch_add(&soak->executed, 1);
	if (spawn)
		posix_spawn(&child, "/proc/self/exe", NULL, NULL, argv, environ);
	else
		execve("/proc/self/exe", argv, environ);
}

/* Once in so many events, but seldom enough to leave the machine time for the rest. */
static bool may_bear(unsigned often)
{
	return below(often) == 0 && atomic_fetch_add(&soak->born, 1) < BORN_MOST;
}

void live(unsigned generation, unsigned life, int soak_fd)
{
	trace_event_id_t type;
	pthread_t thread;
	char name[16];

	seed = life;
	snprintf(name, sizeof(name), "g%u", generation % 7);
	if (posix_trace_eventid_open(name, &type))
		_exit(1);
	for (unsigned n = 0;; n++) {
		posix_trace_event(type, &n, below(2) ? sizeof(n) : below(4));
		if (may_bear(20000)) {
			pid_t child = fork();

			if (child == 0) {
				generation++; /* the child lives as its parent does */
				seed += n;
				continue;
			}
			if (child > 0 && below(2))
				_exit(0);
		}
		if (may_bear(30000))
			execute(generation, soak_fd, below(2));
		if (may_bear(30000))
			pthread_create(&thread, NULL, live_beside, &type);
		if (below(64) == 0)
			nap_us(below(200));
	}
}

static int attributes(trace_attr_t *attr, bool log)
{
	static const int stream[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH };
	static const int logs[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND };

	return posix_trace_attr_init(attr) ||
	       posix_trace_attr_setstreamfullpolicy(attr, stream[below(log ? 3 : 2)]) ||
	       posix_trace_attr_setlogfullpolicy(attr, logs[below(3)]) ||
	       posix_trace_attr_setstreamsize(attr, 1u << (14 + below(7))) ||
	       posix_trace_attr_setlogsize(attr, 1u << (14 + below(8))) ||
	       posix_trace_attr_setinherited(attr, below(2) ? POSIX_TRACE_INHERITED :
							      POSIX_TRACE_CLOSE_FOR_CHILD);
}

/* Lives until it is killed, or ends by itself in one of several ways. */
void control(pid_t target, int log_fd, unsigned life, _Atomic int *created)
{
	trace_attr_t attr;
	trace_id_t trid;

	seed = life;
	if (attributes(&attr, true))
		_exit(1);
	if (posix_trace_create_withlog(target, &attr, log_fd, &trid))
		_exit(0); /* it was killed already */
	atomic_store(created, 1);
	posix_trace_start(trid);
	for (unsigned n = below(40); n; n--) {
		nap_us(below(3000));
		switch (below(4)) {
		case 0:
			posix_trace_stop(trid);
			posix_trace_start(trid);
			break;
		case 1:
			posix_trace_flush(trid);
			break;
		default:
			break;
		}
	}
	switch (below(3)) {
	case 0:
		posix_trace_shutdown(trid);
		exit(0);
	case 1:
		execl("/bin/true", "true", (char *)NULL);
		_exit(0);
	default:
		exit(0);
	}
}

/* Reads one event, with or without a short wait. */
static bool read_one(trace_id_t trid, bool wait)
{
	struct posix_trace_event_info info;
	unsigned char data[64];
	int none = 1, err;
	size_t len;

	if (wait) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 2000000;
		if (until.tv_nsec >= 1000000000) {
			until.tv_sec++;
			until.tv_nsec -= 1000000000;
		}
		err = posix_trace_timedgetnext_event(trid, &info, data, sizeof(data), &len, &none,
						     &until);
	} else {
		err = posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &len, &none);
	}
	return !err && !none;
}

static uint64_t sum(const struct posix_trace_ledger_np *ledger)
{
	uint64_t sum = ledger->reported + ledger->unread;

	for (int cause = 0; cause < POSIX_TRACE_LOST_CAUSES_NP; cause++)
		sum += ledger->lost[cause];
	return sum;
}

/*
 * called = read + unread + lost, and all readable events have been read, once the writers inside a
 * call have ended it.
 */
static void close_account(trace_id_t trid, uint64_t read)
{
	struct posix_trace_ledger_np ledger = { .called = 0 };

	posix_trace_stop(trid);
	for (unsigned ms = 0; ms < SETTLED_MS; ms++) {
		while (read_one(trid, false))
			read++;
		if (posix_trace_get_ledger_np(trid, &ledger) == 0 &&
		    ledger.called == sum(&ledger) && ledger.reported == read &&
		    ledger.unread == 0) {
			atomic_fetch_add(&soak->readers, 1);
			atomic_fetch_add(&soak->read, read);
			return;
		}
		nap_us(1000);
	}
	atomic_fetch_add(&soak->broken, 1);
	fprintf(stderr,
		"families: a reader's account stays open: called %llu, reported %llu (read %llu), "
		"unread %llu, sum %llu\n",
		(unsigned long long)ledger.called, (unsigned long long)ledger.reported,
		(unsigned long long)read, (unsigned long long)ledger.unread,
		(unsigned long long)sum(&ledger));
}

void watch(pid_t target, unsigned life)
{
	trace_attr_t attr;
	trace_id_t trid;
	uint64_t read = 0;

	seed = life;
	if (attributes(&attr, false))
		_exit(1);
	if (posix_trace_create(target, &attr, &trid))
		_exit(0); /* it was killed already */
	posix_trace_start(trid);
	for (unsigned n = below(40); n; n--) {
		for (unsigned events = below(300); events && read_one(trid, below(2)); events--)
			read++;
		switch (below(8)) {
		case 0:
			posix_trace_stop(trid);
			posix_trace_start(trid);
			break;
		case 1:
			posix_trace_clear(trid);
			break;
		default:
			nap_us(below(3000));
		}
	}
	close_account(trid, read);
	if (below(2))
		posix_trace_shutdown(trid);
	exit(0);
}
