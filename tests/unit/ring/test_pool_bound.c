/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The largest memory of a stream whose threads rest alive, made on purpose. Some threads keep an
 * open large chunk with old events. Each of the others keeps two small chunks with one event each
 * that is still needed: the last event of a closed chunk, and the first event of the open chunk.
 * One more thread records the stream's size in events of which only one fits into a small chunk.
 *
 * The bound is the one of posix_trace_attr_setstreamsize(3). DESIGN 7 derives it.
 */
#include <stdlib.h>
#include <string.h>

#include "record/attr.h"
#include "support/support.h"
#include "unit/ring/pool.h"

#define KIB    ((size_t)1024)
#define PAGE   4096u
#define SLACK  (256 * KIB)
#define TABLE  640u /* bytes of the tables of a thread */
#define LITTLE 32u  /* bytes of a small record */

enum { MOST_THREADS = 1000, SIZES = 4, DATA = 4, THREADS = 2, SHAPES = 3 };
enum { CASES = SIZES * DATA * THREADS * SHAPES * 2 };

static const size_t sizes[SIZES] = { 64 * KIB, 1024 * KIB, 16384 * KIB, 65536 * KIB };
static const size_t data_sizes[DATA] = { 64, 1024, 4096, 8192 };
static const unsigned thread_counts[THREADS] = { 100, MOST_THREADS };

static struct pool *pool;
static struct writer writers[MOST_THREADS], busy;
static struct ptx_place places[MOST_THREADS];
static unsigned char *buffer;
/* a byte for each page of the region that was made present */
static unsigned char present[1 << 20];

static bool mark_present(void *arg, size_t at, size_t bytes)
{
	(void)arg;
	for (size_t page = at / PAGE; page <= (at + bytes - 1) / PAGE; page++)
		present[page] = 1;
	return true;
}

static bool back(void *memory, size_t bytes)
{
	return mark_present(NULL, (size_t)((unsigned char *)memory - (unsigned char *)pool->memory),
			    bytes);
}

static size_t memory(void)
{
	size_t pages = 0;

	for (size_t i = 0; i < pool->bytes / PAGE; i++)
		pages += present[i];
	return pages * PAGE;
}

static void begin(size_t stream_size, size_t max_data_size, bool loop)
{
	const struct ptx_geometry *g;

	pool = pool_make_planned(stream_size, max_data_size, loop);
	pool->young = true;
	pool->rings.back = back;
	g = &pool->rings.geometry;
	ck_assert_uint_le(pool->bytes, sizeof present * PAGE);
	memset(present, 0, sizeof present);
	ptx_ring_first_tables(g, mark_present, NULL);
	if (g->present)
		mark_present(NULL, g->chunks_at, g->present * g->chunk_bytes);
	memset(places, 0, sizeof places);
	free(buffer);
	buffer = malloc(g->chunk_room);
	ck_assert_ptr_nonnull(buffer);
}

/* In a stream that is not LOOP, the reader claims all events of the thread. */
static void claim_all(unsigned i)
{
	struct ptx_reader reader = { .rings = &pool->rings, .ring = writers[i].ring,
				     .buffer = buffer, .place = places[i] };

	if (pool->rings.loop)
		return;
	while (ptx_ring_take(&reader) == PTX_CLAIM_BYTES)
		;
	places[i] = reader.place;
}

/* Returns the room of the chunk that is open in the thread's ring. */
static size_t room_of(const struct writer *writer)
{
	uint64_t current = atomic_load(&pool->rings.ring[writer->ring].current);

	return ptx_ring_room_of(&pool->rings.geometry, ptx_link_number(current));
}

/* Records until the open chunk is a large one, if the thread can get one. */
static void open_large(unsigned i)
{
	const struct ptx_geometry *g = &pool->rings.geometry;

	for (int n = 0; n < 4 && (n == 0 || room_of(&writers[i]) < g->chunk_room); n++)
		writer_record(&writers[i], g->record_max);
	claim_all(i);
}

