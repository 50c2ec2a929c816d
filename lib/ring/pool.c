/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/pool.c - how the pool grows, and how its chunks become present memory.
 *
 * This file relies on the following facts. region->chunks and region->rings only grow, so a number
 * is never returned. Only the holder of a chunk changes its entry in `present`. And rings->back()
 * may be called by several threads for the same pages: the call does not change their content.
 *
 * Any process of the arena may store other numbers. So each count is limited by the geometry, which
 * this process computed itself.
 */
#include "ring/pool.h"

#include "record/attr.h"
#include "ring/ring_write.h"

/* a chunk becomes present in steps; each step is twice the previous one, but at most STEP bytes */
#define STEP        65536u
#define SMALL_POOL  2048u  /* in a larger pool a writer does not examine each chunk */
/* the same limit for a pool with small chunks, whose chunks are examined less often */
#define SEARCHED    65536u
/* after a search, the pool grows by at most 1 / GROW_PART of its chunks without a further search */
#define GROW_PART   64u
/* The most pairs of searches that a writer makes if chunks change their owners during each pair. */
#define TRIES       3
/*
 * The least number of chunks for a flush. A flush of fewer chunks would write blocks that are
 * mostly headers.
 */
#define FILLING_MIN 3u

/*
 * The value of rings->far if this process does not map the far part: there is no far part, or the
 * system has refused it once. The address is compared and never accessed.
 */
static unsigned char no_far;

/*
 * Writers and readers of one process call this function at the same time. If another thread has
 * mapped the far part since the first load, its mapping stays: the exchange expects NULL. After a
 * refusal the system is not asked again, so that a writer without memory does not make a system
 * call at each event.
 */
bool ptx_ring_map_far(struct ptx_rings *rings)
{
	unsigned char *none = NULL;

	if (ptx_unlikely(!atomic_load_explicit(&rings->far, memory_order_acquire)) &&
	    (!rings->map_far || !rings->map_far(rings)))
		atomic_compare_exchange_strong_explicit(&rings->far, &none, &no_far,
							memory_order_relaxed, memory_order_relaxed);
	return ptx_ring_has_far(rings);
}

/* The load acquires, because another thread may have made the mapping and stored its address. */
bool ptx_ring_has_far(const struct ptx_rings *rings)
{
	unsigned char *far = atomic_load_explicit(&rings->far, memory_order_acquire);

	return far && far != &no_far;
}

/*
 * Makes the pages of these bytes present. If all bytes are in the page that this process made
 * present last, it makes no system call. Threads mostly get the numbers of rings, slots and chunks
 * in order. So the entries of a new thread are mostly in the same page as those of the thread
 * before. The function always requests whole pages. Otherwise, in a file whose blocks are smaller
 * than a page, only a part of the page in `backed` would be present.
 *
 * The address in `backed` is private to the process, so no other process can make this process
 * assume that a page is present. If two threads make different pages present at the same time, one
 * address replaces the other. This costs one further call.
 */
static bool make_present(struct ptx_rings *rings, enum ptx_table table, uintptr_t at, size_t bytes)
{
	const uintptr_t page = at & ~(uintptr_t)(PTX_POOL_PAGE - 1);
	const uintptr_t last = (at + bytes - 1) & ~(uintptr_t)(PTX_POOL_PAGE - 1);
	_Atomic uintptr_t *backed = &rings->backed[table];

	if (page == last && page == atomic_load_explicit(backed, memory_order_relaxed))
		return true;
	if (!rings->back((void *)page, last - page + PTX_POOL_PAGE))
		return false;
	atomic_store_explicit(backed, last, memory_order_relaxed);
	return true;
}

/*
 * Entries below the index `first` are present since the creation (ptx_ring_first_tables()). In a
 * quiet process back() makes no system call and returns true, and the kernel supplies the page at
 * the first access.
 */
bool ptx_pool_entry(struct ptx_rings *rings, enum ptx_table table, uint32_t index, uint32_t first,
		    const volatile void *entry, size_t bytes)
{
	return index < first || make_present(rings, table, (uintptr_t)entry, bytes);
}

