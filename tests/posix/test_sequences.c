/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Worked sequences: the calls of a program, and all events that are read. */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/stream.h"

/* Sequence 1, plain: CREATE-08, START-01, STOP-01, EVENT-05, TRY-01 */
START_TEST(sequence_1_plain)
{
	trace_event_id_t u0 = type_of("u0"), u1 = type_of("u1"), u2 = type_of("u2"),
			 u3 = type_of("u3");
	trace_id_t trid;

	OK(posix_trace_create(0, NULL, &trid));
	posix_trace_event(u0, NULL, 0);
	start(trid);
	posix_trace_event(u1, NULL, 0);
	posix_trace_event(u2, NULL, 0);
	stop(trid);
	posix_trace_event(u3, NULL, 0);
	ck_assert_events(trid, "START u1 u2 STOP(0)");
	assert_empty(trid);
	shut(trid);
}
END_TEST

/* Sequence 2, redundant control: START-03, STOP-02 */
START_TEST(sequence_2_redundant_control)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STREAM();

	start(trid);
	start(trid);
	posix_trace_event(u, NULL, 0);
	stop(trid);
	stop(trid);
	ck_assert_events(trid, "START u STOP(0)");
	shut(trid);
}
END_TEST

/* Sequence 3, filter: FILTER-02, FILTER-05, FILTER-08 */
START_TEST(sequence_3_filter)
{
	trace_event_id_t a = type_of("a"), b = type_of("b");
	trace_id_t trid = STARTED();
	trace_event_set_t only_a;

	OK(posix_trace_eventset_empty(&only_a));
	OK(posix_trace_eventset_add(a, &only_a));
	OK(posix_trace_set_filter(trid, &only_a, POSIX_TRACE_SET_EVENTSET));
	posix_trace_event(a, NULL, 0);
	posix_trace_event(b, NULL, 0);
	OK(posix_trace_set_filter(trid, &only_a, POSIX_TRACE_SUB_EVENTSET));
	posix_trace_event(a, NULL, 0);
	stop(trid);
	ck_assert_events(trid, "START FILTER{->a} b FILTER{a->} a STOP(0)");
	shut(trid);
}
END_TEST

/* Sequence 4, filter before start: FILTER-04, FILTER-07, START-02 */
START_TEST(sequence_4_filter_before_start)
{
	trace_event_id_t a = type_of("a"), b = type_of("b");
	trace_id_t trid = STREAM();
	trace_event_set_t only_a;

	OK(posix_trace_eventset_empty(&only_a));
	OK(posix_trace_eventset_add(a, &only_a));
	OK(posix_trace_set_filter(trid, &only_a, POSIX_TRACE_SET_EVENTSET));
	start(trid);
	posix_trace_event(a, NULL, 0);
	posix_trace_event(b, NULL, 0);
	stop(trid);
	ck_assert_events(trid, "START{a} b STOP(0)");
	shut(trid);
}
END_TEST

