/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A signal handler leaves a writer by siglongjmp() at any instruction, and the next writer mends
 * the ring: no event is lost or counted twice, and no chunk is missing in the pool.
 */
#include <stdlib.h>

#include "ring/overwrite.h"
#include "support/support.h"
#include "unit/ring/scene.h"
#include "unit/ring/steps.h"

/*
 * The handler may leave while overwritten records are counted. No record is counted twice. The
 * records between two changes of thread may not be counted; they are at most the records of a
 * chunk.
 */
static void assert_account_but_for_a_chunk(void)
{
	uint64_t lost = pool_lost(pool, PTX_WRITER_OVERWRITTEN);
	uint64_t by_slots = pool_lost_by_slots(pool, PTX_WRITER_OVERWRITTEN);

	ck_assert_uint_eq(pool_published(pool), reader.n + reader.missed);
	ck_assert_uint_le(lost, reader.missed);
	ck_assert_uint_ge(lost + POOL_RECORDS, reader.missed);
	ck_assert_uint_le(by_slots, lost);
	ck_assert_uint_ge(by_slots + POOL_RECORDS, lost);
}

static void put(void *state)
{
	struct writer *writer = state;

	writer_put(writer, POOL_TYPE, 1000);
}

/* The event 1000 may be missing; all other events are read. */
static void forget_the_one(uint32_t tid)
{
	for (unsigned i = 0; i < reader.n; i++) {
		if (reader.seen[i].value != 1000 || reader.seen[i].tid != tid)
			continue;
		reader.seen[i].tid = 9999;
		return;
	}
}

/* EVENT-13 */
START_TEST(a_jump_out_of_any_instruction_of_a_turn_is_mended)
{
	begin(false, POOL_RECORDS);
	steps_leave(put, &one);
	writer_mend(&one);
	writer_put_many(&one, POOL_RECORDS + 1, 2 * POOL_RECORDS);
	reader_read(&reader);
	forget_the_one(1);
	assert_seen(&reader, 1, 1, 3 * POOL_RECORDS);
	assert_account(&reader);
	pool_assert_counted_after(pool, 1);
	ck_assert_uint_eq(pool_chunks_in(pool, PTX_CHUNK_FREE), CHUNKS - 1);
	steps_end(100);
}
END_TEST

/*
 * EXIT-01: if the writer is killed at this instruction, the events that it had recorded are known,
 * and no record appears twice
 */
START_TEST(published_records_are_known_after_any_instruction_of_a_turn)
{
	uint64_t published;

	begin(_i, _i ? CHUNKS * POOL_RECORDS : POOL_RECORDS);
	steps_leave(put, &one);
	published = ptx_ring_published(&pool->rings) - POOL_PUBLISHED;
	ck_assert_uint_ge(published, _i ? CHUNKS * POOL_RECORDS : POOL_RECORDS);
	ck_assert_uint_le(published, (_i ? CHUNKS * POOL_RECORDS : POOL_RECORDS) + 1);
	steps_end(100);
}
END_TEST

/*
 * EVENT-13, EXIT-01: no writer overwrites in this stream. The reader frees chunks when its log has
 * their events.
 */
START_TEST(a_jump_out_of_a_turn_into_a_chunk_that_was_read_loses_nothing)
{
	struct ptx_debts debts = { 0, 0, NULL };

	begin(false, 1);
	pool->rings.debts = &debts;
	writer_put_many(&one, 2, CHUNKS * POOL_RECORDS - 1);
	reader_read(&reader);
	ptx_ring_done(&pool->rings, &reader.place[0], reader.place[0].claimed);
	ptx_ring_settle(&pool->rings);
	ck_assert_uint_eq(pool_chunks_in(pool, PTX_CHUNK_FREE), CHUNKS - 1);
	steps_leave(put, &one);
	writer_mend(&one);
	writer_put_many(&one, CHUNKS * POOL_RECORDS + 1, POOL_RECORDS);
	reader_read(&reader);
	forget_the_one(1);
	assert_seen(&reader, 1, 1, (CHUNKS + 1) * POOL_RECORDS);
	ck_assert_uint_eq(pool_lost(pool, PTX_WRITER_OVERWRITTEN), 0);
	assert_account(&reader);
	free(debts.chunk);
	steps_end(100);
}
END_TEST