/* Makes one queue present. */
static bool back_queue(struct ptx_rings *rings, enum ptx_hint kind, unsigned tier)
{
	return rings->back((void *)rings->queue[kind][tier],
			   ((size_t)rings->geometry.hint_last[kind][tier] + 1) * sizeof(uint64_t));
}

/*
 * The queues of a tier are made present for the ring with the first number of the tier. The queue
 * of free small chunks is made present for the first ring beyond geometry.few_rings. Both happen
 * before the ring's number is added. So no writer uses queues (hint.c) whose memory is not there.
 */
bool ptx_pool_hints(struct ptx_rings *rings, uint32_t ring)
{
	const struct ptx_geometry *g = &rings->geometry;

	if (ring == g->few_rings && !back_queue(rings, PTX_HINT_SMALL, 0))
		return false;
	for (unsigned tier = 1; tier < PTX_TIERS; tier++)
		if (ring == g->tier_rings[tier - 1] && ring < g->tier_rings[tier])
			return back_queue(rings, PTX_HINT_IDLE, tier) &&
			       (!rings->loop || back_queue(rings, PTX_HINT_CLOSED, tier));
	return true;
}

/*
 * A call doubles the present part of the chunk, but adds more than STEP bytes only if the caller
 * needs more. So the number of calls is small, and a large chunk has little memory that is present
 * and unused. The parameter `bytes` is at most the size of the chunk. So if a hostile process has
 * stored a larger value in the table, the function returns immediately.
 */
bool ptx_pool_present(struct ptx_rings *rings, uint32_t number, size_t bytes)
{
	const size_t whole = sizeof(struct ptx_chunk) + ptx_ring_room_of(&rings->geometry, number);
	const uintptr_t at = (uintptr_t)ptx_ring_chunk(rings, number);
	size_t have = atomic_load_explicit(&rings->present[number], memory_order_relaxed);
	size_t want = have + (have < STEP ? have : STEP);

	if (ptx_likely(bytes <= have))
		return true;
	if (want < bytes)
		want = bytes;
	/*
	 * The end is rounded up to the end of a page, since the whole page becomes present. Two
	 * neighbouring chunks may share a page.
	 */
	want = ((at + want + PTX_POOL_PAGE - 1) & ~(uintptr_t)(PTX_POOL_PAGE - 1)) - at;
	if (want > whole)
		want = whole;
	/*
	 * The number of present bytes is stored after the call. If the writer is killed before the
	 * store, the next writer requests the same pages again.
	 */
	if (!make_present(rings, PTX_TABLE_CHUNKS, at + have, want - have))
		return false;
	atomic_store_explicit(&rings->present[number], (uint32_t)want, memory_order_relaxed);
	return true;
}

/*
 * Returns the number of chunks to which the pool may grow at this moment. The comment at the top of
 * ring_layout.c proves that this number is enough.
 */
static uint32_t most_chunks(const struct ptx_rings *rings)
{
	const struct ptx_geometry *g = &rings->geometry;
	uint32_t most = ptx_ring_most_chunks(g, ptx_ring_count(rings));

	return most < g->chunks_max ? most : g->chunks_max;
}

/*
 * Makes the entries of the numbers `from` to `number` present in the tables of chunks. The entries
 * for the chunks of the first rings are present from the start. When the first small chunk is
 * added, its number may be greater than `from`. The numbers between them stay without chunks, but
 * they need entries, because searches look at each number. Several writers may prepare the same
 * number. The exchange of region->chunks decides which of these writers adds it. Returns false if
 * memory is lacking.
 */
static bool back_entries(struct ptx_rings *rings, uint32_t from, uint32_t number)
{
	const uint32_t first = ptx_ring_first_entries(&rings->geometry);
	const size_t count = (size_t)number - from + 1;

	return ptx_pool_entry(rings, PTX_TABLE_WORDS, number, first, &rings->word[from],
			      count * sizeof(uint64_t)) &&
	       ptx_pool_entry(rings, PTX_TABLE_CLAIMED, number, first, &rings->claimed[from],
			      count * sizeof(uint64_t)) &&
	       ptx_pool_entry(rings, PTX_TABLE_PRESENT, number, first, &rings->present[from],
			      count * sizeof(uint32_t));
}

