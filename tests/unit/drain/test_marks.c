/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Started, stopped, full, restarted: the events that belong to the stream, and the reported
 * marks. */
#include "record/eventset.h"
#include "support/support.h"
#include "unit/drain/stage.h"

enum { CHUNKS = 12 };

static struct writer one, two;
static struct half half;

static void begin(int policy)
{
	stage_make(policy, CHUNKS);
	writer_begin(&one, stage.pool, 11);
	writer_begin(&two, stage.pool, 12);
}

static void begin_started(int policy)
{
	begin(policy);
	stage_start();
	stage_expect(POSIX_TRACE_START, 0);
}

/* EVENT-05, START-01, STOP-01 */
START_TEST(events_stamped_while_the_stream_did_not_run_are_no_members)
{
	begin(POSIX_TRACE_UNTIL_FULL);
	writer_put_many(&one, 1, 2);
	stage_start();
	writer_put_many(&one, 3, 2);
	stage_stop();
	writer_put_many(&two, 5, 2);
	stage_start();
	writer_put_many(&one, 7, 1);
	stage_expect(POSIX_TRACE_START, 0);
	stage_expect_values(3, 2);
	stage_expect(POSIX_TRACE_STOP, 0);
	stage_expect(POSIX_TRACE_START, 0);
	stage_expect_values(7, 1);
	stage_expect_none();
	ck_assert_uint_eq(stage.drain->not_running, 4);
	ck_assert_uint_eq(stage_overrun(), 0);
	stage_assert_account();
}
END_TEST

/*
 * A writer read that the stream runs, and stamped its event. The event is a member, even if the
 * writer publishes it after the stop.
 */
START_TEST(an_event_stamped_before_the_stop_and_published_after_it_belongs_to_the_stream)
{
	begin_started(POSIX_TRACE_UNTIL_FULL);
	writer_enter(&one, 1, &half);
	stage_stop();
	stage_expect_none();
	writer_commit(&one, &half);
	stage_expect_values(1, 1);
	stage_expect(POSIX_TRACE_STOP, 0);
	stage_expect_none();
}
END_TEST

/* STOP-07: also if a reader that must not wait has delivered the STOP and later marks */
START_TEST(an_event_that_comes_after_its_stop_was_delivered_belongs_to_the_stream)
{
	begin_started(POSIX_TRACE_UNTIL_FULL);
	writer_enter(&one, 1, &half);
	writer_put_many(&two, 2, 1);
	stage_stop();
	stage_expect_none();
	ck_assert(stage_take_beyond());
	stage_expect_values(2, 1);
	stage_expect(POSIX_TRACE_STOP, 0);
	stage_expect_none();
	for (int pairs = 0; pairs < _i; pairs++) {
		stage_start();
		stage_stop();
		stage_take_all_beyond();
		while (stage_next())
			;
	}
	writer_commit(&one, &half);
	ck_assert_uint_eq(stage_unread(), 1);
	stage_assert_account();
	stage_expect_values(1, 1);
	ck_assert(stage.told[stage.n - 1].late);
	stage_expect_none();
	ck_assert_uint_eq(stage.drain->not_running, 0);
	stage_assert_account();
}
END_TEST

/*
 * An event that was stamped while the stream was stopped is no member, even if its writer publishes
 * it after the next START.
 */
START_TEST(an_event_that_comes_late_and_was_stamped_after_a_stop_is_no_part_of_the_stream)
{
	begin_started(POSIX_TRACE_UNTIL_FULL);
	stage_stop();
	writer_enter(&one, 1, &half);
	stage_start();
	writer_put_many(&two, 2, 1);
	stage_take_all();
	ck_assert(stage_take_beyond());
	stage_expect(POSIX_TRACE_STOP, 0);
	stage_expect(POSIX_TRACE_START, 0);
	stage_expect_values(2, 1);
	writer_commit(&one, &half);
	ck_assert_uint_eq(stage_unread(), 0);
	stage_expect_none();
	ck_assert_uint_eq(stage.drain->not_running, 1);
	stage_assert_account();
}
END_TEST

/*
 * UFULL-06: an event that was stamped before the stream was full is delivered. An event that was
 * stamped while the stream was full is lost, cause stream full
 */
