/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The overwritten events of a LOOP stream are reported once, at their place. All events that are
 * older are dropped with them.
 */
#include "support/support.h"
#include "unit/drain/stage.h"
#include "unit/ring/steps.h"

enum { CHUNKS = 6 };

static struct writer one, two;

/* Ring 0 and the rings of `one` and `two` have one chunk each. Three chunks are free. */
static void begin(void)
{
	stage_make(POSIX_TRACE_LOOP, CHUNKS);
	writer_begin(&one, stage.pool, 11);
	writer_begin(&two, stage.pool, 12);
	stage_start();
	stage_expect(POSIX_TRACE_START, 0);
}

static uint64_t cut(void)
{
	return atomic_load(&stage.pool->rings.region->cut);
}

/* SLOOP-05 to SLOOP-08 */
START_TEST(overflow_has_the_time_of_the_first_lost_and_resume_that_of_the_survivor)
{
	uint64_t first;

	begin();
	first = pool_now + 1;
	writer_put_many(&one, 1, 4 * POOL_RECORDS); /* the stream is full, and no event is lost */
	ck_assert_uint_eq(stage_overrun(), 0);
	writer_put_many(&one, 100, 1);
	ck_assert_uint_eq(stage_overrun(), 1);
	stage_expect(POSIX_TRACE_OVERFLOW, 0);
	ck_assert_uint_eq(stage.told[stage.n - 1].ticks, first);
	stage_expect(POSIX_TRACE_RESUME, 0);
	stage_expect_values(POOL_RECORDS + 1, 1);
	ck_assert_uint_eq(stage.told[stage.n - 2].ticks, stage.told[stage.n - 1].ticks);
	stage_expect_values(POOL_RECORDS + 2, 3 * POOL_RECORDS - 1);
	stage_expect_values(100, 1);
	stage_expect_none();
	ck_assert_uint_eq(stage_overrun(), 0); /* the overrun that the read itself reports */
	ck_assert_uint_eq(stage_lost(PTX_LOST_OVERWRITTEN), POOL_RECORDS);
	stage_assert_account();
}
END_TEST

/* SLOOP-01: the delivered events are the youngest part of all events, without a gap */
START_TEST(events_older_than_overwritten_ones_are_dropped_too)
{
	begin();
	writer_put_many(&two, 500, 2); /* in a chunk that is not overwritten */
	writer_put_many(&one, 1, 2 * POOL_RECORDS);
	writer_put_many(&two, 510, 1);
	writer_put_many(&one, 100, 2 * POOL_RECORDS + 1);
	ck_assert_uint_eq(stage_lost(PTX_LOST_OVERWRITTEN), POOL_RECORDS + 2);
	stage_expect(POSIX_TRACE_OVERFLOW, 0);
	stage_expect(POSIX_TRACE_RESUME, 0);
	/* the values 1 to 4 were overwritten; 500 and 501 are older than 4 */
	stage_expect_values(POOL_RECORDS + 1, POOL_RECORDS);
	stage_expect_values(510, 1);
	stage_expect_values(100, 2 * POOL_RECORDS + 1);
	stage_expect_none();
	ck_assert_uint_eq(stage_lost(PTX_LOST_OVERWRITTEN), POOL_RECORDS + 2);
	stage_assert_account();
}
END_TEST

/*
 * SLOOP-01: two events have the same time, and one of them is overwritten. Neither is younger than
 * the gap
 */
START_TEST(events_as_old_as_the_last_overwritten_are_dropped_too)
{
	begin();
	writer_put_many(&one, 1, POOL_RECORDS);
	pool_now--;
	writer_put_many(&two, 500, 2); /* in a chunk that is not overwritten; 500 is as old as the
				        * last event of one */
	writer_put_many(&one, 100, 3 * POOL_RECORDS + 1);
	stage_expect(POSIX_TRACE_OVERFLOW, 0);
	stage_expect(POSIX_TRACE_RESUME, 0);
	stage_expect_values(501, 1);
	stage_expect_values(100, 3 * POOL_RECORDS + 1);
	stage_expect_none();
	ck_assert_uint_eq(stage_lost(PTX_LOST_OVERWRITTEN), POOL_RECORDS + 1);
	stage_assert_account();
}
END_TEST

