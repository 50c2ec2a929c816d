/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/pool.c: the present memory of a stream, the time at which memory becomes present, and the
 * limit.
 */
#include <string.h>

#include "record/attr.h"
#include "ring/pool.h"
#include "support/support.h"
#include "unit/ring/pool.h"

#define PAGE 4096u

static struct pool *pool;
/* a byte for each page of the region that was made present */
static unsigned char present[1 << 20];
static bool refused;
static unsigned calls;

static bool back(void *memory, size_t bytes)
{
	size_t at = (size_t)((unsigned char *)memory - (unsigned char *)pool->memory);

	calls++;
	if (refused)
		return false;
	for (size_t page = at / PAGE; page <= (at + bytes - 1) / PAGE; page++)
		present[page] = 1;
	return true;
}

static void begin(size_t stream_size, size_t max_data_size, bool loop)
{
	pool = pool_make_planned(stream_size, max_data_size, loop);
	pool->young = true;
	pool->rings.back = back;
	memset(present, 0, sizeof present);
	refused = false;
}

static bool is_present(const void *memory, size_t bytes)
{
	size_t at = (size_t)((const unsigned char *)memory - (unsigned char *)pool->memory);

	for (size_t page = at / PAGE; page <= (at + bytes - 1) / PAGE; page++)
		if (!present[page])
			return false;
	return true;
}

/* Writes a record, and checks that its memory is present. */
static bool put(struct writer *writer, size_t size)
{
	const struct ptx_chunk *chunk;

	if (!writer_record(writer, size))
		return false;
	chunk = writer->chunk;
	ck_assert(is_present(chunk, sizeof *chunk + ptx_head_offset(atomic_load(&chunk->head))));
	return true;
}

enum { LARGE = 100000 };

START_TEST(a_large_record_makes_its_own_memory_present_and_no_more)
{
	size_t size = ptx_record_size(LARGE), pages = 0;
	struct writer writer;

	begin(1, LARGE, false);
	ck_assert_uint_eq(pool->rings.geometry.present, 0);
	writer_begin(&writer, pool, 1);
	ck_assert(put(&writer, size));
	for (size_t i = 0; i < sizeof present; i++)
		pages += present[i];
	/*
	 * The pages of the record, at any offset in a page, and those of the queue of free small
	 * chunks.
	 */
	ck_assert_uint_le(pages, size / PAGE + 2 + 3);
}
END_TEST

/*
 * The threads share a stream that has room for two records. Each thread may write one record; then
 * the stream is full.
 */
START_TEST(each_thread_has_a_chunk_and_the_stream_its_size)
{
	enum { THREADS = 20 };
	size_t size = ptx_record_size(LARGE), written = 0, pages = 0;
	struct writer writers[THREADS];

	begin(1, LARGE, false);
	for (unsigned i = 0; i < THREADS; i++) {
		writer_begin(&writers[i], pool, i + 1);
		written += put(&writers[i], size);
	}
	ck_assert_uint_eq(written, THREADS);
	for (unsigned i = 0; i < 4 * THREADS; i++)
		written += put(&writers[i % THREADS], size);
	ck_assert_int_eq(pool_loss, PTX_WRITER_STREAM_FULL);
	ck_assert_uint_le(written, 2 * THREADS + 4);
	for (size_t i = 0; i < sizeof present; i++)
		pages += present[i];
	ck_assert_uint_le(pages, (2 * THREADS + 4) * (size / PAGE + 2) + 3);
}
END_TEST

/* Claimed events free their space, even in chunks that the reader has not freed. */
START_TEST(read_events_are_no_longer_held)
{
	static struct reader reader;
	size_t size = ptx_record_size(LARGE);
	struct writer writer;

	begin(1, LARGE, false);
	reader_init(&reader, pool);
	writer_begin(&writer, pool, 1);
	while (put(&writer, size))
		;
	ck_assert_int_eq(pool_loss, PTX_WRITER_STREAM_FULL);
	ck_assert(ptx_pool_is_enough(&pool->rings));
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(reader_take(&reader, writer.ring), PTX_CLAIM_BYTES);
	ck_assert(!ptx_pool_is_enough(&pool->rings));
	ck_assert(put(&writer, size));
}
END_TEST