START_TEST(an_event_that_comes_after_its_stream_was_full_belongs_where_its_time_is)
{
	begin_started(POSIX_TRACE_UNTIL_FULL);
	stage.drain->rings->geometry.required = 1000; /* no free space */
	if (_i == 0)
		writer_enter(&one, 1, &half);
	writer_put_many(&two, 2, 1);
	stage_fill_up();
	if (_i == 1)
		writer_enter(&one, 1, &half);
	stage_take_all_beyond();
	stage_expect_values(2, 1);
	stage_expect(POSIX_TRACE_STOP, 1);
	stage_take_all();
	ck_assert_int_eq(stage_state(), PTX_RUNNING);
	writer_put_many(&two, 3, 1);
	stage_take_all_beyond();
	stage_expect(POSIX_TRACE_START, PTX_EVENTSET_MAGIC);
	stage_expect_values(3, 1);
	writer_commit(&one, &half);
	ck_assert_uint_eq(stage_unread(), _i == 0);
	ck_assert_uint_eq(stage_lost(PTX_LOST_STREAM_FULL), _i == 1);
	if (_i == 0)
		stage_expect_values(1, 1);
	stage_expect_none();
	ck_assert_uint_eq(stage_lost(PTX_LOST_STREAM_FULL), _i == 1);
	stage_assert_account();
}
END_TEST

/*
 * Equal times: in the delivered order and in the account, a mark is before the events with the time
 * of the mark.
 */
START_TEST(an_event_stamped_at_the_very_time_of_a_mark_is_behind_it)
{
	struct half at_stop, at_start;

	begin_started(POSIX_TRACE_UNTIL_FULL);
	writer_enter(&one, 1, &at_stop);
	stage_stop();
	at_stop.time = stage.drain->mark[stage.drain->mark_first].ticks;
	writer_commit(&one, &at_stop);
	ck_assert_uint_eq(stage_unread(), 1);
	writer_enter(&two, 2, &at_start);
	stage_start();
	at_start.time = stage.drain->mark[(stage.drain->mark_first + 1) %
					  stage.drain->mark_room].ticks;
	writer_commit(&two, &at_start);
	ck_assert_uint_eq(stage_unread(), 3); /* STOP, START and the value 2 */
	stage_assert_account();
	stage_expect(POSIX_TRACE_STOP, 0);
	stage_expect(POSIX_TRACE_START, 0);
	stage_expect_values(2, 1);
	stage_expect_none();
	ck_assert_uint_eq(stage.drain->not_running, 1);
	stage_assert_account();
}
END_TEST

/* The same as the test above, but the marks are delivered before the event is published. */
START_TEST(an_event_that_comes_late_with_the_very_time_of_a_mark_is_behind_it)
{
	struct half at_stop, at_start;
	uint64_t stopped;

	begin_started(POSIX_TRACE_UNTIL_FULL);
	writer_enter(&one, 1, &at_stop);
	writer_enter(&two, 2, &at_start);
	stage_stop();
	stage_take_all_beyond();
	stage_expect(POSIX_TRACE_STOP, 0);
	stopped = stage.told[stage.n - 1].ticks;
	if (_i)
		stage_start();
	stage_take_all_beyond();
	if (_i)
		stage_expect(POSIX_TRACE_START, 0);
	at_start.time = stage.told[stage.n - 1].ticks;
	at_stop.time = stopped;
	writer_commit(&one, &at_stop);
	writer_commit(&two, &at_start);
	ck_assert_uint_eq(stage_unread(), _i ? 1 : 0);
	if (_i)
		stage_expect_values(2, 1);
	stage_expect_none();
	ck_assert_uint_eq(stage.drain->not_running, _i ? 1 : 2);
	stage_assert_account();
}
END_TEST

START_TEST(unread_events_of_a_stopped_stream_are_in_its_account)
{
	begin_started(POSIX_TRACE_UNTIL_FULL);
	writer_put_many(&one, 1, 6);
	stage_stop();
	writer_put_many(&one, 7, 2);
	ck_assert_uint_eq(stage_unread(), 7); /* the events and the STOP */
	stage_assert_account();
	stage_expect_values(1, 6);
	ck_assert_uint_eq(stage_unread(), 1);
	stage_assert_account();
}
END_TEST