START_TEST(one_gap_is_reported_once_for_any_number_of_events)
{
	begin();
	writer_put_many(&one, 1, 50 * POOL_RECORDS);
	stage_expect(POSIX_TRACE_OVERFLOW, 0);
	stage_expect(POSIX_TRACE_RESUME, 0);
	stage_expect_values(46 * POOL_RECORDS + 1, 4 * POOL_RECORDS);
	stage_expect_none();
	stage_assert_account();
}
END_TEST

START_TEST(each_gap_is_reported_at_its_place)
{
	begin();
	for (uint64_t i = 0; i < 5; i++) {
		uint64_t before = stage.told[stage.n - 1].ticks;

		writer_put_many(&one, 1000 * i, 10 * POOL_RECORDS);
		stage_expect(POSIX_TRACE_OVERFLOW, 0);
		ck_assert_uint_gt(stage.told[stage.n - 1].ticks, before);
		stage_expect(POSIX_TRACE_RESUME, 0);
		while (stage_next())
			ck_assert_uint_eq(stage.told[stage.n - 1].type, POOL_TYPE);
		ck_assert_uint_eq(stage.told[stage.n - 1].value, 1000 * i + 10 * POOL_RECORDS - 1);
		stage_assert_account();
	}
}
END_TEST

/*
 * SLOOP-06: RESUME has reported the time of this event, so the event is delivered even if chunks
 * are overwritten meanwhile
 */
START_TEST(the_survivor_is_delivered_and_a_gap_behind_it_is_another)
{
	begin();
	writer_put_many(&one, 1, 4 * POOL_RECORDS + 1);
	stage_expect(POSIX_TRACE_OVERFLOW, 0);
	stage_expect(POSIX_TRACE_RESUME, 0);
	writer_put_many(&one, 100, 20 * POOL_RECORDS);
	stage_expect_values(POOL_RECORDS + 1, 1);
	stage_expect(POSIX_TRACE_OVERFLOW, 0);
	stage_expect(POSIX_TRACE_RESUME, 0);
	ck_assert_ptr_nonnull(stage_next());
	ck_assert_uint_ge(stage.told[stage.n - 1].value, 100);
	stage_take_all();
	stage_assert_account();
}
END_TEST

/* Events that the reader has claimed are older than the cut, too. */
START_TEST(claimed_events_below_the_cut_are_lost_with_the_rest)
{
	begin();
	writer_put_many(&one, 1, POOL_RECORDS + 1);
	stage_expect_values(1, 1); /* the values 2 to 4 are claimed */
	writer_put_many(&one, 100, 5 * POOL_RECORDS);
	ck_assert_uint_gt(cut(), stage.told[stage.n - 1].ticks + 3);
	stage_expect(POSIX_TRACE_OVERFLOW, 0);
	ck_assert_uint_eq(stage.told[stage.n - 1].ticks, stage.told[stage.n - 2].ticks + 1);
	stage_expect(POSIX_TRACE_RESUME, 0);
	stage_take_all();
	stage_assert_account();
}
END_TEST

START_TEST(marks_among_lost_events_are_not_reported)
{
	struct ptx_mark error = { .kind = PTX_MARK_ERROR, .error = 5 };

	begin();
	writer_put_many(&one, 1, 1);
	error.ticks = ptx_drain_moment(stage.drain, false);
	ck_assert(ptx_drain_mark(stage.drain, &error));
	stage_stop();
	stage_start();
	writer_put_many(&one, 2, 6 * POOL_RECORDS);
	stage_expect(POSIX_TRACE_OVERFLOW, 0);
	stage_expect(POSIX_TRACE_RESUME, 0);
	while (stage_next())
		ck_assert_uint_eq(stage.told[stage.n - 1].type, POOL_TYPE);
	stage_assert_account();
}
END_TEST