/* A LOOP stream continues with the chunks that it has. */
START_TEST(a_loop_stream_without_memory_overwrites)
{
	static struct reader reader;
	size_t size = ptx_record_size(LARGE);
	struct writer writer;

	begin(1, LARGE, true);
	reader_init(&reader, pool);
	writer_begin(&writer, pool, 1);
	for (int i = 0; i < 6; i++)
		ck_assert(put(&writer, size));
	refused = true;
	for (int i = 0; i < 50; i++)
		ck_assert(put(&writer, size));
	reader_find(&reader, writer.ring);
	reader_read(&reader);
	ck_assert_uint_eq(reader.n + pool_lost(pool, PTX_WRITER_OVERWRITTEN), 56);
	ck_assert_uint_ge(reader.n, 3);
}
END_TEST

/*
 * The writers put records of different sizes, and a reader reads some of them. In any arrangement
 * in the chunks, the stream is not full while the unread events are less than its promised size.
 */
START_TEST(a_stream_is_not_full_before_it_holds_its_size)
{
	static struct reader reader;
	const size_t small = ptx_record_size(1000), middle = ptx_record_size(LARGE / 2);
	struct writer writer;
	size_t unread = 0, most;

	begin(20 * LARGE, LARGE, false);
	most = pool->rings.geometry.capacity;
	reader_init(&reader, pool);
	writer_begin(&writer, pool, 1);
	for (; unread + PTX_IDENT_RECORD_BYTES + small <= most / 2;
	     unread += PTX_IDENT_RECORD_BYTES + small)
		ck_assert(put(&writer, small));
	for (int i = 0; i < 4; i++) {
		reader_read(&reader);
		reader.n = 0;
		for (unread = 0; unread + PTX_IDENT_RECORD_BYTES + middle <= most;
		     unread += PTX_IDENT_RECORD_BYTES + middle)
			ck_assert(put(&writer, middle));
	}
}
END_TEST

START_TEST(without_memory_a_record_is_lost_and_the_next_one_asks_again)
{
	size_t size = ptx_record_size(LARGE);
	struct writer writer;

	begin(1, LARGE, false);
	writer_begin(&writer, pool, 1);
	refused = true;
	ck_assert(!put(&writer, size));
	ck_assert_int_eq(pool_loss, PTX_WRITER_NO_MEMORY);
	refused = false;
	ck_assert(put(&writer, size));
}
END_TEST

/* Memory that is present is not requested again. */
START_TEST(a_chunk_that_was_used_before_is_present)
{
	static struct reader reader;
	struct writer writer;
	size_t size = ptx_record_size(LARGE);

	begin(1, LARGE, false);
	reader_init(&reader, pool);
	writer_begin(&writer, pool, 1);
	for (int i = 0; i < 12; i++) {
		ck_assert(put(&writer, size));
		reader_read(&reader);
	}
	refused = true;
	for (int i = 0; i < 50; i++) {
		ck_assert(put(&writer, size));
		reader_read(&reader);
	}
}
END_TEST

/* Threads that exist one after the other, each with a slot of its own. */
START_TEST(slots_ask_for_memory_once_a_page)
{
	enum { SLOTS = 1000, A_PAGE = PAGE / sizeof(struct ptx_slot) };

	begin(1, 8, true);
	calls = 0;
	for (uint32_t i = 1; i < SLOTS; i++) {
		refused = i % A_PAGE == 0;
		if (refused && i >= PTX_RINGS_BASE)
			ck_assert_uint_eq(ptx_slot_claim(&pool->rings, 5, i, i), 0);
		refused = false;
		ck_assert_uint_eq(ptx_slot_claim(&pool->rings, 5, i, i), i);
		ck_assert(i < PTX_RINGS_BASE ||
			  is_present(&pool->rings.slot[i], sizeof(struct ptx_slot)));
	}
	/* After a refusal the next thread tries again, so there are two calls for each page. */
	ck_assert_uint_eq(calls, 2 * ((SLOTS - PTX_RINGS_BASE + A_PAGE - 1) / A_PAGE));
}
END_TEST

