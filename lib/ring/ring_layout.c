/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/ring_layout.c - how large a region is and where its parts lie.
 *
 * The promise (SIZE-10): if the computed maximum sizes of some events add up to no more than the
 * stream size, the stream records all these events. The proof assumes that the system has the
 * memory for the chunks. A writer then loses or overwrites events only when no chunk is free. So
 * this comment computes how many bytes the chunks hold at that moment. Let R be the number of
 * rings.
 *
 * A stream with few rings has only large chunks. A chunk that is not a ring's open chunk was closed
 * because the next record, with an IDENT record before it, did not fit. So the chunk holds at least
 * this number of bytes of events:
 *
 *	useful = room - (largest record + IDENT record - 8)
 *
 * The open chunk of the writer that needs another chunk holds as much. Only these chunks may hold
 * less:
 *
 *	1. the open chunks of the other rings, R - 1;
 *	2. one chunk of each ring, R. In a LOOP stream, let X be the chunk that is to be
 *	   overwritten. The chunk of the ring is one of these:
 *	   (a) the chunk that was open when the reader last looked, if the reader has
 *	       claimed part of it;
 *	   (b) in a LOOP stream, the chunk that was open when X was closed: its records
 *	       may be below the cut.
 *	   A ring has only one of the two. Chunks are overwritten in the order in which they were
 *	   closed, so the ring has no chunk left that was closed before X. The reader claims the
 *	   ring's oldest chunk, so if the reader is beyond the chunk of (b), it has freed that
 *	   chunk. The open chunk of X's ring is counted in 1., and X is that ring's chunk in 2.
 *
 * So a stream that is full with P chunks in its pool has P - (2 R - 1) chunks with `useful` bytes
 * each that are unread and above the cut. Let N be ceil(size / useful). If P is N + 2 R - 1, the
 * events of these N chunks, together with the event that finds no room or is overwritten, are
 * larger than the promise. The pool can grow to N + 3 R chunks, which is R + 1 more. One of these
 * is for a dead writer (see "Deaths" below). The other R are for hints that are out of order
 * because the number of rings selects another queue (hint.c). R is not known beforehand. So the
 * pool begins with N chunks, and may grow by PTX_RING_CHUNKS chunks for each ring. A writer that
 * finds no chunk adds one, unless the stream already holds all that it promises (pool.c, spare.c).
 *
 * Each ring keeps an open chunk. So a stream with many rings has small chunks, too. A small chunk
 * has room for an IDENT record and one of the largest records. For small chunks the argument
 * considers two neighbours in a ring. A small chunk is closed because the first event of the ring's
 * next chunk, which may be small or large, did not fit. So the records of the closed chunk and the
 * first record of the next chunk, with an IDENT record before it, are larger than the room of a
 * small chunk. Each event is in one chunk and is the first event of at most one chunk. So n such
 * small chunks, unread and above the cut, hold more than n / 2 rooms (the room of a small chunk is
 * the unit here), if the chunk after each of them has its first event. The event that finds no room
 * counts as the first event of the chunk that its writer needs next. Only the open chunk of a ring
 * can be without an event, if its writer died between the change of chunks and the record. The next
 * thread of the ring finds room for its IDENT record and its event there, so at most R - 1 of the n
 * chunks do not count. By 1. and 2. at most 2 R - 1 of M small chunks are not closed, unread and
 * above the cut. Thus a stream that is full holds more than (M - (2 R - 1) - (R - 1)) / 2 rooms in
 * small chunks alone.
 *
 * If R is small compared with N, the large chunks hold most of what is promised. By 1. and 2. at
 * most 2 R - 1 large chunks hold less than `useful`, and R + 1 more may if their hints are out of
 * order. So all large chunks but 3 R hold `useful`, and the small chunks need to hold only S =
 * min(size, 3 R useful) bytes. The pool can grow to this number of small chunks:
 *
 *	M = ceil(2 S / room) + 4 R
 *
 * In 4 R, 3 R - 2 are from the sum above, R are for hints that are out of order, and two are for
 * deaths. Large chunks may be in any ring; no number of them can break this promise.
 *
 * In a stream with large records, less than half of a large chunk would be useful. Such a stream is
 * tight: its large chunks have the size of small chunks. With N = ceil(2 size / room) chunks and 4
 * R more, the sum above is the promise for each R.
 *
 * Deaths. A writer of a LOOP stream may be killed, or leave by longjmp(), after it closed a chunk F
 * and before it added the hint. F is out of order then: it is not overwritten before the chunks
 * that were closed later, although its events are below the cut. While no thread continues in the
 * ring, the promise holds with F, however many such rings there are. If F's events are below the
 * cut, its ring needs one chunk less than the sum has for it: the chunk that was open when X was
 * closed is either F itself, or the chunk that is open now. The sum counts the open chunk both in
 * 1. and in 2. If a thread continues in the ring, after a longjmp() or because the ring was taken
 * from a dead process, the ring needs one chunk more until a writer finds F. A writer finds F
 * within one round through the pool, because take_forgotten() (ring_write.c) examines each chunk
 * once in a round. So within one round there may be one such F among the large chunks, and two
 * among the small chunks. Each further F reduces the promise by `useful` bytes, or by half of a
 * small chunk's room, for the rest of the round. A further F needs another kill between the same
 * two instructions.
 *
 * The IDENT record in `useful` is for an IDENT record that no event follows in its chunk, because
 * the thread was killed, or left by longjmp(), before it recorded the event. The computed sizes of
 * events have room for all other IDENT records, one for each event. The first event of a new chunk
 * needs no IDENT record, because the header of the chunk has the identity. The room in its computed
 * size covers the IDENT record that did not fit into the chunk before.
 */
