/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waiting for an event: the causes that end the wait, without a loss of events or resources. */
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "support/stream.h"

/* A thread that waits once, and the result of its wait. */
struct waiter {
	trace_id_t trid;
	const struct timespec *deadline; /* NULL for posix_trace_getnext_event() */
	_Atomic pid_t tid;
	_Atomic int ended;
	int err;
	int unavailable;
	trace_event_id_t id;
};

static const struct timespec never = { LONG_MAX, 0 };

static void *wait_once(void *arg)
{
	struct waiter *w = arg;
	struct posix_trace_event_info info = { 0 };
	size_t len;

	w->tid = thread_id();
	w->unavailable = 77;
	if (w->deadline)
		w->err = posix_trace_timedgetnext_event(w->trid, &info, NULL, 0, &len,
							&w->unavailable, w->deadline);
	else
		w->err = posix_trace_getnext_event(w->trid, &info, NULL, 0, &len,
						   &w->unavailable);
	w->id = info.posix_event_id;
	w->ended = 1;
	return NULL;
}

static pthread_t begin_wait(struct waiter *w)
{
	pthread_t thread = spawn(wait_once, w);

	while (!w->tid)
		sched_yield();
	spin_until_asleep(w->tid);
	return thread;
}

/*
 * GETNEXT-04, TIMED-01: a reader waits until an event is recorded, in a stream that was never
 * started, runs or is stopped
 */
START_TEST(a_reader_waits_until_there_is_an_event)
{
	trace_event_id_t u = type_of("u");

	for (int timed = 0; timed < 2; timed++) {
		trace_id_t trid = STREAM();
		struct waiter first = { .trid = trid }, second = first, third = first;
		pthread_t thread;

		first.deadline = second.deadline = third.deadline = timed ? &never : NULL;
		thread = begin_wait(&first);
		trace_number(u, 1); /* not recorded, so it does not end the wait */
		ck_assert_int_eq(first.ended, 0);
		start(trid);
		join(thread);
		ck_assert_int_eq(first.err, 0);
		ck_assert_int_eq(first.unavailable, 0);
		ck_assert_uint_eq(first.id, POSIX_TRACE_START);

		thread = begin_wait(&second);
		ck_assert_int_eq(second.ended, 0);
		trace_number(u, 2);
		join(thread);
		ck_assert_int_eq(second.err, 0);
		ck_assert_uint_eq(second.id, u);

		stop(trid);
		history_free(read_all(trid));
		thread = begin_wait(&third);
		ck_assert_int_eq(third.ended, 0);
		start(trid);
		join(thread);
		ck_assert_int_eq(third.err, 0);
		ck_assert_uint_eq(third.id, POSIX_TRACE_START);
		shut(trid);
	}
}
END_TEST

static atomic_int signals;

#ifdef __SANITIZE_THREAD__
enum { DELIVERED = 0 }; /* it defers a signal until the sleep ends */
#else
enum { DELIVERED = 1 };
#endif

static void note(int signal)
{
	(void)signal;
	signals++;
}

static void handle(int flags)
{
	struct sigaction action = { .sa_handler = note, .sa_flags = flags };

	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	signals = 0;
}

/* GETNEXT-08, TIMED-07, GETNEXT-05 */
START_TEST(a_signal_ends_the_wait_with_EINTR_and_takes_no_event)
{
	trace_event_id_t u = type_of("u");

	handle(0);
	for (int i = 0; i < 20; i++) {
		trace_id_t trid = STARTED();
		struct waiter w = { .trid = trid, .deadline = i % 2 ? &never : NULL };
		pthread_t thread;

		history_free(read_all(trid));
		thread = begin_wait(&w);
		/* The first signal could arrive just before the wait begins. */
		while (!w.ended) {
			pthread_kill(thread, SIGUSR1);
			sched_yield();
		}
		join(thread);
		ck_assert_int_eq(w.err, EINTR);
		ck_assert_int_ne(w.unavailable, 0);
		ck_assert_int_ne(w.unavailable, 77);
		trace_number(u, i);
		history_free(read_all(trid));
		trace_number(u, 5);
		ck_assert_events(trid, "u=5");
		shut(trid);
	}
}
END_TEST

