/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A signal handler leaves a writer by siglongjmp() after each step; the test makes these steps
 * itself. The ring's next writer mends the ring: no event is lost or counted twice, and no chunk is
 * missing in the pool.
 */
#include <string.h>

#include "support/support.h"
#include "unit/ring/scene.h"
#include "unit/ring/steps.h"

static uint64_t word_of(uint32_t number)
{
	return atomic_load(&pool->rings.word[number]);
}

/* The steps of ptx_ring_turn() when ring 0 turns to chunk 1. turn_up_to() makes them up to one. */
enum step { TAKEN = 1, COUNTED, OPENED, CURRENT, NEXT, LAST, PUBLISHED, CLOSED };

static void turn_up_to(enum step last)
{
	struct ptx_rings *rings = &pool->rings;
	uint32_t generation = ptx_word_generation(word_of(1)) + 1;
	struct ptx_chunk *fresh = ptx_ring_chunk(rings, 1);
	uint64_t link = ptx_link(1, generation);
	uint32_t number;

	ck_assert(ptx_ring_hinted(rings, PTX_HINT_FREE, &number, &generation));
	ck_assert_uint_eq(number, 1);
	generation = ptx_link_generation(link);
	atomic_store(&rings->word[1], ptx_chunk_word(generation, 0, PTX_CHUNK_OPENING));
	if (last >= COUNTED)
		atomic_fetch_sub(&rings->region->free_chunks, 1);
	if (last >= OPENED) {
		atomic_store(&fresh->head, 0);
		atomic_store(&fresh->window, UINT64_MAX);
		atomic_store(&fresh->next, 0);
		fresh->opened = ++pool_now;
		fresh->ident = one.ident;
		fresh->ident.before = (uint32_t)POOL_PUBLISHED + POOL_RECORDS;
		atomic_store(&rings->claimed[1], (uint64_t)generation << 32);
		atomic_store(&rings->word[1], ptx_chunk_word(generation, 0, PTX_CHUNK_OPEN));
	}
	if (last >= CURRENT)
		atomic_store(&rings->ring[0].current, link);
	if (last >= NEXT)
		atomic_store(&ptx_ring_chunk(rings, 0)->next, link);
	if (last >= LAST)
		atomic_store(&ptx_ring_chunk(rings, 0)->last, pool_now - 1);
	if (last >= PUBLISHED)
		atomic_fetch_add(&rings->ring[0].published, POOL_RECORDS);
	if (last >= CLOSED)
		atomic_store(&rings->word[0], ptx_chunk_word(ptx_word_generation(word_of(0)), 0,
							     PTX_CHUNK_CLOSED));
}

static void write_on_and_look(unsigned jumps)
{
	writer_put_many(&one, POOL_RECORDS + 1, 2 * POOL_RECORDS);
	reader_read(&reader);
	assert_seen(&reader, 1, 1, 3 * POOL_RECORDS);
	assert_account(&reader);
	pool_assert_counted_after(pool, jumps);
	ck_assert_uint_eq(pool_chunks_in(pool, PTX_CHUNK_OPEN), 1);
	ck_assert_uint_eq(pool_chunks_in(pool, PTX_CHUNK_FREE), CHUNKS - 1);
}

/* EVENT-13 */
START_TEST(a_turn_left_after_any_of_its_steps_is_mended)
{
	begin(false, POOL_RECORDS);
	turn_up_to((enum step)_i);
	writer_mend(&one);
	ck_assert_ptr_eq(one.chunk, ptx_ring_chunk(&pool->rings, _i < CURRENT ? 0 : 1));
	ck_assert_uint_eq(pool_published(pool), POOL_RECORDS);
	write_on_and_look(1);
}
END_TEST

