/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stream-full policy LOOP: the stream holds the most recent events and reports its losses. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/payload.h"
#include "support/random.h"
#include "support/stream.h"

#define SLOP_NS 1000000 /* tolerance for the conversion between the clocks */

static int64_t time_of(const struct seen *seen)
{
	return nanoseconds(&seen->info.posix_timestamp);
}

/* SLOOP-01, SLOOP-02, SLOOP-03, SLOOP-04, SLOOP-05, SLOOP-06, SLOOP-07, SLOOP-08 */
START_TEST(the_oldest_events_are_overwritten_and_the_reader_gets_a_report)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STREAM(.policy = POSIX_TRACE_LOOP, .size = 4000);
	int64_t before, after_start, before_first;
	struct history *history;
	int n;

	before = now_ns();
	start(trid);
	after_start = now_ns();
	usleep(10000);
	before_first = now_ns();
	n = overrun(trid, u, 40, 0);
	ck_assert_status(trid, RUNNING, FULL);
	for (int i = 0; i < 5000; i++)
		trace_number(u, n++);
	ck_assert_status(trid, RUNNING, FULL);
	history = read_all(trid);
	assert_type(&history->event[0], POSIX_TRACE_OVERFLOW);
	assert_type(&history->event[1], POSIX_TRACE_RESUME);
	assert_gapless(history, 2, n - 1);
	ck_assert_int_gt(number_of(&history->event[2]), 0);
	/* The first lost event is the START. */
	ck_assert_int_ge(time_of(&history->event[0]), before - SLOP_NS);
	ck_assert_int_le(time_of(&history->event[0]), after_start + SLOP_NS);
	ck_assert_int_lt(time_of(&history->event[0]), before_first);
	ck_assert_int_eq(time_of(&history->event[1]), time_of(&history->event[2]));
	history_free(history);
	assert_empty(trid);
	shut(trid);
}
END_TEST

/* SLOOP-05, SLOOP-06, SLOOP-07, SLOOP-08 */
START_TEST(a_reader_in_the_middle_sees_one_gap)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_LOOP, .size = 4000);
	int64_t before_third, after_third;
	struct history *history;
	struct seen seen;
	int n;

	trace_number(u, 1);
	trace_number(u, 2);
	usleep(5000);
	before_third = now_ns();
	trace_number(u, 3);
	after_third = now_ns();
	usleep(5000);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(read_one(trid, &seen), 1);
		free(seen.data);
	}
	assert_type(&seen, u);
	n = 4 + overrun(trid, u, 40, 4);
	for (int i = 0; i < 100; i++)
		trace_number(u, n++);
	history = read_all(trid);
	assert_type(&history->event[0], POSIX_TRACE_OVERFLOW);
	ck_assert_int_ge(time_of(&history->event[0]), before_third - SLOP_NS);
	ck_assert_int_le(time_of(&history->event[0]), after_third + SLOP_NS);
	assert_type(&history->event[1], POSIX_TRACE_RESUME);
	ck_assert_int_eq(time_of(&history->event[1]), time_of(&history->event[2]));
	assert_gapless(history, 2, n - 1);
	history_free(history);
	shut(trid);
}
END_TEST

/* SLOOP-08: a second gap has a second pair */
START_TEST(each_gap_has_its_own_pair)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_LOOP, .size = 4000);
	int n = 0;

	for (int gap = 0; gap < 4; gap++) {
		struct history *history;

		n += overrun(trid, u, 40, n);
		history = read_all(trid);
		ck_assert_uint_eq(history_count(history, POSIX_TRACE_OVERFLOW), 1);
		ck_assert_uint_eq(history_count(history, POSIX_TRACE_RESUME), 1);
		assert_type(&history->event[0], POSIX_TRACE_OVERFLOW);
		assert_type(&history->event[1], POSIX_TRACE_RESUME);
		assert_gapless(history, 2, n - 1);
		history_free(history);
		trace_number(u, n++);
		history = read_all(trid);
		ck_assert_uint_eq(history->n, 1);
		history_free(history);
	}
	shut(trid);
}
END_TEST

