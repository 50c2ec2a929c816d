/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A writer overwrites a LOOP stream's oldest chunk while the reader reads it, in every order of
 * steps. */
#include "ring/overwrite.h"
#include "support/support.h"
#include "unit/ring/scene.h"

static uint64_t cut(void)
{
	return atomic_load(&pool->rings.region->cut);
}

static uint64_t first_overwritten(void)
{
	return atomic_load(&pool->rings.region->first_overwritten);
}

static unsigned overrun(void)
{
	return atomic_load(&pool->rings.region->overrun);
}

/* Returns the number of the chunk that the reader of the ring is reading. */
static uint32_t number_of(uint32_t ring)
{
	return ptx_link_number(reader.place[ring].link);
}

static uint64_t time_of(uint32_t number, unsigned record)
{
	const struct ptx_record *at = (const void *)(ptx_ring_chunk(&pool->rings, number)->records +
						     record * POOL_RECORD);

	return at->time;
}

/* SLOOP-01, SLOOP-04 */
START_TEST(the_oldest_chunk_is_overwritten_and_reported_with_both_times)
{
	uint32_t oldest;
	uint64_t first, last;

	begin_full();
	oldest = ptx_link_number(atomic_load(&pool->rings.ring[0].first));
	first = time_of(oldest, 0);
	last = time_of(oldest, POOL_RECORDS - 1);
	ck_assert_uint_eq(cut(), 0);
	ck_assert_uint_eq(first_overwritten(), UINT64_MAX);
	ck_assert_uint_eq(overrun(), 0);
	writer_put_many(&one, CHUNKS * POOL_RECORDS + 1, 1);
	ck_assert_ptr_eq(one.chunk, ptx_ring_chunk(&pool->rings, oldest));
	ck_assert_uint_eq(cut(), last);
	ck_assert_uint_eq(first_overwritten(), first);
	ck_assert_uint_eq(overrun(), 1);
	ck_assert_uint_eq(atomic_load(&pool->rings.region->looped), 1);
	reader_read(&reader);
	assert_seen(&reader, 1, POOL_RECORDS + 1, CHUNKS * POOL_RECORDS + 1);
	ck_assert_uint_eq(pool_lost(pool, PTX_WRITER_OVERWRITTEN), POOL_RECORDS);
	assert_account(&reader);
}
END_TEST

/* SLOOP-04: reported events do not count as overwritten */
START_TEST(a_chunk_claimed_whole_is_taken_and_nothing_is_lost)
{
	begin_full();
	ck_assert_int_eq(reader_take(&reader, 0), PTX_CLAIM_BYTES);
	writer_put_many(&one, CHUNKS * POOL_RECORDS + 1, 1);
	ck_assert_uint_eq(pool_lost(pool, PTX_WRITER_OVERWRITTEN), 0);
	ck_assert_uint_eq(cut(), 0);
	ck_assert_uint_eq(first_overwritten(), UINT64_MAX);
	ck_assert_uint_eq(overrun(), 0);
	ck_assert_uint_eq(atomic_load(&pool->rings.region->looped), 0);
	/* the reader has lost its chunk, and finds the ring again */
	ck_assert_int_eq(reader_take(&reader, 0), PTX_CLAIM_LOST);
	reader_read(&reader);
	assert_seen(&reader, 1, 1, CHUNKS * POOL_RECORDS + 1);
	assert_account(&reader);
}
END_TEST

START_TEST(the_rest_of_a_partly_claimed_chunk_is_lost)
{
	uint32_t mine;

	begin(true, 1);
	ck_assert_int_eq(reader_take(&reader, 0), PTX_CLAIM_BYTES);
	mine = number_of(0);
	writer_put_many(&one, 2, CHUNKS * POOL_RECORDS - 1);
	writer_put_many(&one, CHUNKS * POOL_RECORDS + 1, 1);
	ck_assert_ptr_eq(one.chunk, ptx_ring_chunk(&pool->rings, mine));
	ck_assert_uint_eq(pool_lost(pool, PTX_WRITER_OVERWRITTEN), POOL_RECORDS - 1);
	ck_assert_uint_eq(first_overwritten(), reader.seen[0].time + 1);
	ck_assert_uint_eq(cut(), reader.seen[0].time + POOL_RECORDS - 1);
	reader_read(&reader);
	ck_assert_uint_eq(reader.seen[0].value, 1);
	ck_assert_uint_eq(reader.seen[1].value, POOL_RECORDS + 1);
	assert_account(&reader);
}
END_TEST