/* Threads that exist at the same time, each with a ring, a chunk, and the entries of both. */
START_TEST(rings_and_small_chunks_ask_for_memory_once_a_page)
{
	enum { THREADS = 1000 };
	static struct writer writers[THREADS];
	struct ptx_rings *rings;
	unsigned pages = 0;

	begin(1, 8, _i);
	rings = &pool->rings;
	calls = 0;
	for (uint32_t i = 0; i < THREADS; i++) {
		uint32_t number;

		writer_begin(&writers[i], pool, i + 1);
		number = ptx_link_number(atomic_load(&rings->ring[i].current));
		if (number < ptx_ring_first_entries(&rings->geometry))
			continue;
		ck_assert(i < PTX_RINGS_BASE ||
			  is_present(&rings->ring[i], sizeof(struct ptx_ring)));
		ck_assert(is_present(&rings->word[number], sizeof(uint64_t)));
		ck_assert(is_present(&rings->claimed[number], sizeof(uint64_t)));
		ck_assert(is_present(&rings->present[number], sizeof(uint32_t)));
		ck_assert(is_present(writers[i].chunk, atomic_load(&rings->present[number])));
	}
	for (size_t i = 0; i < sizeof present; i++)
		pages += present[i];
	/* A chunk that begins in one page and ends in the next one asks for both. */
	ck_assert_uint_le(calls, pages + PTX_TABLES);
}
END_TEST

/* A process has no information about memory that another process has made present. */
START_TEST(another_process_asks_for_the_same_page_again)
{
	struct ptx_rings other;
	uint32_t slot = PTX_RINGS_BASE;

	begin(1, 8, true);
	ptx_ring_view(&other, pool->memory, &pool->rings.geometry, 8, true);
	other.back = back;
	while (ptx_slot_claim(&pool->rings, 5, slot, slot) < slot)
		;
	calls = 0;
	ck_assert_uint_eq(ptx_slot_claim(&other, 6, 1, 1), slot + 1);
	ck_assert_uint_eq(calls, 1);
	ck_assert_uint_eq(ptx_slot_claim(&other, 6, 2, 2), slot + 2);
	ck_assert_uint_eq(ptx_slot_claim(&pool->rings, 5, 3, 3), slot + 3);
	ck_assert_uint_eq(calls, 1);
}
END_TEST

/* The writer was killed before its number had a chunk. */
START_TEST(another_writer_adds_the_chunk_of_a_writer_that_was_killed)
{
	uint32_t number;
	struct writer writer;

	begin(1, LARGE, _i);
	pool->rings.geometry.memory = SIZE_MAX / 2; /* so that a LOOP stream grows to its maximum */
	writer_begin(&writer, pool, 1);
	number = atomic_fetch_add(&pool->rings.region->chunks, 1);
	ck_assert_uint_eq(ptx_word_state(atomic_load(&pool->rings.word[number])),
			  PTX_CHUNK_ABSENT);
	for (int i = 0; i < 200; i++)
		if (!put(&writer, ptx_record_size(LARGE)))
			break;
	ck_assert_uint_ne(ptx_word_state(atomic_load(&pool->rings.word[number])),
			  PTX_CHUNK_ABSENT);
}
END_TEST