/* SLOOP-04, SLOOP-10: a reader that is fast enough reads 50 times the stream's size */
START_TEST(a_reader_that_keeps_pace_loses_nothing)
{
	trace_event_id_t u = type_of("u");
	struct posix_trace_status_info status;
	trace_attr_t attr;
	trace_id_t trid;
	size_t size;
	int n = 0;

	wish_attr(&attr, &(struct wish){ .policy = POSIX_TRACE_LOOP, .size = 20000 });
	OK(posix_trace_create(0, &attr, &trid));
	start(trid);
	history_free(read_all(trid));
	size = user_event_size(&attr, 40);
	for (size_t passed = 0; passed < 50 * stream_size(trid);) {
		char data[40] = "";
		size_t room = 20000;
		struct history *history;
		int first = n;

		for (; room >= size; room -= size, passed += size) {
			memcpy(data, &n, sizeof(n));
			n++;
			posix_trace_event(u, data, sizeof(data));
		}
		status = status_of(trid);
		ck_assert_int_eq(status.posix_stream_full_status, POSIX_TRACE_NOT_FULL);
		ck_assert_int_eq(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
		history = read_all(trid);
		ck_assert_uint_eq(history->n, n - first);
		assert_gapless(history, 0, n - 1);
		history_free(history);
	}
	shut(trid);
}
END_TEST

/* SLOOP-09 */
START_TEST(one_event_read_or_all_cleared_ends_full)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_LOOP, .size = 4000);
	struct seen seen;

	overrun(trid, u, 40, 0);
	ck_assert_status(trid, RUNNING, FULL);
	do {
		ck_assert_int_eq(read_one(trid, &seen), 1);
		free(seen.data);
	} while (seen.info.posix_event_id != u);
	ck_assert_status(trid, RUNNING, NOT_FULL);
	overrun(trid, u, 40, 0);
	ck_assert_status(trid, RUNNING, FULL);
	OK(posix_trace_clear(trid));
	ck_assert_status(trid, RUNNING, NOT_FULL);
	shut(trid);
}
END_TEST

/* SLOOP-11: events of every length remain, and all of them are complete */
START_TEST(survivors_are_whole)
{
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_LOOP, .size = 10000, .max_data = 900);
	trace_event_id_t u = type_of("u");
	uint64_t state = 5, n = 0;

	for (int round = 0; round < 30; round++) {
		uint64_t sequence, expected = 0;
		struct history *history;
		size_t first = 0;
		uint32_t who;

		for (int i = 0; i < 1000; i++) {
			unsigned char data[900];
			size_t len = random_between(&state, PAYLOAD_MIN, sizeof(data));

			payload_make(data, len, 1, n++);
			posix_trace_event(u, data, len);
		}
		history = read_all(trid);
		while (history->event[first].info.posix_event_id != u)
			first++;
		ck_assert_uint_le(first, 2);
		for (size_t i = first; i < history->n; i++) {
			struct seen *seen = &history->event[i];

			if (!payload_read(seen->data, seen->len, &who, &sequence))
				ck_abort_msg("event %zu is torn", i);
			if (i > first && sequence != expected)
				ck_abort_msg("a hole before event %zu", i);
			expected = sequence + 1;
		}
		ck_assert_uint_eq(expected, n);
		history_free(history);
	}
	shut(trid);
}
END_TEST

SUITE_MAIN("stream-full policy LOOP",
	   the_oldest_events_are_overwritten_and_the_reader_gets_a_report,
	   a_reader_in_the_middle_sees_one_gap,
	   each_gap_has_its_own_pair,
	   a_reader_that_keeps_pace_loses_nothing,
	   one_event_read_or_all_cleared_ends_full,
	   survivors_are_whole)
