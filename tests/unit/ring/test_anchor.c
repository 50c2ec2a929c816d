/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The anchors of a region's calibration: after the end of all writers, a reader finds the newest
 * anchor complete.
 */
#include "base/clock.h"
#include "support/support.h"
#include "unit/ring/pool.h"
#include "unit/ring/steps.h"

enum { CHUNKS = 4, BASE_NS = 1000000, SECOND = 1000 };

static struct pool *pool;
static struct writer one, two;
static struct ptx_calibration *calibration;
static unsigned added;

struct ptx_anchor __wrap_ptx_clock_anchor(void);

struct ptx_anchor __wrap_ptx_clock_anchor(void)
{
	struct ptx_anchor anchor = { ++pool_now, 0 };

	anchor.realtime_ns = BASE_NS + (int64_t)anchor.ticks;
	added++;
	return anchor;
}

static struct ptx_anchor newest(void)
{
	return calibration->anchor[atomic_load(&calibration->count) % 2];
}

static void write_chunk(struct writer *writer)
{
	for (unsigned i = 0; i < POOL_RECORDS; i++)
		writer_put(writer, POOL_TYPE, i);
}

static void turn(void *state)
{
	writer_put(state, POOL_TYPE, 99);
}

/* Two anchors were added and the third is due. Both writers are at the end of their chunks. */
static void begin(void)
{
	pool = pool_make(CHUNKS, true);
	ptx_ring_calibrate(&pool->rings,
			   (struct ptx_anchor){ pool_now, BASE_NS + (int64_t)pool_now });
	calibration = &pool->rings.region->calibration;
	calibration->hz = SECOND;
	writer_begin(&one, pool, 1);
	writer_begin(&two, pool, 2);
	for (unsigned i = 0; i < 2; i++) {
		atomic_store(&calibration->due, pool_now);
		write_chunk(&one);
		turn(&one);
		while (ptx_head_records(atomic_load(&one.chunk->head)) < POOL_RECORDS)
			turn(&one);
	}
	write_chunk(&two);
	ck_assert_uint_eq(atomic_load(&calibration->count), 2);
	atomic_store(&calibration->due, pool_now);
	added = 0;
}

START_TEST(an_anchor_is_added_when_one_is_due_and_no_sooner)
{
	struct ptx_anchor before;

	begin();
	before = newest();
	atomic_store(&calibration->due, pool_now + SECOND);
	turn(&one);
	ck_assert_uint_eq(added, 0);
	pool_now += SECOND;
	turn(&two);
	ck_assert_uint_eq(added, 1);
	ck_assert_uint_eq(atomic_load(&calibration->count), 3);
	ck_assert_uint_gt(newest().ticks, before.ticks + SECOND);
	ck_assert_int_eq(newest().realtime_ns, BASE_NS + (int64_t)newest().ticks);
	ck_assert_uint_ge(atomic_load(&calibration->due), pool_now);
	ck_assert_uint_le(atomic_load(&calibration->due), pool_now + SECOND);
}
END_TEST

START_TEST(a_region_that_is_not_calibrated_gets_no_anchors)
{
	pool = pool_make(CHUNKS, true);
	writer_begin(&one, pool, 1);
	write_chunk(&one);
	turn(&one);
	ck_assert_uint_eq(added, 0);
}
END_TEST

static struct ptx_anchor seen;

static void look(void *state)
{
	(void)state;
	seen = newest();
}

/* The writer is killed at each instruction, and a reader examines the state that it leaves. */
START_TEST(at_any_instruction_the_newest_anchor_is_whole)
{
	struct ptx_anchor before;

	begin();
	before = newest();
	steps_interrupt(turn, look, &one);
	ck_assert_uint_eq(added, 1);
	if (steps_happened()) {
		ck_assert(seen.ticks == before.ticks || seen.ticks == newest().ticks);
		ck_assert_int_eq(seen.realtime_ns, BASE_NS + (int64_t)seen.ticks);
	}
	steps_end(100);
}
END_TEST

static void turn_two(void *state)
{
	(void)state;
	turn(&two);
}

/*
 * If both writers added the anchor, one of them would write into an anchor that the other has
 * marked as complete.
 */
START_TEST(one_of_two_writers_adds_an_anchor_that_is_due)
{
	begin();
	steps_interrupt(turn, turn_two, &one);
	if (!steps_happened())
		turn(&two);
	ck_assert_uint_eq(added, 1);
	ck_assert_uint_eq(atomic_load(&calibration->count), 3);
	steps_end(100);
}
END_TEST

SUITE_MAIN("ring: anchors", an_anchor_is_added_when_one_is_due_and_no_sooner,
	   a_region_that_is_not_calibrated_gets_no_anchors,
	   at_any_instruction_the_newest_anchor_is_whole,
	   one_of_two_writers_adds_an_anchor_that_is_due)
