/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The times of events. The library may read another clock than CLOCK_REALTIME and convert its
 * values. SLOP_NS is the tolerance for the conversion. It is small compared with an error.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/stream.h"

#define SLOP_NS 1000000

/* CLOCK-02, ATTR-11 */
START_TEST(the_resolution_is_a_microsecond_or_better)
{
	struct timespec fresh, of_stream;
	trace_id_t trid = STREAM();
	trace_attr_t attr;

	OK(posix_trace_attr_init(&attr));
	OK(posix_trace_attr_getclockres(&attr, &fresh));
	ck_assert_int_gt(nanoseconds(&fresh), 0);
	ck_assert_int_le(nanoseconds(&fresh), 1000);
	OK(posix_trace_get_attr(trid, &attr));
	OK(posix_trace_attr_getclockres(&attr, &of_stream));
	ck_assert_int_eq(nanoseconds(&of_stream), nanoseconds(&fresh));
	shut(trid);
}
END_TEST

/*
 * CLOCK-01, CLOCK-04, EVENT-09: events of two seconds; some are read immediately, and some at the
 * end
 */
START_TEST(times_agree_with_the_real_time_clock)
{
	enum { EVENTS = 200 };
	trace_event_id_t u = type_of("u");
	trace_id_t late = STARTED(.size = 1 << 20), at_once = STARTED(.size = 1 << 20);
	int64_t before[EVENTS], after[EVENTS];
	struct history *history;

	history_free(read_all(at_once));
	for (int i = 0; i < EVENTS; i++) {
		before[i] = now_ns();
		trace_number(u, i);
		after[i] = now_ns();
		history = read_all(at_once);
		ck_assert_uint_eq(history->n, 1);
		ck_assert_int_ge(nanoseconds(&history->event[0].info.posix_timestamp),
				 before[i] - SLOP_NS);
		ck_assert_int_le(nanoseconds(&history->event[0].info.posix_timestamp),
				 after[i] + SLOP_NS);
		history_free(history);
		usleep(10000);
	}
	history = read_all(late);
	ck_assert_uint_eq(history->n, EVENTS + 1);
	for (int i = 0; i < EVENTS; i++) {
		struct timespec *time = &history->event[i + 1].info.posix_timestamp;

		ck_assert(time->tv_nsec >= 0 && time->tv_nsec < 1000000000);
		ck_assert_int_ge(nanoseconds(time), before[i] - SLOP_NS);
		ck_assert_int_le(nanoseconds(time), after[i] + SLOP_NS);
	}
	history_free(history);
	shut(late);
	shut(at_once);
}
END_TEST

/* CLOCK-01: the creation time and the times of events can be compared */
START_TEST(the_creation_comes_before_the_start)
{
	struct timespec created;
	struct history *history;
	trace_id_t trid = STREAM();
	trace_attr_t attr;

	OK(posix_trace_get_attr(trid, &attr));
	OK(posix_trace_attr_getcreatetime(&attr, &created));
	usleep(5000);
	start(trid);
	history = read_all(trid);
	ck_assert_uint_eq(history->n, 1);
	ck_assert_int_gt(nanoseconds(&history->event[0].info.posix_timestamp),
			 nanoseconds(&created));
	history_free(history);
	shut(trid);
}
END_TEST

/* CLOCK-02, CLOCK-04: a hundred thousand events in a row */
START_TEST(times_of_a_row_of_events_rise_in_steps_of_the_resolution)
{
	enum { EVENTS = 100000 };
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.size = 16 << 20);
	int64_t last = 0, steps = 0;
	struct history *history;

	for (int i = 0; i < EVENTS; i++)
		trace_number(u, i);
	history = read_all(trid);
	ck_assert_uint_eq(history->n, EVENTS + 1);
	for (size_t i = 0; i < history->n; i++) {
		struct timespec *time = &history->event[i].info.posix_timestamp;

		if (time->tv_nsec < 0 || time->tv_nsec >= 1000000000)
			ck_abort_msg("event %zu has %ld nanoseconds", i, time->tv_nsec);
		if (nanoseconds(time) < last)
			ck_abort_msg("event %zu is older than the one before", i);
		steps += nanoseconds(time) > last;
		last = nanoseconds(time);
	}
	/* A clock with a resolution of milliseconds would have far fewer steps than one in a
	 * hundred events. */
	ck_assert_int_gt(steps, EVENTS / 100);
	history_free(history);
	shut(trid);
}
END_TEST

SUITE_MAIN("clock",
	   the_resolution_is_a_microsecond_or_better,
	   times_agree_with_the_real_time_clock,
	   the_creation_comes_before_the_start,
	   times_of_a_row_of_events_rise_in_steps_of_the_resolution)