/* Fills the open chunk up to the place of one small record. */
static void leave_one(unsigned i)
{
	const struct writer *writer = &writers[i];
	const size_t room = room_of(writer);

	while (ptx_head_offset(atomic_load(&writer->chunk->head)) + 2 * LITTLE <= room)
		if (!writer_record(&writers[i], LITTLE))
			break;
	claim_all(i);
}

/* Returns the size of a record of which only one fits into a small chunk. */
static size_t half_size(void)
{
	return (pool->rings.geometry.small_room / 2 + 8) & ~(size_t)7;
}

/*
 * Records events of which only one fits into a small chunk: more than the stream promises to keep,
 * or until the stream is full.
 */
static void record_much(void)
{
	const size_t size = half_size();

	for (size_t sum = 0; sum < 2 * pool->rings.geometry.capacity; sum += size)
		if (!writer_record(&busy, size))
			break;
}

/* Makes the threads rest in the states that the comment at the top describes. */
static void rest_all(unsigned threads, unsigned keep_large)
{
	for (unsigned i = 0; i < threads; i++) {
		writer_begin(&writers[i], pool, i + 1);
		if (i < keep_large)
			open_large(i);
	}
	for (unsigned i = keep_large; i < threads; i++)
		leave_one(i);
	writer_begin(&busy, pool, threads + 1);
	if (pool->rings.loop)
		record_much(); /* the earlier events are old */
	for (unsigned i = keep_large; i < threads; i++)
		for (int n = 0; n < 2; n++)
			writer_record(&writers[i], LITTLE);
}

/* No, half or all of the threads keep a large chunk. */
START_TEST(the_memory_of_threads_that_rest_has_a_bound)
{
	const size_t size = sizes[_i / 2 / SHAPES / THREADS / DATA];
	const size_t data = data_sizes[_i / 2 / SHAPES / THREADS % DATA];
	const unsigned threads = thread_counts[_i / 2 / SHAPES % THREADS];
	const unsigned keep_large = threads * (unsigned)(_i / 2 % SHAPES) / 2;
	size_t largest, asked, allowed;

	/* These cases need too much time: the streams have tens of thousands of small chunks. */
	if (size > 1024 * KIB && data < 1024)
		return;
	begin(size, data, _i % 2);
	rest_all(threads, keep_large);
	record_much();
	largest = pool->rings.geometry.record_max + PTX_IDENT_RECORD_BYTES;
	asked = size > 2 * largest ? size : 2 * largest;
	allowed = asked * 56 / 10 + SLACK + (threads + 1) * (largest * 21 / 10 + TABLE);
	ck_assert_uint_le(memory(), allowed);
}
END_TEST

/*
 * A stream that is not LOOP searches all chunks before its pool grows. One search serves many
 * chunks. Each search stores region->grows_until.
 */
START_TEST(one_search_serves_many_chunks_of_the_growth)
{
	struct ptx_region *region;
	uint32_t chunks, until, searches = 0;

	begin(1024 * KIB, 64, false);
	region = pool->rings.region;
	rest_all(MOST_THREADS, 0);
	chunks = atomic_load(&region->chunks);
	until = atomic_load(&region->grows_until);
	while (writer_record(&busy, half_size())) {
		searches += atomic_load(&region->grows_until) != until;
		until = atomic_load(&region->grows_until);
	}
	ck_assert_int_eq(pool_loss, PTX_WRITER_STREAM_FULL);
	chunks = atomic_load(&region->chunks) - chunks;
	ck_assert_uint_gt(chunks, 1000);
	ck_assert_uint_lt(16 * searches, chunks);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("ring/pool_bound");
	TCase *growth = tcase_create("growth"), *bound = tcase_create("bound");

	suite_add_tcase(s, growth);
	tcase_add_test(growth, one_search_serves_many_chunks_of_the_growth);
	suite_add_tcase(s, bound);
	tcase_set_timeout(bound, 60);
	tcase_add_loop_test(bound, the_memory_of_threads_that_rest_has_a_bound, 0, CASES);
	return s;
}

SUITE_MAIN_OF(suite)
