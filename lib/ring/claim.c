/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/claim.c - how a thread acquires a ring for a nesting level, and leaves it to another thread.
 *
 * A thread prefers an idle ring to a new ring, because the number of a new ring is used up for
 * ever, and each ring keeps an open chunk. One compare-and-swap on the word of an idle ring decides
 * which thread holds the ring. If a thread is killed while it holds a ring, ptx_ring_reap() takes
 * the ring from the dead process. If a thread is killed between number_a_ring() and the store of
 * its identity in the word, no thread uses the new ring.
 *
 * Threads: writers, any number at the same time. The functions are async-signal-safe. They acquire
 * no lock and wait for no other thread. A search is bounded by the number of rings.
 */
#include "base/clock.h"
#include "record/attr.h"
#include "ring/chunk.h"
#include "ring/pool.h"
#include "ring/ring_write.h"

/*
 * Adds a ring to the stream. Each ring has a number that is used once. The ring's word stays UNUSED
 * until the caller stores itself as the holder. claim_hold() refuses that state, so no other thread
 * can claim the ring before that store. A thread that is killed before that store leaves a ring
 * without records, and the ring's number is lost.
 *
 * The exchange of region->rings may be relaxed. If a reader sees the new number before it sees the
 * stores in the ring, it finds zeroed memory, which means a ring without a current chunk.
 *
 * Fails with NO_SLOT if the stream already has as many rings as it may have. Fails with NO_MEMORY
 * if there is no memory for the new ring's entries in the tables.
 */
static bool number_a_ring(struct ptx_rings *rings, uint32_t *ring, enum ptx_writer_loss *loss)
{
	struct ptx_region *region = rings->region;
	uint32_t n = atomic_load_explicit(&region->rings, memory_order_relaxed);

	do {
		if (n >= rings->geometry.rings) {
			*loss = PTX_WRITER_NO_SLOT;
			return false;
		}
		/*
		 * The writer makes the memory of the tables present before it takes the ring's
		 * number, because it cannot return the number.
		 */
		if (!ptx_pool_entry(rings, PTX_TABLE_RINGS, n, PTX_RINGS_BASE, &rings->ring[n],
				    sizeof *rings->ring) ||
		    !ptx_pool_hints(rings, n)) {
			*loss = PTX_WRITER_NO_MEMORY;
			return false;
		}
	} while (!atomic_compare_exchange_weak_explicit(&region->rings, &n, n + 1,
							memory_order_relaxed,
							memory_order_relaxed));
	*ring = n;
	return true;
}

/* The value of one claim in a ring's word, whose upper half counts the claims (words.h). */
#define CLAIM             (UINT64_C(1) << 32)
/* The threads of a stream together search all rings at most about this many times in a second. */
#define SEARCHES_A_SECOND 100

/* Returns a ring's word with its count of claims alone: the other bits are 0. */
static uint64_t claims_of(uint64_t holder)
{
	return holder & ~(CLAIM - 1);
}

/*
 * Claims the ring if it is IDLE. The parameter `ring` may be a number from a hint, which any
 * process may have written, so this function checks it. Each claim increases the count of claims.
 * Another process can take a thread's ring by mistake, if it considers the thread's process dead.
 * The thread detects this by the count, even if another thread of its process has claimed the ring
 * since.
 *
 * Because of the fence, this thread reads the clock later than the former holder of the ring did.
 */
static bool claim_hold(struct ptx_rings *rings, uint32_t ring, uint32_t pid)
{
	uint64_t word;

	if (ring >= rings->geometry.rings)
		return false;
	/*
	 * The exchange acquires: this thread sees all stores of the thread that released the ring.
	 */
	word = atomic_load_explicit(&rings->ring[ring].holder, memory_order_relaxed);
	if ((uint32_t)word != PTX_RING_IDLE ||
	    !atomic_compare_exchange_strong_explicit(&rings->ring[ring].holder, &word,
						     claims_of(word + CLAIM) |
							     ptx_ring_held_by(pid),
						     memory_order_acq_rel, memory_order_relaxed))
		return false;
	ptx_clock_fence();
	return true;
}

/*
 * Searches all rings for an idle ring whose hint is not queued yet or was lost. A thread without a
 * ring calls this function at each event. A search is therefore made only if the last search was
 * some time ago. Two threads may search at the same moment, which costs time and has no other
 * effect.
 */
static bool search_idle(struct ptx_rings *rings, uint32_t *ring, uint32_t pid)
{
	_Atomic uint64_t *searched_at = &rings->region->searched_at;
	uint64_t then = atomic_load_explicit(searched_at, memory_order_relaxed),
		 now = ptx_clock_now();
	uint32_t count = ptx_ring_count(rings);

	/*
	 * If another processor's clock is ahead, the difference wraps to a large number and the
	 * search runs.
	 */
	if (then != 0 && now - then < ptx_clock_hz / SEARCHES_A_SECOND)
		return false;
	atomic_store_explicit(searched_at, now, memory_order_relaxed);
	for (*ring = 0; *ring < count; ++*ring)
		if (claim_hold(rings, *ring, pid))
			return true;
	return false;
}

/*
 * Claims an idle ring. Returns false if the caller should add a new ring. A hint may name a ring
 * that another thread has claimed since, and the loop then tries the next hint. The loop has a
 * bound, because other threads may add hints all the time.
 */