/* The event was stamped before the gap that was reported, and is published after the report. */
START_TEST(a_late_event_older_than_the_cut_is_lost_and_reported)
{
	struct half half;

	begin();
	writer_put_many(&two, 500, 1);
	stage_expect_values(500, 1);
	writer_enter(&two, 501, &half);
	writer_put_many(&one, 1, 20 * POOL_RECORDS);
	stage_expect_none();
	pool_now += STAGE_STALL + 1000000;
	stage_expect(POSIX_TRACE_OVERFLOW, 0);
	stage_expect(POSIX_TRACE_RESUME, 0);
	while (stage_next())
		ck_assert_uint_eq(stage.told[stage.n - 1].type, POOL_TYPE);
	writer_commit(&two, &half);
	stage_expect_none();
	writer_put_many(&two, 502, 1);
	stage_expect(POSIX_TRACE_OVERFLOW, 0);
	stage_expect(POSIX_TRACE_RESUME, 0);
	stage_expect_values(502, 1);
	stage_expect_none();
	stage_assert_account();
}
END_TEST

/* SLOOP-09 */
START_TEST(the_stream_is_no_longer_full_when_something_has_been_read)
{
	begin();
	writer_put_many(&one, 1, 4 * POOL_RECORDS + 1);
	ck_assert_uint_eq(atomic_load(&stage.pool->rings.region->looped), 1);
	stage_expect(POSIX_TRACE_OVERFLOW, 0);
	stage_expect(POSIX_TRACE_RESUME, 0);
	stage_expect_values(POOL_RECORDS + 1, 1);
	ck_assert_uint_eq(atomic_load(&stage.pool->rings.region->looped), 0);
}
END_TEST

static uint64_t times[1000]; /* the values in the order in which they were written */

/*
 * Checks the delivered events. Each value is the next value, or OVERFLOW and RESUME are immediately
 * before it. In the second case RESUME has the time of the event, and values are missing.
 */
static void assert_gaps_told(void)
{
	uint64_t last = 0;

	for (unsigned i = 1; i < stage.n; i++) {
		const struct told *event = &stage.told[i];

		if (event->type != POOL_TYPE)
			continue;
		if (event[-1].type != POSIX_TRACE_RESUME) {
			ck_assert_uint_eq(event->value, last + 1);
			ck_assert_uint_gt(event->ticks, event[-1].ticks);
		} else {
			ck_assert_uint_gt(event->value, last + 1);
			ck_assert_uint_eq(event[-1].ticks, event->ticks);
			ck_assert_uint_eq(event[-2].type, POSIX_TRACE_OVERFLOW);
			ck_assert_uint_le(event[-2].ticks, event->ticks);
			ck_assert_uint_ge(event[-2].ticks, event[-3].ticks);
			ck_assert_uint_eq(event[-2].ticks, times[last + 1]);
		}
		ck_assert(!event->late);
		last = event->value;
	}
}

static int burst;
static uint64_t values; /* the next value of write_burst() */

static void write_burst(void *state)
{
	(void)state;
	for (int i = 0; i < burst; i++) {
		writer_put(&one, POOL_TYPE, values);
		times[values++] = pool_now;
	}
}

static void take_one(void *state)
{
	(void)state;
	(void)stage_take();
}

/*
 * SLOOP-05 to SLOOP-07: a writer overwrites one chunk, three, or all, while the reader is about to
 * report a gap (0), is before the survivor (1), in the chunk behind it (2), or at the end of this
 * chunk (3)
 */
