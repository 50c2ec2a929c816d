/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A cleared stream: earlier events are removed and counted, later ones are delivered. */
#include "support/support.h"
#include "unit/drain/stage.h"
#include "unit/ring/steps.h"

enum { CHUNKS = 12, MANY_CHUNKS = 60 };

static struct writer one, two;

static void begin(int policy)
{
	stage_make(policy, CHUNKS);
	writer_begin(&one, stage.pool, 11);
	writer_begin(&two, stage.pool, 12);
	stage_start();
	stage_expect(POSIX_TRACE_START, 0);
}

/* CLEAR-01, CLEAR-02, CLEAR-04 */
START_TEST(earlier_events_are_cleared_and_later_ones_are_delivered)
{
	begin(POSIX_TRACE_UNTIL_FULL);
	writer_put_many(&one, 1, 10);
	writer_put_many(&two, 20, 3);
	stage_mark(PTX_MARK_ERROR, 5);
	atomic_store(&stage.pool->rings.region->overrun, 1);
	ptx_drain_clear(stage.drain);
	ck_assert_uint_eq(stage_overrun(), 0);
	ck_assert_uint_eq(stage_lost(PTX_LOST_CLEARED), 13);
	stage_expect_none();
	stage_assert_account();
	writer_put_many(&one, 11, 2);
	stage_expect_values(11, 2);
	ck_assert(!stage.told[stage.n - 1].late);
	stage_expect_none();
	stage_assert_account();
	/* the chunks are free again, except the open chunks and the reader's chunk */
	ck_assert_uint_ge(pool_chunks_in(stage.pool, PTX_CHUNK_FREE), CHUNKS - 4);
}
END_TEST

/*
 * CLEAR-01: a processor's counter may be ahead of that of the clearing thread by more than the last
 * chunk
 */
START_TEST(earlier_events_are_cleared_though_their_time_is_later)
{
	const uint64_t records = 3 * POOL_RECORDS / 2;

	begin(POSIX_TRACE_UNTIL_FULL);
	writer_put_many(&one, 1, 2);
	pool_now += 1000;
	writer_put_many(&one, 3, records);
	writer_put_many(&two, 500, 2);
	pool_now -= 1000;
	ptx_drain_clear(stage.drain);
	ck_assert_uint_eq(stage_lost(PTX_LOST_CLEARED), records + 4);
	stage_expect_none();
	pool_now += 500; /* these events are from another processor */
	writer_put_many(&one, 1000, 1);
	stage_expect_values(1000, 1);
	stage_expect_none();
	stage_assert_account();
}
END_TEST

static bool writes_meanwhile, publishes_meanwhile;
static struct half half;

/* At this point the clear reads the number of events that a ring has published. */
uint32_t __real_ptx_ring_records(struct ptx_rings *rings, uint32_t ring);
uint32_t __wrap_ptx_ring_records(struct ptx_rings *rings, uint32_t ring);
uint32_t __wrap_ptx_ring_records(struct ptx_rings *rings, uint32_t ring)
{
	uint32_t records = __real_ptx_ring_records(rings, ring);

	if (writes_meanwhile && ring == one.ring) {
		writes_meanwhile = false;
		pool_now += 1000;
		writer_put_many(&one, 3, 2);
	}
	if (publishes_meanwhile && ring == one.ring) {
		publishes_meanwhile = false;
		writer_commit(&one, &half);
	}
	return records;
}

/* CLEAR-01: if later events were cleared, too, a busy writer could delay a clear for ever */
START_TEST(events_after_the_begin_of_a_clear_are_not_cleared)
{
	begin(POSIX_TRACE_UNTIL_FULL);
	writer_put_many(&one, 1, 2);
	writes_meanwhile = true;
	ptx_drain_clear(stage.drain);
	ck_assert(!writes_meanwhile);
	ck_assert_uint_eq(stage_lost(PTX_LOST_CLEARED), 2);
	pool_now += 1000;
	stage_expect_values(3, 2);
	stage_expect_none();
	stage_assert_account();
}
END_TEST