/* UFULL-01, UFULL-03, UFULL-06 */
START_TEST(a_full_stream_reports_its_stop_behind_its_last_event_and_loses_later_events)
{
	begin_started(POSIX_TRACE_UNTIL_FULL);
	stage.drain->rings->geometry.required = 1000; /* no free space */
	writer_put_many(&one, 1, 3);
	writer_enter(&two, 4, &half); /* this writer read that the stream runs */
	stage_fill_up();
	writer_put_many(&one, 100, 2); /* these writers read it, too, but came too late */
	stage_expect_none();
	writer_commit(&two, &half);
	stage_expect_values(1, 4);
	stage_expect(POSIX_TRACE_STOP, 1);
	ck_assert_int_eq(stage_state(), PTX_FULL);
	ck_assert_uint_eq(stage_overrun(), 0);
	stage_take_all();
	ck_assert_uint_eq(stage_lost(PTX_LOST_STREAM_FULL), 2);
	ck_assert_uint_eq(stage_overrun(), 1);
	stage_assert_account();
}
END_TEST

/*
 * UFULL-04: a writer found the stream full. It had read the clock before the times of events that
 * have been delivered since
 */
START_TEST(a_full_stream_reports_its_stop_behind_events_delivered_before)
{
	uint64_t found_at;

	begin_started(POSIX_TRACE_UNTIL_FULL);
	stage.drain->rings->geometry.required = 1000; /* no free space */
	writer_put_many(&one, 1, 1);
	found_at = pool_now;
	writer_put_many(&two, 2, 2); /* these writers read that the stream runs */
	stage_expect_values(1, 3);
	if (_i)
		stage_mark(PTX_MARK_ERROR, 28); /* the stop is reported before this one, too */
	atomic_store(&stage.pool->rings.region->state, ptx_state_make(PTX_FULL, found_at));
	if (_i)
		stage_expect(POSIX_TRACE_ERROR, 28);
	stage_expect(POSIX_TRACE_STOP, 1);
	for (unsigned i = 1; i < stage.n; i++)
		ck_assert_uint_gt(stage.told[i].ticks, stage.told[i - 1].ticks);
	stage_assert_account();
}
END_TEST

/*
 * UFULL-08: the stream restarts at the latest when it is empty, and its START is reported before
 * the next event
 */
START_TEST(an_empty_stream_goes_on_and_says_so_before_the_next_event)
{
	struct writer many[CHUNKS - 3];

	begin_started(POSIX_TRACE_UNTIL_FULL);
	for (unsigned i = 0; i < CHUNKS - 3; i++) { /* every chunk is open, so none is freed */
		writer_begin(&many[i], stage.pool, 100 + i);
		writer_put_many(&many[i], 1 + i, 1);
	}
	stage.drain->rings->geometry.required = 1000;
	stage_fill_up();
	stage_expect_values(1, CHUNKS - 3);
	stage_expect(POSIX_TRACE_STOP, 1);
	stage_expect_none();
	ck_assert_int_eq(stage_state(), PTX_RUNNING);
	stage_expect_none();
	writer_put_many(&one, 50, 1);
	stage_expect(POSIX_TRACE_START, PTX_EVENTSET_MAGIC);
	stage_expect_values(50, 1);
	stage_expect_none();
	stage_assert_account();
}
END_TEST

/*
 * UFULL-09: the stream restarts when half of the size is free. The pair of marks is between the
 * last old event and the first new event
 */
START_TEST(a_stream_half_read_goes_on_and_the_pair_stands_in_the_gap)
{
	uint64_t value = 1;

	begin_started(POSIX_TRACE_UNTIL_FULL);
	stage.drain->rings->geometry.required = 8;
	while (writer_put(&one, POOL_TYPE, value))
		value++;
	stage_fill_up();
	while (stage_state() == PTX_FULL) {
		ck_assert(stage_take());
		ck_assert_uint_lt(stage.n, value);
	}
	ck_assert_uint_gt(stage.n, 4 * POOL_RECORDS);
	ck_assert_uint_le(stage.n, 7 * POOL_RECORDS);
	writer_put_many(&one, 1000, 2);
	stage_expect_values(1, (unsigned)value - 1);
	stage_expect(POSIX_TRACE_STOP, 1);
	stage_expect(POSIX_TRACE_START, PTX_EVENTSET_MAGIC);
	stage_expect_values(1000, 2);
	stage_expect_none();
	ck_assert_uint_eq(stage_lost(PTX_LOST_STREAM_FULL), 1);
	stage_assert_account();
}
END_TEST

