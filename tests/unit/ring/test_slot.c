/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads start and end: they acquire, release and use up slots and rings. */
#include <pthread.h>

#include "support/support.h"
#include "unit/ring/pool.h"

static struct pool *pool;

static uint64_t lost(uint32_t index, enum ptx_writer_loss loss)
{
	return atomic_load(&pool->rings.slot[index].lost[loss]);
}

START_TEST(each_thread_has_a_slot_of_its_own_and_none_is_slot_0)
{
	pool = pool_make(2, false);
	for (uint32_t i = 1; i < 20; i++) {
		uint32_t slot = ptx_slot_claim(&pool->rings, 5, i, 100 + i);

		ck_assert_uint_eq(slot, i);
		ck_assert_uint_eq(atomic_load(&pool->rings.slot[i].pid), 5);
		ck_assert_uint_eq(atomic_load(&pool->rings.slot[i].tid), i);
		ck_assert_uint_eq(atomic_load(&pool->rings.slot[i].thread), 100 + i);
	}
}
END_TEST

/* A thread that has ended keeps its own line while there are unused slots. */
START_TEST(an_ended_threads_slot_keeps_its_counts_until_it_is_needed)
{
	uint32_t slot, heir;

	pool = pool_make(2, false);
	slot = ptx_slot_claim(&pool->rings, 5, 1, 1);
	ptx_ring_count_loss(&pool->rings, PTX_WRITER_NESTING, 70, slot, 3);
	ptx_slot_release(&pool->rings, slot);
	for (uint32_t i = 2; i < pool->rings.geometry.rings; i++)
		ck_assert_uint_eq(ptx_slot_claim(&pool->rings, 5, i, i), i);
	ck_assert_uint_eq(lost(1, PTX_WRITER_NESTING), 3);
	ck_assert_uint_eq(lost(0, PTX_WRITER_NESTING), 0);
	heir = ptx_slot_claim(&pool->rings, 5, 4000, 4000);
	ck_assert_uint_eq(heir & 0xffff, 1);
	ck_assert_uint_eq(heir >> 16, 1);
	ck_assert_uint_eq(lost(1, PTX_WRITER_NESTING), 0);
	ck_assert_uint_eq(lost(0, PTX_WRITER_NESTING), 3);
	/* a thread that still has the old slot in a chunk counts in slot 0 */
	ptx_ring_count_loss(&pool->rings, PTX_WRITER_OVERWRITTEN, 70, slot, 2);
	ck_assert_uint_eq(lost(1, PTX_WRITER_OVERWRITTEN), 0);
	ck_assert_uint_eq(lost(0, PTX_WRITER_OVERWRITTEN), 2);
	ptx_ring_count_loss(&pool->rings, PTX_WRITER_OVERWRITTEN, 70, heir, 2);
	ck_assert_uint_eq(lost(1, PTX_WRITER_OVERWRITTEN), 2);
}
END_TEST

START_TEST(more_threads_at_once_than_slots_share_slot_0)
{
	static uint32_t slots[1100];
	unsigned shared = 0;

	pool = pool_make(2, false);
	for (uint32_t i = 0; i < 1100; i++) {
		slots[i] = ptx_slot_claim(&pool->rings, 5, i + 1, i + 1);
		ptx_ring_count_loss(&pool->rings, PTX_WRITER_STREAM_FULL, 64 + i % 10, slots[i], 1);
		shared += slots[i] == 0;
	}
	ck_assert_uint_eq(shared, 1100 - (pool->rings.geometry.rings - 1));
	ck_assert_uint_eq(lost(0, PTX_WRITER_STREAM_FULL), shared);
	ck_assert_uint_eq(pool_lost(pool, PTX_WRITER_STREAM_FULL), 1100);
	ck_assert_uint_eq(pool_lost_by_slots(pool, PTX_WRITER_STREAM_FULL), 1100);
	ptx_slot_release(&pool->rings, 0); /* no thread can release it */
	ck_assert_uint_eq(ptx_slot_claim(&pool->rings, 5, 1, 1), 0);
	ptx_slot_release(&pool->rings, slots[6]);
	ck_assert_uint_eq(ptx_slot_claim(&pool->rings, 5, 1, 1) & 0xffff, 7);
}
END_TEST