/* This process cannot map the far part. Other processes need the hints to chunks in this part. */
START_TEST(hints_to_closed_chunks_out_of_reach_are_kept)
{
	struct ptx_rings *rings;
	uint32_t number, generation, kept = 0;
	struct writer writer;

	begin(1, LARGE, true);
	rings = &pool->rings;
	writer_begin(&writer, pool, 1);
	while (pool_lost(pool, PTX_WRITER_OVERWRITTEN) == 0)
		ck_assert(put(&writer, ptx_record_size(LARGE)));
	ptx_ring_hint(rings, PTX_HINT_CLOSED, rings->geometry.near_chunks, 1);
	for (int i = 0; i < 200; i++)
		ck_assert(put(&writer, ptx_record_size(LARGE)));
	while (ptx_ring_hinted(rings, PTX_HINT_CLOSED, &number, &generation))
		kept += number == rings->geometry.near_chunks;
	ck_assert_uint_eq(kept, 1);
}
END_TEST

/*
 * Makes a stream of many rings that has only small chunks, none of them free. Returns the number of
 * the first of `count` neighbouring closed chunks.
 */
static uint32_t close_small(struct writer *writer, unsigned count)
{
	struct ptx_rings *rings;
	struct writer other;
	uint32_t first;

	pool = pool_make_many(1 << 20, 8, false, 1);
	pool->young = true;
	rings = &pool->rings;
	writer_begin(writer, pool, 1);
	writer_begin(&other, pool, 2);
	for (uint32_t i = 0; i < rings->geometry.large; i++)
		if (ptx_word_state(atomic_load(&rings->word[i])) == PTX_CHUNK_FREE)
			atomic_store(&rings->word[i], POOL_NO_CHUNK);
	atomic_store(&rings->region->free_chunks, 0);
	for (int kind = PTX_HINT_FREE; kind <= PTX_HINT_SMALL; kind++)
		atomic_store(&rings->region->hints[kind][0].head,
			     atomic_load(&rings->region->hints[kind][0].tail));
	first = atomic_load(&rings->region->chunks);
	for (unsigned i = 0; i <= count; i++)
		ck_assert(ptx_ring_turn(rings, &writer->chunk, &writer->ident, &pool_loss));
	first = first < rings->geometry.large ? rings->geometry.large : first;
	ck_assert_uint_eq(ptx_word_state(atomic_load(&rings->word[first + count - 1])),
			  PTX_CHUNK_CLOSED);
	return first;
}

/* A reader frees chunks, and their hints are lost. */
static void free_unhinted(uint32_t from, unsigned count)
{
	struct ptx_region *region = pool->rings.region;

	for (unsigned i = 0; i < count; i++)
		atomic_store(&pool->rings.word[from + i], ptx_chunk_word(1, 0, PTX_CHUNK_FREE));
	atomic_fetch_add(&region->free_chunks, count);
	atomic_fetch_add(&region->free_small, count);
}

/* Makes the writer turn to another chunk, and returns the number of this chunk. */
static uint32_t turn(struct writer *writer)
{
	ck_assert(ptx_ring_turn(&pool->rings, &writer->chunk, &writer->ident, &pool_loss));
	return ptx_link_number(atomic_load(&pool->rings.ring[writer->ring].current));
}

START_TEST(free_small_chunks_without_hints_are_found_one_after_the_other)
{
	struct writer writer;
	uint32_t first = close_small(&writer, 300);

	free_unhinted(first + 100, 200);
	for (uint32_t i = 0; i < 50; i++)
		ck_assert_uint_eq(turn(&writer), first + 100 + i);
	/* The search continues where the last one ended. */
	free_unhinted(first, 20);
	for (uint32_t i = 0; i < 106; i++)
		ck_assert_uint_eq(turn(&writer), first + 150 + i);
	/* 64 free chunks are too few to start a search. */
	ck_assert_uint_eq(atomic_load(&pool->rings.region->free_small), 64);
	ck_assert_uint_ge(turn(&writer), first + 300);
	free_unhinted(first + 20, 30);
	for (uint32_t i = 0; i < 30; i++)
		ck_assert_uint_eq(turn(&writer), first + 256 + i);
	/* The search continues at the first chunk after the last one. */
	free_unhinted(first + 50, 50);
	for (uint32_t i = 0; i < 14 + 36; i++)
		ck_assert_uint_eq(turn(&writer), i < 14 ? first + 286 + i : first + i - 14);
}
END_TEST

