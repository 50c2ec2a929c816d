/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/ring_layout.c - how large a region is and where its parts lie.
 *
 * The promise (SIZE-10): events whose computed maximum sizes add up to no more than the stream
 * size are all recorded. A writer fails, or overwrites, only when every chunk is taken. Let R be
 * the number of rings. A chunk that is no ring's open one was closed because the next record, with an
 * IDENT record before it, did not fit: it holds at least
 *
 *	useful = room - (largest record + IDENT record - 8)
 *
 * bytes of events, and so does the open one of the writer who needs another. Less is in
 *
 *	1. the open chunks of the other rings, R - 1;
 *	2. of each ring, the chunk that was open when the reader last came by, if he has claimed part
 *	   of it; or, in a LOOP stream, the one that was open when X was closed, the chunk that is to
 *	   be overwritten: its records may be below the cut. It is one chunk and not two. Chunks
 *	   are overwritten in the order in which they were closed, so the ring has none left from
 *	   before; and what the reader claims is the ring's oldest chunk, so he has freed that one
 *	   if he is beyond it. R, X's ring among them: what X's ring has open is counted above, and
 *	   instead of another one there is X.
 *
 * So a stream that is full has P - (2 R - 1) chunks with `useful` bytes each that nobody has read and
 * that are above the cut. With N = ceil(size / useful) and P = N + 2 R - 1 these, and the event that
 * finds no room or is overwritten, are more than the promise. There are N + 3 R + 2: R + 3 that the
 * proof has no use for but one: who dies between a chunk of a LOOP stream and its hint takes the chunk
 * out of the order, until it is found (ring_write.c). R is not known beforehand: the pool is made for
 * PTX_BASE_RINGS, and each ring beyond them brings PTX_RING_CHUNKS of its own, where two would do.
 *
 * What `useful` sets off for an IDENT record pays for one in each chunk that no event follows: its
 * thread was killed, or left by a jump, before its record was there. All others are paid for by the
 * events, whose computed sizes have room for an IDENT record each.
 */
#include <errno.h>

#include "record/attr.h"
#include "ring/ring.h"

#define CHUNK_MIN    1024u
#define CHUNK_MAX    16384u
#define SMALL_RECORD 8192u
#define PAGE         4096u

_Static_assert(sizeof(struct ptx_chunk) == 64, "a chunk's header is one cache line");
_Static_assert(offsetof(struct ptx_chunk, records) == 64, "records follow the header");
_Static_assert(sizeof(struct ptx_ring) == PTX_CACHE_LINE, "a ring is one cache line");
_Static_assert(sizeof(struct ptx_slot) == PTX_CACHE_LINE, "a slot is one cache line");
_Static_assert(offsetof(struct ptx_region, state) == 128, "what an event reads is together");
_Static_assert(offsetof(struct ptx_region, free_chunks) == 192, "and shares no line");
_Static_assert(PTX_RINGS <= 0x10000, "a chunk's word has 16 bits for the ring");

