/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/ring/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "record/attr.h"
#include "support/support.h"

_Atomic uint64_t pool_now;
enum ptx_writer_loss pool_loss;

uint64_t __wrap_ptx_clock_shared(void);

uint64_t __wrap_ptx_clock_shared(void)
{
	return ++pool_now;
}

static bool back(void *memory, size_t bytes)
{
	(void)memory;
	(void)bytes;
	return true;
}

static struct pool *make(const struct ptx_geometry *geometry, size_t max_data_size, bool loop)
{
	static struct pool pool;

	if (pool.memory)
		munmap(pool.memory, pool.bytes);
	memset(&pool, 0, sizeof pool);
	pool.bytes = geometry->bytes;
	pool.memory = mmap(NULL, pool.bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ck_assert_ptr_ne(pool.memory, MAP_FAILED);
	ptx_ring_view(&pool.rings, pool.memory, geometry, max_data_size, loop);
	pool.rings.back = back;
	pool_now = 1000;
	return &pool;
}

static void start_short_of_wrap(struct ptx_hints *hints)
{
	atomic_store(&hints->head, UINT64_MAX - 2);
	atomic_store(&hints->tail, UINT64_MAX - 2);
}

static uint32_t mask_for(uint32_t chunks)
{
	uint32_t mask = 1;

	while (mask + 1 < chunks)
		mask = 2 * mask + 1;
	return mask;
}

struct pool *pool_make(uint32_t chunks, bool loop)
{
	struct ptx_geometry geometry;
	struct pool *pool;

	OK(ptx_ring_plan(1, sizeof(uint64_t), PTX_RINGS_FEW, &geometry));
	geometry.chunk_room = POOL_ROOM;
	geometry.chunk_bytes = sizeof(struct ptx_chunk) + POOL_ROOM;
	geometry.record_max = POOL_ROOM;
	geometry.chunks = geometry.chunks_max = geometry.required = geometry.present = chunks;
	geometry.near_chunks = geometry.large = chunks;
	geometry.few_rings = geometry.rings;
	geometry.is_tight = false;
	geometry.far_bytes = 0;
	for (int kind = 0; kind < PTX_HINTS; kind++)
		for (int tier = 0; tier < PTX_TIERS; tier++)
			geometry.hint_last[kind][tier] = mask_for(chunks);
	pool = make(&geometry, sizeof(uint64_t), loop);
	for (int kind = 0; kind < PTX_HINTS; kind++)
		for (int tier = 0; tier < PTX_TIERS; tier++)
			start_short_of_wrap(&pool->rings.region->hints[kind][tier]);
	ptx_ring_init(&pool->rings);
	for (uint32_t i = 0; i < chunks; i++)
		atomic_store(&pool->rings.word[i],
			     ptx_chunk_word(POOL_GENERATION, 0, PTX_CHUNK_FREE));
	return pool;
}

struct pool *pool_make_planned(size_t stream_size, size_t max_data_size, bool loop)
{
	struct ptx_geometry geometry;
	struct pool *pool;

	OK(ptx_ring_plan(stream_size, max_data_size, PTX_RINGS_FEW, &geometry));
	pool = make(&geometry, max_data_size, loop);
	ptx_ring_init(&pool->rings);
	return pool;
}

struct pool *pool_make_many(size_t stream_size, size_t max_data_size, bool loop, uint32_t few)
{
	struct pool *pool = pool_make_planned(stream_size, max_data_size, loop);
	struct ptx_geometry *g = &pool->rings.geometry;

	if (!g->is_tight && few < g->few_rings) {
		g->few_rings = few;
		g->tier_rings[0] = few;
	}
	return pool;
}

unsigned pool_chunks_in(const struct pool *pool, enum ptx_chunk_state state)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < pool->rings.geometry.chunks_max; i++)
		n += ptx_word_state(atomic_load(&pool->rings.word[i])) == state;
	return n;
}

uint64_t pool_lost(const struct pool *pool, enum ptx_writer_loss loss)
{
	uint64_t sum = 0;

	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		sum += atomic_load(&pool->rings.region->lost_type[loss][type]);
	return sum;
}

uint64_t pool_lost_by_slots(const struct pool *pool, enum ptx_writer_loss loss)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < pool->rings.geometry.rings; i++)
		sum += atomic_load(&pool->rings.slot[i].lost[loss]);
	return sum;
}

