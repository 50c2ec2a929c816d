/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/pool.c - how the pool grows, and how its chunks become present memory.
 *
 * Relies on three facts. region->chunks and region->rings only grow, so a number is never returned.
 * Only the holder of a chunk changes its entry in `present`. And rings->back() may be called by
 * several threads for the same pages: the call writes nothing and changes no content.
 *
 * Any process of the arena may store other numbers. So each count is limited by the geometry, which
 * this process computed itself.
 */
#include "ring/pool.h"

#include "record/attr.h"
#include "ring/ring_write.h"

#define STEP        65536u /* a chunk becomes present in steps that double up to this */
#define SMALL_POOL  2048u  /* in a larger pool a writer does not examine each chunk */
/* Pairs of searches, if chunks change hands during each of them. */
#define TRIES       3
/* Chunks. A flush of fewer writes blocks that are mostly headers. */
#define FILLING_MIN 3u

/*
 * The value of rings->far if this process does not map the far part: there is none, or the system
 * has refused it once. The address is compared and never accessed.
 */
static unsigned char no_far;

/*
 * Writers and readers of one process call this at the same time. If another thread has mapped the
 * far part since the first load, its mapping stays: the exchange expects NULL. After a refusal the
 * system is not asked again, so that a writer without memory does not make a system call at each
 * event.
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

/* Acquire: the mapping and its address were stored by another thread. */
bool ptx_ring_has_far(const struct ptx_rings *rings)
{
	unsigned char *far = atomic_load_explicit(&rings->far, memory_order_acquire);

	return far && far != &no_far;
}

/*
 * Entries below first are present since the creation (ptx_ring_first_tables()). A quiet process
 * makes no call: back() returns true, and the kernel supplies the page at the first access.
 */
bool ptx_pool_entry(struct ptx_rings *rings, uint32_t index, uint32_t first,
		    const volatile void *entry, size_t bytes)
{
	return index < first || rings->back((void *)(uintptr_t)entry, bytes);
}

/*
 * Only the ring with the first number of a tier makes its queues present. It does so before the
 * number is added. So no writer uses queues (hint.c) whose memory is not there. The queues of one
 * tier are neighbours, from the first kind on.
 */
bool ptx_pool_hints(struct ptx_rings *rings, uint32_t ring)
{
	const struct ptx_geometry *g = &rings->geometry;
	unsigned tier = ring == PTX_RINGS_BASE ? 1 :
			ring == PTX_RINGS_FEW ? 2 : 0;

	if (tier == 0 || (tier == 2 && g->rings <= PTX_RINGS_FEW))
		return true;
	return rings->back((void *)rings->queue[0][tier],
			   PTX_HINTS * ((size_t)g->hint_mask[tier] + 1) * sizeof(uint64_t));
}

/*
 * Doubling keeps the number of calls small, and STEP limits the memory that a large chunk has
 * unused. bytes is at most chunk_bytes, so for a larger, hostile value in the table the function
 * returns at once.
 */
bool ptx_pool_present(struct ptx_rings *rings, uint32_t number, size_t bytes)
{
	const size_t whole = rings->geometry.chunk_bytes;
	size_t have = atomic_load_explicit(&rings->present[number], memory_order_relaxed);
	size_t want = have + (have < STEP ? have : STEP);

	if (ptx_likely(bytes <= have))
		return true;
	if (want < bytes)
		want = bytes;
	/* Up to the end of a page, since the whole page becomes present. */
	want = (want + PTX_POOL_PAGE - 1) & ~(size_t)(PTX_POOL_PAGE - 1);
	if (want > whole)
		want = whole;
	/*
	 * Present is stored behind the call. A writer that is killed in between asks for the same
	 * pages again.
	 */
	if (!rings->back((unsigned char *)ptx_ring_chunk(rings, number) + have, want - have))
		return false;
	atomic_store_explicit(&rings->present[number], (uint32_t)want, memory_order_relaxed);
	return true;
}

/* Returns the number to which the pool may grow at this moment; the proof is in ring_layout.c. */
static uint32_t most_chunks(const struct ptx_rings *rings)
{
	const struct ptx_geometry *g = &rings->geometry;
	uint32_t most = g->chunks + g->ring_chunks * ptx_ring_count(rings);

	return most < g->chunks_max ? most : g->chunks_max;
}

/*
 * A number past those of the first rings: its entries in the tables of chunks may not be memory
 * yet. Several writers may prepare the same number. The exchange of region->chunks decides between
 * them.
 */
static bool has_entries(struct ptx_rings *rings, uint32_t number)
{
	const struct ptx_geometry *g = &rings->geometry;
	const uint32_t first = g->chunks + g->ring_chunks * PTX_RINGS_BASE;

	return ptx_pool_entry(rings, number, first, &rings->word[number], sizeof(uint64_t)) &&
	       ptx_pool_entry(rings, number, first, &rings->claimed[number], sizeof(uint64_t)) &&
	       ptx_pool_entry(rings, number, first, &rings->present[number], sizeof(uint32_t));
}

