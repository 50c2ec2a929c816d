/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/ring_layout.c - how large a region is and where its parts lie.
 *
 * The promise (SIZE-10): events whose computed maximum sizes add up to no more than the stream size
 * are all recorded. A writer fails, or overwrites, only when every chunk is taken. Let R be the
 * number of rings. A chunk that is no ring's open one was closed because the next record, with an
 * IDENT record before it, did not fit: it holds at least
 *
 *	useful = room - (largest record + IDENT record - 8)
 *
 * bytes of events, and so does the open one of the writer that needs another. Less is in
 *
 *	1. the open chunks of the other rings, R - 1;
 *	2. of each ring, the chunk that was open when the reader last looked, if it has claimed
 *	   part of it; or, in a LOOP stream, the one that was open when X was closed, the chunk
 *	   that is to be overwritten: its records may be below the cut. It is one chunk and not
 *	   two. Chunks are overwritten in the order in which they were closed, so the ring has none
 *	   left from before; and what the reader claims is the ring's oldest chunk, so it has freed
 *	   that one if it is beyond it. R, X's ring among them: what X's ring has open is counted
 *	   above, and instead of another one there is X.
 *
 * So a stream that is full has P - (2 R - 1) chunks with `useful` bytes each that are unread and
 * above the cut. With N = ceil(size / useful) and P = N + 2 R - 1 these, and the event that finds
 * no room or is overwritten, are more than the promise. The pool can grow to N + 3 R: R + 1 more
 * than that. One is for a writer that dies between a chunk of a LOOP stream and its hint, which
 * takes the chunk out of the order until it is found (ring_write.c); R are for hints that are out
 * of order where the queues change (hint.c). R is not known beforehand: the pool begins with N, and
 * each ring lets it grow by PTX_RING_CHUNKS. A chunk is added when a writer finds none, unless the
 * stream holds all that it promises without it (pool.c, spare.c).
 *
 * Large records would make such chunks large, and each ring keeps an open one. So where less than
 * half of a chunk would be useful the chunks are tight: one has room for one of the largest
 * records, and the bound is that of two neighbours. A chunk is closed because the first event of
 * the ring's next chunk did not fit: both together are larger than a chunk's room. Let a ring have
 * g chunks that are unread and above the cut. They hold more than floor(g / 2) rooms, or
 * floor((g - 1) / 2) if the writer died between the change of chunks and its record. The ring of
 * the writer that needs another chunk holds with the new event more than floor((g + 1) / 2). By 2.,
 * P - R chunks of all rings are unread and above the cut. So a stream that is full holds more than
 * (P - R - 2 (R - 1)) / 2 rooms. With N = ceil(2 size / room) and P = N + 3 R - 2 that is the
 * promise. The pool can grow to N + 4 R: R + 1 for chunks and hints that are out of order, and one
 * for a second death.
 *
 * The IDENT record in `useful` allows for one in each chunk that no event follows, because its
 * thread was killed, or left by a jump, before its record was there. The computed sizes of events
 * have room for all other IDENT records, one for each event.
 */
#include <errno.h>

#include "record/attr.h"
#include "ring/ring.h"

/*
 * Bounds of a chunk that is not tight, in bytes. The larger one bounds the memory that a ring
 * keeps.
 */
#define CHUNK_MIN    1024u
#define CHUNK_MAX    16384u
#define PAGE         4096u
/* So much is memory from the beginning, the rest with its first use. */
#define PRESENT_MAX  (4u << 20)
/* Address space of the far part: it is not used up in the file. */
#define FAR_MAX      (UINT64_C(8) << 30)
/* Beside twice its size a stream may have 256 KiB: this for chunks, the rest for tables. */
#define MEMORY_SLACK (48u << 10)

