/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix_trace_getnext_event(), timedgetnext and trygetnext: the event that a call delivers, and the
 * time at which the call returns.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/stream.h"

/* The three calls as one; timed waits until a given time. */
enum { GETNEXT, TIMED, TRY, CALLS };
static struct timespec deadline; /* the epoch, a time that is long past */

struct got {
	struct posix_trace_event_info info;
	char data[300];
	size_t len;
	int unavailable;
};

static int next(int call, trace_id_t trid, struct got *got)
{
	memset(got, 0x77, sizeof(*got));
	got->unavailable = 77;
	switch (call) {
	case GETNEXT:
		return KEEPS_ERRNO(posix_trace_getnext_event(trid, &got->info, got->data,
							     sizeof(got->data), &got->len,
							     &got->unavailable));
	case TIMED:
		return KEEPS_ERRNO(posix_trace_timedgetnext_event(trid, &got->info, got->data,
								  sizeof(got->data), &got->len,
								  &got->unavailable, &deadline));
	default:
		return KEEPS_ERRNO(posix_trace_trygetnext_event(trid, &got->info, got->data,
								sizeof(got->data), &got->len,
								&got->unavailable));
	}
}

static void assert_got(int call, trace_id_t trid, trace_event_id_t id, int number)
{
	struct got got;
	int value;

	ck_assert_int_eq(next(call, trid, &got), 0);
	ck_assert_int_eq(got.unavailable, 0);
	ck_assert_uint_eq(got.info.posix_event_id, id);
	ck_assert_int_eq(got.info.posix_pid, getpid());
	if (id < 64)
		return;
	ck_assert_uint_eq(got.len, sizeof(int));
	memcpy(&value, got.data, sizeof(value));
	ck_assert_int_eq(value, number);
	for (size_t i = sizeof(int); i < sizeof(got.data); i++)
		ck_assert_int_eq(got.data[i], 0x77); /* TRUNC-07 */
}

/* GETNEXT-01, GETNEXT-02, GETNEXT-03, TIMED-01, TRY-03 */
START_TEST(each_call_delivers_the_oldest_event_once)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED();

	for (int i = 0; i < 30; i++)
		trace_number(u, i);
	assert_got(GETNEXT, trid, POSIX_TRACE_START, 0);
	for (int i = 0; i < 30; i++)
		assert_got(i % CALLS, trid, u, i);
	assert_empty(trid);
	trace_number(u, 77);
	assert_got(TIMED, trid, u, 77);
	assert_empty(trid);
	shut(trid);
}
END_TEST

/* GETNEXT-01: the calls also read suspended streams */
START_TEST(a_stopped_stream_is_read_like_a_running_one)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED();

	trace_number(u, 1);
	stop(trid);
	assert_got(GETNEXT, trid, POSIX_TRACE_START, 0);
	assert_got(TIMED, trid, u, 1);
	assert_got(TRY, trid, POSIX_TRACE_STOP, 0);
	shut(trid);
}
END_TEST

/* TRY-01, GETNEXT-05, GETNEXT-04 */
START_TEST(try_finds_nothing_in_an_empty_stream_and_says_so)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STREAM();
	struct got got;

	for (int state = 0; state < 3; state++) {
		for (int i = 0; i < 3; i++) {
			ck_assert_int_eq(next(TRY, trid, &got), 0);
			ck_assert_int_ne(got.unavailable, 0);
			ck_assert_int_ne(got.unavailable, 77);
		}
		if (state == 0) {
			start(trid);
			assert_got(TRY, trid, POSIX_TRACE_START, 0);
		}
		if (state == 1) {
			trace_number(u, 1);
			assert_got(TRY, trid, u, 1);
			stop(trid);
			assert_got(TRY, trid, POSIX_TRACE_STOP, 0);
		}
	}
	shut(trid);
}
END_TEST

static void deadline_in(int64_t ns)
{
	ns += now_ns();
	deadline.tv_sec = ns / 1000000000;
	deadline.tv_nsec = ns % 1000000000;
}

/* TIMED-02, TIMED-05, GETNEXT-05 */
START_TEST(a_time_long_past_ends_at_once)
{
	static const struct timespec past[] = { { 0, 0 }, { 0, 1 }, { 1, 999999999 }, { -1, 0 },
						{ -1, 999999999 }, { LONG_MIN, 0 } };
	trace_id_t trid = STREAM();
	struct got got;

	for (size_t i = 0; i < sizeof(past) / sizeof(past[0]); i++) {
		deadline = past[i];
		ck_assert_int_eq(next(TIMED, trid, &got), ETIMEDOUT);
		ck_assert_int_ne(got.unavailable, 0);
		ck_assert_int_ne(got.unavailable, 77);
		ck_assert_uint_eq(got.info.posix_event_id, 0x77777777);
	}
	deadline_in(-1);
	ck_assert_int_eq(next(TIMED, trid, &got), ETIMEDOUT);
	shut(trid);
}
END_TEST

/* TIMED-03, TIMED-04 */
START_TEST(the_time_is_looked_at_only_without_an_event)
{
	static const struct timespec odd[] = { { 0, 0 }, { -5, 0 }, { 0, -1 }, { 0, 1000000000 },
					       { LONG_MAX, LONG_MAX }, { LONG_MAX, -1 } };
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED();
	struct got got;

	assert_got(TRY, trid, POSIX_TRACE_START, 0);
	for (int i = 0; i < 6; i++) {
		deadline = odd[i];
		trace_number(u, i);
		assert_got(TIMED, trid, u, i);
		ck_assert_int_eq(next(TIMED, trid, &got), i < 2 ? ETIMEDOUT : EINVAL);
		ck_assert_int_ne(got.unavailable, 0);
		ck_assert_int_ne(got.unavailable, 77);
	}
	shut(trid);
}
END_TEST

/* TIMED-01, TIMED-08 */
START_TEST(no_wait_ends_before_its_time)
{
	static const int64_t wait_ns[] = { 1, 1000, 50000, 400000, 1000000, 3000000, 20000000 };
	trace_id_t trid = STARTED();
	struct got got;

	assert_got(TRY, trid, POSIX_TRACE_START, 0);
	for (int round = 0; round < 70; round++) {
		deadline_in(wait_ns[round % 7]);
		ck_assert_int_eq(next(TIMED, trid, &got), ETIMEDOUT);
		ck_assert_int_ge(now_ns(), nanoseconds(&deadline));
		ck_assert_int_ne(got.unavailable, 0);
	}
	shut(trid);
}
END_TEST

/* GETNEXT-07, GETNEXT-05, TRY-02 */
START_TEST(without_a_stream_there_is_no_event)
{
	trace_id_t trid = STREAM();
	struct got got;

	shut(trid);
	for (int call = 0; call < CALLS; call++) {
		ck_assert_int_eq(next(call, trid, &got), EINVAL);
		ck_assert_int_ne(got.unavailable, 0);
		ck_assert_int_ne(got.unavailable, 77);
		ck_assert_uint_eq(got.len, 0x7777777777777777);
	}
}
END_TEST

SUITE_MAIN("posix_trace_getnext_event",
	   each_call_delivers_the_oldest_event_once,
	   a_stopped_stream_is_read_like_a_running_one,
	   try_finds_nothing_in_an_empty_stream_and_says_so,
	   a_time_long_past_ends_at_once,
	   the_time_is_looked_at_only_without_an_event,
	   no_wait_ends_before_its_time,
	   without_a_stream_there_is_no_event)