/*
 * If many threads record little, their rings begin with small chunks. A ring that records more gets
 * a large chunk if one is free.
 */
START_TEST(a_ring_of_many_begins_with_a_small_chunk_and_continues_in_a_large_one)
{
	struct writer writers[2];
	uint32_t large;

	pool = pool_make_many(1 << 20, 8, _i, 1);
	pool->young = true;
	large = pool->rings.geometry.large;
	for (unsigned i = 0; i < 2; i++)
		writer_begin(&writers[i], pool, i + 1);
	ck_assert_uint_lt(ptx_link_number(atomic_load(&pool->rings.ring[0].current)), large);
	ck_assert_uint_ge(ptx_link_number(atomic_load(&pool->rings.ring[1].current)), large);
	ck_assert_uint_gt(pool_chunks_in(pool, PTX_CHUNK_FREE), 1);
	ck_assert_uint_lt(turn(&writers[1]), large);
}
END_TEST

/*
 * Each of these writers was killed after it acquired a free chunk and before it counted the chunk.
 */
START_TEST(a_count_of_free_chunks_that_is_too_high_costs_one_search)
{
	enum { KILLED = 1000 };
	struct writer writer;
	uint32_t first = close_small(&writer, 300), next = first + 301;
	struct ptx_region *region = pool->rings.region;

	atomic_fetch_add(&region->free_chunks, KILLED);
	atomic_fetch_add(&region->free_small, KILLED);
	ck_assert_uint_eq(turn(&writer), next++);
	ck_assert_uint_eq(atomic_load(&region->free_surplus), KILLED);
	/* Chunks that become free are not part of the surplus. */
	free_unhinted(first, 64);
	ck_assert_uint_eq(turn(&writer), next++);
	free_unhinted(first + 64, 1);
	ck_assert_uint_eq(turn(&writer), first);
	/* Even with a hostile value, a writer finds the free chunks when the pool cannot grow. */
	atomic_store(&region->free_surplus, UINT32_MAX);
	pool->rings.geometry.chunks_max = next;
	ck_assert_uint_eq(turn(&writer), first + 1);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("ring: the pool", &tc);

	tcase_add_test(tc, a_large_record_makes_its_own_memory_present_and_no_more);
	tcase_add_test(tc, each_thread_has_a_chunk_and_the_stream_its_size);
	tcase_add_test(tc, read_events_are_no_longer_held);
	tcase_add_test(tc, a_loop_stream_without_memory_overwrites);
	tcase_add_test(tc, a_stream_is_not_full_before_it_holds_its_size);
	tcase_add_test(tc, without_memory_a_record_is_lost_and_the_next_one_asks_again);
	tcase_add_test(tc, a_chunk_that_was_used_before_is_present);
	tcase_add_test(tc, slots_ask_for_memory_once_a_page);
	tcase_add_loop_test(tc, rings_and_small_chunks_ask_for_memory_once_a_page, 0, 2);
	tcase_add_test(tc, another_process_asks_for_the_same_page_again);
	tcase_add_test(tc, free_small_chunks_without_hints_are_found_one_after_the_other);
	tcase_add_loop_test(tc,
			    a_ring_of_many_begins_with_a_small_chunk_and_continues_in_a_large_one,
			    0, 2);
	tcase_add_test(tc, a_count_of_free_chunks_that_is_too_high_costs_one_search);
	tcase_add_loop_test(tc, another_writer_adds_the_chunk_of_a_writer_that_was_killed, 0, 2);
	tcase_add_test(tc, hints_to_closed_chunks_out_of_reach_are_kept);
	return s;
}

SUITE_MAIN_OF(suite)