#include <errno.h>

#include "record/attr.h"
#include "ring/ring.h"

/*
 * Bounds of a large chunk that is not tight, in bytes. CHUNK_MAX bounds the memory that a ring
 * keeps.
 */
#define CHUNK_MIN    1024u
#define CHUNK_MAX    16384u
#define PAGE         4096u
/* Small chunks begin at multiples of this number, so that head and window are in one cache line. */
#define SMALL_ALIGN  16u
/* The limits of few_rings. The upper limit is the number of rings whose chunks are all near. */
#define FEW_MIN      4u
#define FEW_MAX      PTX_RINGS_FEW
/* Places for the hints of free small chunks. If there are more hints, the oldest are lost. */
#define SMALL_HINTS  512u
/*
 * Chunks of at most this many bytes are present from the beginning. Other chunks become present at
 * their first use.
 */
#define PRESENT_MAX  (4u << 20)
/*
 * Limit of the far part's size. A region uses a range of offsets in the arena's file that no later
 * region uses. Without the limit, a few streams could use up the offsets.
 */
#define FAR_MAX      (UINT64_C(8) << 30)
/*
 * A stream may use twice its size plus 256 KiB of memory. MEMORY_SLACK is the part of the 256 KiB
 * that chunks may use. Tables may use what remains.
 */
#define MEMORY_SLACK (64u << 10)
/*
 * The corresponding part for the large chunks of the few rings. It is larger, because the tables of
 * few rings are small.
 */
#define FEW_SLACK    (128u << 10)
/* The memory of a ring besides its chunk: ring, slot, and a chunk's entries and hints. */
#define RING_TABLES  (sizeof(struct ptx_ring) + sizeof(struct ptx_slot) + PTX_CHUNK_TABLES)

_Static_assert(sizeof(struct ptx_chunk) == 64, "a chunk's header is one cache line");
_Static_assert(offsetof(struct ptx_chunk, records) == 64, "records follow the header");
_Static_assert(sizeof(struct ptx_ring) == PTX_CACHE_LINE, "a ring is one cache line");
_Static_assert(sizeof(struct ptx_slot) == PTX_CACHE_LINE, "a slot is one cache line");
_Static_assert(offsetof(struct ptx_region, state) == 128, "what an event reads is together");
_Static_assert(offsetof(struct ptx_region, free_chunks) == 192, "and shares no line");
_Static_assert(PTX_RINGS <= 0x10000,
	       "a chunk's word has 16 bits for the ring, a slot's number too");
