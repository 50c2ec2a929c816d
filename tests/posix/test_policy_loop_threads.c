/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stream-full policy LOOP with several threads, and with a reader that is overrun. */
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/payload.h"
#include "support/stream.h"

enum { PLAYERS = 3 };

static sem_t turn[PLAYERS];
static trace_event_id_t type;
static _Atomic int next_number, finished;

/* Waits far longer than the time within which the order of two threads' events is undefined. */
static void wait_beyond_the_resolution(void)
{
	int64_t begin = now_ns();

	while (now_ns() - begin < 5000)
		continue;
}

/* The threads record 40, 5 and 1 events in a turn, so their parts of the stream age differently. */
static void *play(void *arg)
{
	static const int share[PLAYERS] = { 40, 5, 1 };
	intptr_t me = (intptr_t)arg;

	for (;;) {
		char data[100] = "";
		int is_last;

		while (sem_wait(&turn[me]))
			continue;
		is_last = finished; /* checked before the next turn begins, so that all threads read
				     * it */
		wait_beyond_the_resolution();
		for (int i = 0; i < share[me] && !is_last; i++) {
			int number = next_number++;

			memcpy(data, &number, sizeof(number));
			posix_trace_event(type, data, sizeof(data));
		}
		sem_post(&turn[(me + 1) % PLAYERS]);
		if (is_last)
			return NULL;
	}
}

/*
 * SLOOP-01, SLOOP-07, SLOOP-11, GETNEXT-02: exactly the last events of all threads together remain
 */
START_TEST(the_remaining_events_are_a_suffix)
{
	int overruns = 0;
	struct history *history;
	pthread_t thread[PLAYERS];
	trace_id_t trid;

	type = type_of("u");
	trid = STARTED(.policy = POSIX_TRACE_LOOP, .size = 30000, .max_data = 100);
	for (int i = 0; i < PLAYERS; i++)
		sem_init(&turn[i], 0, i == 0);
	for (intptr_t i = 0; i < PLAYERS; i++)
		thread[i] = spawn(play, (void *)i);
	while (overruns < 20) {
		overruns += status_of(trid).posix_stream_overrun_status == POSIX_TRACE_OVERRUN;
		usleep(1000);
	}
	finished = 1;
	for (int i = 0; i < PLAYERS; i++)
		join(thread[i]);
	history = read_all(trid);
	assert_type(&history->event[0], POSIX_TRACE_OVERFLOW);
	assert_type(&history->event[1], POSIX_TRACE_RESUME);
	assert_gapless(history, 2, next_number - 1);
	history_free(history);
	shut(trid);
}
END_TEST

static _Atomic int writing;

static void *write_on(void *unused)
{
	unsigned char data[PAYLOAD_MIN];

	(void)unused;
	for (uint64_t n = 0; n < 400000; n++) {
		payload_make(data, sizeof(data), 1, n);
		posix_trace_event(type, data, sizeof(data));
	}
	writing = 0;
	return NULL;
}

/* SLOOP-05, SLOOP-06, SLOOP-08, SLOOP-11: the reader is always slower than the writers */
START_TEST(a_gap_is_where_the_marks_are_and_nowhere_else)
{
	uint64_t expected = 0, gaps = 0;
	int64_t overflow_time = 0, resume_time = 0, last_time = 0;
	int marks = 0, done;
	pthread_t thread;
	trace_id_t trid;

	type = type_of("u");
	trid = STARTED(.policy = POSIX_TRACE_LOOP, .size = 4000);
	writing = 1;
	thread = spawn(write_on, NULL);
	/* At least until the first gap, because the writer may be slower than the reader. */
	while (status_of(trid).posix_stream_overrun_status == POSIX_TRACE_NO_OVERRUN)
		sched_yield();
	do {
		struct posix_trace_event_info info;
		unsigned char data[512];
		uint64_t sequence;
		int unavailable;
		uint32_t who;
		size_t len;

		done = !writing;
		if (posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &len,
						 &unavailable))
			ck_abort_msg("reading failed");
		if (unavailable) {
			if (done)
				break;
			continue;
		}
		done = 0;
		if (info.posix_event_id == POSIX_TRACE_START)
			continue;
		if (info.posix_event_id == POSIX_TRACE_OVERFLOW) {
			ck_assert_int_eq(marks, 0);
			overflow_time = nanoseconds(&info.posix_timestamp);
			marks = 1;
			continue;
		}
		if (info.posix_event_id == POSIX_TRACE_RESUME) {
			ck_assert_int_eq(marks, 1);
			resume_time = nanoseconds(&info.posix_timestamp);
			ck_assert_int_le(overflow_time, resume_time);
			ck_assert_int_ge(overflow_time, last_time);
			marks = 2;
			continue;
		}
		if (!payload_read(data, len, &who, &sequence))
			ck_abort_msg("a torn event");
		if (marks == 1)
			ck_abort_msg("an event between OVERFLOW and RESUME");
		if (marks ? sequence <= expected && expected : sequence != expected)
			ck_abort_msg("event %llu after %llu, %s marks",
				     (unsigned long long)sequence, (unsigned long long)expected,
				     marks ? "with" : "without");
		last_time = nanoseconds(&info.posix_timestamp);
		if (marks && resume_time != last_time)
			ck_abort_msg("RESUME has another time than its event");
		gaps += !!marks;
		marks = 0;
		expected = sequence + 1;
	} while (1);
	join(thread);
	ck_assert_uint_eq(expected, 400000);
	ck_assert_uint_gt(gaps, 0);
	shut(trid);
}
END_TEST

SUITE_MAIN("stream-full policy LOOP: threads",
	   the_remaining_events_are_a_suffix,
	   a_gap_is_where_the_marks_are_and_nowhere_else)