/* Does the same as posix/clear.c. */
static void resume(void)
{
	struct ptx_mark start = { .kind = PTX_MARK_START };

	ck_assert_int_eq(stage_state(), PTX_FULL);
	start.ticks = ptx_drain_moment(stage.drain, true);
	ck_assert(ptx_drain_mark(stage.drain, &start));
	atomic_store(&stage.pool->rings.region->state, ptx_state_make(PTX_RUNNING, start.ticks));
}

/* CLEAR-01, CLEAR-02: a reported STOP would have no START */
START_TEST(a_full_stream_found_during_a_clear_is_not_reported)
{
	begin(POSIX_TRACE_UNTIL_FULL);
	writer_put_many(&one, 1, 2);
	writer_enter(&one, 3, &half);
	/* the clear begins a tick earlier, and afterwards checks whether the stream is full */
	half.time = pool_now + 2;
	atomic_store(&stage.pool->rings.region->state, ptx_state_make(PTX_FULL, pool_now + 100));
	publishes_meanwhile = true;
	ptx_drain_clear(stage.drain);
	resume();
	ck_assert(!publishes_meanwhile);
	ck_assert_uint_eq(stage_lost(PTX_LOST_CLEARED), 2);
	pool_now += 10000;
	writer_put_many(&one, 4, 1);
	stage_expect_values(3, 2);
	stage_expect_none();
	stage_assert_account();
}
END_TEST

START_TEST(events_outside_the_stream_are_not_counted_as_cleared)
{
	begin(POSIX_TRACE_UNTIL_FULL);
	writer_put_many(&one, 1, 1);
	stage_stop();
	writer_put_many(&one, 2, 3);
	ptx_drain_clear(stage.drain);
	ck_assert_uint_eq(stage_lost(PTX_LOST_CLEARED), 2); /* the value 1 and the STOP */
	stage_start();
	writer_put_many(&one, 5, 1);
	stage_expect(POSIX_TRACE_START, 0);
	stage_expect_values(5, 1);
	stage_expect_none();
	stage_assert_account();
}
END_TEST

/* CLEAR-01 */
START_TEST(a_gap_is_not_reported_after_a_clear)
{
	begin(POSIX_TRACE_LOOP);
	writer_put_many(&one, 1, 2 * CHUNKS * POOL_RECORDS);
	ck_assert_uint_gt(pool_lost(stage.pool, PTX_WRITER_OVERWRITTEN), 0);
	ptx_drain_clear(stage.drain);
	writer_put_many(&one, 1000, 1);
	stage_expect_values(1000, 1);
	stage_expect_none();
	stage_assert_account();
}
END_TEST

static bool overtakes; /* the writer records at each step of the reader */
static unsigned overtaken; /* after so many more events the reader has lost its place when it
			    * looks */

enum ptx_claim __real_ptx_ring_take(struct ptx_reader *reader);
enum ptx_claim __wrap_ptx_ring_take(struct ptx_reader *reader);
enum ptx_claim __wrap_ptx_ring_take(struct ptx_reader *reader)
{
	if (overtaken && reader->ring == one.ring) {
		overtaken--;
		return PTX_CLAIM_LOST;
	}
	if (overtakes && reader->ring == one.ring)
		writer_put_many(&one, 1000, POOL_RECORDS);
	return __real_ptx_ring_take(reader);
}

/* CLEAR-01: a writer overwrites faster than the clear reads, and the clear gives up */
START_TEST(events_that_a_clear_did_not_reach_are_cleared_too)
{
	const uint64_t records = (CHUNKS - 4) * POOL_RECORDS;

	begin(POSIX_TRACE_LOOP);
	writer_put_many(&one, 1, records);
	overtaken = 100;
	ptx_drain_clear(stage.drain);
	ck_assert_uint_lt(overtaken, 100);
	/* asserts that the clear did not reach the events */
	ck_assert_uint_eq(stage.drain->account.total.lost[PTX_LOST_CLEARED], 0);
	overtaken = 0;
	ck_assert_uint_eq(stage_lost(PTX_LOST_CLEARED), records); /* and not unread */
	pool_now += 1000;
	writer_put_many(&one, 1000, 1);
	stage_expect_values(1000, 1);
	stage_expect_none();
	ck_assert_uint_eq(stage_lost(PTX_LOST_CLEARED), records);
	stage_assert_account();
}
END_TEST

