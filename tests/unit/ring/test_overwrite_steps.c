/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A writer overwrites the oldest chunk of a LOOP stream before any instruction of another thread
 * that reads, searches or changes chunks.
 */
#include <string.h>

#include "support/support.h"
#include "unit/ring/scene.h"
#include "unit/ring/steps.h"

/*
 * Asserts that values increase, that no record appears twice, and that the missing records are
 * counted.
 */
static void assert_growing(uint32_t tid)
{
	uint64_t last = 0;

	for (unsigned i = 0; i < reader.n; i++)
		if (reader.seen[i].tid == tid) {
			ck_assert_uint_gt(reader.seen[i].value, last);
			last = reader.seen[i].value;
		}
}

static unsigned char buffer[POOL_ROOM];
static struct ptx_reader taker;
static enum ptx_claim got;

static void take(void *state)
{
	struct ptx_place *place = state;

	taker = (struct ptx_reader){ .rings = &pool->rings, .buffer = buffer, .place = *place };
	got = ptx_ring_take(&taker);
	*place = taker.place;
}

/* The number of events (_i) that the writer needs to reach the reader's chunk. */
static int events_between;

static void write_on(void *state)
{
	(void)state;
	writer_put_many(&one, CHUNKS * POOL_RECORDS + 1, (unsigned)events_between);
}

/* SLOOP-01, SLOOP-04 */
START_TEST(writers_at_any_instruction_of_a_claim_take_it_or_leave_it_whole)
{
	uint64_t value;

	events_between = _i;
	begin_full();
	ck_assert_int_eq(reader_take(&reader, 0), PTX_CLAIM_BYTES);
	steps_interrupt(take, write_on, &reader.place[0]);
	if (got == PTX_CLAIM_BYTES) {
		ck_assert_uint_eq(taker.bytes, POOL_ROOM);
		for (unsigned i = 0; i < POOL_RECORDS; i++) {
			memcpy(&value, buffer + i * POOL_RECORD + 24, sizeof value);
			ck_assert_uint_eq(value, POOL_RECORDS + 1 + i);
			reader.seen[reader.n].tid = 1;
			reader.seen[reader.n++].value = value;
		}
		reader.records[0] += POOL_RECORDS;
	} else {
		ck_assert_int_eq(got, PTX_CLAIM_LOST);
		reader_find(&reader, 0);
	}
	reader_read(&reader);
	ck_assert_uint_eq(reader.seen[reader.n - 1].value,
			  CHUNKS * POOL_RECORDS +
				  (unsigned)(steps_happened() ? events_between : 0));
	assert_growing(1);
	assert_account(&reader);
	pool_assert_counted(pool);
	steps_end(100);
}
END_TEST

static bool found;
static uint32_t before;

static void find(void *state)
{
	struct ptx_place *place = state;

	found = ptx_ring_find(&pool->rings, 1, place, &before);
}

static void write_on_in_one(void *state)
{
	(void)state;
	writer_put_many(&one, POOL_RECORDS, (unsigned)events_between);
}

/*
 * The ring continues in chunks that the search has already passed. No remaining chunk may be older
 * than the chunk that the search found. (tests/model/ring.pml, fault FIND_YOUNGER)
 */
START_TEST(a_ring_that_goes_on_while_it_is_searched_hides_nothing)
{
	struct ptx_place place = { 0, 0 };
	uint32_t number;
	uint64_t first;

	events_between = _i;
	pool = pool_make(CHUNKS, true);
	writer_begin(&two, pool, 2);
	writer_put_many(&two, 1, (CHUNKS - 1) * POOL_RECORDS);
	writer_begin(&one, pool, 1); /* the event is in the last chunk */
	ck_assert_uint_eq(one.ring, 1);
	writer_put_many(&one, 1, POOL_RECORDS - 1);
	first = atomic_load(&pool->rings.ring[1].first);
	steps_interrupt(find, write_on_in_one, &place);
	/*
	 * The reader does not read data of the ring's first chunk in the next life of this chunk.
	 */
	if (found && place.link == first)
		ck_assert_uint_eq(before, (uint32_t)POOL_PUBLISHED);
	if (!found)
		ck_assert(ptx_ring_find(&pool->rings, 1, &place, &before));
	number = ptx_link_number(place.link);
	for (uint32_t i = 0; i < CHUNKS; i++) {
		uint64_t word = atomic_load(&pool->rings.word[i]);

		if (ptx_word_generation(atomic_load(&pool->rings.word[number])) !=
		    ptx_link_generation(place.link))
			break; /* overwritten just after: the next claim will report it */
		if (ptx_word_ring(word) == 1 && ptx_word_state(word) >= PTX_CHUNK_OPEN)
			ck_assert_uint_ge(ptx_ring_chunk(&pool->rings, i)->opened,
					  ptx_ring_chunk(&pool->rings, number)->opened);
	}
	steps_end(50);
}
END_TEST

/* The stepped code must not assert, because Check's own code must not be stepped. */
static bool put;

static void turn_one(void *state)
{
	(void)state;
	put = writer_put(&one, POOL_TYPE, 101);
}

static void turn_two(void *state)
{
	(void)state;
	writer_put_many(&two, 201, 1);
}

static void turn_two_thrice(void *state)
{
	(void)state;
	writer_put_many(&two, 201, 2 * POOL_RECORDS + 1);
}

static void read_all(void *state)
{
	(void)state;
	reader_read(&reader);
}

static void (*const others[])(void *) = { turn_two, turn_two_thrice, read_all };