/* Sequence 5, UNTIL_FULL: UFULL-01, UFULL-02, UFULL-03, UFULL-10, UFULL-11, STATUS-06 */
START_TEST(sequence_5_until_full)
{
	trace_event_id_t u = type_of("u"), v = type_of("v");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL, .size = 8192);
	struct posix_trace_status_info status;
	struct history *history;
	int n = fill(trid, u, 50, 0);

	for (int i = 0; i < 10; i++)
		trace_number(u, -1);
	status = status_of(trid);
	ck_assert_int_eq(status.posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
	status = status_of(trid);
	ck_assert_int_eq(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	history = read_all(trid);
	ck_assert_uint_eq(history->event[0].info.posix_event_id, POSIX_TRACE_START);
	for (size_t i = 1; i + 1 < history->n; i++)
		ck_assert_int_eq(number_of(&history->event[i]), i - 1);
	ck_assert_uint_eq(history->event[history->n - 1].info.posix_event_id, POSIX_TRACE_STOP);
	ck_assert_int_ne(int_of(&history->event[history->n - 1]), 0);
	/* The last call of fill() may have recorded the event that did not fit. */
	ck_assert_int_ge(history->n - 2, n - 1);
	history_free(history);
	posix_trace_event(v, NULL, 0);
	ck_assert_events(trid, "START v");
	shut(trid);
}
END_TEST

/* Sequence 6, LOOP overflow: SLOOP-01, SLOOP-05, SLOOP-06, SLOOP-07, STATUS-04, STATUS-06 */
START_TEST(sequence_6_loop_overflow)
{
	struct posix_trace_status_info status;
	struct timespec before, after;
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STREAM(.policy = POSIX_TRACE_LOOP, .size = 8192);
	struct history *history;
	int m;

	clock_gettime(CLOCK_REALTIME, &before);
	start(trid);
	clock_gettime(CLOCK_REALTIME, &after);
	m = overrun(trid, u, 50, 1);
	for (int i = 0; i < 20000; i++)
		trace_number(u, ++m); /* the second overrun, which was not reported yet */
	stop(trid);
	status = status_of(trid);
	ck_assert_int_eq(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
	ck_assert_int_eq(status.posix_stream_full_status, POSIX_TRACE_FULL);
	ck_assert_int_eq(status.posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
	status = status_of(trid);
	ck_assert_int_eq(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	ck_assert_int_eq(status.posix_stream_full_status, POSIX_TRACE_FULL);
	history = read_all(trid);
	ck_assert_uint_eq(history->event[0].info.posix_event_id, POSIX_TRACE_OVERFLOW);
	ck_assert_int_ge(nanoseconds(&history->event[0].info.posix_timestamp),
			 nanoseconds(&before) - 1000000);
	ck_assert_int_le(nanoseconds(&history->event[0].info.posix_timestamp),
			 nanoseconds(&after) + 1000000);
	ck_assert_uint_eq(history->event[1].info.posix_event_id, POSIX_TRACE_RESUME);
	ck_assert_int_eq(nanoseconds(&history->event[1].info.posix_timestamp),
			 nanoseconds(&history->event[2].info.posix_timestamp));
	ck_assert_int_gt(number_of(&history->event[2]), 1);
	for (size_t i = 2; i + 2 < history->n; i++)
		ck_assert_int_eq(number_of(&history->event[i]) + 1,
				 number_of(&history->event[i + 1]));
	ck_assert_int_eq(number_of(&history->event[history->n - 2]), m);
	ck_assert_uint_eq(history->event[history->n - 1].info.posix_event_id, POSIX_TRACE_STOP);
	ck_assert_int_eq(int_of(&history->event[history->n - 1]), 0);
	history_free(history);
	shut(trid);
}
END_TEST

/* Sequence 7, LOOP, reader in the middle: SLOOP-05, SLOOP-07 */
START_TEST(sequence_7_loop_reader_in_the_middle)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_LOOP, .size = 8192);
	struct timespec before, after;
	struct history *history;
	struct seen seen;
	char *text;
	int m;

	trace_number(u, 1);
	trace_number(u, 2);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(read_one(trid, &seen), 1);
		free(seen.data);
	}
	clock_gettime(CLOCK_REALTIME, &before);
	trace_number(u, 3);
	clock_gettime(CLOCK_REALTIME, &after);
	m = 3 + overrun(trid, u, 50, 4);
	trace_number(u, ++m);
	history = read_all(trid);
	ck_assert_int_ge(nanoseconds(&history->event[0].info.posix_timestamp),
			 nanoseconds(&before) - 1000000);
	ck_assert_int_le(nanoseconds(&history->event[0].info.posix_timestamp),
			 nanoseconds(&after) + 1000000);
	ck_assert_int_gt(number_of(&history->event[2]), 3);
	ck_assert_int_eq(number_of(&history->event[history->n - 1]), m);
	text = history_text(trid, history);
	ck_assert(!strncmp(text, "OVERFLOW RESUME u", 17));
	free(text);
	history_free(history);
	shut(trid);
}
END_TEST

/* Sequence 13, truncation, the stream's half: TRUNC-02, TRUNC-03 */
START_TEST(sequence_13_truncation)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.max_data = 8);
	struct posix_trace_event_info info;
	int unavailable;
	char data[100];
	size_t len;

	posix_trace_event(u, "01234567890123456789", 20);
	posix_trace_event(u, "01234567890123456789", 20);
	OK(posix_trace_getnext_event(trid, &info, data, sizeof(data), &len, &unavailable));
	ck_assert_uint_eq(info.posix_event_id, POSIX_TRACE_START);
	OK(posix_trace_getnext_event(trid, &info, data, 4, &len, &unavailable));
	ck_assert_uint_eq(len, 4);
	ck_assert_int_eq(info.posix_truncation_status, POSIX_TRACE_TRUNCATED_READ);
	OK(posix_trace_getnext_event(trid, &info, data, 100, &len, &unavailable));
	ck_assert_uint_eq(len, 8);
	ck_assert_int_eq(info.posix_truncation_status, POSIX_TRACE_TRUNCATED_RECORD);
	ck_assert(!memcmp(data, "01234567", 8));
	shut(trid);
}
END_TEST

struct reader {
	trace_id_t trid;
	_Atomic pid_t tid;
	int err;
	int unavailable;
};

static void *wait_in_vain(void *arg)
{
	struct reader *reader = arg;
	struct posix_trace_event_info info;
	size_t len;

	reader->tid = thread_id();
	reader->err = posix_trace_getnext_event(reader->trid, &info, NULL, 0, &len,
						&reader->unavailable);
	return NULL;
}

/* Sequence 17, unblock: GETNEXT-10, SHUT-04, GETNEXT-05 */
START_TEST(sequence_17_unblock)
{
	struct reader reader = { .trid = STREAM() };
	pthread_t thread = spawn(wait_in_vain, &reader);

	while (!reader.tid)
		sched_yield();
	spin_until_asleep(reader.tid);
	shut(reader.trid);
	join(thread);
	ck_assert_int_eq(reader.err, EINVAL);
	ck_assert_int_ne(reader.unavailable, 0);
}
END_TEST

/* Sequence 18, limit: EVID-08, EVID-09, EVID-10 */
START_TEST(sequence_18_limit)
{
	static trace_event_id_t id[TRACE_USER_EVENT_MAX];
	static unsigned char taken[1024];
	char name[32];

	for (int i = 0; i < TRACE_USER_EVENT_MAX - 1; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		OK(posix_trace_eventid_open(name, &id[i]));
		ck_assert_uint_lt(id[i], 1024);
		ck_assert_uint_eq(taken[id[i]]++, 0);
	}
	OK(posix_trace_eventid_open("one too many", &id[TRACE_USER_EVENT_MAX - 1]));
	ck_assert_uint_eq(id[TRACE_USER_EVENT_MAX - 1], POSIX_TRACE_UNNAMED_USEREVENT);
	ck_assert_uint_eq(type_of("name 0"), id[0]);
}
END_TEST

SUITE_MAIN("sequences",
	   sequence_1_plain,
	   sequence_2_redundant_control,
	   sequence_3_filter,
	   sequence_4_filter_before_start,
	   sequence_5_until_full,
	   sequence_6_loop_overflow,
	   sequence_7_loop_reader_in_the_middle,
	   sequence_13_truncation,
	   sequence_17_unblock,
	   sequence_18_limit)
