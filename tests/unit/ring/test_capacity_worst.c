/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The worst case of the proof in ring_layout.c, made on purpose. Every ring has as many nearly
 * empty chunks as possible, and every other chunk is closed as early as possible. Then the test
 * writes exactly the size that the stream promises. The pool grows before it overwrites, because
 * the promise does not need the spare chunks of spare.c.
 */
#include <errno.h>

#include "record/attr.h"
#include "support/support.h"
#include "unit/ring/pool.h"

enum { MOST_RINGS = 40 };

static const struct plan {
	size_t stream_size, max_data_size;
} plans[] = { { 1 << 20, 8 }, { PTX_ATTR_STREAM_SIZE, PTX_ATTR_MAX_DATA_SIZE }, { 300000, 3000 },
	      { 300000, 6000 } };

/*
 * The chunks of the last plan have room for exactly two of the largest records. In such a chunk, a
 * rest that is smaller than one record fits into the part beyond the useful bytes, so one chunk
 * less can be enough.
 */
enum { PLANS = 4, EXACT_PLANS = 3 };

/*
 * In these plans, a chunk has room for one of the largest records, and for more if they are
 * smaller. In the other plans, the streams have many rings, and the large chunks are of no use.
 * There the sizes that the attributes compute exceed those of small records by so much that fewer
 * chunks are enough.
 */
static const struct plan tight_plans[] = {
	{ 300000, 16000 }, { 1, 90000 }, { 1000000, 90000 },
	{ 300000, 8 }, { PTX_ATTR_STREAM_SIZE, PTX_ATTR_MAX_DATA_SIZE }, { 300000, 3000 }
};
enum { TIGHT_PLANS = 6, EXACT_TIGHT_PLANS = 3 };

/* A way to reach the worst case. _i counts through all ways. */
struct way {
	struct plan plan;
	unsigned rings;
	bool loop;
	bool wasted; /* in each chunk, a thread ends behind its IDENT record */
};
enum { WAYS_OF_A_PLAN = 3 * 2 * 2 };

static struct way way_of(int i)
{
	const unsigned plan = (unsigned)i / WAYS_OF_A_PLAN;
	struct way way = { plans[plan], 1, i / 3 % 2, i / 6 % 2 };
	struct ptx_geometry g;

	/* One ring, some rings, or all rings have large chunks. */
	OK(ptx_ring_plan(way.plan.stream_size, way.plan.max_data_size, PTX_RINGS_FEW, &g));
	if (i % 3)
		way.rings = i % 3 == 1 ? g.few_rings / 2 : g.few_rings;
	way.rings = way.rings < MOST_RINGS ? way.rings : MOST_RINGS;
	return way;
}

static struct pool *pool;
static const struct ptx_geometry *geometry;
static struct reader reader;
static struct writer writers[MOST_RINGS]; /* the first writer is the one that fills the stream */
static size_t held; /* bytes of the events that must remain, by their computed sizes */

static const size_t smallest = sizeof(struct ptx_record);

/* Returns the size of an event as the attributes compute it. */
static size_t computed(size_t size)
{
	return PTX_IDENT_RECORD_BYTES + size;
}

/* Returns false if there is no chunk. */
static bool put(struct writer *writer, size_t size)
{
	struct ptx_rings *rings = &pool->rings;
	struct ptx_record *record;
	uint64_t head;

	record = ptx_ring_prepare(rings, writer->chunk, size, &head);
	if (!record) {
		if (!ptx_ring_turn(rings, &writer->chunk, &writer->ident, &pool_loss))
			return false;
		record = ptx_ring_prepare(rings, writer->chunk, size, &head);
	}
	ptx_record_fill(record, (uint32_t)(size - sizeof *record), POOL_TYPE, 0);
	ptx_ring_stamp(writer->chunk, head);
	ptx_ring_publish(writer->chunk, record, head, size, ptx_clock_now());
	held += computed(size);
	return true;
}

static size_t room_left(const struct writer *writer)
{
	return ptx_ring_whole_room(&pool->rings, writer->chunk) -
	       ptx_head_offset(atomic_load(&writer->chunk->head));
}

/* Records until no event fits, or until only `but` events fit. */
static void fill_chunk(struct writer *writer, size_t but)
{
	while (room_left(writer) >= (1 + but) * smallest)
		ck_assert(put(writer, smallest));
}

/* Another thread continues in the ring. */
static void next_thread(struct writer *writer)
{
	writer->ident.tid++;
	ck_assert(ptx_ring_identify(&pool->rings, &writer->chunk, &writer->ident, &pool_loss));
}

/*
 * Puts events of as many threads as possible into the chunk, until the IDENT record of another
 * thread and the largest record do not fit. The chunk then has `useful` bytes, by the computed
 * sizes of its events. If no IDENT record was wasted, it has one IDENT record more.
 */