START_TEST(overwriting_at_any_instruction_of_a_delivery_is_reported_at_its_place)
{
	static const int bursts[] = { 1, POOL_RECORDS, 3 * POOL_RECORDS, 9 * POOL_RECORDS };
	static const unsigned before[] = { 0, 2, 4, 5 };

	begin();
	burst = bursts[_i % 4];
	for (uint64_t i = 1; i <= 4 * POOL_RECORDS + 1; i++) {
		writer_put_many(&one, i, 1);
		times[i] = pool_now;
	}
	values = 4 * POOL_RECORDS + 2;
	for (unsigned i = 0; i < before[_i / 4]; i++)
		ck_assert(stage_take());
	steps_interrupt(take_one, write_burst, NULL);
	stage_take_all();
	assert_gaps_told();
	stage_assert_account();
	write_burst(NULL);
	stage_take_all();
	assert_gaps_told();
	stage_assert_account();
	steps_end(50);
}
END_TEST

static void write_next(struct writer *writer, unsigned count, uint64_t *next)
{
	while (count--) {
		writer_put_many(writer, *next, 1);
		times[(*next)++] = pool_now;
	}
}

/*
 * SLOOP-01, SLOOP-05: because of the cut, the reader drops its records of `one`. It then finds in
 * the ring that `one` has overwritten more. The events of `two` between both are older than these
 * events, so they do not survive.
 */
START_TEST(overwriters_at_any_instruction_leave_no_survivor_that_is_older)
{
	uint64_t next = 1;

	begin();
	write_next(&one, 2 * POOL_RECORDS, &next);
	write_next(&two, 1, &next);
	write_next(&one, 2 * POOL_RECORDS, &next);
	/* the reader claims the first chunk of `one`, and that of `two` */
	stage_expect_values(1, 1);
	/* the cut is behind the second chunk of `one` and before that of `two` */
	write_next(&one, POOL_RECORDS + 1, &next);
	values = next;
	burst = _i ? 9 * POOL_RECORDS : 2 * POOL_RECORDS;
	steps_interrupt(take_one, write_burst, NULL);
	stage_take_all();
	assert_gaps_told();
	stage_assert_account();
	steps_end(50);
}
END_TEST

static void ask(struct ptx_ledger *ledger)
{
	ptx_ledger_init(ledger);
	ck_assert_int_eq(ptx_drain_ledger(stage.drain, ledger), 0);
}

/* The total is exact. Only the number of the events that are in no column is known. */
static void assert_unattributed(const struct ptx_ledger *ledger, uint64_t events)
{
	uint64_t types = 0, threads = 0;

	ck_assert_uint_eq(ptx_ledger_unattributed(&ledger->total), events);
	ck_assert_uint_eq(ptx_ledger_unattributed(&ledger->type[0]), events);
	for (unsigned type = 0; type < PTX_TYPE_MAX; type++) {
		types += ledger->type[type].called;
		if (type)
			ck_assert_uint_eq(ptx_ledger_unattributed(&ledger->type[type]), 0);
	}
	for (size_t i = 0; i < ledger->threads; i++) {
		threads += ledger->thread[i].line.called;
		ck_assert_uint_eq(ptx_ledger_unattributed(&ledger->thread[i].line),
				  ledger->thread[i].pid ? 0 : events);
	}
	ck_assert_uint_eq(types, ledger->total.called);
	ck_assert_uint_eq(threads, ledger->total.called);
}

