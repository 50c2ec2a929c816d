/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A reader claims, frees, reads without a claim, loses its place and finds the ring again. */
#include <string.h>

#include "support/support.h"
#include "unit/ring/scene.h"

static unsigned char buffer[POOL_ROOM];

static enum ptx_claim look(struct ptx_place *place, uint32_t *bytes)
{
	struct ptx_reader it = { .rings = &pool->rings, .buffer = buffer, .place = *place };
	enum ptx_claim got = ptx_ring_look(&it);

	*place = it.place;
	*bytes = it.bytes;
	return got;
}

START_TEST(a_ring_that_was_never_claimed_is_empty)
{
	struct ptx_place place = { 0, 0 };
	uint32_t bytes, before;

	pool = pool_make(CHUNKS, false);
	ck_assert_int_eq(look(&place, &bytes), PTX_CLAIM_NOTHING);
	ck_assert(!ptx_ring_find(&pool->rings, 0, &place, &before));
	ck_assert_uint_eq(ptx_ring_published(&pool->rings), 0);
}
END_TEST

/* UFULL-07 */
START_TEST(a_chunk_is_freed_when_it_is_closed_and_claimed_whole_and_the_reader_goes_on)
{
	begin(false, POOL_RECORDS);
	ck_assert_int_eq(reader_take(&reader, 0), PTX_CLAIM_BYTES);
	ck_assert_int_eq(reader_take(&reader, 0), PTX_CLAIM_NOTHING); /* the chunk is open */
	ck_assert_uint_eq(pool_chunks_in(pool, PTX_CHUNK_FREE), CHUNKS - 1);
	writer_put_many(&one, POOL_RECORDS + 1, 1);
	ck_assert_uint_eq(pool_chunks_in(pool, PTX_CHUNK_FREE), CHUNKS - 2);
	ck_assert_int_eq(reader_take(&reader, 0), PTX_CLAIM_BYTES); /* of the next chunk */
	ck_assert_uint_eq(pool_chunks_in(pool, PTX_CHUNK_FREE), CHUNKS - 1);
	pool_assert_counted(pool);
	assert_seen(&reader, 1, 1, POOL_RECORDS + 1);
}
END_TEST

START_TEST(events_published_while_the_reader_is_in_the_chunk_are_claimed_next)
{
	begin(false, 1);
	for (unsigned i = 2; i <= POOL_RECORDS; i++) {
		ck_assert_int_eq(reader_take(&reader, 0), PTX_CLAIM_BYTES);
		ck_assert_uint_eq(reader.n, i - 1);
		writer_put_many(&one, i, 1);
	}
	reader_read(&reader);
	assert_seen(&reader, 1, 1, POOL_RECORDS);
}
END_TEST

START_TEST(looking_claims_nothing_and_frees_nothing)
{
	struct ptx_place place = { 0, 0 };
	uint32_t bytes;

	begin(false, 2 * POOL_RECORDS + 1);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(look(&place, &bytes), PTX_CLAIM_BYTES);
		ck_assert_uint_eq(bytes, i < 2 ? POOL_ROOM : POOL_RECORD);
	}
	ck_assert_int_eq(look(&place, &bytes), PTX_CLAIM_NOTHING);
	ck_assert_uint_eq(pool_chunks_in(pool, PTX_CHUNK_CLOSED), 2);
	for (uint32_t i = 0; i < CHUNKS; i++)
		ck_assert_uint_eq((uint32_t)atomic_load(&pool->rings.claimed[i]), 0);
	reader_read(&reader);
	assert_seen(&reader, 1, 1, 2 * POOL_RECORDS + 1);
}
END_TEST

START_TEST(a_reader_of_an_overwritten_chunk_has_lost_its_place)
{
	struct ptx_place place = { 0, 0 };
	uint32_t bytes, before;

	begin_full();
	ck_assert_int_eq(look(&place, &bytes), PTX_CLAIM_BYTES);
	writer_put_many(&one, CHUNKS * POOL_RECORDS + 1, 1);
	ck_assert_int_eq(look(&place, &bytes), PTX_CLAIM_LOST);
	ck_assert(ptx_ring_find(&pool->rings, 0, &place, &before));
	ck_assert_uint_eq(before, (uint32_t)POOL_PUBLISHED + POOL_RECORDS);
	ck_assert_int_eq(look(&place, &bytes), PTX_CLAIM_BYTES);
	ck_assert_uint_eq(bytes, POOL_ROOM);
}
END_TEST

START_TEST(the_oldest_chunk_of_the_ring_is_found_and_how_many_came_before_it)
{
	struct ptx_place place;
	uint32_t before, first;

	begin(true, 1);
	first = ptx_link_number(atomic_load(&pool->rings.ring[0].first));
	writer_begin(&two, pool, 2);
	writer_put_many(&one, 2, 2 * POOL_RECORDS);
	ck_assert(ptx_ring_find(&pool->rings, 0, &place, &before));
	ck_assert_uint_eq(ptx_link_number(place.link), first);
	ck_assert_uint_eq(before, (uint32_t)POOL_PUBLISHED);
	/*
	 * The reader's chunk is overwritten, so the next chunk is the oldest. The reader does not
	 * examine the chunks of the other ring.
	 */
	writer_put_many(&one, 2 * POOL_RECORDS + 2, POOL_RECORDS);
	ck_assert(ptx_ring_find(&pool->rings, 0, &place, &before));
	ck_assert_uint_ne(ptx_link_number(place.link), first);
	ck_assert_uint_eq(before, (uint32_t)(POOL_PUBLISHED + POOL_RECORDS));
	ck_assert(ptx_ring_find(&pool->rings, two.ring, &place, &before));
	ck_assert_ptr_eq(ptx_ring_chunk(&pool->rings, ptx_link_number(place.link)), two.chunk);
}
END_TEST