uint64_t pool_published(const struct pool *pool)
{
	struct ptx_rings rings = pool->rings;

	return ptx_ring_published(&rings) - pool->claims * POOL_PUBLISHED;
}

void pool_assert_counted(const struct pool *pool)
{
	ck_assert_uint_eq(atomic_load(&pool->rings.region->free_chunks),
			  pool_chunks_in(pool, PTX_CHUNK_FREE));
}

void pool_assert_counted_after(const struct pool *pool, unsigned jumps)
{
	uint32_t counted = atomic_load(&pool->rings.region->free_chunks);

	ck_assert_uint_ge(counted, pool_chunks_in(pool, PTX_CHUNK_FREE));
	ck_assert_uint_le(counted, pool_chunks_in(pool, PTX_CHUNK_FREE) + jumps);
}

void writer_begin(struct writer *writer, struct pool *pool, uint32_t tid)
{
	enum ptx_writer_loss loss;

	memset(writer, 0, sizeof *writer);
	writer->pool = pool;
	writer->ident.pid = 7;
	writer->ident.tid = tid;
	writer->ident.thread = 1000 + tid;
	writer->ident.slot = ptx_slot_claim(&pool->rings, 7, tid, 1000 + tid);
	writer->chunk = ptx_ring_claim(&pool->rings, &writer->ident, &writer->ring, &loss);
	ck_assert_ptr_nonnull(writer->chunk);
	if (!pool->young && atomic_load(&pool->rings.ring[writer->ring].published) == 0 &&
	    atomic_load(&writer->chunk->head) == 0) {
		atomic_store(&pool->rings.ring[writer->ring].published, POOL_PUBLISHED);
		writer->chunk->ident.before = (uint32_t)POOL_PUBLISHED;
		pool->claims++;
	}
}

bool writer_put(struct writer *writer, unsigned type, uint64_t value)
{
	struct ptx_rings *rings = &writer->pool->rings;
	struct ptx_record *record;
	uint64_t head;

	record = ptx_ring_prepare(rings, writer->chunk, POOL_RECORD, &head);
	if (!record) {
		if (!ptx_ring_turn(rings, &writer->chunk, &writer->ident, &pool_loss)) {
			ptx_ring_count_loss(rings, PTX_WRITER_STREAM_FULL, type,
					    writer->ident.slot, 1);
			return false;
		}
		record = ptx_ring_prepare(rings, writer->chunk, POOL_RECORD, &head);
		if (!record)
			return false; /* never happens: a record fits in an empty chunk */
	}
	ptx_record_fill(record, sizeof value, type, 0);
	ptx_copy_in((unsigned char *)(record + 1), (const unsigned char *)&value, sizeof value);
	ptx_ring_stamp(writer->chunk, head);
	ptx_ring_publish(writer->chunk, record, head, POOL_RECORD, ptx_clock_now());
	return true;
}

bool writer_record(struct writer *writer, size_t size)
{
	struct ptx_rings *rings = &writer->pool->rings;
	struct ptx_record *record;
	uint64_t head, end;

	record = ptx_ring_prepare(rings, writer->chunk, size, &head);
	end = ptx_head_offset(head) + size;
	if (record && ptx_ring_extend(rings, writer->chunk, end, &pool_loss) < end) {
		if (ptx_head_offset(head) == 0)
			return false;
		record = NULL;
	}
	if (!record) {
		if (!ptx_ring_turn(rings, &writer->chunk, &writer->ident, &pool_loss))
			return false;
		record = ptx_ring_prepare(rings, writer->chunk, size, &head);
		end = ptx_head_offset(head) + size;
		if (ptx_ring_extend(rings, writer->chunk, end, &pool_loss) < end)
			return false;
	}
	ptx_record_fill(record, (uint32_t)(size - sizeof *record), POOL_TYPE, 0);
	ptx_ring_stamp(writer->chunk, head);
	ptx_ring_publish(writer->chunk, record, head, size, ptx_clock_now());
	return true;
}

void writer_put_many(struct writer *writer, uint64_t first, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		ck_assert(writer_put(writer, POOL_TYPE, first + i));
}

void writer_end(struct writer *writer)
{
	ptx_ring_release(&writer->pool->rings, writer->ring);
	ptx_slot_release(&writer->pool->rings, writer->ident.slot);
}