START_TEST(eleven_hundred_threads_one_after_another_need_few_rings_and_lose_nothing)
{
	static struct reader reader;
	struct writer writer;

	pool = pool_make(3, false);
	reader_init(&reader, pool);
	for (uint32_t i = 1; i <= 1100; i++) {
		writer_begin(&writer, pool, i);
		ck_assert(writer_put(&writer, POOL_TYPE, i));
		writer_end(&writer);
		reader_read(&reader);
		ck_assert_uint_eq(reader.n, i);
		ck_assert_uint_eq(reader.seen[i - 1].tid, i);
		ck_assert_uint_eq(reader.seen[i - 1].value, i);
	}
	ck_assert_uint_eq(atomic_load(&pool->rings.region->rings), 1);
	assert_account(&reader);
}
END_TEST

START_TEST(rings_are_numbered_to_their_limit_and_let_the_pool_grow)
{
	static struct writer writers[PTX_RINGS_FEW];
	struct ptx_ident ident = { .tid = 9999 };
	enum ptx_writer_loss loss;
	const struct ptx_geometry *g;
	uint32_t ring, chunks, turns = 0;

	pool = pool_make_planned(8192, 8, false);
	g = &pool->rings.geometry;
	chunks = atomic_load(&pool->rings.region->chunks);
	for (uint32_t i = 0; i < PTX_RINGS_FEW; i++) {
		writer_begin(&writers[i], pool, i + 1);
		ck_assert_uint_eq(writers[i].ring, i);
		/* The first rings have large chunks, and further ones small chunks. */
		ck_assert_uint_eq(atomic_load(&pool->rings.region->chunks),
				  i >= g->few_rings ? g->large + i + 1 - g->few_rings :
				  i < chunks        ? chunks :
						      i + 1);
	}
	pool_assert_counted(pool);
	/* Each ring gets as many further chunks as it may get. Then the stream is full. */
	while (ptx_ring_turn(&pool->rings, &writers[turns % 7].chunk, &writers[turns % 7].ident,
			     &pool_loss))
		turns++;
	ck_assert_uint_gt(turns, PTX_RINGS_FEW);
	ck_assert_uint_eq(atomic_load(&pool->rings.region->chunks), g->chunks_max);
	ck_assert(!ptx_ring_turn(&pool->rings, &writers[0].chunk, &writers[0].ident, &pool_loss));
	ck_assert_int_eq(pool_loss, PTX_WRITER_STREAM_FULL);
	loss = PTX_WRITER_LOSSES;
	ck_assert_ptr_null(ptx_ring_claim(&pool->rings, &ident, &ring, &loss));
	ck_assert_int_eq(loss, PTX_WRITER_NO_SLOT);
	ck_assert_uint_eq(atomic_load(&pool->rings.region->rings), PTX_RINGS_FEW);
	/* a released ring can be acquired, even if its hint is lost */
	writer_end(&writers[500]);
	for (int tier = 0; tier < PTX_TIERS; tier++)
		atomic_store(&pool->rings.region->hints[PTX_HINT_IDLE][tier].head,
			     atomic_load(&pool->rings.region->hints[PTX_HINT_IDLE][tier].tail));
	pool_now += ptx_clock_hz;
	ck_assert_ptr_nonnull(ptx_ring_claim(&pool->rings, &ident, &ring, &loss));
	ck_assert_uint_eq(ring, 500);
	ck_assert_ptr_null(ptx_ring_claim(&pool->rings, &ident, &ring, &loss));
}
END_TEST

/* A thread that is releasing its ring is suspended between its ticket and its entry. */
START_TEST(a_hole_among_the_idle_rings_is_no_reason_for_a_new_number)
{
	struct writer writers[2], third;

	pool = pool_make(16, false);
	writer_begin(&writers[0], pool, 1);
	writer_begin(&writers[1], pool, 2);
	atomic_fetch_add(&pool->rings.region->hints[PTX_HINT_IDLE][0].tail, 1);
	writer_end(&writers[1]);
	writer_begin(&third, pool, 3);
	ck_assert_uint_eq(third.ring, writers[1].ring);
	ck_assert_uint_eq(atomic_load(&pool->rings.region->rings), 2);
}
END_TEST

static bool allow(void *memory, size_t bytes)
{
	(void)memory;
	(void)bytes;
	return true;
}

static bool refuse(void *memory, size_t bytes)
{
	(void)memory;
	(void)bytes;
	return false;
}

