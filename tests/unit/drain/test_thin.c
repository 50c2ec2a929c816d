/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A stream that is started and stopped repeatedly and not read: its list of marks does not grow. */
#include "drain/census.h"
#include "support/support.h"
#include "unit/drain/stage.h"

enum { CHUNKS = 12, PAIRS = 20000, MARKS_MOST = 1100 };

static struct writer one, two;
static struct half half;

static void begin(int policy)
{
	stage_make(policy, CHUNKS);
	writer_begin(&one, stage.pool, 11);
}

/* Makes the mark of a START or STOP that the filter keeps out of the controller's ring. */
static void mark(enum ptx_mark_kind kind)
{
	pool_now += 10000;
	if (kind == PTX_MARK_START)
		ptx_drain_thin(stage.drain);
	stage_mark(kind, 0);
	atomic_store(
		&stage.pool->rings.region->state,
		ptx_state_make(kind == PTX_MARK_START ? PTX_RUNNING : PTX_SUSPENDED, pool_now));
}

static void start_and_stop(unsigned pairs)
{
	for (unsigned i = 0; i < pairs; i++) {
		mark(PTX_MARK_START);
		mark(PTX_MARK_STOP);
		ck_assert_uint_le(stage.drain->marks, MARKS_MOST);
	}
}

static void start_and_stop_an_idle_stream(int policy)
{
	begin(policy);
	start_and_stop(PAIRS);
	mark(PTX_MARK_START);
	writer_put_many(&one, 1, 2);
	mark(PTX_MARK_STOP);
	writer_put_many(&one, 3, 1);
	stage_expect_values(1, 2);
	stage_expect_none();
	ck_assert_uint_eq(stage.drain->not_running, 1);
	stage_assert_account();
}

/* START-01, STOP-01 */
START_TEST(starts_and_stops_without_events_leave_few_marks)
{
	start_and_stop_an_idle_stream(POSIX_TRACE_UNTIL_FULL);
}
END_TEST

START_TEST(starts_and_stops_without_events_leave_few_marks_in_a_loop)
{
	start_and_stop_an_idle_stream(POSIX_TRACE_LOOP);
}
END_TEST

/* START-01, STOP-01 */
START_TEST(marks_that_part_events_stay)
{
	begin(POSIX_TRACE_UNTIL_FULL);
	for (unsigned i = 0; i < 10; i++) {
		start_and_stop(PAIRS / 10);
		mark(PTX_MARK_START);
		writer_put_many(&one, 1 + i, 1);
		mark(PTX_MARK_STOP);
		writer_put_many(&one, 100, 1);
	}
	start_and_stop(PAIRS);
	ck_assert_uint_eq(stage_unread(), 10);
	stage_assert_account();
	stage_expect_values(1, 10);
	stage_expect_none();
	ck_assert_uint_eq(stage.drain->not_running, 10);
	stage_assert_account();
}
END_TEST

/* All events are members of the stream, and one mark is enough for that. */
START_TEST(events_of_many_starts_and_none_between_them_need_few_marks)
{
	begin(POSIX_TRACE_LOOP);
	for (unsigned i = 0; i < PAIRS; i++) {
		mark(PTX_MARK_START);
		writer_put_many(&one, 1 + i, 1);
		mark(PTX_MARK_STOP);
		ck_assert_uint_le(stage.drain->marks, MARKS_MOST);
	}
	stage_assert_account();
	stage_take_all();
	ck_assert_uint_eq(stage.drain->not_running, 0);
	stage_assert_account();
}
END_TEST

/*
 * An event that is stamped and not published holds the watermark back. So the stream keeps the
 * START of this event.
 */
START_TEST(an_event_that_is_not_published_yet_keeps_its_marks)
{
	begin(POSIX_TRACE_UNTIL_FULL);
	mark(PTX_MARK_START);
	writer_put_many(&one, 1, 1);
	stage_expect_values(1, 1);
	if (_i) {
		writer_begin(&two, stage.pool, 12);
		writer_put_many(&two, 9, 1);
	}
	mark(PTX_MARK_STOP);
	if (_i)
		writer_put_many(&two, 10, 1); /* the event is no member, so its STOP is kept */
	mark(PTX_MARK_START);
	writer_enter(&one, 2, &half);
	mark(PTX_MARK_STOP);
	if (_i) { /* a reader that does not wait gets only the complete events */
		stage_expect_none();
		ck_assert(stage_take_beyond());
		stage_expect_values(9, 1);
	}
	for (unsigned i = 0; i < 2000; i++) {
		mark(PTX_MARK_START);
		mark(PTX_MARK_STOP);
	}
	writer_commit(&one, &half);
	stage_expect_values(2, 1);
	stage_expect_none();
	stage_assert_account();
}
END_TEST

START_TEST(a_moment_is_found_among_many)
{
	struct ptx_moments moments;

	begin(POSIX_TRACE_UNTIL_FULL);
	for (unsigned i = 0; i < 100; i++) {
		mark(PTX_MARK_START);
		mark(PTX_MARK_STOP);
	}
	ck_assert(ptx_moments_make(stage.drain, &moments));
	ck_assert_uint_eq(moments.count, 201);
	ck_assert_uint_eq(ptx_moments_at(&moments, 0), 0);
	for (size_t i = 1; i < moments.count; i++) {
		ck_assert_uint_eq(ptx_moments_at(&moments, moments.moment[i].ticks - 1), i - 1);
		ck_assert_uint_eq(ptx_moments_at(&moments, moments.moment[i].ticks), i);
		ck_assert_int_eq(moments.moment[i].running, i % 2);
	}
	ck_assert_uint_eq(ptx_moments_at(&moments, UINT64_MAX), 200);
	ptx_moments_free(&moments);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("thin", &tc);

	tcase_add_test(tc, starts_and_stops_without_events_leave_few_marks);
	tcase_add_test(tc, starts_and_stops_without_events_leave_few_marks_in_a_loop);
	tcase_add_test(tc, marks_that_part_events_stay);
	tcase_add_test(tc, events_of_many_starts_and_none_between_them_need_few_marks);
	tcase_add_loop_test(tc, an_event_that_is_not_published_yet_keeps_its_marks, 0, 2);
	tcase_add_test(tc, a_moment_is_found_among_many);
	return s;
}

SUITE_MAIN_OF(suite)