/* A counter with a random value: no other line is reduced or increased. */
START_TEST(overwritten_events_that_were_not_counted_are_unattributed)
{
	struct ptx_ledger ledger, after;
	_Atomic uint64_t *count;
	struct ptx_slot *slot;

	begin();
	writer_put_many(&one, 1, 6 * POOL_RECORDS);
	stage_take_all();
	stage_assert_account();
	ask(&ledger);
	assert_unattributed(&ledger, 0);
	count = &stage.pool->rings.region->lost_type[PTX_WRITER_OVERWRITTEN][POOL_TYPE];
	ck_assert_uint_gt(atomic_load(count), 2);
	atomic_fetch_sub(count, 2);
	slot = &stage.pool->rings.slot[one.ident.slot & 0xffff];
	atomic_fetch_sub(&slot->lost[PTX_WRITER_OVERWRITTEN], 3);
	ask(&after);
	assert_unattributed(&after, 2);
	ck_assert_uint_eq(after.total.called, ledger.total.called);
	ck_assert_uint_eq(after.total.reported, ledger.total.reported);
	ck_assert_uint_eq(after.type[POOL_TYPE].lost[PTX_LOST_OVERWRITTEN],
			  ledger.type[POOL_TYPE].lost[PTX_LOST_OVERWRITTEN] - 2);
	ck_assert_uint_eq(ptx_ledger_thread(&after, 0, 0, 0)->lost[PTX_LOST_OVERWRITTEN], 1);
	ptx_ledger_fini(&after);
	/* The count exceeds the total: the difference remains visible, and no line is corrected. */
	atomic_fetch_add(count, 5);
	ask(&after);
	ck_assert_uint_eq(ptx_ledger_sum(&after.total), after.total.called + 3);
	ck_assert_uint_eq(after.type[POOL_TYPE].lost[PTX_LOST_OVERWRITTEN],
			  ledger.type[POOL_TYPE].lost[PTX_LOST_OVERWRITTEN] + 3);
	ptx_ledger_fini(&after);
	ptx_ledger_fini(&ledger);
}
END_TEST

/*
 * The writer was killed between the two counters: the type of the loss is known, and the thread is
 * not.
 */
START_TEST(a_loss_that_no_thread_has_is_of_no_known_thread)
{
	static const uint64_t losses[] = { 1, 1000 };
	struct ptx_region *region;
	struct ptx_ledger ledger;

	stage_make(POSIX_TRACE_UNTIL_FULL, CHUNKS);
	writer_begin(&one, stage.pool, 11);
	stage_start();
	stage_take_all();
	region = stage.pool->rings.region;
	atomic_store(&region->lost_type[PTX_WRITER_STREAM_FULL][POOL_TYPE], losses[_i]);
	stage_assert_account();
	ask(&ledger);
	ck_assert_uint_eq(ptx_ledger_thread(&ledger, 0, 0, 0)->lost[PTX_LOST_STREAM_FULL],
			  losses[_i]);
	assert_unattributed(&ledger, 0);
	ptx_ledger_fini(&ledger);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("drain: gaps", &tc);

	tcase_add_test(tc, overflow_has_the_time_of_the_first_lost_and_resume_that_of_the_survivor);
	tcase_add_test(tc, events_older_than_overwritten_ones_are_dropped_too);
	tcase_add_test(tc, events_as_old_as_the_last_overwritten_are_dropped_too);
	tcase_add_test(tc, one_gap_is_reported_once_for_any_number_of_events);
	tcase_add_test(tc, each_gap_is_reported_at_its_place);
	tcase_add_test(tc, the_survivor_is_delivered_and_a_gap_behind_it_is_another);
	tcase_add_test(tc, claimed_events_below_the_cut_are_lost_with_the_rest);
	tcase_add_test(tc, marks_among_lost_events_are_not_reported);
	tcase_add_test(tc, a_late_event_older_than_the_cut_is_lost_and_reported);
	tcase_add_test(tc, the_stream_is_no_longer_full_when_something_has_been_read);
	tcase_add_test(tc, overwritten_events_that_were_not_counted_are_unattributed);
	tcase_add_loop_test(tc, a_loss_that_no_thread_has_is_of_no_known_thread, 0, 2);
	tcase_add_loop_test(
		tc, overwriting_at_any_instruction_of_a_delivery_is_reported_at_its_place, 0, 16);
	tcase_add_loop_test(tc, overwriters_at_any_instruction_leave_no_survivor_that_is_older, 0,
			    2);
	return s;
}

SUITE_MAIN_OF(suite)
