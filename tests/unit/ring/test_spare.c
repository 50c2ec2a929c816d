/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ring/spare.c: a LOOP stream overwrites instead of growing if it still keeps its promise. */
#include "record/attr.h"
#include "ring/pool.h"
#include "support/support.h"
#include "unit/ring/pool.h"

enum { LARGE = 100000, EVENTS = 500 };

static struct pool *pool;
static struct ptx_rings *rings;

static void begin(size_t stream_size, size_t max_data_size)
{
	pool = pool_make_planned(stream_size, max_data_size, true);
	pool->young = true;
	rings = &pool->rings;
}

static void put(struct writer *writer, size_t len)
{
	const size_t size = ptx_record_size(len);
	struct ptx_record *record = ptx_ring_prepare(rings, writer->chunk, size, &(uint64_t){ 0 });
	uint64_t head;

	if (!record)
		ck_assert(ptx_ring_turn(rings, &writer->chunk, &writer->ident, &pool_loss));
	record = ptx_ring_prepare(rings, writer->chunk, size, &head);
	ck_assert_ptr_nonnull(record);
	ck_assert_uint_ge(ptx_ring_extend(rings, writer->chunk, ptx_head_offset(head) + size,
					  &pool_loss), ptx_head_offset(head) + size);
	ptx_record_fill(record, (uint32_t)len, POOL_TYPE, 0);
	ptx_ring_stamp(writer->chunk, head);
	ptx_ring_publish(writer->chunk, record, head, size, ptx_clock_now());
}

static size_t chunk_memory(void)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < ptx_ring_chunks(rings); i++)
		bytes += atomic_load(&rings->present[i]);
	return bytes;
}

/*
 * Returns the limit: twice the size, and a largest event for each ring. In this test the first ring
 * is not the controller's.
 */
static size_t limit(uint32_t threads)
{
	return rings->geometry.memory + threads * rings->geometry.ring_memory;
}

START_TEST(one_thread_of_largest_events_takes_twice_the_size_and_an_event)
{
	struct writer writer;

	begin(1, LARGE);
	writer_begin(&writer, pool, 1);
	for (int i = 0; i < EVENTS; i++)
		put(&writer, LARGE);
	ck_assert_uint_le(chunk_memory(), limit(1));
}
END_TEST

/* After a small event, the end of each chunk is too short for the large event. */
START_TEST(one_thread_of_unequal_events_takes_that_and_a_chunk_at_most)
{
	struct writer writer;

	begin(1, LARGE);
	writer_begin(&writer, pool, 1);
	for (int i = 0; i < EVENTS; i++)
		put(&writer, i % 2 ? LARGE : 64);
	ck_assert_uint_le(chunk_memory(), limit(1) + rings->geometry.chunk_bytes);
}
END_TEST

START_TEST(many_threads_in_turn_take_an_event_each)
{
	enum { THREADS = 30 };
	static struct writer writers[THREADS];

	begin(1, LARGE);
	for (unsigned i = 0; i < THREADS; i++)
		writer_begin(&writers[i], pool, i + 1);
	for (int i = 0; i < EVENTS; i++)
		put(&writers[i % THREADS], LARGE);
	ck_assert_uint_le(chunk_memory(), limit(THREADS));
}
END_TEST

/*
 * Open chunks of threads that record no more are of no use for other threads, which cannot acquire
 * them.
 */
START_TEST(threads_that_rest_leave_the_others_what_they_need)
{
	enum { THREADS = 16 };
	static struct writer writers[THREADS];

	begin(64 << 10, 1000);
	for (unsigned i = 0; i < THREADS; i++) {
		writer_begin(&writers[i], pool, i + 1);
		for (int k = 0; k < EVENTS; k++)
			put(&writers[i], 1000);
	}
	ck_assert_uint_le(chunk_memory(), limit(THREADS) + rings->geometry.chunk_bytes);
}
END_TEST