static size_t power_of_two(size_t n)
{
	size_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

static size_t place(size_t *end, size_t bytes, size_t align)
{
	size_t at = (*end + align - 1) & ~(align - 1);

	*end = at + bytes;
	return at;
}

int ptx_ring_plan(size_t stream_size, size_t max_data_size, struct ptx_geometry *geometry)
{
	size_t record, chunk, useful, chunks, end = 0;
	struct ptx_geometry *g = geometry;

	g->asked = stream_size;
	/* Half of the address space is more than any machine has: no sum below can overflow. */
	if (stream_size > SIZE_MAX >> 17 || max_data_size > PTX_RECORD_LEN_MAX)
		return ENOMEM;
	record = ptx_record_size(max_data_size);
	if (record < ptx_record_size(PTX_SYSTEM_DATA_MAX))
		record = ptx_record_size(PTX_SYSTEM_DATA_MAX);
	if (stream_size < 2 * (record + PTX_IDENT_RECORD_BYTES)) /* CREATE-23 */
		stream_size = 2 * (record + PTX_IDENT_RECORD_BYTES);

	chunk = power_of_two(stream_size / 64);
	chunk = chunk < CHUNK_MIN ? CHUNK_MIN : chunk > CHUNK_MAX ? CHUNK_MAX : chunk;
	while (chunk < (record > SMALL_RECORD ? 2 : 4) * (record + PTX_IDENT_RECORD_BYTES))
		chunk *= 2;
	g->chunk_bytes = chunk;
	g->chunk_room = chunk - sizeof(struct ptx_chunk);
	g->record_max = record;
	useful = g->chunk_room - (record + PTX_IDENT_RECORD_BYTES - 8);
	chunks = (stream_size + useful - 1) / useful;
	g->capacity = chunks * useful;
	g->useful = chunks > UINT32_MAX ? UINT32_MAX : (uint32_t)chunks;
	chunks += 3 * PTX_BASE_RINGS + 2;
	if (chunks > UINT32_MAX / 4)
		return ENOMEM;
	g->chunks = (uint32_t)chunks;
	g->chunks_max = g->chunks + PTX_RING_CHUNKS * (PTX_RINGS - PTX_BASE_RINGS);
	g->hint_mask = (uint32_t)power_of_two(g->chunks_max) - 1;

	place(&end, sizeof(struct ptx_region), PTX_CACHE_LINE);
	g->words_at = place(&end, g->chunks_max * sizeof(uint64_t), PTX_CACHE_LINE);
	g->claimed_at = place(&end, g->chunks_max * sizeof(uint64_t), PTX_CACHE_LINE);
	g->rings_at = place(&end, PTX_RINGS * sizeof(struct ptx_ring), PTX_CACHE_LINE);
	g->slots_at = place(&end, PTX_SLOTS * sizeof(struct ptx_slot), PTX_CACHE_LINE);
	g->hints_at = place(&end, 3 * ((size_t)g->hint_mask + 1) * sizeof(uint64_t),
			    PTX_CACHE_LINE);
	g->checkpoint_at = place(&end, PTX_CHECKPOINT_BYTES, PTX_CACHE_LINE);
	g->facts_at = place(&end, PTX_FACTS_BYTES, PTX_CACHE_LINE);
	g->chunks_at = place(&end, chunks * chunk, PAGE);
	g->bytes_first = place(&end, 0, PAGE);
	end += (size_t)(g->chunks_max - g->chunks) * chunk;
	g->bytes = place(&end, 0, PAGE);
	return 0;
}

void ptx_ring_view(struct ptx_rings *rings, void *memory, const struct ptx_geometry *geometry,
		   size_t max_data_size, bool loop)
{
	unsigned char *base = memory;

	rings->region = memory;
	rings->word = (_Atomic uint64_t *)(void *)(base + geometry->words_at);
	rings->claimed = (_Atomic uint64_t *)(void *)(base + geometry->claimed_at);
	rings->ring = (struct ptx_ring *)(void *)(base + geometry->rings_at);
	rings->slot = (struct ptx_slot *)(void *)(base + geometry->slots_at);
	rings->free_queue = (_Atomic uint64_t *)(void *)(base + geometry->hints_at);
	rings->closed_queue = rings->free_queue + geometry->hint_mask + 1;
	rings->idle_queue = rings->closed_queue + geometry->hint_mask + 1;
	rings->chunk = base + geometry->chunks_at;
	rings->geometry = *geometry;
	rings->max_data_size = max_data_size;
	rings->loop = loop;
}

void ptx_ring_init(struct ptx_rings *rings)
{
	struct ptx_region *region = rings->region;
	const struct ptx_geometry *g = &rings->geometry;

	for (int i = 0; i < PTX_WORDS; i++)
		atomic_store_explicit(&region->admit[i], ~UINT64_C(0), memory_order_relaxed);
	atomic_store_explicit(&region->first_overwritten, UINT64_MAX, memory_order_relaxed);
	atomic_store_explicit(&region->calibration.due, UINT64_MAX, memory_order_relaxed);
	for (uint32_t i = 0; i < g->chunks; i++) {
		atomic_store_explicit(&rings->word[i], ptx_chunk_word(0, 0, PTX_CHUNK_FREE),
				      memory_order_relaxed);
		ptx_hint_push(&region->free_hints, rings->free_queue, g->hint_mask, i, 0);
	}
	atomic_store_explicit(&region->chunks, g->chunks, memory_order_relaxed);
	atomic_store_explicit(&region->free_chunks, g->chunks, memory_order_release);
}

void ptx_ring_calibrate(struct ptx_rings *rings, struct ptx_anchor created)
{
	struct ptx_calibration *calibration = &rings->region->calibration;

	calibration->created = calibration->anchor[0] = calibration->anchor[1] = created;
	calibration->hz = ptx_clock_hz;
	atomic_store_explicit(&calibration->due, created.ticks + ptx_clock_hz, memory_order_release);
}