static void fill_early(struct writer *writer, bool wasted)
{
	size_t idents = (wasted ? 2 : 1) * PTX_IDENT_RECORD_BYTES;

	for (;;) {
		size_t left = room_left(writer) - idents - (geometry->record_max - 8),
		       size = smallest;

		if (left == 0)
			break;
		if (left < 2 * computed(smallest))
			size = left - PTX_IDENT_RECORD_BYTES;
		if (held + computed(size) + computed(smallest) > geometry->capacity)
			return;
		next_thread(writer);
		ck_assert(put(writer, size));
	}
	if (wasted)
		next_thread(writer);
	next_thread(writer);
}

/* Sets the number of chunks of the pool, or lets it grow to this number. */
static void leave_chunks(unsigned chunks, unsigned rings)
{
	unsigned have = geometry->chunks_max - pool_chunks_in(pool, PTX_CHUNK_ABSENT);
	unsigned most = ptx_ring_most_chunks(geometry, rings);

	ck_assert_msg(most >= chunks, "the proof needs %u chunks, and there are %u", chunks, most);
	pool->rings.geometry.chunks_max = atomic_load(&pool->rings.region->chunks) +
					  (have < chunks ? chunks - have : 0);
	if (have < chunks)
		return;
	for (uint32_t i = 0; i < geometry->chunks_max && have > chunks; i++)
		if (ptx_word_state(atomic_load(&pool->rings.word[i])) == PTX_CHUNK_FREE) {
			atomic_store(&pool->rings.word[i], POOL_NO_CHUNK);
			atomic_fetch_sub(&pool->rings.region->free_chunks, 1);
			have--;
		}
	ck_assert_uint_eq(have, chunks);
}

/* A reader that reads once. */
static void read_once(unsigned ring)
{
	ck_assert_int_eq(reader_take(&reader, ring), PTX_CLAIM_BYTES);
	reader.n = 0;
}

/* Makes the free large chunks unavailable, as if rings that rest had them. */
static void drop_large(void)
{
	for (uint32_t i = 0; i < geometry->large; i++)
		if (ptx_word_state(atomic_load(&pool->rings.word[i])) == PTX_CHUNK_FREE) {
			atomic_store(&pool->rings.word[i], POOL_NO_CHUNK);
			atomic_fetch_sub(&pool->rings.region->free_chunks, 1);
		}
}

/* Lets the pool grow to this number of small chunks. */
static void leave_small(unsigned chunks, unsigned rings)
{
	unsigned most = ptx_ring_most_chunks(geometry, rings) - geometry->large;

	ck_assert_msg(most >= chunks, "the proof needs %u chunks, and there are %u", chunks, most);
	ck_assert_uint_le(atomic_load(&pool->rings.region->chunks), geometry->large + chunks);
	pool->rings.geometry.chunks_max = geometry->large + chunks;
}

/*
 * Gives every ring a chunk that has no event that counts, or one event that is read or will be
 * below the cut.
 */
static void begin(const struct way *way, uint32_t few)
{
	pool = pool_make_many(way->plan.stream_size, way->plan.max_data_size, way->loop, few);
	pool->young = true;
	pool->rings.geometry.memory = SIZE_MAX / 2;
	geometry = &pool->rings.geometry;
	reader_init(&reader, pool);
	for (unsigned i = 0; i < way->rings; i++)
		writer_begin(&writers[i], pool, 1000000 * (i + 1));
	if (!geometry->is_tight && way->rings > geometry->few_rings)
		drop_large();
	for (unsigned i = 1; i < way->rings; i++) {
		fill_chunk(&writers[i], i % 2);
		if (!way->loop || i % 3 == 0)
			read_once(writers[i].ring);
	}
	fill_chunk(&writers[0], 0);
	if (!way->loop)
		read_once(writers[0].ring);
	/* The last event of a LOOP stream must not be lost. */
	held = way->loop ? computed(smallest) : 0;
}

/* Returns false if an event is lost that the promise covers. */
static bool fill_stream(const struct way *way, unsigned chunks)
{
	struct writer *writer = &writers[0];
	size_t rest;

	begin(way, PTX_RINGS);
	leave_chunks(chunks, way->rings);
	ck_assert(put(writer, geometry->record_max));
	for (unsigned i = 1; i < way->rings; i++) {
		if (i % 2)
			ck_assert(put(&writers[i], smallest)); /* above the cut, or unread */
		ck_assert(put(&writers[i], smallest));         /* in its next chunk */
	}
	fill_early(writer, way->wasted);
	while (held + computed(geometry->record_max) + computed(smallest) <= geometry->capacity) {
		if (!put(writer, geometry->record_max))
			return false;
		fill_early(writer, way->wasted);
	}
	while ((rest = geometry->capacity - held) > 0)
		if (!put(writer,
			 rest < 2 * computed(smallest) ? rest - PTX_IDENT_RECORD_BYTES : smallest))
			return false;
	return atomic_load(&pool->rings.region->cut) == 0 &&
	       pool_lost(pool, PTX_WRITER_OVERWRITTEN) == 0;
}