/* CLEAR-01: cleared events are not reported as overwritten */
START_TEST(no_gap_is_reported_in_events_that_a_clear_did_not_reach)
{
	unsigned told;

	stage_make(POSIX_TRACE_LOOP, MANY_CHUNKS);
	writer_begin(&one, stage.pool, 11);
	stage_start();
	stage_expect(POSIX_TRACE_START, 0);
	writer_put_many(&one, 1, 2 * MANY_CHUNKS * POOL_RECORDS);
	pool_now += 1000;
	overtakes = true;
	ptx_drain_clear(stage.drain);
	overtakes = false;
	told = stage.n;
	writer_put_many(&one, 2000, 8);
	stage_take_all();
	ck_assert_uint_ge(stage.n, told + 8);
	for (unsigned i = told; i < stage.n; i++) {
		ck_assert_uint_eq(stage.told[i].type, POOL_TYPE);
		ck_assert_uint_ge(stage.told[i].value, 1000);
	}
	stage_assert_account();
}
END_TEST

static void clear(void *state)
{
	(void)state;
	ptx_drain_clear(stage.drain);
}

static uint64_t some_at;

static void put_some(void *state)
{
	(void)state;
	some_at = pool_now + 1;
	for (uint64_t i = 0; i < 6; i++)
		writer_put(&one, POOL_TYPE, 1000 + i);
}

START_TEST(events_at_any_instruction_of_a_clear_are_cleared_or_delivered)
{
	uint64_t cleared_at;

	stage_make(_i ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL, _i ? 4 : 6);
	writer_begin(&one, stage.pool, 11);
	writer_begin(&two, stage.pool, 12);
	stage_start();
	stage_expect(POSIX_TRACE_START, 0);
	writer_put_many(&one, 1, 2 * POOL_RECORDS + 1); /* in a LOOP stream, four are overwritten */
	writer_put_many(&two, 20, 1);
	steps_interrupt(clear, put_some, NULL);
	cleared_at = stage.drain->last_ticks;
	writer_put_many(&two, 2000, 1);
	stage_take_all();
	if (some_at > cleared_at)
		ck_assert_uint_ge(stage.n, 1 + 6 + 1);
	ck_assert_uint_eq(stage.told[stage.n - 1].value, 2000);
	for (unsigned i = 1; i + 1 < stage.n; i++) {
		ck_assert_uint_ge(stage.told[i].value, 1000);
		ck_assert_uint_eq(stage.told[i].type, POOL_TYPE);
	}
	stage_assert_account();
	steps_end(100);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("drain: clearing", &tc);

	tcase_add_test(tc, earlier_events_are_cleared_and_later_ones_are_delivered);
	tcase_add_test(tc, earlier_events_are_cleared_though_their_time_is_later);
	tcase_add_test(tc, events_after_the_begin_of_a_clear_are_not_cleared);
	tcase_add_test(tc, a_full_stream_found_during_a_clear_is_not_reported);
	tcase_add_test(tc, events_outside_the_stream_are_not_counted_as_cleared);
	tcase_add_test(tc, events_that_a_clear_did_not_reach_are_cleared_too);
	tcase_add_test(tc, no_gap_is_reported_in_events_that_a_clear_did_not_reach);
	tcase_add_test(tc, a_gap_is_not_reported_after_a_clear);
	tcase_add_loop_test(tc, events_at_any_instruction_of_a_clear_are_cleared_or_delivered, 0,
			    2);
	return s;
}

SUITE_MAIN_OF(suite)