/*
 * Returns how many of the numbers below `chunks` belong to large chunks. The numbers of large
 * chunks end at region->large.
 */
static uint32_t count_large(const struct ptx_rings *rings, uint32_t chunks)
{
	const struct ptx_geometry *g = &rings->geometry;
	uint32_t large = atomic_load_explicit(&rings->region->large, memory_order_relaxed);

	if (chunks <= g->large)
		return chunks;
	/*
	 * If region->large is 0, the writer that added the first small chunk was killed, or is
	 * about to store the number.
	 */
	return large < g->chunks ? g->chunks : large < g->large ? large : g->large;
}

/* Returns how many of the numbers below `chunks` belong to small chunks. */
static uint32_t count_small(const struct ptx_rings *rings, uint32_t chunks)
{
	const uint32_t large = rings->geometry.large;

	return chunks > large ? chunks - large : 0;
}

/*
 * Returns the bytes of `large` large chunks and `small` small chunks, with the tables for the small
 * chunks.
 */
static size_t bytes_of(const struct ptx_rings *rings, uint32_t large, uint32_t small)
{
	const struct ptx_geometry *g = &rings->geometry;

	return (size_t)large * g->chunk_bytes + (size_t)small * (g->small_bytes + PTX_CHUNK_TABLES);
}

/* The sums of a search over all chunks. */
struct holding {
	uint64_t bytes; /* bytes of records */
	/* how many of these bytes may belong to no event */
	uint64_t idents;
	uint64_t words; /* a sum that differs if a chunk changed its owner between two searches */
};

/*
 * The head of an OPENING chunk still has the value of the chunk's former use, so it does not count.
 */
static bool holds_records(uint64_t word)
{
	return ptx_word_state(word) == PTX_CHUNK_OPEN || ptx_word_state(word) == PTX_CHUNK_CLOSED;
}

/*
 * Adds up the heads, or the claims of readers if `claimed` is true. Words are mixed before they are
 * added, so that two chunks that exchange their owners change the sum.
 */
static struct holding pool_look(const struct ptx_rings *rings, uint32_t chunks, bool claimed)
{
	struct holding holding = { 0, 0, 0 };

	for (uint32_t i = 0; i < chunks; i++) {
		uint64_t word = atomic_load_explicit(&rings->word[i], memory_order_acquire), mixed;
		const _Atomic uint64_t *at;

		if (!holds_records(word) || !ptx_ring_reaches(rings, i))
			continue;
		mixed = (word ^ (uint64_t)i << 8) * UINT64_C(0x9e3779b97f4a7c15);
		mixed = (mixed ^ mixed >> 32) * UINT64_C(0xd6e8feb86659fd93);
		holding.words += mixed ^ mixed >> 29;
		at = claimed ? &rings->claimed[i] : &ptx_ring_chunk(rings, i)->head;
		holding.bytes += (uint32_t)atomic_load_explicit(at, memory_order_acquire);
		/*
		 * Each chunk may have one IDENT record without an event behind it (see "The IDENT
		 * record" in ring_layout.c).
		 */
		holding.idents += PTX_IDENT_RECORD_BYTES;
	}
	return holding;
}

/*
 * Heads and claims only grow while a chunk has one owner. Let H be the sum of the heads in a first
 * search, and C the sum of the claims in a second search. If no chunk changed its owner, H - C is
 * at most the number of bytes that were unread between the two searches. So the function never
 * counts more bytes than the stream really holds, and never reports a stream as full too early.
 * *lacks becomes the number of bytes that the stream lacks, or 0 if it is not known.
 */