_Static_assert(PTX_RINGS_BASE * sizeof(struct ptx_ring) == PAGE, "the base's rings are a page");

/*
 * The largest number of rings for which each tier of hints is used. A stream needs memory for all
 * tiers up to its own. A tier is for about four times as many rings as the tier before it, so all
 * smaller tiers together need only a third of its memory.
 */
static const uint32_t tier_rings[PTX_TIERS] = { 60, 255, 1020, 4080, 16320, PTX_RINGS };

/*
 * Returns the least power of two that is not below n. The parameter `n` is at most half of the
 * address space.
 */
static size_t power_of_two(size_t n)
{
	size_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

/*
 * Returns the next multiple of `align` from *end on, and moves *end behind the bytes that are
 * placed there. The parameter `align` is a power of two.
 */
static size_t ring_layout_place(size_t *end, size_t bytes, size_t align)
{
	size_t at = (*end + align - 1) & ~(align - 1);

	*end = at + bytes;
	return at;
}

/* Returns `n`, rounded up to a multiple of `unit`, which need not be a power of two. */
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
 * Returns the size of a large chunk. If chunks were smaller, writers would change them often. If
 * they were larger, each ring would keep more memory. A large chunk holds four of the largest
 * records if CHUNK_MAX permits that.
 */
static size_t chunk_for(size_t stream_size, size_t most)
{
	size_t chunk = power_of_two(stream_size / 64);

	chunk = chunk < CHUNK_MIN ? CHUNK_MIN : chunk;
	while (chunk < 4 * most)
		chunk *= 2;
	return chunk > CHUNK_MAX ? CHUNK_MAX : chunk;
}

/*
 * Returns the number of rings that get large chunks. Each of these rings may keep two large chunks:
 * a chunk that its writer fills and a chunk that a reader is in. The limit for these chunks,
 * together with the chunks that the stream's size requires, is twice the stream's size plus
 * FEW_SLACK.
 */
static uint32_t few_for(const struct ptx_geometry *g, size_t stream_size)
{
	const size_t first = (size_t)g->chunks * g->chunk_bytes;
	const size_t have = 2 * stream_size + FEW_SLACK;
	size_t few = have > first ? (have - first) / (2 * g->chunk_bytes) : 0;

	few = few < FEW_MIN ? FEW_MIN : few;
	return (uint32_t)(few > FEW_MAX ? FEW_MAX : few);
}

/*
 * Computes the sizes of chunks. Returns how many chunks the stream's size requires, or 0 if that is
 * too many. The limit is a quarter of all 32-bit numbers, so that the chunks of all rings can be
 * added without overflow.
 */
static uint32_t ring_layout_divide(struct ptx_geometry *g, size_t stream_size, size_t record)
{
	const size_t most = record + PTX_IDENT_RECORD_BYTES;
	size_t useful, chunks;

	g->record_max = record;
	g->small_bytes = multiple_of(sizeof(struct ptx_chunk) + most, SMALL_ALIGN);
	g->small_room = g->small_bytes - sizeof(struct ptx_chunk);
	g->chunk_bytes = chunk_for(stream_size, most);
	g->chunk_room = g->chunk_bytes - sizeof(struct ptx_chunk);
	g->is_tight = !has_useful_half(g->chunk_room, most);
	if (!g->is_tight) {
		useful = g->chunk_room - (most - 8);
		chunks = (stream_size + useful - 1) / useful;
		g->capacity = chunks * useful;
	} else {
		/*
		 * A chunk holds one of the largest records; more room than that would stay unused.
		 */
		g->chunk_bytes = g->small_bytes;
		g->chunk_room = g->small_room;
		chunks = (2 * stream_size + g->chunk_room - 1) / g->chunk_room;
		g->capacity = stream_size;
	}
	g->required = chunks > UINT32_MAX ? UINT32_MAX : (uint32_t)chunks;
	/* If chunks are smaller than a page, there are as many as fill whole pages. */
	if (g->chunk_bytes < PAGE && !g->is_tight)
		chunks = multiple_of(chunks, PAGE / g->chunk_bytes);
	return chunks > UINT32_MAX / 4 ? 0 : (uint32_t)chunks;
}

/* The comment at the top explains this number, which grows with the number of rings. */
uint32_t ptx_ring_most_chunks(const struct ptx_geometry *g, uint32_t rings)
{
	uint64_t hold;

	if (g->is_tight)
		return g->large + PTX_RING_SMALL * rings;
	if (rings <= g->few_rings)
		return g->chunks + PTX_RING_CHUNKS * rings;
	hold = g->chunk_room - (g->record_max + PTX_IDENT_RECORD_BYTES - 8); /* useful */
	hold = 3 * rings * hold;
	hold = 2 * (hold < g->capacity ? hold : g->capacity);
	return g->large + (uint32_t)((hold + g->small_room - 1) / g->small_room) +
	       PTX_RING_SMALL * rings;
}

/*
 * Places the queues of hints. The queues of the first tier are together, so that they are present
 * from the start. Most queues have a place for each chunk or ring that can exist in their tier;
 * only the queue of free small chunks has fewer places. Free chunks have one queue for all tiers,
 * because the order of their hints does not matter.
 */
static void place_hints(struct ptx_geometry *g, size_t *end)
{
	for (int tier = 0; tier < PTX_TIERS; tier++) {
		uint32_t rings = g->tier_rings[tier];
		size_t places[PTX_HINTS] = {
			[PTX_HINT_FREE] = tier == 0 ? g->large : 1,
			[PTX_HINT_SMALL] = 1,
			[PTX_HINT_CLOSED] = ptx_ring_most_chunks(g, rings),
			[PTX_HINT_IDLE] = rings,
		};

		/*
		 * If the stream cannot have enough rings for this tier, the queues of this tier are
		 * not used.
		 */
		if (tier > 0 && g->tier_rings[tier - 1] >= g->rings)
			places[PTX_HINT_CLOSED] = places[PTX_HINT_IDLE] = 1;
		for (int kind = 0; kind < PTX_HINTS; kind++) {
			g->hint_last[kind][tier] = (uint32_t)places[kind] - 1;
			g->hints_at[kind][tier] = ring_layout_place(
				end, ((size_t)g->hint_last[kind][tier] + 1) * sizeof(uint64_t),
				PTX_CACHE_LINE);
		}
		if (tier == 0)
			g->hints_first = *end;
	}
	g->hint_last[PTX_HINT_SMALL][0] = SMALL_HINTS - 1;
	g->hints_at[PTX_HINT_SMALL][0] =
		ring_layout_place(end, SMALL_HINTS * sizeof(uint64_t), PTX_CACHE_LINE);
}

/*
 * Lays out the tables, and behind them the chunks. The entries of a table are used from its
 * beginning on. The unused rest of a table is address space without memory. Rings, slots, the
 * checkpoint and the chunks each begin at a page.
 */
static void lay_out(struct ptx_geometry *g)
{
	size_t end = 0;

	ring_layout_place(&end, sizeof(struct ptx_region), PTX_CACHE_LINE);
	g->info_at = ring_layout_place(&end, PTX_STREAM_INFO_BYTES, PTX_CACHE_LINE);
	place_hints(g, &end);
	g->words_at = ring_layout_place(&end, g->chunks_max * sizeof(uint64_t), PTX_CACHE_LINE);
	g->claimed_at = ring_layout_place(&end, g->chunks_max * sizeof(uint64_t), PTX_CACHE_LINE);
	g->present_at = ring_layout_place(&end, g->chunks_max * sizeof(uint32_t), PTX_CACHE_LINE);
	g->rings_at = ring_layout_place(&end, g->rings * sizeof(struct ptx_ring), PAGE);
	g->slots_at = ring_layout_place(&end, g->rings * sizeof(struct ptx_slot), PAGE);
	g->checkpoint_at = ring_layout_place(
		&end, PTX_CHECKPOINT_BASE + (size_t)PTX_CHECKPOINT_RING * g->rings, PAGE);
	g->chunks_at = ring_layout_place(&end, (size_t)g->chunks * g->chunk_bytes, PAGE);
	/* The first chunks end at a page, so their memory is made present separately. */
	g->bytes_first = multiple_of(end, PAGE);
	end = g->chunks_at + (size_t)g->large * g->chunk_bytes;
	g->small_at = ring_layout_place(&end, (size_t)(g->near_chunks - g->large) * g->small_bytes,
					PTX_CACHE_LINE);
	end = end < g->bytes_first ? g->bytes_first : end;
	/*
	 * The counts of skipped events are placed behind all that becomes memory, because most
	 * streams never skip a type.
	 */
	g->skips_at = ring_layout_place(&end, PTX_SKIP_BYTES, PAGE);
	g->bytes = multiple_of(end, PAGE);
	g->far_bytes =
		multiple_of((size_t)(g->chunks_max - g->near_chunks) * g->small_bytes, PAGE);
}

/* Returns the address space for small chunks of the rings beyond the first PTX_RINGS_FEW. */
static size_t far_bytes_for(const struct ptx_geometry *g, uint32_t rings)
{
	return (size_t)(ptx_ring_most_chunks(g, rings) - ptx_ring_most_chunks(g, PTX_RINGS_FEW)) *
	       g->small_bytes;
}

/*
 * The first tier ends at few_rings at the latest. So while the rings of a stream are few, its
 * queues have no places for small chunks.
 */
static void plan_tiers(struct ptx_geometry *g)
{
	for (int tier = 0; tier < PTX_TIERS; tier++) {
		uint32_t rings = tier_rings[tier];

		if (tier == 0 && !g->is_tight && rings > g->few_rings)
			rings = g->few_rings;
		g->tier_rings[tier] = rings < g->rings ? rings : g->rings;
	}
}

/*
 * The function is pure: the same arguments give the same sizes in each process. So a process
 * computes the geometry from the sizes in the attachment and checks only whether the result fits
 * into the file.
 */
int ptx_ring_plan(size_t stream_size, size_t max_data_size, uint32_t rings,
		  struct ptx_geometry *geometry)
{
	struct ptx_geometry *g = geometry;
	size_t record;

	g->asked = stream_size;
	/* 128 TiB is more than a process can map. With smaller sizes, no sum below can overflow. */
	if (stream_size > SIZE_MAX >> 17 || max_data_size > PTX_RECORD_LEN_MAX ||
	    (rings != PTX_RINGS && rings != PTX_RINGS_FEW))
		return ENOMEM;
	record = ptx_record_size(max_data_size);
	/* The system's own events must fit, whatever value the attribute max-data-size has. */
	if (record < ptx_record_size(PTX_SYSTEM_DATA_MAX))
		record = ptx_record_size(PTX_SYSTEM_DATA_MAX);
	if (stream_size < 2 * (record + PTX_IDENT_RECORD_BYTES)) /* CREATE-23 */
		stream_size = 2 * (record + PTX_IDENT_RECORD_BYTES);

	g->chunks = ring_layout_divide(g, stream_size, record);
	if (g->chunks == 0)
		return ENOMEM;
	g->few_rings = g->is_tight ? 0 : few_for(g, stream_size);
	g->large = g->chunks + PTX_RING_CHUNKS * g->few_rings;
	g->memory = 2 * stream_size + MEMORY_SLACK;
	g->ring_memory = record + PTX_IDENT_RECORD_BYTES;
	g->ring_memory = g->ring_memory > RING_TABLES ? g->ring_memory - RING_TABLES : 0;
	/*
	 * If the small chunks of 65,536 rings need too much address space, the stream gets fewer
	 * rings.
	 */
	if (rings > PTX_RINGS_FEW && far_bytes_for(g, rings) > FAR_MAX)
		rings = PTX_RINGS_FEW;
	g->rings = rings;
	g->near_chunks = ptx_ring_most_chunks(g, PTX_RINGS_FEW);
	g->chunks_max = ptx_ring_most_chunks(g, rings);
	/*
	 * The chunks of a tight stream have together twice the bytes of the stream's size. So no
	 * chunk is present from the start; each chunk becomes present when it is used.
	 */
	g->present = g->is_tight ? 0 : g->chunks;
	if (g->present > PRESENT_MAX / g->chunk_bytes)
		g->present = (uint32_t)(PRESENT_MAX / g->chunk_bytes);
	plan_tiers(g);
	lay_out(g);
	return 0;
}

/* The number of entries present from the start, for all three tables of chunks. */
uint32_t ptx_ring_first_entries(const struct ptx_geometry *g)
{
	return ptx_ring_most_chunks(g, g->tier_rings[0]);
}

bool ptx_ring_first_tables(const struct ptx_geometry *g,
			   bool (*each)(void *arg, size_t at, size_t bytes), void *arg)
{
	const size_t entries = ptx_ring_first_entries(g);

	/*
	 * The first part goes from the region's beginning to the queues of the second tier. It has
	 * struct ptx_region, the stream info and the queues of the first tier.
	 */
	return each(arg, 0, g->hints_first) &&
	       each(arg, g->words_at, entries * sizeof(uint64_t)) &&
	       each(arg, g->claimed_at, entries * sizeof(uint64_t)) &&
	       each(arg, g->present_at, entries * sizeof(uint32_t)) &&
	       each(arg, g->rings_at, PTX_RINGS_BASE * sizeof(struct ptx_ring)) &&
	       each(arg, g->slots_at, PTX_RINGS_BASE * sizeof(struct ptx_slot));
}

/*
 * Writes only to *rings, which is private to the process. It reads no address and no size from the
 * region.
 */
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
				(_Atomic uint64_t *)(void *)(base + geometry->hints_at[kind][tier]);
	for (int table = 0; table < PTX_TABLES; table++)
		atomic_store_explicit(&rings->backed[table], 0, memory_order_relaxed);
	rings->skips = (_Atomic uint64_t *)(void *)(base + geometry->skips_at);
	rings->chunk = base + geometry->chunks_at;
	rings->geometry = *geometry;
	rings->max_data_size = max_data_size;
	rings->loop = loop;
}

/* Called by the creator before another process can see the region, so the stores need no order. */
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
		/* The other chunks become present at their first use (ptx_pool_present()). */
		if (i < g->present)
			atomic_store_explicit(&rings->present[i], (uint32_t)g->chunk_bytes,
					      memory_order_relaxed);
		ptx_ring_hint(rings, PTX_HINT_FREE, i, 0);
	}
	atomic_store_explicit(&region->chunks, g->chunks, memory_order_relaxed);
	atomic_store_explicit(&region->free_chunks, g->chunks, memory_order_release);
}

/*
 * Called by the creator. The release store of the member `due` lets the first writer that adds an
 * anchor see the member `hz`.
 */
void ptx_ring_calibrate(struct ptx_rings *rings, struct ptx_anchor created)
{
	struct ptx_calibration *calibration = &rings->region->calibration;

	calibration->created = calibration->anchor[0] = calibration->anchor[1] = created;
	calibration->hz = ptx_clock_hz;
	atomic_store_explicit(&calibration->due, created.ticks + ptx_clock_hz,
			      memory_order_release);
}
