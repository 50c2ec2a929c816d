/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writers that have read the clock and not yet stored the head: the readers that wait for them, the
 * length of the wait, and late events.
 */
#include <string.h>

#include "base/barrier.h"
#include "support/support.h"
#include "unit/drain/stage.h"
#include "unit/ring/steps.h"

static struct writer one, two;
static struct half half;

/*
 * Gives each of two writers a ring and one event, 101 and 201, and reads these events. The next
 * events of the writers are 102 and 202.
 */
static void begin(void)
{
	stage_make(POSIX_TRACE_UNTIL_FULL, 12);
	stage_start();
	writer_begin(&one, stage.pool, 11);
	writer_begin(&two, stage.pool, 12);
	writer_put_many(&one, 101, 1);
	writer_put_many(&two, 201, 1);
	stage_expect(POSIX_TRACE_START, 0);
	stage_expect_values(101, 1);
	stage_expect_values(201, 1);
	stage_expect_none();
}

static bool no_barrier; /* the kernel cannot make other threads pass a barrier, or refuses this */

bool __real_ptx_barrier(void);
bool __wrap_ptx_barrier(void);
bool __wrap_ptx_barrier(void)
{
	return __real_ptx_barrier() && !no_barrier;
}

static void assert_late(bool late)
{
	ck_assert_int_eq(stage.told[stage.n - 1].late, late);
}

/* The writer inside its window publishes 102. This value is before 202 and is not late. */
static void expect_order_kept(void)
{
	writer_commit(&one, &half);
	stage_expect_values(102, 1);
	assert_late(false);
	stage_expect_values(202, 1);
	stage_assert_account();
}

START_TEST(events_of_all_rings_come_in_the_order_of_their_times)
{
	begin();
	for (unsigned i = 0; i < 20; i++)
		writer_put_many(i % 3 ? &one : &two, 300 + i, 1);
	stage_expect_values(300, 20);
	stage_expect_none();
	for (unsigned i = 1; i < stage.n; i++) {
		ck_assert_uint_ge(stage.told[i].ticks, stage.told[i - 1].ticks);
		ck_assert_int_ge(stage.told[i].time_ns, stage.told[i - 1].time_ns);
		ck_assert(!stage.told[i].late);
	}
	stage_assert_account();
}
END_TEST

/* GETNEXT-02 */
START_TEST(events_younger_than_a_writer_inside_its_window_wait_for_it)
{
	begin();
	writer_enter(&one, 102, &half);
	writer_put_many(&two, 202, 1);
	stage_expect_none();
	ck_assert(stage.drain->held_back);
	ck_assert_uint_eq(stage_unread(), 1);
	writer_commit(&one, &half);
	stage_expect_values(102, 1);
	assert_late(false);
	stage_expect_values(202, 1);
	assert_late(false);
	stage_expect_none();
}
END_TEST

START_TEST(events_older_than_the_last_look_outside_a_window_need_not_wait)
{
	begin();
	writer_put_many(&two, 202, 1);
	ptx_drain_pass(stage.drain); /* the reader observes `one` outside its window, after 202 */
	writer_enter(&one, 102, &half);
	stage_expect_values(202, 1);
	writer_put_many(&two, 203, 1);
	stage_expect_none();
	writer_commit(&one, &half);
	stage_expect_values(102, 1);
	stage_expect_values(203, 1);
}
END_TEST

/*
 * The reader has never observed the third writer outside its window. But the writer's chunk has the
 * time at which it was opened, so the reader delivers the events up to this time.
 */
START_TEST(a_writer_in_the_window_of_a_new_chunk_holds_back_younger_events)
{
	struct writer three;

	begin();
	writer_put_many(&two, 202, 1);
	writer_begin(&three, stage.pool, 13);
	writer_enter(&three, 301, &half);
	writer_put_many(&two, 203, 1);
	stage_expect_values(202, 1);
	stage_expect_none();
	writer_commit(&three, &half);
	stage_expect_values(301, 1);
	stage_expect_values(203, 1);
	stage_expect_none();
}
END_TEST

/*
 * The reader has not observed the writer outside its window after 101, and the writer has not
 * opened a chunk since then. So the reader delivers no event younger than 101, the last record that
 * it has read from this writer.
 */
START_TEST(a_writer_never_seen_outside_holds_back_events_after_its_last_record)
{
	begin();
	writer_put_many(&two, 202, 1);
	writer_put_many(&one, 102, 1);
	writer_enter(&one, 103, &half);
	writer_put_many(&two, 203, 1);
	stage_expect_none(); /* the pass that observes the writer finds no record of it after 101 */
	stage_expect_none();
	writer_commit(&one, &half);
	stage_expect_values(202, 1);
	stage_expect_values(102, 1);
	stage_expect_values(103, 1);
	stage_expect_values(203, 1);
	stage_expect_none();
}
END_TEST

/*
 * Without a barrier, a writer may be inside its window although the reader observes it outside.
 * This lasts until the writer's store becomes visible to the reader.
 */
