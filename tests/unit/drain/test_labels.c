/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Times of delivered events: no event is older than the event before it, unless the event is marked
 * as late.
 */
#include "flush/checkpoint.h"
#include "support/support.h"
#include "unit/drain/stage.h"

enum { CHUNKS = 6 };

static struct writer one, two, three;

static void begin(void)
{
	stage_make(POSIX_TRACE_LOOP, CHUNKS);
	writer_begin(&one, stage.pool, 11);
	writer_begin(&two, stage.pool, 12);
	stage_start();
	stage_expect(POSIX_TRACE_START, 0);
}

static void assert_labels(void)
{
	const struct told *last = NULL;

	for (unsigned i = 0; i < stage.n; i++) {
		const struct told *told = &stage.told[i];

		if (last && told->time_ns < last->time_ns)
			ck_assert_msg(told->late, "event %u of type %u is %d ns older", i,
				      told->type, (int)(last->time_ns - told->time_ns));
		if (!told->late)
			last = told;
	}
}

static const struct told *last_told(void)
{
	return &stage.told[stage.n - 1];
}

/*
 * The anchors jitter, because the kernel's clock and the trace clock are read one after the other.
 * So the lines between the anchors move.
 */
static void look_with_jitter(int64_t jitter)
{
	stage.jitter = jitter;
	pool_now += 1000;
	ptx_drain_pass(stage.drain);
}

/*
 * SLOOP-05, SYSEV-07: the controller is killed after it has written a block that ends with a mark
 * and has read the next event. Its guardian finds a gap whose first event was not reported yet. The
 * gap begins directly behind the mark.
 */
START_TEST(an_overflow_behind_a_mark_is_not_older_than_the_mark_where_another_goes_on)
{
	struct ptx_drain_event event;
	struct told mark;

	begin();
	ptx_checkpoint_enable(stage.drain);
	stage_mark(PTX_MARK_FLUSH_START, 0);
	stage_expect(POSIX_TRACE_FLUSH_START, 0);
	mark = *last_told();
	pool_now += 5000;
	writer_put_many(&two, 1, 1);
	ck_assert(ptx_drain_peek(stage.drain, &event)); /* a flush reads ahead in this way if it
							 * will continue */
	ck_assert_uint_eq(event.type, POOL_TYPE);
	ptx_checkpoint_write(stage.drain, stage.n);
	ptx_drain_settle(stage.drain);
	stage_resume(stage.n);
	writer_put_many(&one, 100, 20 * POOL_RECORDS);
	atomic_store(&stage.pool->rings.region->first_overwritten, UINT64_MAX);
	look_with_jitter(-300);
	stage_expect(POSIX_TRACE_OVERFLOW, 0);
	ck_assert_uint_eq(last_told()->ticks, mark.ticks + 1);
	ck_assert_int_ge(last_told()->time_ns, mark.time_ns);
	ck_assert_int_le(last_told()->time_ns, mark.time_ns + 1);
	stage_take_all();
	assert_labels();
}
END_TEST

/* The time of a late event is an old one, and is no bound for later events. */
START_TEST(a_late_event_does_not_let_the_next_one_be_older_than_those_before)
{
	struct half half;

	begin();
	writer_put_many(&two, 1, 1);
	stage_expect_values(1, 1);
	writer_enter(&two, 2, &half);
	pool_now += 5000;
	stage_mark(PTX_MARK_FLUSH_START, 0);
	ck_assert(!stage_take());
	ck_assert(stage_take_beyond());
	stage_expect(POSIX_TRACE_FLUSH_START, 0);
	writer_put_many(&one, 100, 1); /* some nanoseconds after the mark */
	writer_commit(&two, &half);
	look_with_jitter(-300);
	stage_expect_values(2, 1);
	ck_assert(last_told()->late);
	stage_expect_values(100, 1);
	ck_assert(!last_told()->late);
	assert_labels();
}
END_TEST

/*
 * Two events are suspended. One is older than the cut, and the other is not. Both are older than
 * the mark.
 */
START_TEST(an_overflow_before_a_late_survivor_is_late_itself)
{
	struct half lost, survivor;

	begin();
	writer_begin(&three, stage.pool, 13);
	writer_enter(&two, 2, &lost);
	writer_put_many(&one, 100, 4 * POOL_RECORDS);
	writer_enter(&three, 3, &survivor);
	ck_assert_uint_gt(survivor.time, atomic_load(&stage.pool->rings.region->cut));
	ck_assert_uint_lt(lost.time, atomic_load(&stage.pool->rings.region->cut));
	stage_mark(PTX_MARK_FLUSH_START, 0);
	stage_take_all_beyond();
	ck_assert_uint_eq(last_told()->type, POSIX_TRACE_FLUSH_START);
	while (stage_next())
		;
	writer_commit(&two, &lost);
	writer_commit(&three, &survivor);
	stage_expect(POSIX_TRACE_OVERFLOW, 0);
	ck_assert(last_told()->late);
	stage_expect(POSIX_TRACE_RESUME, 0);
	ck_assert(last_told()->late);
	stage_expect_values(3, 1);
	ck_assert(last_told()->late);
	assert_labels();
	stage_assert_account();
}
END_TEST

/* SLOOP-06: even if an anchor moves the line between RESUME and the survivor */
START_TEST(resume_has_the_very_time_of_the_survivor)
{
	int64_t resumed;

	begin();
	writer_put_many(&one, 1, 20 * POOL_RECORDS);
	stage_expect(POSIX_TRACE_OVERFLOW, 0);
	stage_expect(POSIX_TRACE_RESUME, 0);
	resumed = last_told()->time_ns;
	look_with_jitter(_i ? 400 : -400);
	ck_assert(stage_take());
	ck_assert_int_eq(last_told()->time_ns, resumed);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("drain: labels", &tc);

	tcase_add_test(tc,
		       an_overflow_behind_a_mark_is_not_older_than_the_mark_where_another_goes_on);
	tcase_add_test(tc, a_late_event_does_not_let_the_next_one_be_older_than_those_before);
	tcase_add_test(tc, an_overflow_before_a_late_survivor_is_late_itself);
	tcase_add_loop_test(tc, resume_has_the_very_time_of_the_survivor, 0, 2);
	return s;
}

SUITE_MAIN_OF(suite)