/* Both writers are at the ends of their chunks, and the pool is empty. */
static void fill_up_by_two(uint32_t hint_last)
{
	struct ptx_geometry geometry;

	pool = pool_make(CHUNKS, true);
	geometry = pool->rings.geometry;
	if (hint_last > geometry.hint_last[PTX_HINT_CLOSED][0]) {
		geometry.hint_last[PTX_HINT_CLOSED][0] = hint_last;
		ptx_ring_view(&pool->rings, pool->memory, &geometry, sizeof(uint64_t), true);
		/*
		 * Tickets begin as in a stream, so an entry that was not written yet belongs to no
		 * lap.
		 */
		atomic_store(&pool->rings.region->hints[PTX_HINT_CLOSED][0].head, 0);
		atomic_store(&pool->rings.region->hints[PTX_HINT_CLOSED][0].tail, 0);
	}
	writer_begin(&one, pool, 1);
	writer_begin(&two, pool, 2);
	reader_init(&reader, pool);
	for (unsigned i = 0; i < 2 * POOL_RECORDS; i++) {
		ck_assert(writer_put(&one, 64 + i % 3, 1 + i));
		ck_assert(writer_put(&two, 64 + i % 5, 1 + i));
	}
}

/* SLOOP-01, EVENT-18 */
START_TEST(others_at_any_instruction_of_an_overwriting_turn_keep_the_account)
{
	fill_up_by_two(0);
	steps_interrupt(turn_one, others[_i], NULL);
	ck_assert(put);
	ck_assert_ptr_ne(one.chunk, two.chunk);
	writer_put_many(&one, 102, 2 * POOL_RECORDS);
	writer_put_many(&two, 302, 2 * POOL_RECORDS);
	reader_read(&reader);
	assert_growing(1);
	assert_growing(2);
	assert_account(&reader);
	pool_assert_counted(pool);
	steps_end(100);
}
END_TEST

static bool is_hinted(uint32_t number, uint64_t word)
{
	const struct ptx_hints *hints = &pool->rings.region->hints[PTX_HINT_CLOSED][0];
	const _Atomic uint64_t *queue = pool->rings.queue[PTX_HINT_CLOSED][0];
	uint64_t places = (uint64_t)pool->rings.geometry.hint_last[PTX_HINT_CLOSED][0] + 1;
	uint64_t hint = (uint64_t)(ptx_word_generation(word) & 0xffff) << 32 | number;

	for (uint64_t at = atomic_load(&hints->head); at != atomic_load(&hints->tail); at++)
		if (atomic_load(&queue[at % places]) << 16 >> 16 == hint)
			return true;
	return false;
}

static void turn_two_twice(void *state)
{
	(void)state;
	writer_put_many(&two, 201, POOL_RECORDS + 1);
}

/*
 * SLOOP-01: each chunk is overwritten when it is the oldest. The queue is so long that the other
 * writer does not skip the hint that `one` is about to push.
 */
START_TEST(another_at_any_instruction_of_an_overwriting_turn_leaves_closed_chunks_their_hints)
{
	fill_up_by_two(63);
	steps_interrupt(turn_one, turn_two_twice, NULL);
	for (uint32_t i = 0; i < CHUNKS; i++) {
		uint64_t word = atomic_load(&pool->rings.word[i]);

		ck_assert(ptx_word_state(word) != PTX_CHUNK_CLOSED || is_hinted(i, word));
	}
	steps_end(100);
}
END_TEST

enum { ROUND_CHUNKS = 8, ROUND_EVENTS = 10 * POOL_RECORDS, KEPT = 3 * POOL_RECORDS };

static void two_goes_round(void *state)
{
	(void)state;
	writer_put_many(&two, 201, ROUND_EVENTS);
}

/*
 * SIZE-10: the other writer overwrites and closes the chunk that `one` is about to overwrite. The
 * new events of this chunk are young, and they are neither lost nor below the cut.
 */
START_TEST(another_that_goes_round_at_any_instruction_of_a_turn_keeps_its_youngest)
{
	const uint64_t oldest_kept = 201 + ROUND_EVENTS - KEPT;
	unsigned kept = 0;
	uint64_t cut;

	pool = pool_make(ROUND_CHUNKS, true);
	writer_begin(&one, pool, 1);
	writer_begin(&two, pool, 2);
	reader_init(&reader, pool);
	writer_put_many(&one, 1, POOL_RECORDS);
	writer_put_many(&two, 1, (ROUND_CHUNKS - 1) * POOL_RECORDS);
	steps_interrupt(turn_one, two_goes_round, NULL);
	ck_assert(put);
	cut = atomic_load(&pool->rings.region->cut);
	reader_read(&reader);
	for (unsigned i = 0; i < reader.n; i++)
		kept += reader.seen[i].tid == 2 && reader.seen[i].value >= oldest_kept &&
			reader.seen[i].time > cut;
	if (steps_happened())
		ck_assert_uint_eq(kept, KEPT);
	steps_end(100);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("ring: overwriting, at any instruction", &tc);

	tcase_add_loop_test(tc, writers_at_any_instruction_of_a_claim_take_it_or_leave_it_whole, 1,
			    4 * POOL_RECORDS);
	tcase_add_loop_test(tc, a_ring_that_goes_on_while_it_is_searched_hides_nothing, 1,
			    5 * POOL_RECORDS);
	tcase_add_loop_test(tc, others_at_any_instruction_of_an_overwriting_turn_keep_the_account,
			    0, 3);
	tcase_add_test(
		tc,
		another_at_any_instruction_of_an_overwriting_turn_leaves_closed_chunks_their_hints);
	tcase_add_test(
		tc,
		another_that_goes_round_at_any_instruction_of_a_turn_keeps_its_youngest);
	return s;
}

SUITE_MAIN_OF(suite)
