/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A thread acquires a ring. At any instruction of the thread, other threads examine the ring or
 * acquire rings.
 */
#include "support/support.h"
#include "unit/ring/pool.h"
#include "unit/ring/steps.h"

enum { CHUNKS = 4 };

static struct pool *pool;
static struct reader reader;
static struct writer one, two, three;
static enum ptx_claim got;

/* Ring 0 is in use, and the next ring is ring 1. */
static void begin(void)
{
	pool = pool_make(CHUNKS, false);
	pool->young = true;
	writer_begin(&one, pool, 1);
	reader_init(&reader, pool);
	got = PTX_CLAIM_NOTHING;
}

static void claim(void *state)
{
	struct writer *writer = state;
	enum ptx_writer_loss loss;

	writer->pool = pool;
	writer->ident.pid = 7;
	writer->chunk = ptx_ring_claim(&pool->rings, &writer->ident, &writer->ring, &loss);
}

static void take(void *state)
{
	(void)state;
	got = reader_take(&reader, 1);
}

/* EVENT-18: the ring has lost no event, so the reader must report none as lost. */
START_TEST(a_reader_at_any_instruction_of_a_rings_first_claim_sees_nothing_or_its_chunk)
{
	begin();
	two.ident.tid = 2;
	steps_interrupt(claim, take, &two);
	ck_assert_int_eq(got, PTX_CLAIM_NOTHING);
	ck_assert_uint_eq(two.ring, 1);
	writer_put_many(&two, 1, POOL_RECORDS + 1);
	reader_read(&reader);
	assert_seen(&reader, 2, 1, POOL_RECORDS + 1);
	ck_assert_uint_eq(reader.missed, 0);
	steps_end(100);
}
END_TEST

static void claim_three(void *state)
{
	(void)state;
	claim(&three);
}

/* EVENT-07: also if there is an idle ring for one of the threads. */
START_TEST(two_that_claim_at_once_get_a_ring_each)
{
	begin();
	if (_i)
		writer_end(&one);
	two.ident.tid = 2;
	three.ident.tid = 3;
	steps_interrupt(claim, claim_three, &two);
	if (!steps_happened())
		claim(&three);
	ck_assert_uint_ne(two.ring, three.ring);
	ck_assert_ptr_ne(two.chunk, three.chunk);
	ck_assert_uint_eq(atomic_load(&pool->rings.region->rings), _i ? 2 : 3);
	writer_put_many(&two, 1, 2);
	writer_put_many(&three, 1, 2);
	reader_read(&reader);
	assert_seen(&reader, 2, 1, 2);
	assert_seen(&reader, 3, 1, 2);
	steps_end(100);
}
END_TEST

static void end_one(void *state)
{
	(void)state;
	ptx_ring_release(&pool->rings, one.ring);
}

/*
 * EVENT-07: a thread that searches while a ring is being released may miss this ring. The next
 * thread finds it.
 */
START_TEST(a_claim_at_any_instruction_of_letting_a_ring_go_does_not_lose_it)
{
	begin();
	steps_interrupt(end_one, claim_three, NULL);
	if (!steps_happened())
		claim(&three);
	claim(&two);
	ck_assert_uint_ne(two.ring, three.ring);
	ck_assert_uint_eq(atomic_load(&pool->rings.region->rings), 2);
	steps_end(20);
}
END_TEST

/* UFULL-05, EVENT-07 */
START_TEST(a_ring_that_found_no_chunk_is_there_for_the_next_thread)
{
	begin();
	writer_put_many(&one, 1, CHUNKS * POOL_RECORDS);
	claim(&two);
	ck_assert_ptr_null(two.chunk);
	ck_assert_uint_eq((uint32_t)atomic_load(&pool->rings.ring[1].holder), PTX_RING_IDLE);
	reader_read(&reader);
	claim(&three);
	ck_assert_ptr_nonnull(three.chunk);
	ck_assert_uint_eq(three.ring, 1);
	ck_assert_uint_eq(atomic_load(&pool->rings.region->rings), 2);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("ring: claims, at any instruction", &tc);

	tcase_add_test(
		tc, a_reader_at_any_instruction_of_a_rings_first_claim_sees_nothing_or_its_chunk);
	tcase_add_loop_test(tc, two_that_claim_at_once_get_a_ring_each, 0, 2);
	tcase_add_test(tc, a_claim_at_any_instruction_of_letting_a_ring_go_does_not_lose_it);
	tcase_add_test(tc, a_ring_that_found_no_chunk_is_there_for_the_next_thread);
	return s;
}

SUITE_MAIN_OF(suite)