_Static_assert(sizeof(struct ptx_chunk) == 64, "a chunk's header is one cache line");
_Static_assert(offsetof(struct ptx_chunk, records) == 64, "records follow the header");
_Static_assert(sizeof(struct ptx_ring) == PTX_CACHE_LINE, "a ring is one cache line");
_Static_assert(sizeof(struct ptx_slot) == PTX_CACHE_LINE, "a slot is one cache line");
_Static_assert(offsetof(struct ptx_region, state) == 128, "what an event reads is together");
_Static_assert(offsetof(struct ptx_region, free_chunks) == 192, "and shares no line");
_Static_assert(PTX_RINGS <= 0x10000,
	       "a chunk's word has 16 bits for the ring, a slot's number too");
_Static_assert(PTX_RINGS_BASE * sizeof(struct ptx_ring) == PAGE, "the base's rings are a page");

/* Returns the least power of two that is not below n. n is at most half of the address space. */
static size_t power_of_two(size_t n)
{
	size_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

/* Returns the next multiple of align, a power of two, and moves *end behind the bytes there. */
static size_t place(size_t *end, size_t bytes, size_t align)
{
	size_t at = (*end + align - 1) & ~(align - 1);

	*end = at + bytes;
	return at;
}

/* The unit need not be a power of two. */
static size_t multiple_of(size_t n, size_t unit)
{
	return (n + unit - 1) / unit * unit;
}

/* Returns true if `useful`, room - (most - 8), is at least half of the room. */
static bool has_useful_half(size_t room, size_t most)
{
	return room >= 2 * (most - 8);
}

/*
 * How large a chunk is. A small one would be changed often, and a large one is memory that each
 * ring keeps. It holds four of the largest records if these are small, and one at least.
 */
static size_t chunk_for(size_t stream_size, size_t most)
{
	size_t chunk = power_of_two(stream_size / 64);

	chunk = chunk < CHUNK_MIN ? CHUNK_MIN : chunk;
	while (chunk < 4 * most)
		chunk *= 2;
	chunk = chunk > CHUNK_MAX ? CHUNK_MAX : chunk;
	/* A tight chunk: more room than one of the largest records needs would stay unused. */
	if (!has_useful_half(chunk - sizeof(struct ptx_chunk), most))
		chunk = multiple_of(sizeof(struct ptx_chunk) + most, PAGE);
	return chunk;
}

/*
 * Computes the sizes of a chunk, and how many chunks the stream's size requires: 0 if that is too
 * many. A quarter of the numbers is the limit, so that the chunks of all rings can be added without
 * overflow.
 */
static uint32_t divide(struct ptx_geometry *g, size_t stream_size, size_t record)
{
	const size_t most = record + PTX_IDENT_RECORD_BYTES;
	size_t useful, chunks;

	g->chunk_bytes = chunk_for(stream_size, most);
	g->chunk_room = g->chunk_bytes - sizeof(struct ptx_chunk);
	g->record_max = record;
	if (has_useful_half(g->chunk_room, most)) {
		useful = g->chunk_room - (most - 8);
		chunks = (stream_size + useful - 1) / useful;
		g->capacity = chunks * useful;
		g->ring_chunks = PTX_RING_CHUNKS;
	} else {
		chunks = (2 * stream_size + g->chunk_room - 1) / g->chunk_room;
		g->capacity = stream_size;
		g->ring_chunks = PTX_RING_TIGHT;
	}
	g->useful = chunks > UINT32_MAX ? UINT32_MAX : (uint32_t)chunks;
	/* The small ones are as many as end at the end of a page. */
	if (g->chunk_bytes < PAGE)
		chunks = multiple_of(chunks, PAGE / g->chunk_bytes);
	return chunks > UINT32_MAX / 4 ? 0 : (uint32_t)chunks;
}

/*
 * Lays out the tables, and behind them the chunks. A table that is mostly unused has its used part
 * at its beginning, so the rest stays address space. Rings, slots, the checkpoint and the chunks
 * each begin at a page. A queue has at least as many places as its tier can have chunks, so that
 * each chunk can have a hint.
 */
static void lay_out(struct ptx_geometry *g)
{
	const uint32_t tier_rings[PTX_TIERS] = { PTX_RINGS_BASE, PTX_RINGS_FEW, g->rings };
	size_t end = 0;

	place(&end, sizeof(struct ptx_region), PTX_CACHE_LINE);
	g->info_at = place(&end, PTX_STREAM_INFO_BYTES, PTX_CACHE_LINE);
	for (int tier = 0; tier < PTX_TIERS; tier++) {
		size_t chunks = g->chunks + (size_t)g->ring_chunks * tier_rings[tier];

		g->hint_mask[tier] = (uint32_t)power_of_two(chunks) - 1;
		g->hints_at[tier] = place(&end, PTX_HINTS * ((size_t)g->hint_mask[tier] + 1) *
							sizeof(uint64_t), PTX_CACHE_LINE);
	}
	g->words_at = place(&end, g->chunks_max * sizeof(uint64_t), PTX_CACHE_LINE);
	g->claimed_at = place(&end, g->chunks_max * sizeof(uint64_t), PTX_CACHE_LINE);
	g->present_at = place(&end, g->chunks_max * sizeof(uint32_t), PTX_CACHE_LINE);
	g->rings_at = place(&end, g->rings * sizeof(struct ptx_ring), PAGE);
	g->slots_at = place(&end, g->rings * sizeof(struct ptx_slot), PAGE);
	g->checkpoint_at = place(&end, PTX_CHECKPOINT_BASE + (size_t)PTX_CHECKPOINT_RING * g->rings,
				 PAGE);
	g->chunks_at = place(&end, (size_t)g->chunks * g->chunk_bytes, PAGE);
	/*
	 * The first chunks end at a page, so that the memory for them is made present separately.
	 */
	g->bytes_first = place(&end, 0, PAGE);
	end = g->chunks_at + (size_t)g->near_chunks * g->chunk_bytes;
	g->bytes = place(&end, 0, PAGE);
	g->far_bytes = (size_t)(g->chunks_max - g->near_chunks) * g->chunk_bytes;
}

/*
 * Pure: the same arguments give the same sizes in each process. So a process computes the geometry
 * from the sizes in the attachment and checks only whether the result fits into the file.
 */
int ptx_ring_plan(size_t stream_size, size_t max_data_size, uint32_t rings,
		  struct ptx_geometry *geometry)
{
	struct ptx_geometry *g = geometry;
	size_t record;

	g->asked = stream_size;
	/* Half of the address space is more than any machine has: no sum below can overflow. */
	if (stream_size > SIZE_MAX >> 17 || max_data_size > PTX_RECORD_LEN_MAX ||
	    (rings != PTX_RINGS && rings != PTX_RINGS_FEW))
		return ENOMEM;
	record = ptx_record_size(max_data_size);
	/* The system's own events must fit, whatever the attribute max-data-size says. */
	if (record < ptx_record_size(PTX_SYSTEM_DATA_MAX))
		record = ptx_record_size(PTX_SYSTEM_DATA_MAX);
	if (stream_size < 2 * (record + PTX_IDENT_RECORD_BYTES)) /* CREATE-23 */
		stream_size = 2 * (record + PTX_IDENT_RECORD_BYTES);

	g->chunks = divide(g, stream_size, record);
	if (g->chunks == 0)
		return ENOMEM;
	g->memory = 2 * stream_size + MEMORY_SLACK;
	g->ring_memory = record > PAGE ? record : PAGE;
	/* Large chunks for 65,536 rings would need more address space than the file may have. */
	if (rings > PTX_RINGS_FEW && g->chunk_bytes * g->ring_chunks * rings > FAR_MAX)
		rings = PTX_RINGS_FEW;
	g->rings = rings;
	g->chunks_max = g->chunks + g->ring_chunks * rings;
	g->near_chunks = g->chunks + g->ring_chunks * PTX_RINGS_FEW;
	/* Tight chunks are twice what the size asks for: they become memory as they are used. */
	g->present = g->ring_chunks == PTX_RING_TIGHT ? 0 : g->chunks;
	if (g->present > PRESENT_MAX / g->chunk_bytes)
		g->present = (uint32_t)(PRESENT_MAX / g->chunk_bytes);
	lay_out(g);
	return 0;
}

/*
 * The number of entries present from the start, for all three tables of chunks. pool.c makes
 * further entries present.
 */
static uint32_t first_entries(const struct ptx_geometry *g)
{
	return g->chunks + g->ring_chunks * PTX_RINGS_BASE;
}

bool ptx_ring_first_tables(const struct ptx_geometry *g,
			   bool (*each)(void *arg, size_t at, size_t bytes), void *arg)
{
	/*
	 * From the region's beginning to the second tier: the region itself, the info and the first
	 * queues.
	 */
	return each(arg, 0, g->hints_at[1]) &&
	       each(arg, g->words_at, first_entries(g) * sizeof(uint64_t)) &&
	       each(arg, g->claimed_at, first_entries(g) * sizeof(uint64_t)) &&
	       each(arg, g->present_at, first_entries(g) * sizeof(uint32_t)) &&
	       each(arg, g->rings_at, PTX_RINGS_BASE * sizeof(struct ptx_ring)) &&
	       each(arg, g->slots_at, PTX_RINGS_BASE * sizeof(struct ptx_slot));
}

/* Private memory of the process: no address or size is read from the region. */
void ptx_ring_view(struct ptx_rings *rings, void *memory, const struct ptx_geometry *geometry,
		   size_t max_data_size, bool loop)
{
	unsigned char *base = memory;

	rings->region = memory;
	rings->word = (_Atomic uint64_t *)(void *)(base + geometry->words_at);
	rings->claimed = (_Atomic uint64_t *)(void *)(base + geometry->claimed_at);
	rings->ring = (struct ptx_ring *)(void *)(base + geometry->rings_at);
	rings->slot = (struct ptx_slot *)(void *)(base + geometry->slots_at);
	rings->present = (_Atomic uint32_t *)(void *)(base + geometry->present_at);
	for (int tier = 0; tier < PTX_TIERS; tier++)
		for (int kind = 0; kind < PTX_HINTS; kind++)
			rings->queue[kind][tier] =
				(_Atomic uint64_t *)(void *)(base + geometry->hints_at[tier]) +
				kind * ((size_t)geometry->hint_mask[tier] + 1);
	rings->chunk = base + geometry->chunks_at;
	rings->geometry = *geometry;
	rings->max_data_size = max_data_size;
	rings->loop = loop;
}

/*
 * Called by the creator before another process can see the region, so the order of the stores is
 * free.
 */
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
		/* The others become present at their first use (ptx_pool_present()). */
		if (i < g->present)
			atomic_store_explicit(&rings->present[i], (uint32_t)g->chunk_bytes,
					      memory_order_relaxed);
		ptx_ring_hint(rings, PTX_HINT_FREE, i, 0);
	}
	atomic_store_explicit(&region->chunks, g->chunks, memory_order_relaxed);
	atomic_store_explicit(&region->free_chunks, g->chunks, memory_order_release);
}

/*
 * Called by the creator. The release store of due lets the first writer that adds an anchor see hz.
 */
void ptx_ring_calibrate(struct ptx_rings *rings, struct ptx_anchor created)
{
	struct ptx_calibration *calibration = &rings->region->calibration;

	calibration->created = calibration->anchor[0] = calibration->anchor[1] = created;
	calibration->hz = ptx_clock_hz;
	atomic_store_explicit(&calibration->due, created.ticks + ptx_clock_hz,
			      memory_order_release);
}