START_TEST(mending_again_changes_nothing)
{
	static unsigned char before[1 << 12];
	struct ptx_rings *rings;

	begin(false, POOL_RECORDS);
	turn_up_to((enum step)_i);
	writer_mend(&one);
	rings = &pool->rings;
	memcpy(before, rings->chunk, CHUNKS * rings->geometry.chunk_bytes);
	writer_mend(&one);
	ck_assert_mem_eq(before, rings->chunk, CHUNKS * rings->geometry.chunk_bytes);
	write_on_and_look(1);
}
END_TEST

/* The reader reads the ring in the state that the interrupted writer left. */
START_TEST(a_reader_is_not_confused_by_a_ring_that_is_not_mended)
{
	begin(false, POOL_RECORDS);
	turn_up_to((enum step)_i);
	reader_read(&reader);
	assert_seen(&reader, 1, 1, POOL_RECORDS);
	writer_mend(&one);
	write_on_and_look(1);
}
END_TEST

/* Mending does not change a chunk of another ring. */
START_TEST(mending_leaves_other_rings_alone)
{
	begin(false, POOL_RECORDS);
	writer_begin(&two, pool, 2); /* chunk 1 */
	writer_put_many(&two, 1, 1);
	writer_mend(&one);
	writer_put_many(&two, 2, POOL_RECORDS);
	writer_put_many(&one, POOL_RECORDS + 1, 1);
	reader_read(&reader);
	assert_seen(&reader, 1, 1, POOL_RECORDS + 1);
	assert_seen(&reader, 2, 1, POOL_RECORDS + 1);
	assert_account(&reader);
	pool_assert_counted(pool);
}
END_TEST

/*
 * SLOOP-01: if a writer overwrites the chunk, it raises the cut to the time of the last published
 * record, and all older events are lost.
 */
START_TEST(the_time_of_a_record_given_up_is_not_the_last_of_its_chunk)
{
	const struct ptx_record *third;
	struct ptx_record *fourth;
	struct ptx_chunk *chunk;
	uint64_t head;

	begin(true, POOL_RECORDS - 1);
	chunk = one.chunk;
	third = (const void *)(chunk->records + (POOL_RECORDS - 2) * POOL_RECORD);
	fourth = ptx_ring_prepare(&pool->rings, chunk, POOL_RECORD, &head);
	ck_assert_ptr_nonnull(fourth);
	ptx_record_fill(fourth, sizeof(uint64_t), POOL_TYPE, 0);
	ptx_ring_stamp(chunk, head);
	fourth->time = pool_now + 1000000;
	writer_mend(&one); /* the next event does not fit into the chunk */
	ck_assert_ptr_eq(one.chunk, chunk);
	ck_assert(ptx_ring_turn(&pool->rings, &one.chunk, &one.ident, &pool_loss));
	ck_assert_uint_eq(atomic_load(&chunk->last), third->time);
}
END_TEST

static void mend_one(void *state)
{
	(void)state;
	writer_mend(&one);
}

START_TEST(a_jump_out_of_mending_is_mended)
{
	begin(false, POOL_RECORDS);
	turn_up_to((enum step)_i);
	steps_leave(mend_one, NULL);
	writer_mend(&one);
	write_on_and_look(2);
	steps_end(20);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("ring: mending", &tc);

	tcase_add_loop_test(tc, a_turn_left_after_any_of_its_steps_is_mended, TAKEN, CLOSED + 1);
	tcase_add_loop_test(tc, mending_again_changes_nothing, TAKEN, CLOSED + 1);
	tcase_add_loop_test(tc, a_reader_is_not_confused_by_a_ring_that_is_not_mended, TAKEN,
			    CLOSED + 1);
	tcase_add_test(tc, mending_leaves_other_rings_alone);
	tcase_add_test(tc, the_time_of_a_record_given_up_is_not_the_last_of_its_chunk);
	tcase_add_loop_test(tc, a_jump_out_of_mending_is_mended, TAKEN, CLOSED + 1);
	return s;
}

SUITE_MAIN_OF(suite)