void writer_mend(struct writer *writer)
{
	writer->chunk = ptx_ring_mend(&writer->pool->rings, writer->ring);
}

void reader_init(struct reader *reader, struct pool *pool)
{
	memset(reader, 0, sizeof *reader);
	reader->pool = pool;
	for (unsigned ring = 0; ring < POOL_RINGS; ring++)
		reader->records[ring] = (uint32_t)POOL_PUBLISHED;
}

static void note(struct reader *reader, uint32_t ring, const unsigned char *bytes, uint32_t length)
{
	uint32_t records, counted = 0;
	uint64_t last, time = 0;

	ck_assert_uint_eq(ptx_records_check(&reader->pool->rings, bytes, length, &records, &last),
			  length);
	for (uint32_t at = 0; at < length;) {
		const struct ptx_record *record = (const void *)(bytes + at);
		size_t len = ptx_record_len(record->len_flags);
		struct seen *seen = &reader->seen[reader->n];

		time = record->time;
		at += (uint32_t)ptx_record_size(len);
		if (record->len_flags & PTX_RECORD_IDENT) {
			memcpy(&reader->ident[ring], record + 1, sizeof reader->ident[ring]);
			continue;
		}
		counted++;
		if (reader->n == POOL_SEEN)
			ck_abort_msg("more was read than there is room for");
		reader->n++;
		memcpy(&seen->value, record + 1,
		       len < sizeof seen->value ? len : sizeof seen->value);
		seen->time = record->time;
		seen->type = record->type;
		seen->tid = reader->ident[ring].tid;
	}
	ck_assert_uint_eq(counted, records);
	reader->records[ring] += records;
	ck_assert_uint_eq(time, last);
}

enum ptx_claim reader_take(struct reader *reader, uint32_t ring)
{
	unsigned char *bytes = malloc(reader->pool->rings.geometry.chunk_room);
	struct ptx_reader one = { .rings = &reader->pool->rings, .ring = ring, .buffer = bytes,
				  .place = reader->place[ring] };
	enum ptx_claim got = ptx_ring_take(&one);

	reader->place[ring] = one.place;
	if (got == PTX_CLAIM_BYTES) {
		if (one.fresh)
			reader->ident[ring] = one.ident;
		note(reader, ring, bytes, one.bytes);
	}
	free(bytes);
	return got;
}

void reader_find(struct reader *reader, uint32_t ring)
{
	uint32_t before;

	ck_assert(ptx_ring_find(&reader->pool->rings, ring, &reader->place[ring], &before));
	/* The difference of the ring's own counter is the number of skipped records. */
	reader->missed += before - reader->records[ring];
	reader->records[ring] = before;
}

void reader_read_ring(struct reader *reader, uint32_t ring)
{
	for (;;) {
		switch (reader_take(reader, ring)) {
		case PTX_CLAIM_NOTHING:
			return;
		case PTX_CLAIM_LOST:
			reader_find(reader, ring);
			break;
		case PTX_CLAIM_BYTES:
			break;
		}
	}
}

void reader_read(struct reader *reader)
{
	uint32_t rings = atomic_load(&reader->pool->rings.region->rings);

	for (uint32_t ring = 0; ring < rings && ring < POOL_RINGS; ring++)
		reader_read_ring(reader, ring);
}

void assert_seen(const struct reader *reader, uint32_t tid, uint64_t first, uint64_t last)
{
	uint64_t value = first;

	for (unsigned i = 0; i < reader->n; i++)
		if (reader->seen[i].tid == tid)
			ck_assert_uint_eq(reader->seen[i].value, value++);
	ck_assert_uint_eq(value, last + 1);
}

void assert_account(const struct reader *reader)
{
	const struct pool *pool = reader->pool;

	ck_assert_uint_eq(pool_published(pool),
			  reader->n + pool_lost(pool, PTX_WRITER_OVERWRITTEN));
	ck_assert_uint_eq(reader->missed, pool_lost(pool, PTX_WRITER_OVERWRITTEN));
	for (int loss = 0; loss < PTX_WRITER_ROWS; loss++)
		ck_assert_uint_eq(pool_lost(pool, (enum ptx_writer_loss)loss),
				  pool_lost_by_slots(pool, (enum ptx_writer_loss)loss));
}