/*
 * GETNEXT-08: signals and events at the same time: events that are not delivered remain in the
 * stream
 */
START_TEST(no_event_is_lost_between_signals)
{
	enum { EVENTS = 300 };
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED();
	int delivered = 0, interrupted = 0;

	handle(0);
	history_free(read_all(trid));
	for (int n = 0; n < EVENTS; n++) {
		struct waiter w = { .trid = trid };
		pthread_t thread = spawn(wait_once, &w);

		pthread_kill(thread, SIGUSR1);
		trace_number(u, n);
		pthread_kill(thread, SIGUSR1);
		join(thread);
		ck_assert(w.err == 0 || w.err == EINTR);
		delivered += !w.err;
		interrupted += w.err == EINTR;
		ck_assert_int_eq(!!w.unavailable, w.err == EINTR);
	}
	{
		struct history *history = read_all(trid);

		ck_assert_uint_eq(history->n, interrupted);
		ck_assert_int_eq(delivered + interrupted, EVENTS);
		history_free(history);
	}
	shut(trid);
}
END_TEST

/* GETNEXT-09, TIMED-07 */
START_TEST(a_handler_with_SA_RESTART_lets_the_wait_go_on)
{
	trace_event_id_t u = type_of("u");

	handle(SA_RESTART);
	for (int timed = 0; timed < 2; timed++) {
		trace_id_t trid = STARTED();
		struct waiter w = { .trid = trid, .deadline = timed ? &never : NULL };
		pthread_t thread;

		history_free(read_all(trid));
		thread = begin_wait(&w);
		for (int i = 0; i < 50 && !w.ended; i++) {
			int before = signals;

			pthread_kill(thread, SIGUSR1);
			/* A timed wait may have ended immediately before its signal. */
			while (DELIVERED && signals == before && !w.ended)
				sched_yield();
		}
		spin_until_asleep(w.tid);
		/* The signal may interrupt a timed wait nevertheless, but not a plain wait. */
		if (!timed)
			ck_assert_int_eq(w.ended, 0);
		trace_number(u, 1);
		join(thread);
		if (w.err != EINTR || !timed) {
			ck_assert_int_eq(w.err, 0);
			ck_assert_uint_eq(w.id, u);
		}
		shut(trid);
	}
}
END_TEST

/* GETNEXT-10, SHUT-04, GETNEXT-05; sequence 17 */
START_TEST(a_shutdown_ends_the_wait_with_EINVAL)
{
	for (int timed = 0; timed < 2; timed++) {
		trace_id_t trid = STREAM();
		struct waiter w[4];
		pthread_t thread[4];

		memset(w, 0, sizeof(w));
		for (int i = 0; i < 4; i++) {
			w[i].trid = trid;
			w[i].deadline = timed ? &never : NULL;
			thread[i] = begin_wait(&w[i]);
		}
		shut(trid);
		for (int i = 0; i < 4; i++) {
			join(thread[i]);
			ck_assert_int_eq(w[i].err, EINVAL);
			ck_assert_int_ne(w[i].unavailable, 0);
			ck_assert_int_ne(w[i].unavailable, 77);
		}
	}
}
END_TEST

struct endless {
	trace_id_t trid;
	int timed;
	atomic_int delivered;
};

static void *wait_for_ever(void *arg)
{
	struct endless *e = arg;

	for (;;) {
		struct posix_trace_event_info info;
		int unavailable, err;
		size_t len;

		err = e->timed ? posix_trace_timedgetnext_event(e->trid, &info, NULL, 0, &len,
								&unavailable, &never)
			       : posix_trace_getnext_event(e->trid, &info, NULL, 0, &len,
							   &unavailable);
		if (err || unavailable)
			return NULL;
		e->delivered++;
	}
}