/* The reader reads the word and copies. The writer does (G) and (E). The reader does (F). */
START_TEST(a_claim_after_the_exchange_fails_and_the_copy_is_worth_nothing)
{
	struct ptx_place before;
	uint32_t number, generation;

	begin_full();
	ck_assert_int_eq(reader_take(&reader, 0), PTX_CLAIM_BYTES);
	ck_assert_int_eq(reader_take(&reader, 0), PTX_CLAIM_BYTES); /* in the second chunk */
	writer_put_many(&one, CHUNKS * POOL_RECORDS + 1, 4); /* acquires the first chunk */
	number = ptx_link_number(atomic_load(&ptx_ring_chunk(&pool->rings, number_of(0))->next));
	before = reader.place[0];
	/*
	 * The reader has read the word of the third chunk. Now the writer exchanges the claims of
	 * the word.
	 */
	generation = ptx_word_generation(atomic_load(&pool->rings.word[number]));
	atomic_store(&pool->rings.claimed[number], (uint64_t)(generation + 1) << 32);
	ck_assert_int_eq(reader_take(&reader, 0), PTX_CLAIM_LOST);
	ck_assert_uint_eq(reader.n, 2 * POOL_RECORDS);
	ck_assert_uint_ne(reader.place[0].link, before.link);
	ck_assert_uint_eq(reader.place[0].claimed, 0);
}
END_TEST

/*
 * The reader reads the word and copies. The writer does (G). The reader does (F). The writer does
 * (E).
 */
START_TEST(a_claim_before_the_exchange_succeeds_and_is_not_counted_as_lost)
{
	uint32_t number;
	uint64_t word, expected, claimed, before;

	begin_full();
	ck_assert_int_eq(reader_take(&reader, 0), PTX_CLAIM_BYTES);
	number = ptx_link_number(atomic_load(&ptx_ring_chunk(&pool->rings, number_of(0))->next));
	word = atomic_load(&pool->rings.word[number]);
	before = atomic_load(&pool->rings.claimed[number]);
	ck_assert_uint_eq(before, (uint64_t)ptx_word_generation(word) << 32);
	/* (G) */
	expected = word;
	ck_assert(atomic_compare_exchange_strong(
		&pool->rings.word[number], &expected,
		ptx_chunk_word(ptx_word_generation(word) + 1, 1, PTX_CHUNK_OPENING)));
	/* (F) of a reader that had read the word before the exchange */
	expected = before;
	ck_assert(atomic_compare_exchange_strong(&pool->rings.claimed[number], &expected,
						 before + POOL_ROOM));
	/* (E) */
	claimed = atomic_exchange(&pool->rings.claimed[number],
				  (uint64_t)(ptx_word_generation(word) + 1) << 32);
	ck_assert_uint_eq((uint32_t)claimed, POOL_ROOM);
	/* a reader that reads the word after the exchange does not even copy */
	ck_assert_int_eq(reader_take(&reader, 0), PTX_CLAIM_LOST);
}
END_TEST

START_TEST(a_hint_about_a_chunk_that_is_another_by_now_is_passed_over)
{
	uint64_t word;

	begin_full();
	word = atomic_load(&pool->rings.word[0]);
	ck_assert_int_eq(ptx_word_state(word), PTX_CHUNK_CLOSED);
	ck_assert(!ptx_overwrite(&pool->rings, 0, (ptx_word_generation(word) + 1) & 0xffff, 5));
	ck_assert(!ptx_overwrite(&pool->rings, ptx_link_number(atomic_load(
						       &pool->rings.ring[0].current)),
				 PTX_NONE, 5));
	ck_assert_uint_eq(cut(), 0);
	ck_assert_uint_eq(atomic_load(&pool->rings.word[0]), word);
	ck_assert(ptx_overwrite(&pool->rings, 0, ptx_word_generation(word) & 0xffff, 5));
	ck_assert_uint_eq(atomic_load(&pool->rings.word[0]),
			  ptx_chunk_word(ptx_word_generation(word) + 1, 5, PTX_CHUNK_OPENING));
}
END_TEST