/* EVENT-13, SLOOP-01 */
START_TEST(a_jump_out_of_any_instruction_of_an_overwriting_turn_is_mended)
{
	begin_full();
	steps_leave(put, &one);
	writer_mend(&one);
	for (unsigned i = 0; i < 3 * CHUNKS * POOL_RECORDS; i++)
		ck_assert(writer_put(&one, POOL_TYPE, 2000 + i));
	reader_read(&reader);
	for (unsigned i = 1; i < reader.n; i++)
		ck_assert_uint_gt(reader.seen[i].value, reader.seen[i - 1].value);
	ck_assert_uint_eq(reader.seen[reader.n - 1].value, 1999 + 3 * CHUNKS * POOL_RECORDS);
	assert_account_but_for_a_chunk();
	pool_assert_counted_after(pool, 1);
	steps_end(200);
}
END_TEST

/*
 * SLOOP-01: the ring uses all chunks again, and no chunk keeps events older than the overwritten
 * ones.
 */
START_TEST(a_jump_out_of_any_instruction_of_an_overwriting_turn_costs_no_chunk)
{
	begin_full();
	steps_leave(put, &one);
	writer_mend(&one);
	for (unsigned i = 0; i < 3 * CHUNKS * POOL_RECORDS; i++)
		ck_assert(writer_put(&one, POOL_TYPE, 2000 + i));
	reader_read(&reader);
	ck_assert_uint_gt(reader.n, (CHUNKS - 1) * POOL_RECORDS);
	ck_assert_uint_eq(reader.seen[0].value, 2000 + 3 * CHUNKS * POOL_RECORDS - reader.n);
	steps_end(200);
}
END_TEST

/*
 * EVENT-13, EVENT-07: the thread ends as in lib/point/thread.c, and another thread acquires its
 * ring.
 */
START_TEST(a_ring_left_in_the_middle_of_a_turn_is_whole_for_the_next_thread)
{
	begin(_i, (_i ? CHUNKS : 1) * POOL_RECORDS);
	steps_leave(put, &one);
	writer_mend(&one);
	writer_end(&one);
	writer_begin(&two, pool, 2);
	ck_assert_uint_eq(two.ring, one.ring);
	writer_put_many(&two, 1, 2 * POOL_RECORDS);
	reader_read(&reader);
	assert_seen(&reader, 2, 1, 2 * POOL_RECORDS);
	if (_i)
		assert_account_but_for_a_chunk();
	else
		assert_account(&reader);
	pool_assert_counted_after(pool, 1);
	steps_end(100);
}
END_TEST

/*
 * EVENT-13, SLOOP-01: between the siglongjmp() and the mending, other writers continue and use
 * every chunk. They never get the chunk in which the ring writes.
 */
START_TEST(others_that_overwrite_all_before_it_is_mended_leave_the_ring_its_chunk)
{
	begin(true, (CHUNKS - 1) * POOL_RECORDS);
	writer_begin(&two, pool, 2);
	steps_leave(put, &one);
	for (uint64_t i = 1; i <= 3 * CHUNKS * POOL_RECORDS; i++)
		ck_assert(writer_put(&two, POOL_TYPE, i));
	writer_mend(&one);
	ck_assert_ptr_ne(one.chunk, two.chunk);
	for (uint64_t i = 1; i <= POOL_RECORDS; i++) {
		ck_assert(writer_put(&one, POOL_TYPE, 2000 + i));
		ck_assert(writer_put(&two, POOL_TYPE, 2000 + i));
	}
	reader_read(&reader);
	for (unsigned i = 1; i < reader.n; i++)
		if (reader.seen[i].tid == reader.seen[i - 1].tid)
			ck_assert_uint_gt(reader.seen[i].value, reader.seen[i - 1].value);
	assert_account_but_for_a_chunk();
	pool_assert_counted_after(pool, 1);
	steps_end(100);
}
END_TEST

/* The chunk is overwritten, counted and released, then acquired and released again. */
START_TEST(a_chunk_given_up_after_it_was_overwritten_is_not_counted_again)
{
	begin_full();
	ck_assert(ptx_overwrite(&pool->rings, 0, PTX_NONE, one.ring));
	writer_mend(&one);
	ck_assert_uint_eq(pool_lost(pool, PTX_WRITER_OVERWRITTEN), POOL_RECORDS);
	ck_assert_uint_eq(pool_chunks_in(pool, PTX_CHUNK_FREE), 1);
	steps_leave(put, &one);
	writer_mend(&one);
	reader_read(&reader);
	ck_assert_uint_eq(pool_lost(pool, PTX_WRITER_OVERWRITTEN), POOL_RECORDS);
	assert_account(&reader);
	steps_end(100);
}
END_TEST