/* All initial chunks are in use, and there is no memory for a further chunk. */
START_TEST(a_further_ring_without_memory_is_reported_as_such)
{
	static struct writer writers[PTX_RINGS_BASE];
	struct ptx_ident ident = { .tid = 9999 };
	enum ptx_writer_loss loss;
	uint32_t ring, chunks;

	pool = pool_make_planned(8192, 8, false);
	chunks = pool->rings.geometry.chunks;
	ck_assert_uint_lt(chunks, PTX_RINGS_BASE);
	for (uint32_t i = 0; i < chunks; i++)
		writer_begin(&writers[i], pool, i + 1);
	pool->rings.back = refuse;
	ck_assert_ptr_null(ptx_ring_claim(&pool->rings, &ident, &ring, &loss));
	ck_assert_int_eq(loss, PTX_WRITER_NO_MEMORY);
	pool_assert_counted(pool);
	/* A repeated request uses nothing up: it gets the same chunk when there is memory. */
	ck_assert_ptr_null(ptx_ring_claim(&pool->rings, &ident, &ring, &loss));
	ck_assert_int_eq(loss, PTX_WRITER_NO_MEMORY);
	ck_assert_uint_eq(atomic_load(&pool->rings.region->chunks), chunks + 1);
	ck_assert_uint_eq(atomic_load(&pool->rings.region->rings), chunks + 1);
	pool->rings.back = allow;
	ck_assert_ptr_nonnull(ptx_ring_claim(&pool->rings, &ident, &ring, &loss));
	ck_assert_uint_eq(ring, chunks);
	ck_assert_uint_eq(atomic_load(&pool->rings.region->chunks), chunks + 1);
}
END_TEST

enum { THREADS = 8, ROUNDS = 2000 };

static void *come_and_go(void *argument)
{
	uint32_t tid = 1 + *(uint32_t *)argument;

	for (int i = 0; i < ROUNDS; i++) {
		struct ptx_ident ident = { .pid = 5, .tid = tid };
		enum ptx_writer_loss loss;
		struct ptx_chunk *chunk;
		uint32_t ring;

		ident.slot = ptx_slot_claim(&pool->rings, 5, tid, tid);
		chunk = ptx_ring_claim(&pool->rings, &ident, &ring, &loss);
		if (!chunk)
			return argument;
		/*
		 * No other thread has the ring, so records that are written here remain until it is
		 * released.
		 */
		atomic_store_explicit(&pool->rings.ring[ring].published, tid, memory_order_relaxed);
		ptx_ring_count_loss(&pool->rings, PTX_WRITER_NESTING, 64, ident.slot, 1);
		if (atomic_load_explicit(&pool->rings.ring[ring].published,
					 memory_order_relaxed) != tid)
			return argument;
		/* Another round in this chunk. */
		atomic_store_explicit(&chunk->head, 0, memory_order_relaxed);
		ptx_ring_release(&pool->rings, ring);
		ptx_slot_release(&pool->rings, ident.slot);
	}
	return NULL;
}

START_TEST(threads_that_come_and_go_at_once_never_share_a_ring)
{
	pthread_t threads[THREADS];
	uint32_t numbers[THREADS];
	void *bad;

	pool = pool_make_planned(8192, 8, false);
	for (uint32_t i = 0; i < THREADS; i++) {
		numbers[i] = i;
		ck_assert_int_eq(pthread_create(&threads[i], NULL, come_and_go, &numbers[i]), 0);
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		ck_assert_int_eq(pthread_join(threads[i], &bad), 0);
		ck_assert_ptr_null(bad);
	}
	ck_assert_uint_eq(pool_lost(pool, PTX_WRITER_NESTING), THREADS * ROUNDS);
	ck_assert_uint_eq(pool_lost_by_slots(pool, PTX_WRITER_NESTING), THREADS * ROUNDS);
}
END_TEST

SUITE_MAIN("ring: slots and rings",
	   each_thread_has_a_slot_of_its_own_and_none_is_slot_0,
	   an_ended_threads_slot_keeps_its_counts_until_it_is_needed,
	   more_threads_at_once_than_slots_share_slot_0,
	   eleven_hundred_threads_one_after_another_need_few_rings_and_lose_nothing,
	   rings_are_numbered_to_their_limit_and_let_the_pool_grow,
	   a_hole_among_the_idle_rings_is_no_reason_for_a_new_number,
	   a_further_ring_without_memory_is_reported_as_such,
	   threads_that_come_and_go_at_once_never_share_a_ring)