/* The sums of a search over all chunks. */
struct holding {
	uint64_t bytes; /* of records */
	uint64_t idents; /* the part of them that may belong to no event */
	uint64_t words; /* a sum that differs if a chunk changed its owner between two searches */
};

/* A chunk that is OPENING still has the head of its former life. */
static bool holds_records(uint64_t word)
{
	return ptx_word_state(word) == PTX_CHUNK_OPEN || ptx_word_state(word) == PTX_CHUNK_CLOSED;
}

/*
 * Adds up the heads in a first search, and the claims of readers in a second. Words are mixed
 * before they are added, so that two chunks that exchange their owners change the sum.
 */
static struct holding look(const struct ptx_rings *rings, uint32_t chunks, bool claimed)
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
		/* `useful` has room for an IDENT record in each chunk that no event follows. */
		holding.idents += PTX_IDENT_RECORD_BYTES;
	}
	return holding;
}

/*
 * Heads and claims only grow while a chunk has one owner. So the heads of a first search minus the
 * claims of a second one are at most the unread bytes between the two, if no chunk changed its
 * owner. The result is then no more than the stream really holds, and the stream is never reported
 * full too early.
 */
bool ptx_pool_is_enough(const struct ptx_rings *rings)
{
	const uint32_t chunks = ptx_ring_chunks(rings);

	/* For a LOOP stream spare.c decides. */
	if (chunks > SMALL_POOL || rings->loop)
		return false;
	for (int i = 0; i < TRIES; i++) {
		struct holding head = look(rings, chunks, false);
		struct holding claim = look(rings, chunks, true);
		uint64_t less = claim.bytes + head.idents;

		/* The comparison precedes the subtraction: hostile claims may exceed the heads. */
		if (head.words == claim.words)
			return head.bytes > less && head.bytes - less >= rings->geometry.capacity;
	}
	return false;
}

/* g->memory includes the controller's ring, so that one is not counted. */
bool ptx_pool_has_its_memory(const struct ptx_rings *rings)
{
	const struct ptx_geometry *g = &rings->geometry;
	uint32_t chunks = atomic_load_explicit(&rings->region->chunks, memory_order_relaxed);
	uint32_t count = ptx_ring_count(rings);

	return chunks < most_chunks(rings) &&
	       ((size_t)chunks + 1) * g->chunk_bytes >
		       g->memory + (count ? count - 1 : 0) * g->ring_memory;
}

/*
 * ABSENT is the zero of fresh memory. So a number whose chunk was never added needs no
 * initialization, and a writer that finds one adds the chunk in place of a writer that was killed.
 */
bool ptx_pool_add(struct ptx_rings *rings, uint32_t number, uint32_t ring)
{
	uint64_t absent = 0;

	return atomic_compare_exchange_strong_explicit(&rings->word[number], &absent,
						       ptx_chunk_word(1, ring, PTX_CHUNK_OPENING),
						       memory_order_acq_rel, memory_order_relaxed);
}

/*
 * A writer whose ring has no chunk does not ask whether the stream is full. So a thread always has
 * room for a record. The others ask at each try, because a reader may have made the stream less
 * full.
 */
uint32_t ptx_pool_grow(struct ptx_rings *rings, uint32_t ring, enum ptx_writer_loss *loss)
{
	_Atomic uint32_t *chunks = &rings->region->chunks;
	uint32_t number = atomic_load_explicit(chunks, memory_order_relaxed);
	/* Each thread gets a first chunk for its ring, however many the others have. */
	bool has_chunk =
		atomic_load_explicit(&rings->ring[ring].current, memory_order_relaxed) != 0;

	while (number < most_chunks(rings) && !(has_chunk && ptx_pool_is_enough(rings))) {
		/* The memory comes first, since a number cannot be returned. */
		if (!ptx_ring_reaches(rings, number) || !has_entries(rings, number)) {
			*loss = PTX_WRITER_NO_MEMORY;
			return PTX_NONE;
		}
		/*
		 * A writer that is killed between the two steps leaves a number without a chunk.
		 * Another writer adds that chunk. If the first writer was only slow, it uses the
		 * next number.
		 */
		if (atomic_compare_exchange_weak_explicit(chunks, &number, number + 1,
							  memory_order_relaxed,
							  memory_order_relaxed) &&
		    ptx_pool_add(rings, number++, ring))
			return number - 1;
	}
	return PTX_NONE;
}

/*
 * The flusher and writers that wake it call this. The counts are of slightly different moments; an
 * error of one chunk makes a flush early or late and loses nothing.
 */
bool ptx_pool_is_filling(const struct ptx_rings *rings, uint32_t part)
{
	uint32_t chunks = ptx_ring_chunks(rings), open = ptx_ring_count(rings);
	uint32_t left = atomic_load_explicit(&rings->region->free_chunks, memory_order_relaxed);
	uint32_t taken = left < chunks ? chunks - left : 0, enough = rings->geometry.chunks / part;
	uint32_t few = rings->geometry.chunks / 2;

	/* Less than this part of a small pool is not worth a write to the log. */
	few = few < FILLING_MIN ? few : FILLING_MIN;
	return taken > open && taken - open >= (enough > few ? enough : few);
}