/*
 * STOP-05: a full stream that was stopped by call is suspended after it has been read, and does not
 * restart
 */
START_TEST(a_full_stream_that_was_stopped_by_call_does_not_go_on)
{
	begin_started(POSIX_TRACE_UNTIL_FULL);
	writer_put_many(&one, 1, 2);
	stage_fill_up();
	atomic_store(&stage.pool->rings.region->state,
		     ptx_state_make(PTX_HELD, ptx_state_time(atomic_load(
						      &stage.pool->rings.region->state))));
	stage_expect_values(1, 2);
	stage_expect(POSIX_TRACE_STOP, 1);
	stage_expect_none();
	stage_expect_none();
	ck_assert_int_eq(stage_state(), PTX_SUSPENDED);
	writer_put_many(&one, 3, 1);
	stage_expect_none();
	stage_assert_account();
}
END_TEST

/* SFLUSH-04, SFLUSH-06 */
START_TEST(under_the_policy_flush_overflow_and_resume_stand_with_the_pair)
{
	begin_started(POSIX_TRACE_FLUSH);
	writer_put_many(&one, 1, 2);
	stage_fill_up();
	writer_put_many(&one, 100, 1);
	stage_expect_values(1, 2);
	stage_expect(POSIX_TRACE_STOP, 1);
	stage_expect(POSIX_TRACE_OVERFLOW, 0);
	stage_take_all();
	ck_assert_int_eq(stage_state(), PTX_RUNNING);
	writer_put_many(&one, 3, 1);
	stage_expect(POSIX_TRACE_RESUME, 0);
	stage_expect(POSIX_TRACE_START, PTX_EVENTSET_MAGIC);
	stage_expect_values(3, 1);
	stage_expect_none();
	ck_assert_uint_eq(stage_lost(PTX_LOST_STREAM_FULL), 1);
	stage_assert_account();
}
END_TEST

/* SYSEV-01, SYSEV-02, SYSEV-07 */
START_TEST(marks_are_reported_in_their_order_among_the_events)
{
	begin_started(POSIX_TRACE_FLUSH);
	writer_put_many(&one, 1, 1);
	stage_mark(PTX_MARK_FLUSH_START, 0);
	writer_put_many(&two, 2, 1);
	stage_mark(PTX_MARK_ERROR, 28);
	stage_mark(PTX_MARK_FLUSH_STOP, 0);
	writer_put_many(&one, 3, 1);
	stage_expect_values(1, 1);
	stage_expect(POSIX_TRACE_FLUSH_START, 0);
	ck_assert_uint_eq(stage.told[stage.n - 1].tid, 77);
	stage_expect_values(2, 1);
	stage_expect(POSIX_TRACE_ERROR, 28);
	stage_expect(POSIX_TRACE_FLUSH_STOP, 0);
	stage_expect_values(3, 1);
	stage_expect_none();
	for (unsigned i = 1; i < stage.n; i++)
		ck_assert_uint_gt(stage.told[i].ticks, stage.told[i - 1].ticks);
	stage_assert_account();
}
END_TEST

START_TEST(a_moment_is_younger_than_all_that_was_delivered_or_marked)
{
	begin_started(POSIX_TRACE_UNTIL_FULL);
	writer_put_many(&one, 1, 1);
	stage_expect_values(1, 1);
	ck_assert_uint_gt(ptx_drain_moment(stage.drain, false), stage.told[stage.n - 1].ticks);
	/* a start examines the last microsecond, and finds the event */
	ck_assert_uint_eq(ptx_drain_moment(stage.drain, true), stage.told[stage.n - 1].ticks + 1);
	stage_mark(PTX_MARK_ERROR, 1);
	ck_assert_uint_gt(ptx_drain_moment(stage.drain, true), stage.drain->mark[0].ticks);
	pool_now += 10000;
	ck_assert_uint_lt(ptx_drain_moment(stage.drain, true), pool_now - 500);
}
END_TEST