/* A writer owns no chunk while it searches, so a writer that dies there has no effect. */
START_TEST(a_writer_that_dies_with_a_chunk_costs_that_chunk)
{
	struct writer writer, dead;
	uint64_t link;
	uint32_t had;

	begin(1, LARGE);
	writer_begin(&dead, pool, 1);
	writer_begin(&writer, pool, 2);
	for (int i = 0; i < EVENTS; i++)
		put(&writer, LARGE);
	had = ptx_ring_chunks(rings);
	for (uint32_t i = 0; i < had; i++) {
		uint64_t word = atomic_load(&rings->word[i]);

		if (ptx_word_state(word) != PTX_CHUNK_CLOSED)
			continue;
		link = ptx_chunk_word(ptx_word_generation(word) + 1, dead.ring, PTX_CHUNK_OPENING);
		atomic_store(&rings->word[i], link);
		break;
	}
	for (int i = 0; i < EVENTS; i++)
		put(&writer, LARGE);
	ck_assert_uint_le(ptx_ring_chunks(rings), had + 1);
	writer_mend(&dead);
	for (int i = 0; i < EVENTS; i++)
		put(&writer, LARGE);
	ck_assert_uint_le(ptx_ring_chunks(rings), had + 1);
}
END_TEST

START_TEST(a_stream_that_has_not_its_memory_grows_before_it_overwrites)
{
	struct writer writer;
	uint32_t chunks;

	begin(64 << 10, 1000);
	writer_begin(&writer, pool, 1);
	do {
		ck_assert_uint_eq(pool_lost(pool, PTX_WRITER_OVERWRITTEN), 0);
		chunks = ptx_ring_chunks(rings);
		put(&writer, 1000);
	} while (chunks < rings->geometry.chunks + PTX_RING_CHUNKS);
}
END_TEST

/*
 * The pool uses the result of a search as long as possible. The test counts searches by the
 * readings of the clock that belong to no event and no chunk.
 */
START_TEST(one_look_serves_many_changes_of_chunks)
{
	const size_t per_chunk = 4;
	uint64_t then, looks;
	struct writer writer;

	begin(1 << 20, 1000);
	writer_begin(&writer, pool, 1);
	rings->geometry.memory = 3 * rings->geometry.capacity / 2;
	rings->geometry.chunks_max = atomic_load(&rings->region->chunks) + 100;
	rings->geometry.chunks += 100; /* as if the pool could grow by 100 further chunks */
	for (int i = 0; i < 20 * EVENTS; i++)
		put(&writer, 1000);
	then = pool_now;
	for (int i = 0; i < 20 * EVENTS; i++)
		put(&writer, 1000);
	looks = pool_now - then - 20 * EVENTS;
	looks -= 20 * EVENTS / (rings->geometry.chunk_room / ptx_record_size(1000));
	ck_assert_uint_lt(looks * per_chunk,
			  20 * EVENTS / (rings->geometry.chunk_room / ptx_record_size(1000)));
}
END_TEST

/*
 * A chunk has room for one of these events, and almost half of it remains unused. The pool has
 * hardly more than the stream promises, so a search finds few spare chunks. The pool grows until
 * searches find more.
 */
START_TEST(one_look_serves_many_changes_of_chunks_that_hold_little)
{
	enum { ROUNDS = 4, PER_LOOK = 3 };
	struct writer writer;
	uint64_t then, looks;
	size_t len, changes;

	begin(4 << 20, 8192);
	writer_begin(&writer, pool, 1);
	len = _i == 0 ? 8192 : rings->geometry.chunk_room / 2;
	changes = ROUNDS * (size_t)rings->geometry.chunks;
	for (size_t i = 0; i < changes; i++)
		put(&writer, len);
	then = pool_now;
	for (size_t i = 0; i < changes; i++)
		put(&writer, len);
	looks = pool_now - then - 2 * changes;
	ck_assert_uint_lt(looks * PER_LOOK, changes);
	ck_assert_uint_le(chunk_memory(), limit(1) + rings->geometry.memory / 16);
}
END_TEST

/*
 * A search examines the open chunks of all threads that rest. These chunks use up the memory of the
 * stream's attributes. The pool grows until searches find spare bytes for each of them.
 */
START_TEST(one_look_serves_many_changes_if_many_threads_rest)
{
	enum { THREADS = 600, PER_LOOK = 16, MANY = 4000 };
	static struct writer writers[THREADS], *const writer = &writers[THREADS - 1];
	uint64_t then, changes = 0;

	pool = pool_make_many(64 << 10, 1000, true, 4);
	pool->young = true;
	rings = &pool->rings;
	for (unsigned i = 0; i < THREADS; i++) {
		writer_begin(&writers[i], pool, i + 1);
		put(&writers[i], 1000);
	}
	for (int i = 0; i < MANY; i++)
		put(writer, 1000);
	then = pool_now;
	for (int i = 0; i < MANY; i++) {
		const struct ptx_chunk *before = writer->chunk;

		put(writer, 1000);
		changes += writer->chunk != before;
	}
	ck_assert_uint_gt(changes, MANY / 2);
	ck_assert_uint_lt((pool_now - then - MANY - changes) * PER_LOOK, changes);
}
END_TEST