START_TEST(without_a_barrier_events_younger_than_two_milliseconds_wait)
{
	begin();
	no_barrier = true;
	writer_put_many(&two, 202, 1);
	stage_expect_none();
	ck_assert(stage.drain->held_back);
	pool_now += 1900000;
	stage_expect_none();
	pool_now += 200000;
	stage_expect_values(202, 1);
	assert_late(false);
	stage_expect_none();
	stage_assert_account();
}
END_TEST

/* TRY-03, TIMED-03: the suspended writer's own event is delivered once, later */
START_TEST(a_reader_that_must_not_wait_gets_complete_events_and_an_older_one_late)
{
	begin();
	no_barrier = _i;
	writer_enter(&one, 102, &half);
	writer_put_many(&two, 202, 3);
	stage_expect_none();
	stage_expect_none();
	ck_assert(stage_take_beyond());
	stage_expect_values(202, 3);
	assert_late(false);
	stage_expect_none();
	ck_assert(!stage_take_beyond());
	stage_assert_account();
	writer_commit(&one, &half);
	stage_take_beyond();
	stage_expect_values(102, 1);
	assert_late(true);
	stage_expect_none();
	stage_assert_account();
}
END_TEST

/*
 * The event 202 is published after the pass began. Another writer may still be recording an older
 * event, so the reader does not deliver 202 although it is complete.
 */
START_TEST(a_reader_that_must_not_wait_gets_no_event_after_the_look)
{
	struct half ahead;

	begin();
	writer_enter(&one, 102, &half);
	writer_enter(&two, 202, &ahead);
	ahead.time += 10000;
	writer_commit(&two, &ahead);
	stage_expect_none();
	ck_assert(stage.drain->held_back);
	ck_assert(!stage_take_beyond());
	pool_now += 20000;
	stage_expect_none();
	expect_order_kept();
}
END_TEST

/* If no complete event was held back, the reader keeps the order for the next events. */
START_TEST(a_search_for_complete_events_that_finds_none_keeps_the_order)
{
	struct half younger;

	begin();
	writer_enter(&one, 102, &half);
	writer_enter(&two, 202, &younger);
	stage_expect_none();
	ck_assert(!stage_take_beyond());
	writer_commit(&two, &younger);
	stage_expect_none();
	expect_order_kept();
}
END_TEST

/*
 * If the writer leaves its window and enters the next one between two passes, the reader can
 * deliver the events that it held back because of the first window.
 */
START_TEST(a_second_look_delivers_events_of_the_first_if_the_writer_has_advanced)
{
	begin();
	writer_enter(&one, 102, &half);
	writer_put_many(&two, 202, 1);
	stage_expect_none();
	writer_commit(&one, &half);
	writer_enter(&one, 103, &half);
	stage_expect_values(102, 1);
	stage_expect_values(202, 1);
	assert_late(false);
	writer_commit(&one, &half);
	stage_expect_values(103, 1);
}
END_TEST

/*
 * A thread is stopped, as by a debugger: the reader gives up the order, and does not lose the
 * event.
 */
START_TEST(after_a_stall_no_reader_waits_and_the_event_is_marked_late)
{
	begin();
	writer_enter(&one, 102, &half);
	writer_put_many(&two, 202, 1);
	stage_expect_none();
	pool_now += STAGE_STALL - 1000;
	stage_expect_none();
	pool_now += 2000;
	stage_expect_values(202, 1);
	assert_late(false);
	writer_put_many(&two, 203, 1);
	stage_expect_values(203, 1);
	writer_commit(&one, &half);
	stage_expect_values(102, 1);
	assert_late(true);
	writer_put_many(&one, 103, 1);
	stage_expect_values(103, 1);
	assert_late(false);
	stage_expect_none();
	stage_assert_account();
}
END_TEST

/* At the next stop of the thread, the reader waits for it again. */
START_TEST(each_stall_is_waited_for_anew)
{
	begin();
	for (uint64_t i = 0; i < 3; i++) {
		writer_enter(&one, 110 + i, &half);
		writer_put_many(&two, 210 + i, 1);
		stage_expect_none();
		pool_now += STAGE_STALL / 2;
		stage_expect_none();
		pool_now += STAGE_STALL;
		stage_expect_values(210 + i, 1);
		writer_commit(&one, &half);
		stage_expect_values(110 + i, 1);
		assert_late(true);
	}
	stage_assert_account();
}
END_TEST

/*
 * EVENT-13: a handler left the window by siglongjmp(). No thread is inside the window, and no other
 * thread is affected.
 */
START_TEST(a_window_left_by_a_jump_delays_once_and_then_no_more)
{
	begin();
	writer_enter(&one, 102, &half);
	/* a handler leaves by siglongjmp(), so 102 is never published */
	writer_put_many(&two, 202, 1);
	stage_expect_none();
	pool_now += 2 * STAGE_STALL;
	stage_expect_values(202, 1);
	for (uint64_t i = 3; i < 10; i++) {
		writer_put_many(&two, 200 + i, 1);
		stage_expect_values(200 + i, 1);
	}
	writer_put_many(&one, 103, 1); /* the writer is inside the window again */
	writer_put_many(&two, 299, 1);
	stage_expect_values(103, 1);
	stage_expect_values(299, 1);
	stage_expect_none();
	stage_assert_account();
}
END_TEST