START_TEST(more_marks_than_there_was_room_for_keep_their_order)
{
	begin_started(POSIX_TRACE_FLUSH);
	for (int i = 0; i < 5; i++)
		stage_mark(PTX_MARK_ERROR, 1000 + i);
	for (int i = 0; i < 3; i++)
		stage_expect(POSIX_TRACE_ERROR, 1000 + (unsigned)i);
	for (int i = 5; i < 100; i++)
		stage_mark(PTX_MARK_ERROR, 1000 + i);
	for (int i = 3; i < 100; i++)
		stage_expect(POSIX_TRACE_ERROR, 1000 + (unsigned)i);
	stage_expect_none();
}
END_TEST

START_TEST(filtered_marks_are_not_reported)
{
	begin_started(POSIX_TRACE_FLUSH);
	atomic_store(&stage.pool->rings.region->admit[0],
		     ~(UINT64_C(1) << POSIX_TRACE_STOP | UINT64_C(1) << POSIX_TRACE_ERROR));
	stage_mark(PTX_MARK_ERROR, 5);
	writer_put_many(&one, 1, 1);
	stage_fill_up();
	stage_expect_values(1, 1);
	stage_expect(POSIX_TRACE_OVERFLOW, 0);
	stage_expect_none();
	stage_assert_account();
}
END_TEST

/* Only the controller records system events. A system event of a program is damage. */
START_TEST(a_system_event_of_another_ring_is_no_event)
{
	begin_started(POSIX_TRACE_UNTIL_FULL);
	ck_assert(writer_put(&one, POSIX_TRACE_STOP, 1));
	writer_put_many(&one, 2, 1);
	stage_expect_values(2, 1);
	stage_expect_none();
	ck_assert_uint_eq(stage_lost(PTX_LOST_DAMAGED), 1);
	stage_assert_account();
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("drain: marks", &tc);

	tcase_add_test(tc, events_stamped_while_the_stream_did_not_run_are_no_members);
	tcase_add_test(
		tc,
		an_event_stamped_before_the_stop_and_published_after_it_belongs_to_the_stream);
	tcase_add_loop_test(
		tc, an_event_that_comes_after_its_stop_was_delivered_belongs_to_the_stream, 0, 70);
	tcase_add_test(
		tc,
		an_event_that_comes_late_and_was_stamped_after_a_stop_is_no_part_of_the_stream);
	tcase_add_loop_test(
		tc, an_event_that_comes_after_its_stream_was_full_belongs_where_its_time_is, 0, 2);
	tcase_add_test(tc, an_event_stamped_at_the_very_time_of_a_mark_is_behind_it);
	tcase_add_loop_test(
		tc, an_event_that_comes_late_with_the_very_time_of_a_mark_is_behind_it, 0, 2);
	tcase_add_test(tc, unread_events_of_a_stopped_stream_are_in_its_account);
	tcase_add_test(
		tc, a_full_stream_reports_its_stop_behind_its_last_event_and_loses_later_events);
	tcase_add_loop_test(
		tc, a_full_stream_reports_its_stop_behind_events_delivered_before, 0,
		2);
	tcase_add_test(tc, an_empty_stream_goes_on_and_says_so_before_the_next_event);
	tcase_add_test(tc, a_stream_half_read_goes_on_and_the_pair_stands_in_the_gap);
	tcase_add_test(tc, a_full_stream_that_was_stopped_by_call_does_not_go_on);
	tcase_add_test(tc, under_the_policy_flush_overflow_and_resume_stand_with_the_pair);
	tcase_add_test(tc, marks_are_reported_in_their_order_among_the_events);
	tcase_add_test(tc, a_moment_is_younger_than_all_that_was_delivered_or_marked);
	tcase_add_test(tc, more_marks_than_there_was_room_for_keep_their_order);
	tcase_add_test(tc, filtered_marks_are_not_reported);
	tcase_add_test(tc, a_system_event_of_another_ring_is_no_event);
	return s;
}

SUITE_MAIN_OF(suite)