/* Writers repeatedly overwrote all chunks of the ring except the open one. */
START_TEST(a_reader_that_is_overrun_again_and_again_sees_the_rest_in_order)
{
	uint64_t last = 0, value = 1;

	begin(true, 0);
	for (unsigned round = 0; round < 30; round++) {
		writer_put_many(&one, value, round);
		value += round;
		if (round % 3)
			reader_take(&reader, 0);
		else
			reader_read(&reader);
	}
	reader_read(&reader);
	for (unsigned i = 0; i < reader.n; i++) {
		ck_assert_uint_gt(reader.seen[i].value, last);
		last = reader.seen[i].value;
	}
	ck_assert_uint_eq(last, value - 1);
	ck_assert_uint_gt(reader.missed, 0);
	assert_account(&reader);
}
END_TEST

/* (K) and (L): the inputs of the watermark */
START_TEST(a_writer_is_seen_inside_its_window_and_outside_of_it)
{
	struct ptx_record *record;
	struct ptx_writer seen;
	uint64_t head;

	pool = pool_make(CHUNKS, false);
	ptx_ring_watch(&pool->rings, 0, &seen);
	ck_assert_uint_eq(seen.link, 0);
	ck_assert(!seen.inside);
	writer_begin(&one, pool, 1);
	ptx_ring_watch(&pool->rings, 0, &seen);
	ck_assert(!seen.inside); /* a fresh chunk */
	ck_assert_uint_eq(seen.link, atomic_load(&pool->rings.ring[0].current));
	ck_assert_uint_eq(seen.opened, one.chunk->opened);
	for (int i = 0; i < 3; i++) {
		record = ptx_ring_prepare(&pool->rings, one.chunk, POOL_RECORD, &head);
		ck_assert_ptr_nonnull(record);
		ptx_record_fill(record, 0, POOL_TYPE, 0);
		ptx_ring_watch(&pool->rings, 0, &seen);
		ck_assert(!seen.inside);
		ptx_ring_stamp(one.chunk, head);
		ptx_ring_watch(&pool->rings, 0, &seen);
		ck_assert(seen.inside);
		ck_assert_uint_eq(seen.head, head);
		ptx_ring_publish(one.chunk, record, head, POOL_RECORD, 5);
		ptx_ring_watch(&pool->rings, 0, &seen);
		ck_assert(!seen.inside);
		ck_assert_uint_eq(ptx_head_records(seen.head), i + 1);
	}
}
END_TEST

START_TEST(a_writer_that_left_its_window_by_a_jump_is_seen_inside_until_it_writes_again)
{
	struct ptx_writer seen;
	uint64_t head;

	begin(false, 1);
	ck_assert_ptr_nonnull(ptx_ring_prepare(&pool->rings, one.chunk, POOL_RECORD, &head));
	ptx_ring_stamp(one.chunk, head);
	ptx_ring_watch(&pool->rings, 0, &seen);
	ck_assert(seen.inside);
	writer_put_many(&one, 2, 1);
	ptx_ring_watch(&pool->rings, 0, &seen);
	ck_assert(!seen.inside);
}
END_TEST

/* A processor may make the window of the next event visible before the head of this one. */
START_TEST(a_writer_whose_window_is_ahead_of_its_head_is_seen_inside)
{
	struct ptx_writer seen;
	uint64_t head;

	begin(false, 1);
	head = atomic_load(&one.chunk->head);
	atomic_store(&one.chunk->window, head + POOL_RECORD + PTX_HEAD_RECORD);
	ptx_ring_watch(&pool->rings, 0, &seen);
	ck_assert(seen.inside);
	ck_assert_uint_eq(seen.head, head);
	writer_put_many(&one, 2, 1);
	ptx_ring_watch(&pool->rings, 0, &seen);
	ck_assert(!seen.inside);
}
END_TEST

SUITE_MAIN("ring: reading",
	   a_ring_that_was_never_claimed_is_empty,
	   a_chunk_is_freed_when_it_is_closed_and_claimed_whole_and_the_reader_goes_on,
	   events_published_while_the_reader_is_in_the_chunk_are_claimed_next,
	   looking_claims_nothing_and_frees_nothing,
	   a_reader_of_an_overwritten_chunk_has_lost_its_place,
	   the_oldest_chunk_of_the_ring_is_found_and_how_many_came_before_it,
	   a_reader_that_is_overrun_again_and_again_sees_the_rest_in_order,
	   a_writer_is_seen_inside_its_window_and_outside_of_it,
	   a_writer_that_left_its_window_by_a_jump_is_seen_inside_until_it_writes_again,
	   a_writer_whose_window_is_ahead_of_its_head_is_seen_inside)