static bool hold_idle(struct ptx_rings *rings, uint32_t *ring, uint32_t pid)
{
	uint32_t generation;

	for (uint32_t i = 0; i < rings->geometry.rings; i++) {
		if (!ptx_ring_hinted(rings, PTX_HINT_IDLE, ring, &generation))
			break;
		if (claim_hold(rings, *ring, pid))
			return true;
	}
	/*
	 * If numbers for new rings are left and the queue is empty, the function does not search: a
	 * new ring costs less than a search. If the queue is not empty, it may begin with a hole
	 * that another thread has not filled yet (hint.c). No thread can remove the hints behind
	 * the hole, so only a search finds the rings that they name.
	 */
	if (ptx_ring_count(rings) < rings->geometry.rings &&
	    !ptx_ring_has_hints(rings, PTX_HINT_IDLE))
		return false;
	return search_idle(rings, ring, pid);
}

/*
 * Makes the ring IDLE. The caller holds it. Because of the release store, the next holder sees
 * everything that the caller stored in the ring and its chunks. The hint is added after the word is
 * stored. Otherwise another thread could remove the hint while the ring is still held, and only a
 * search of all rings would find the ring later.
 */
static void let_go(struct ptx_rings *rings, uint32_t ring)
{
	uint64_t word = atomic_load_explicit(&rings->ring[ring].holder, memory_order_relaxed);

	atomic_store_explicit(&rings->ring[ring].holder, claims_of(word) | PTX_RING_IDLE,
			      memory_order_release);
	ptx_ring_hint(rings, PTX_HINT_IDLE, ring, 0);
}

/*
 * The result is a chunk in which the next record belongs to the thread in `ident`. Readers find the
 * identity of this thread in an IDENT record, or in the header of a new chunk. If there is no room,
 * the ring becomes IDLE again, because threads that fail at each event would otherwise use up the
 * numbers of rings.
 */
struct ptx_chunk *ptx_ring_claim(struct ptx_rings *rings, const struct ptx_ident *ident,
				 uint32_t *held, enum ptx_writer_loss *loss)
{
	struct ptx_chunk *chunk;
	uint32_t ring, number;
	uint64_t link;

	if (!hold_idle(rings, &ring, ident->pid)) {
		if (!number_a_ring(rings, &ring, loss))
			return NULL;
		/*
		 * Because of the release, a thread that takes the ring after this thread's death
		 * sees all that this thread has stored before.
		 */
		atomic_store_explicit(&rings->ring[ring].holder, ptx_ring_held_by(ident->pid),
				      memory_order_release);
	}
	*held = ring;
	/* The cause if the pool has no chunk. If memory is lacking, it becomes NO_MEMORY below. */
	*loss = PTX_WRITER_STREAM_FULL;
	link = atomic_load_explicit(&rings->ring[ring].current, memory_order_acquire);
	if (link != 0) {
		number = ptx_link_number(link);
		/*
		 * The chunk is in the far part, which this process could not map. Another process
		 * may be able to use the ring.
		 */
		if (!ptx_ring_reaches(rings, number)) {
			*loss = PTX_WRITER_NO_MEMORY;
			let_go(rings, ring);
			return NULL;
		}
		chunk = ptx_ring_chunk(rings, number);
		if (ptx_ring_identify(rings, &chunk, ident, loss))
			return chunk;
		let_go(rings, ring);
		return NULL;
	}
	/*
	 * The ring has no chunk: its number is new, or its first holder found no chunk or was
	 * killed.
	 */
	chunk = ptx_chunk_open(rings, ring, ident, 0, &link, loss);
	if (!chunk) {
		let_go(rings, ring);
		return NULL;
	}
	/*
	 * A reader loads the member `current` (acquire) and then the member `first`. So if it finds
	 * a current chunk, it also finds the first chunk.
	 */
	atomic_store_explicit(&rings->ring[ring].first, link, memory_order_relaxed);
	atomic_store_explicit(&rings->ring[ring].current, link, memory_order_release);
	return chunk;
}

/*
 * The caller holds the ring (ptx_ring_held()) and has mended it. The next holder continues in the
 * current chunk and does not look for an unfinished change of chunks.
 */
void ptx_ring_release(struct ptx_rings *rings, uint32_t ring)
{
	let_go(rings, ring);
}

/*
 * Writes an IDENT record, which counts as bytes and not as an event: the head grows by the record's
 * size and not by PTX_HEAD_RECORD.
 */
bool ptx_ring_identify(struct ptx_rings *rings, struct ptx_chunk **chunk,
		       const struct ptx_ident *ident, enum ptx_writer_loss *loss)
{
	struct ptx_chunk *c = *chunk;
	struct ptx_record *record;
	uint64_t head;
	size_t end;

	record = ptx_ring_prepare(rings, c, PTX_IDENT_RECORD_BYTES, &head);
	if (!record)
		/*
		 * The new chunk has the thread's identity in its header, so it needs no IDENT
		 * record.
		 */
		return ptx_ring_turn(rings, chunk, ident, loss);
	end = ptx_head_offset(head) + PTX_IDENT_RECORD_BYTES;
	if (ptx_ring_extend(rings, c, end, loss) < end)
		return false;
	ptx_record_fill(record, sizeof *ident | PTX_RECORD_IDENT, 0, 0);
	ptx_copy_in((unsigned char *)(record + 1), (const unsigned char *)ident, sizeof *ident);
	/*
	 * The window opens as for an event. The IDENT record gets a time, because the records of a
	 * ring are in the order of their times.
	 */
	ptx_ring_stamp(c, head);
	ptx_store_word(&record->time, ptx_clock_now());
	atomic_store_explicit(&c->head, head + PTX_IDENT_RECORD_BYTES,
			      memory_order_release); /* (A) with (B) in ring_read.c */
	return true;
}
