/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_event() in many threads at the same time: no event is lost or mixed, and the order is
 * kept. */
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/payload.h"
#include "support/random.h"
#include "support/stream.h"

enum { THREADS = 16, EVENTS = 2000 };

static trace_event_id_t type;
static pthread_barrier_t together;

static void *trace_payloads(void *arg)
{
	uint32_t who = (uint32_t)(uintptr_t)arg;
	uint64_t state = who;

	pthread_barrier_wait(&together);
	for (uint64_t n = 0; n < EVENTS; n++) {
		unsigned char data[200];
		size_t len = random_between(&state, PAYLOAD_MIN, sizeof(data));

		payload_make(data, len, who, n);
		posix_trace_event(type, data, len);
	}
	return NULL;
}

/* EVENT-18, EVENT-19, EVENT-07, FORK-14: 16 threads record, and the test reads afterwards */
START_TEST(threads_at_once_lose_and_mix_nothing)
{
	struct history *history;
	pthread_t thread[THREADS];
	uint64_t next[THREADS] = { 0 };
	int64_t last_time = 0;
	trace_id_t trid;

	type = type_of("u");
	pthread_barrier_init(&together, NULL, THREADS);
	trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL, .size = 1 << 24);
	for (uintptr_t i = 0; i < THREADS; i++)
		thread[i] = spawn(trace_payloads, (void *)i);
	for (int i = 0; i < THREADS; i++)
		join(thread[i]);
	history = read_all(trid);
	ck_assert_uint_eq(history->n, 1 + THREADS * EVENTS);
	for (size_t i = 1; i < history->n; i++) {
		struct seen *seen = &history->event[i];
		int64_t time = nanoseconds(&seen->info.posix_timestamp);
		uint64_t sequence;
		uint32_t who;

		if (!payload_read(seen->data, seen->len, &who, &sequence) || who >= THREADS)
			ck_abort_msg("event %zu is torn", i);
		if (sequence != next[who]++)
			ck_abort_msg("an event of thread %u is out of order", who);
		if (!pthread_equal(seen->info.posix_thread_id, thread[who]))
			ck_abort_msg("an event of thread %u names another thread", who);
		if (time < last_time) /* GETNEXT-02, SYSEV-07 */
			ck_abort_msg("event %zu is older than the one before it", i);
		last_time = time;
	}
	for (int i = 0; i < THREADS; i++)
		ck_assert_uint_eq(next[i], EVENTS);
	history_free(history);
	shut(trid);
}
END_TEST

enum { RELAY = 4, TURNS = 4000 };

static sem_t turn[RELAY];

/*
 * The standard does not define the order of events within the clock's resolution, and a processor
 * may read the clock a little before it records. The wait is far longer than both.
 */
static void wait_beyond_the_resolution(void)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (nanoseconds(&now) - nanoseconds(&begin) < 5000);
}

static void *relay(void *arg)
{
	intptr_t me = (intptr_t)arg;

	for (int n = me; n < TURNS; n += RELAY) {
		while (sem_wait(&turn[me]))
			continue;
		wait_beyond_the_resolution();
		trace_number(type, n);
		sem_post(&turn[(me + 1) % RELAY]);
	}
	return NULL;
}

/* EVENT-20, GETNEXT-02: threads that take turns, so that the order of their calls is known */
START_TEST(a_call_that_begins_after_another_returned_stands_after_it)
{
	struct history *history;
	pthread_t thread[RELAY];
	trace_id_t trid;

	type = type_of("u");
	trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL, .size = 1 << 20);
	for (int i = 0; i < RELAY; i++)
		sem_init(&turn[i], 0, i == 0);
	for (intptr_t i = 0; i < RELAY; i++)
		thread[i] = spawn(relay, (void *)i);
	for (int i = 0; i < RELAY; i++)
		join(thread[i]);
	history = read_all(trid);
	ck_assert_uint_eq(history->n, TURNS + 1);
	for (int i = 0; i < TURNS; i++)
		if (number_of(&history->event[i + 1]) != i)
			ck_abort_msg("event %d is in the place of %d",
				     number_of(&history->event[i + 1]), i);
	history_free(history);
	shut(trid);
}
END_TEST

static void *trace_ten(void *arg)
{
	int first = 10 * (int)(intptr_t)arg;

	for (int i = 0; i < 10; i++)
		trace_number(type, first + i);
	return NULL;
}

enum { IN_TURN = 1100 }; /* more threads than the rings that a stream has at one time */

/* EVENT-18, EVENT-19: threads that start and end, one after the other */
START_TEST(threads_that_have_ended_keep_their_events)
{
	struct history *history;
	trace_id_t trid;

	type = type_of("u");
	trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL, .size = 1 << 20);
	for (intptr_t i = 0; i < IN_TURN; i++)
		join(spawn(trace_ten, (void *)i));
	history = read_all(trid);
	ck_assert_uint_eq(history->n, 10 * IN_TURN + 1);
	for (int i = 0; i < 10 * IN_TURN; i++)
		ck_assert_int_eq(number_of(&history->event[i + 1]), i);
	history_free(history);
	shut(trid);
}
END_TEST

static trace_event_id_t held_type, free_type;
static atomic_int held, release;

static void hold(int signal)
{
	(void)signal;
	atomic_store(&held, 1);
	while (!atomic_load(&release))
		sched_yield();
}

static void *trace_until_released(void *unused)
{
	(void)unused;
	while (!atomic_load(&release))
		posix_trace_event(held_type, NULL, 0);
	return NULL;
}

/*
 * EVENT-16: a thread that is suspended anywhere in its trace point does not delay other threads for
 * ever
 */
START_TEST(a_thread_that_is_held_in_a_trace_point_blocks_no_other)
{
	struct sigaction action = { .sa_handler = hold };
	struct posix_trace_event_info info;
	trace_id_t trid;
	int unavailable;
	size_t len;

	held_type = type_of("held");
	free_type = type_of("free");
	trid = STARTED(.policy = POSIX_TRACE_LOOP, .size = 8192);
	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	for (int round = 0; round < 100; round++) {
		pthread_t thread;

		held = release = 0;
		thread = spawn(trace_until_released, NULL);
		sched_yield();
		pthread_kill(thread, SIGUSR1);
		while (!atomic_load(&held))
			sched_yield();
		for (int i = 0; i < 3000; i++) /* many times the stream's size */
			trace_number(free_type, i);
		OK(posix_trace_getnext_event(trid, &info, NULL, 0, &len, &unavailable));
		ck_assert_int_eq(unavailable, 0);
		stop(trid);
		start(trid);
		atomic_store(&release, 1);
		join(thread);
	}
	shut(trid);
}
END_TEST

SUITE_MAIN("posix_trace_event: threads",
	   threads_at_once_lose_and_mix_nothing,
	   a_call_that_begins_after_another_returned_stands_after_it,
	   threads_that_have_ended_keep_their_events,
	   a_thread_that_is_held_in_a_trace_point_blocks_no_other)