/* GETNEXT-11, SIGCAN-03: the reader is cancelled while it sleeps, and while an event is recorded */
START_TEST(a_cancelled_reader_takes_no_event_with_it)
{
	trace_event_id_t u = type_of("u");
	struct endless e = { .trid = STARTED() };
	int traced = 1; /* START */

	for (int round = 0; round < 400; round++) {
		pthread_t thread;

		e.timed = round % 2;
		thread = spawn(wait_for_ever, &e);
		for (int i = round % 7; i; i--)
			sched_yield();
		if (round % 3) {
			trace_number(u, round);
			traced++;
		}
		ck_assert_int_eq(pthread_cancel(thread), 0);
		ck_assert_ptr_eq(join(thread), PTHREAD_CANCELED);
		if (round % 5 == 0) {
			struct history *history = read_all(e.trid);

			ck_assert_uint_eq(e.delivered + history->n, traced);
			e.delivered += history->n;
			history_free(history);
		}
	}
	history_free(read_all(e.trid));
	shut(e.trid);
}
END_TEST

/* GETNEXT-12 */
START_TEST(each_event_goes_to_one_of_the_waiting_threads)
{
	enum { READERS = 6, EVENTS = 2000 };
	struct endless e[READERS];
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.size = 1 << 20);
	pthread_t thread[READERS];
	int got, busy = 0;

	memset(e, 0, sizeof(e));
	for (int i = 0; i < READERS; i++) {
		e[i].trid = trid;
		e[i].timed = i % 2;
		thread[i] = spawn(wait_for_ever, &e[i]);
	}
	/*
	 * First one event at a time, so that every wake-up is needed. Then all events at the same
	 * time.
	 */
	for (int n = 0; n < 2 * EVENTS; n++) {
		trace_number(u, n);
		do {
			got = 0;
			for (int i = 0; i < READERS; i++)
				got += e[i].delivered;
			ck_assert_int_le(got, n + 2);
			if (n >= EVENTS && n < 2 * EVENTS - 1)
				break;
			sched_yield();
		} while (got < n + 2); /* the events and the START */
	}
	shut(trid);
	for (int i = 0; i < READERS; i++) {
		join(thread[i]);
		busy += e[i].delivered > 0;
	}
	ck_assert_int_gt(busy, 0);
}
END_TEST

static trace_event_id_t from_handler;

static void trace_here(int signal)
{
	trace_number(from_handler, signal);
}

/* EVENT-13, GETNEXT-04: an event of a signal handler wakes the reader too */
START_TEST(an_event_of_a_handler_ends_the_wait)
{
	trace_id_t trid = STARTED();

	from_handler = type_of("from a handler");
	ck_assert_ptr_ne(signal(SIGUSR2, trace_here), SIG_ERR);
	history_free(read_all(trid));
	for (int i = 0; i < 20; i++) {
		struct waiter w = { .trid = trid };
		pthread_t thread = begin_wait(&w);

		pthread_kill(pthread_self(), SIGUSR2);
		join(thread);
		ck_assert_int_eq(w.err, 0);
		ck_assert_uint_eq(w.id, from_handler);
	}
	shut(trid);
}
END_TEST

SUITE_MAIN("posix_trace_getnext_event: waiting",
	   a_reader_waits_until_there_is_an_event,
	   a_signal_ends_the_wait_with_EINTR_and_takes_no_event,
	   no_event_is_lost_between_signals,
	   a_handler_with_SA_RESTART_lets_the_wait_go_on,
	   a_shutdown_ends_the_wait_with_EINVAL,
	   a_cancelled_reader_takes_no_event_with_it,
	   each_event_goes_to_one_of_the_waiting_threads,
	   an_event_of_a_handler_ends_the_wait)