/*
 * SLOOP-04: the reader has read the whole chunk, both the part before the change of thread and the
 * part behind it.
 */
START_TEST(read_events_are_not_counted_when_overwriting_is_mended)
{
	begin(true, 1);
	writer_end(&one);
	writer_begin(&two, pool, 2);
	writer_put_many(&two, 1, 1);
	ck_assert_int_eq(reader_take(&reader, two.ring), PTX_CLAIM_BYTES);
	writer_put_many(&two, 2, (CHUNKS - 1) * POOL_RECORDS);
	steps_leave(put, &two);
	writer_mend(&two);
	ck_assert_uint_eq(pool_lost(pool, PTX_WRITER_OVERWRITTEN), 0);
	reader_read(&reader);
	assert_account(&reader);
	steps_end(200);
}
END_TEST

static void claim(void *state)
{
	writer_begin(state, pool, 2);
}

static struct ptx_ident ident_of_two = { .pid = 7, .tid = 2, .thread = 1002 };
static enum ptx_writer_loss loss;

static void claim_ring(void *state)
{
	struct writer *writer = state;

	writer->chunk = ptx_ring_claim(&pool->rings, &ident_of_two, &writer->ring, &loss);
}

/*
 * The greatest possible cost of leaving at this instruction is the ring and one chunk. No other
 * thread is affected.
 */
START_TEST(a_jump_out_of_any_instruction_of_a_claim_costs_no_more_than_a_ring_and_a_chunk)
{
	static struct writer three;

	begin(false, 1);
	if (_i)
		writer_end(&one); /* then another thread acquires the ring */
	steps_leave(claim_ring, &two);
	if (_i) {
		writer_begin(&three, pool, 3);
	} else {
		three = one;
		three.ident.tid = 1;
	}
	writer_put_many(&three, 100, POOL_RECORDS + 1);
	reader_read(&reader);
	ck_assert_uint_eq(reader.seen[0].value, 1);
	ck_assert_uint_eq(reader.n, POOL_RECORDS + 2);
	ck_assert_uint_le(atomic_load(&pool->rings.region->rings), 3);
	ck_assert_uint_ge(pool_chunks_in(pool, PTX_CHUNK_FREE), CHUNKS - 3u);
	steps_end(50);
}
END_TEST

static void end_one(void *state)
{
	(void)state;
	writer_end(&one);
}

START_TEST(a_jump_out_of_letting_a_ring_go_leaves_it_held_or_idle)
{
	begin(false, 1);
	steps_leave(end_one, NULL);
	claim(&two);
	writer_put_many(&two, 1, 1);
	reader_read(&reader);
	assert_seen(&reader, 1, 1, 1);
	assert_seen(&reader, 2, 1, 1);
	assert_account(&reader);
	steps_end(10);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("ring: jumps", &tc);

	tcase_add_test(tc, a_jump_out_of_any_instruction_of_a_turn_is_mended);
	tcase_add_loop_test(tc, published_records_are_known_after_any_instruction_of_a_turn, 0, 2);
	tcase_add_test(tc, a_jump_out_of_a_turn_into_a_chunk_that_was_read_loses_nothing);
	tcase_add_test(tc, a_jump_out_of_any_instruction_of_an_overwriting_turn_is_mended);
	tcase_add_test(tc, a_jump_out_of_any_instruction_of_an_overwriting_turn_costs_no_chunk);
	tcase_add_loop_test(tc, a_ring_left_in_the_middle_of_a_turn_is_whole_for_the_next_thread, 0,
			    2);
	tcase_add_test(tc,
		       others_that_overwrite_all_before_it_is_mended_leave_the_ring_its_chunk);
	tcase_add_test(tc, a_chunk_given_up_after_it_was_overwritten_is_not_counted_again);
	tcase_add_test(tc, read_events_are_not_counted_when_overwriting_is_mended);
	tcase_add_loop_test(
		tc, a_jump_out_of_any_instruction_of_a_claim_costs_no_more_than_a_ring_and_a_chunk,
		0, 2);
	tcase_add_test(tc, a_jump_out_of_letting_a_ring_go_leaves_it_held_or_idle);
	return s;
}

SUITE_MAIN_OF(suite)