/*
 * Many threads record and rest. Their open chunks are of no use, so searches find nothing, and the
 * pool grows. One search without result serves many chunks of the growth.
 */
START_TEST(one_look_without_result_serves_many_chunks_of_growth)
{
	enum { THREADS = 600, EACH = 8, PER_LOOK = 10 };
	static struct writer writers[THREADS];
	uint64_t then, changes = 0, events = 0;
	uint32_t first;

	pool = pool_make_many(1 << 20, 1000, true, 4);
	pool->young = true;
	rings = &pool->rings;
	/* The pool has the memory of the attributes when it has so many chunks. */
	for (unsigned i = 0; i < THREADS / 2; i++) {
		writer_begin(&writers[i], pool, i + 1);
		for (int k = 0; k < EACH; k++)
			put(&writers[i], 1000);
	}
	first = ptx_ring_chunks(rings);
	then = pool_now;
	for (unsigned i = THREADS / 2; i < THREADS; i++) {
		writer_begin(&writers[i], pool, i + 1);
		changes++;
		for (int k = 0; k < EACH; k++, events++) {
			const struct ptx_chunk *before = writers[i].chunk;

			put(&writers[i], 1000);
			changes += writers[i].chunk != before;
		}
	}
	ck_assert_uint_gt(ptx_ring_chunks(rings), first);
	ck_assert_uint_lt((pool_now - then - events - changes) * PER_LOOK, changes);
}
END_TEST

/*
 * The search over all chunks for the oldest one is rare, too. After this search, the pool uses the
 * next chunks that the search found.
 */
START_TEST(one_search_for_the_oldest_chunk_serves_many_changes_of_chunks)
{
	struct writer writer;
	size_t changes, searches = 0;

	begin(8 << 20, 8192);
	writer_begin(&writer, pool, 1);
	changes = 4 * (size_t)rings->geometry.chunks;
	for (size_t i = 0; i < 2 * changes; i++) {
		uint32_t before = atomic_load(&rings->region->spare_looks);

		put(&writer, 8192);
		searches += i > changes && atomic_load(&rings->region->spare_looks) != before + 1;
	}
	ck_assert_uint_lt(searches * 100, changes);
}
END_TEST

/* At the time of the search, all events of the stream are from a short time long ago. */
START_TEST(one_look_serves_many_changes_of_chunks_after_a_pause)
{
	enum { RINGS = 40 };
	static struct writer writers[RINGS];
	size_t changes, before;

	begin(4 << 20, 8192);
	for (unsigned i = 0; i < RINGS; i++)
		writer_begin(&writers[i], pool, i + 1);
	changes = 4 * (size_t)rings->geometry.chunks;
	for (size_t i = 0; i < changes; i++)
		put(&writers[0], 4000);
	before = ptx_ring_chunks(rings);
	pool_now += 1000000000;
	for (size_t i = 0; i < changes; i++)
		put(&writers[0], 4000);
	ck_assert_uint_le(ptx_ring_chunks(rings), before);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("ring: what a LOOP stream can spare", &tc);

	tcase_add_test(tc, one_thread_of_largest_events_takes_twice_the_size_and_an_event);
	tcase_add_test(tc, one_thread_of_unequal_events_takes_that_and_a_chunk_at_most);
	tcase_add_test(tc, many_threads_in_turn_take_an_event_each);
	tcase_add_test(tc, threads_that_rest_leave_the_others_what_they_need);
	tcase_add_test(tc, a_writer_that_dies_with_a_chunk_costs_that_chunk);
	tcase_add_test(tc, a_stream_that_has_not_its_memory_grows_before_it_overwrites);
	tcase_add_test(tc, one_look_serves_many_changes_of_chunks);
	tcase_add_loop_test(tc, one_look_serves_many_changes_of_chunks_that_hold_little, 0, 2);
	tcase_add_test(tc, one_look_serves_many_changes_if_many_threads_rest);
	tcase_add_test(tc, one_look_without_result_serves_many_chunks_of_growth);
	tcase_add_test(tc, one_search_for_the_oldest_chunk_serves_many_changes_of_chunks);
	tcase_add_test(tc, one_look_serves_many_changes_of_chunks_after_a_pause);
	return s;
}

SUITE_MAIN_OF(suite)