START_TEST(a_thread_that_joins_while_a_writer_is_inside_is_merged_in_its_place)
{
	struct writer three;

	begin();
	writer_enter(&one, 102, &half);
	writer_begin(&three, stage.pool, 13);
	writer_put_many(&three, 301, 1);
	stage_expect_none();
	writer_commit(&one, &half);
	stage_expect_values(102, 1);
	stage_expect_values(301, 1);
	stage_expect_none();
}
END_TEST

static void write_and_read(void *state)
{
	(void)state;
	writer_put(&two, POOL_TYPE, 202);
	stage_take_all();
	writer_put(&two, POOL_TYPE, 203);
}

static void put_one(void *state)
{
	(void)state;
	writer_put(&one, POOL_TYPE, 102);
}

static void assert_in_order(unsigned n)
{
	ck_assert_uint_eq(stage.n, n);
	for (unsigned i = 1; i < stage.n; i++) {
		ck_assert_uint_ge(stage.told[i].ticks, stage.told[i - 1].ticks);
		ck_assert(!stage.told[i].late);
	}
}

/* GETNEXT-02 */
START_TEST(a_reader_at_any_instruction_of_a_writer_delivers_in_order)
{
	begin();
	if (_i)
		writer_put_many(&one, 120, POOL_RECORDS - 1); /* then it switches chunks */
	steps_interrupt(put_one, write_and_read, NULL);
	stage_take_all();
	assert_in_order(4 + (_i ? POOL_RECORDS - 1 : 0) + (steps_happened() ? 2 : 0));
	stage_assert_account();
	steps_end(20);
}
END_TEST

static void pass(void *state)
{
	(void)state;
	ptx_drain_pass(stage.drain);
}

static void both_write(void *state)
{
	(void)state;
	writer_put(&two, POOL_TYPE, 202);
	writer_put(&one, POOL_TYPE, 102);
	writer_put(&two, POOL_TYPE, 203);
}

static void finish_and_write(void *state)
{
	(void)state;
	writer_commit(&one, &half);
	writer_put(&one, POOL_TYPE, 103);
	writer_put(&two, POOL_TYPE, 203);
}

static void enter_only(void *state)
{
	(void)state;
	writer_put(&two, POOL_TYPE, 202);
	writer_enter(&one, 102, &half);
	writer_put(&two, POOL_TYPE, 203);
}

/* GETNEXT-02 */
START_TEST(writers_at_any_instruction_of_a_pass_are_delivered_in_order)
{
	begin();
	switch (_i) {
	case 0:
		steps_interrupt(pass, both_write, NULL);
		break;
	case 1:
		writer_enter(&one, 102, &half);
		steps_interrupt(pass, finish_and_write, NULL);
		break;
	default:
		steps_interrupt(pass, enter_only, NULL);
		break;
	}
	stage_take_all(); /* the events whose order is certain */
	if (_i == 1 && !steps_happened())
		writer_commit(&one, &half);
	if (_i == 2 && steps_happened())
		writer_commit(&one, &half);
	stage_take_all();
	assert_in_order(3 + (_i == 1 ? 1 : 0) + (steps_happened() ? (_i == 1 ? 2 : 3) : 0));
	stage_assert_account();
	steps_end(100);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("drain: watermark", &tc);

	tcase_add_test(tc, events_of_all_rings_come_in_the_order_of_their_times);
	tcase_add_test(tc, events_younger_than_a_writer_inside_its_window_wait_for_it);
	tcase_add_test(tc, events_older_than_the_last_look_outside_a_window_need_not_wait);
	tcase_add_test(
		tc,
		a_writer_in_the_window_of_a_new_chunk_holds_back_younger_events);
	tcase_add_test(
		tc, a_writer_never_seen_outside_holds_back_events_after_its_last_record);
	tcase_add_test(tc, without_a_barrier_events_younger_than_two_milliseconds_wait);
	tcase_add_loop_test(
		tc, a_reader_that_must_not_wait_gets_complete_events_and_an_older_one_late, 0, 2);
	tcase_add_test(tc, a_reader_that_must_not_wait_gets_no_event_after_the_look);
	tcase_add_test(tc, a_search_for_complete_events_that_finds_none_keeps_the_order);
	tcase_add_test(
		tc,
		a_second_look_delivers_events_of_the_first_if_the_writer_has_advanced);
	tcase_add_test(tc, after_a_stall_no_reader_waits_and_the_event_is_marked_late);
	tcase_add_test(tc, each_stall_is_waited_for_anew);
	tcase_add_test(tc, a_window_left_by_a_jump_delays_once_and_then_no_more);
	tcase_add_test(tc, a_thread_that_joins_while_a_writer_is_inside_is_merged_in_its_place);
	tcase_add_loop_test(tc, a_reader_at_any_instruction_of_a_writer_delivers_in_order, 0, 2);
	tcase_add_loop_test(tc, writers_at_any_instruction_of_a_pass_are_delivered_in_order, 0, 3);
	return s;
}

SUITE_MAIN_OF(suite)