static bool pool_is_enough(const struct ptx_rings *rings, uint64_t *lacks)
{
	const uint32_t chunks = ptx_ring_chunks(rings);
	const uint64_t capacity = rings->geometry.capacity;

	*lacks = 0;
	/* For a LOOP stream spare.c decides whether the pool grows. */
	if (chunks > (count_small(rings, chunks) ? SEARCHED : SMALL_POOL) || rings->loop)
		return false;
	for (int i = 0; i < TRIES; i++) {
		struct holding head = pool_look(rings, chunks, false);
		struct holding claim = pool_look(rings, chunks, true);
		uint64_t less = claim.bytes + head.idents, held;

		if (head.words != claim.words)
			continue;
		/* The comparison precedes the subtraction: hostile claims may exceed the heads. */
		held = head.bytes > less ? head.bytes - less : 0;
		*lacks = held < capacity ? capacity - held : 0;
		return held >= capacity;
	}
	return false;
}

bool ptx_pool_is_enough(const struct ptx_rings *rings)
{
	uint64_t lacks;

	return pool_is_enough(rings, &lacks);
}

bool ptx_pool_can_grow(const struct ptx_rings *rings)
{
	return atomic_load_explicit(&rings->region->chunks, memory_order_relaxed) <
	       most_chunks(rings);
}

/* g->memory includes the controller's ring, so count - 1 other rings are added. */
bool ptx_pool_has_its_memory(const struct ptx_rings *rings)
{
	const struct ptx_geometry *g = &rings->geometry;
	uint32_t chunks = atomic_load_explicit(&rings->region->chunks, memory_order_relaxed);
	uint32_t count = ptx_ring_count(rings);
	bool many = ptx_ring_are_many(rings);

	return chunks < most_chunks(rings) &&
	       bytes_of(rings, count_large(rings, chunks) + !many,
			count_small(rings, chunks) + many) >
		       g->memory + (count ? count - 1 : 0) * g->ring_memory;
}

/*
 * The state ABSENT has the value 0, and fresh memory is zero. So a number without a chunk needs no
 * initialization. A writer that finds such a number adds the chunk in place of a writer that was
 * killed.
 */
bool ptx_pool_add(struct ptx_rings *rings, uint32_t number, uint32_t ring)
{
	uint64_t absent = 0;

	return atomic_compare_exchange_strong_explicit(&rings->word[number], &absent,
						       ptx_chunk_word(1, ring, PTX_CHUNK_OPENING),
						       memory_order_acq_rel, memory_order_relaxed);
}

/*
 * Returns true if the stream holds as many bytes of events as its size promises, so that it does
 * not need a further chunk. The parameter `number` is the number that this chunk would have. The
 * answer needs a search of all chunks. Writers add small chunks often. So for a small chunk below
 * region->grows_until, a writer does not search. If large and small chunks differ in size (is_tight
 * is false), a writer also does not search for a small chunk before the pool has the memory that
 * the stream's size grants (ptx_pool_has_its_memory()).
 */
static bool is_full(struct ptx_rings *rings, uint32_t number)
{
	const struct ptx_geometry *g = &rings->geometry;
	uint64_t lacks, grows;

	if (!ptx_ring_is_small(g, number))
		return ptx_pool_is_enough(rings);
	if (number < atomic_load_explicit(&rings->region->grows_until, memory_order_relaxed) ||
	    (!g->is_tight && !ptx_pool_has_its_memory(rings)))
		return false;
	if (pool_is_enough(rings, &lacks))
		return true;
	/*
	 * The next `grows` chunks have no room for more bytes than the stream lacks. So no writer
	 * needs a search before the pool has these chunks. Other writers may fill the stream
	 * meanwhile by the open chunks that they have. The pool is then larger than necessary, by
	 * at most one part in GROW_PART. When the stream is nearly full, the chunks without a
	 * search become fewer, in proportion to the bytes that it lacks.
	 */
	grows = lacks / g->small_room;
	grows = grows < number / GROW_PART ? grows : number / GROW_PART;
	atomic_store_explicit(&rings->region->grows_until, number + (uint32_t)grows,
			      memory_order_relaxed);
	return false;
}

/*
 * A writer whose ring has no chunk does not check whether the stream is full. So a thread always
 * has room for a record. The other writers check at each try, because a reader may have consumed
 * events since the last try.
 */