/* N + 2 R - 1, in the terms of ring_layout.c. */
static unsigned needed(const struct way *way)
{
	struct ptx_geometry g;

	OK(ptx_ring_plan(way->plan.stream_size, way->plan.max_data_size, PTX_RINGS_FEW, &g));
	return g.required + 2 * way->rings - 1;
}

/* SIZE-10 */
START_TEST(in_the_worst_case_all_that_was_promised_is_there)
{
	struct way way = way_of(_i);

	ck_assert(fill_stream(&way, needed(&way)));
	ck_assert_uint_eq(held, geometry->capacity);
	ck_assert_uint_eq(pool_chunks_in(pool, PTX_CHUNK_FREE), 0);
}
END_TEST

/*
 * One chunk less is not enough. So this is the worst case, and the numbers of the proof are not
 * larger than necessary.
 */
START_TEST(with_one_chunk_less_than_the_proof_needs_something_is_lost)
{
	struct way way = way_of(_i);

	ck_assert(!fill_stream(&way, needed(&way) - 1));
}
END_TEST

/* N + 3 R - 2, in the terms of ring_layout.c. */
static unsigned needed_of_tight(const struct way *way)
{
	struct ptx_geometry g;

	OK(ptx_ring_plan(way->plan.stream_size, way->plan.max_data_size, PTX_RINGS_FEW, &g));
	if (g.is_tight)
		return g.required + 3 * way->rings - 2;
	return (unsigned)((2 * g.capacity + g.small_room - 1) / g.small_room) + 3 * way->rings - 2;
}

static struct way tight_way_of(int i)
{
	/*
	 * 30 rings are many where 1 is few, and three times 30 is more than the chunks of the size.
	 */
	static const unsigned rings[] = { 30, 35, MOST_RINGS };
	const unsigned plan = (unsigned)i / 6;
	struct way way = { tight_plans[plan], rings[i % 3], i / 3 % 2, false };

	return way;
}

/* The thread is killed between the change of chunks and its record. */
static void turn_and_die(struct writer *writer)
{
	ck_assert(ptx_ring_turn(&pool->rings, &writer->chunk, &writer->ident, &pool_loss));
}

/*
 * Gives every ring a chunk whose events do not count, a chunk with a small event and a chunk
 * without an event. Then one ring gets chunks that have alternately the least possible and the
 * largest record, which did not fit before. Returns false if an event is lost that the promise
 * covers.
 */
static bool fill_tight_stream(const struct way *way, unsigned chunks)
{
	const size_t small = geometry->small_room - geometry->record_max + 8;
	struct writer *writer = &writers[0];

	if (geometry->is_tight)
		leave_chunks(chunks, way->rings);
	else
		leave_small(chunks, way->rings);
	ck_assert(put(writer, small));
	for (unsigned i = 1; i < way->rings; i++) {
		if (i % 2)
			ck_assert(put(&writers[i], smallest)); /* above the cut, or unread */
		ck_assert(put(&writers[i], smallest));         /* in its next chunk */
		turn_and_die(&writers[i]);
	}
	for (bool large = true; held + computed(small) <= geometry->capacity; large = !large) {
		size_t size = large ? geometry->record_max : small;

		if (held + computed(size) > geometry->capacity)
			size = small;
		if (!put(writer, size))
			return false;
	}
	return atomic_load(&pool->rings.region->cut) == 0;
}

/* SIZE-10 */
START_TEST(in_the_worst_case_of_tight_chunks_all_that_was_promised_is_there)
{
	struct way way = tight_way_of(_i);

	begin(&way, 1);
	ck_assert(fill_tight_stream(&way, needed_of_tight(&way)));
}
END_TEST

START_TEST(with_fewer_tight_chunks_something_is_lost)
{
	struct way way = tight_way_of(_i);

	begin(&way, 1);
	ck_assert(!fill_tight_stream(&way, needed_of_tight(&way) - 2));
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("ring: the worst case of its capacity", &tc);

	tcase_add_loop_test(tc, in_the_worst_case_all_that_was_promised_is_there, 0,
			     PLANS * WAYS_OF_A_PLAN);
	tcase_add_loop_test(tc, with_one_chunk_less_than_the_proof_needs_something_is_lost, 0,
			     EXACT_PLANS * WAYS_OF_A_PLAN);
	tcase_add_loop_test(tc, in_the_worst_case_of_tight_chunks_all_that_was_promised_is_there, 0,
			     TIGHT_PLANS * 3 * 2);
	tcase_add_loop_test(tc, with_fewer_tight_chunks_something_is_lost, 0,
			     EXACT_TIGHT_PLANS * 3 * 2);
	return s;
}

SUITE_MAIN_OF(suite)