START_TEST(without_hints_the_chunk_with_the_oldest_last_time_is_found)
{
	uint32_t second;

	begin_full();
	second = ptx_link_number(atomic_load(&ptx_ring_chunk(&pool->rings, 0)->next));
	atomic_store(&pool->rings.region->hints[PTX_HINT_CLOSED][0].head,
		     atomic_load(&pool->rings.region->hints[PTX_HINT_CLOSED][0].tail));
	atomic_store(&ptx_ring_chunk(&pool->rings, second)->last, 3);
	writer_put_many(&one, 1, 1);
	ck_assert_ptr_eq(one.chunk, ptx_ring_chunk(&pool->rings, second));
	ck_assert_uint_eq(pool_lost(pool, PTX_WRITER_OVERWRITTEN), POOL_RECORDS);
}
END_TEST

/* Checks each type and each thread, including the thread that adopted the ring. */
START_TEST(losses_are_counted_by_type_and_by_thread)
{
	static const unsigned types[] = { 64, 72, 64, 80, 72, 64, 1023, 64 };
	struct ptx_slot *slot;
	unsigned i;

	begin(true, 0);
	ck_assert(writer_put(&one, types[0], 0));
	writer_end(&one);
	writer_begin(&two, pool, 2); /* the identity record leaves room for one further record */
	for (i = 1; i < 8; i++)
		ck_assert(writer_put(&two, types[i], i));
	while (!pool_lost(pool, PTX_WRITER_OVERWRITTEN))
		writer_put_many(&two, 500, 1);
	slot = pool->rings.slot;
	ck_assert_uint_eq(atomic_load(&slot[1].lost[PTX_WRITER_OVERWRITTEN]), 1);
	ck_assert_uint_eq(atomic_load(&slot[2].lost[PTX_WRITER_OVERWRITTEN]), 1);
	ck_assert_uint_eq(atomic_load(&slot[1].tid), 1);
	ck_assert_uint_eq(atomic_load(&slot[2].tid), 2);
	while (pool_lost(pool, PTX_WRITER_OVERWRITTEN) < 6)
		writer_put_many(&two, 500, 1);
	ck_assert_uint_eq(pool_lost(pool, PTX_WRITER_OVERWRITTEN), 6);
	ck_assert_uint_eq(atomic_load(&slot[2].lost[PTX_WRITER_OVERWRITTEN]), 5);
	ck_assert_uint_eq(
		atomic_load(&pool->rings.region->lost_type[PTX_WRITER_OVERWRITTEN][64]), 3);
	ck_assert_uint_eq(
		atomic_load(&pool->rings.region->lost_type[PTX_WRITER_OVERWRITTEN][72]), 2);
	ck_assert_uint_eq(
		atomic_load(&pool->rings.region->lost_type[PTX_WRITER_OVERWRITTEN][80]), 1);
	reader_read(&reader);
	assert_account(&reader);
}
END_TEST

/*
 * A thread ended, and its slot belongs to another thread now. The loss is counted in slot 0 and not
 * for the other thread.
 */
START_TEST(losses_of_a_thread_whose_slot_was_given_on_go_to_slot_0)
{
	begin_full();
	atomic_store(&pool->rings.slot[1].word, (uint32_t)1 << 16 | PTX_SLOT_LIVE);
	writer_put_many(&one, 1, 1);
	ck_assert_uint_eq(atomic_load(&pool->rings.slot[0].lost[PTX_WRITER_OVERWRITTEN]),
			  POOL_RECORDS);
	ck_assert_uint_eq(atomic_load(&pool->rings.slot[1].lost[PTX_WRITER_OVERWRITTEN]), 0);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("ring: overwriting", &tc);

	tcase_add_test(tc, the_oldest_chunk_is_overwritten_and_reported_with_both_times);
	tcase_add_test(tc, a_chunk_claimed_whole_is_taken_and_nothing_is_lost);
	tcase_add_test(tc, the_rest_of_a_partly_claimed_chunk_is_lost);
	tcase_add_test(tc, a_claim_after_the_exchange_fails_and_the_copy_is_worth_nothing);
	tcase_add_test(tc, a_claim_before_the_exchange_succeeds_and_is_not_counted_as_lost);
	tcase_add_test(tc, a_hint_about_a_chunk_that_is_another_by_now_is_passed_over);
	tcase_add_test(tc, without_hints_the_chunk_with_the_oldest_last_time_is_found);
	tcase_add_test(tc, losses_are_counted_by_type_and_by_thread);
	tcase_add_test(tc, losses_of_a_thread_whose_slot_was_given_on_go_to_slot_0);
	return s;
}

SUITE_MAIN_OF(suite)