uint32_t ptx_pool_grow(struct ptx_rings *rings, uint32_t ring, enum ptx_writer_loss *loss)
{
	struct ptx_region *region = rings->region;
	const struct ptx_geometry *g = &rings->geometry;
	uint32_t chunks = atomic_load_explicit(&region->chunks, memory_order_relaxed);
	bool has_chunk =
		atomic_load_explicit(&rings->ring[ring].current, memory_order_relaxed) != 0;

	for (;;) {
		/* When the pool has a small chunk, no large chunk is added any more. */
		uint32_t number = ptx_ring_are_many(rings) && chunks < g->large ? g->large : chunks;

		if (number >= most_chunks(rings) || (has_chunk && is_full(rings, number)))
			return PTX_NONE;
		/*
		 * The writer makes the memory of the tables present before it takes the chunk's
		 * number, because it cannot return the number.
		 */
		if (!ptx_ring_reaches(rings, number) || !back_entries(rings, chunks, number)) {
			*loss = PTX_WRITER_NO_MEMORY;
			return PTX_NONE;
		}
		/*
		 * A writer that is killed between this exchange and ptx_pool_add() leaves a number
		 * without a chunk. Another writer then adds the chunk for that number. If the first
		 * writer was only slow, ptx_pool_add() fails, and the first writer uses the next
		 * number.
		 */
		if (!atomic_compare_exchange_weak_explicit(&region->chunks, &chunks, number + 1,
							   memory_order_relaxed,
							   memory_order_relaxed))
			continue;
		if (number == g->large)
			atomic_store_explicit(&region->large, chunks, memory_order_relaxed);
		if (ptx_pool_add(rings, number, ring))
			return number;
		chunks = number + 1;
	}
}

/* Returns the bytes of all closed chunks. */
static size_t closed_bytes(const struct ptx_rings *rings, uint32_t chunks)
{
	const struct ptx_geometry *g = &rings->geometry;
	size_t bytes = 0;

	/* Numbers between the last large chunk and the first small chunk are ABSENT. */
	for (uint32_t i = 0; i < chunks; i++)
		if (ptx_word_state(atomic_load_explicit(&rings->word[i], memory_order_relaxed)) ==
		    PTX_CHUNK_CLOSED)
			bytes += ptx_ring_is_small(g, i) ? g->small_bytes : g->chunk_bytes;
	return bytes;
}

/*
 * The flusher and writers that wake it call this function. The function loads the counts one after
 * the other, so the sum may be wrong by one chunk. Such an error makes a flush early or late, and
 * loses no event.
 *
 * Only closed chunks are considered: a flush cannot free an open chunk, so a stream with only open
 * chunks would be flushed again and again. If the rings are few, each has one large chunk open. If
 * they are many, an open chunk may be small or large. The function then assumes at first that all
 * open chunks are small. Only if this estimate is enough, it adds up the closed chunks.
 */
bool ptx_pool_is_filling(const struct ptx_rings *rings, uint32_t part)
{
	const struct ptx_geometry *g = &rings->geometry;
	uint32_t chunks = ptx_ring_chunks(rings), rings_used = ptx_ring_count(rings);
	uint32_t large = count_large(rings, chunks), small = count_small(rings, chunks);
	const bool many = ptx_ring_are_many(rings);
	/*
	 * The variable `taken` becomes the bytes of the chunks that are not free. At least `open`
	 * of these bytes belong to open chunks.
	 */
	size_t taken = (size_t)large * g->chunk_bytes + (size_t)small * g->small_bytes;
	size_t left = ptx_ring_free_bytes(rings);
	size_t open = rings_used * (many ? g->small_bytes : g->chunk_bytes);
	uint32_t enough = g->chunks / part, least = g->chunks / 2;

	taken -= left < taken ? left : taken;
	/* Fewer chunks than `least` are not worth a write to the log. */
	least = least < FILLING_MIN ? least : FILLING_MIN;
	enough = enough > least ? enough : least;
	if (taken <= open || taken - open < enough * g->chunk_bytes)
		return false;
	return !many || closed_bytes(rings, chunks) >= enough * g->chunk_bytes;
}
