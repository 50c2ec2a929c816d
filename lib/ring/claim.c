/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/claim.c - rings change hands: a thread takes one for a nesting level, and leaves it to another.
 */
#include "base/clock.h"
#include "record/attr.h"
#include "ring/chunk.h"
#include "ring/ring_write.h"

/* Ring numbers are given out once; the rings of the base have their chunks in the pool already. */
static bool number_a_ring(struct ptx_rings *rings, uint32_t *ring, enum ptx_writer_loss *loss)
{
	struct ptx_region *region = rings->region;
	uint32_t n = atomic_load_explicit(&region->rings, memory_order_relaxed), first;

	do {
		if (n >= PTX_RINGS) {
			*loss = PTX_WRITER_NO_SLOT;
			return false;
		}
	} while (!atomic_compare_exchange_weak_explicit(&region->rings, &n, n + 1,
							memory_order_relaxed,
							memory_order_relaxed));
	*ring = n;
	if (n < PTX_BASE_RINGS)
		return true;
	first = rings->geometry.chunks + PTX_RING_CHUNKS * (n - PTX_BASE_RINGS);
	if (!rings->back(ptx_ring_chunk(rings, first),
			 PTX_RING_CHUNKS * rings->geometry.chunk_bytes)) {
		*loss = PTX_WRITER_NO_MEMORY; /* the number is lost with it */
		return false;
	}
	for (uint32_t i = first; i < first + PTX_RING_CHUNKS; i++) {
		atomic_fetch_add_explicit(&region->chunks, 1, memory_order_relaxed);
		atomic_fetch_add_explicit(&region->free_chunks, 1, memory_order_relaxed);
		atomic_store_explicit(&rings->word[i], ptx_chunk_word(0, 0, PTX_CHUNK_FREE),
				      memory_order_release);
		ptx_hint_push(&region->free_hints, rings->free_queue, rings->geometry.hint_mask, i,
			      0);
	}
	return true;
}

#define CLAIM (UINT64_C(1) << 32)

/* The claims that a ring's word counts. */
static uint64_t claims_of(uint64_t holder)
{
	return holder & ~(CLAIM - 1);
}

static bool hold(struct ptx_rings *rings, uint32_t ring, uint32_t pid)
{
	uint64_t word;

	if (ring >= PTX_RINGS)
		return false;
	word = atomic_load_explicit(&rings->ring[ring].holder, memory_order_relaxed);
	return (uint32_t)word == PTX_RING_IDLE &&
	       atomic_compare_exchange_strong_explicit(&rings->ring[ring].holder, &word,
						       claims_of(word + CLAIM) |
							       ptx_ring_held_by(pid),
						       memory_order_acq_rel,
						       memory_order_relaxed);
}

static bool is_empty(const struct ptx_hints *hints)
{
	return atomic_load_explicit(&hints->head, memory_order_relaxed) ==
	       atomic_load_explicit(&hints->tail, memory_order_relaxed);
}

static bool hold_idle(struct ptx_rings *rings, uint32_t *ring, uint32_t pid)
{
	uint32_t generation, numbered;

	for (uint32_t i = 0; i < PTX_RINGS; i++) {
		if (!ptx_hint_pop(&rings->region->idle_hints, rings->idle_queue,
				  rings->geometry.hint_mask, ring, &generation))
			break;
		if (hold(rings, *ring, pid))
			return true;
	}
	numbered = atomic_load_explicit(&rings->region->rings, memory_order_relaxed);
	if (numbered < PTX_RINGS && is_empty(&rings->region->idle_hints))
		return false;
	/* A hint is on its way, or numbers are used up: the words themselves. */
	for (*ring = 0; *ring < numbered && *ring < PTX_RINGS; ++*ring)
		if (hold(rings, *ring, pid))
			return true;
	return false;
}

static void let_go(struct ptx_rings *rings, uint32_t ring)
{
	uint64_t word = atomic_load_explicit(&rings->ring[ring].holder, memory_order_relaxed);

	atomic_store_explicit(&rings->ring[ring].holder, claims_of(word) | PTX_RING_IDLE,
			      memory_order_release);
	ptx_hint_push(&rings->region->idle_hints, rings->idle_queue, rings->geometry.hint_mask,
		      ring, 0);
}

struct ptx_chunk *ptx_ring_claim(struct ptx_rings *rings, const struct ptx_ident *ident,
				 uint32_t *held, enum ptx_writer_loss *loss)
{
	struct ptx_chunk *chunk;
	uint32_t ring, number;
	uint64_t link;

	if (!hold_idle(rings, &ring, ident->pid)) {
		if (!number_a_ring(rings, &ring, loss))
			return NULL;
		/* Who takes rings from the dead sees what we said about our ids before. */
		atomic_store_explicit(&rings->ring[ring].holder, ptx_ring_held_by(ident->pid),
				      memory_order_release);
	}
	*held = ring;
	*loss = PTX_WRITER_STREAM_FULL;
	link = atomic_load_explicit(&rings->ring[ring].current, memory_order_acquire);
	if (link != 0) {
		number = ptx_link_number(link);
		if (number >= rings->geometry.chunks_max)
			return NULL;
		chunk = ptx_ring_chunk(rings, number);
		if (ptx_ring_identify(rings, &chunk, ident))
			return chunk;
		let_go(rings, ring);
		return NULL;
	}
	chunk = ptx_chunk_open(rings, ring, ident, 0, &link);
	if (!chunk) {
		let_go(rings, ring);
		return NULL;
	}
	atomic_store_explicit(&rings->ring[ring].first, link, memory_order_relaxed);
	atomic_store_explicit(&rings->ring[ring].current, link, memory_order_release);
	return chunk;
}

void ptx_ring_release(struct ptx_rings *rings, uint32_t ring)
{
	let_go(rings, ring);
}

/* An IDENT record counts as bytes and not as an event. */
bool ptx_ring_identify(struct ptx_rings *rings, struct ptx_chunk **chunk,
		       const struct ptx_ident *ident)
{
	struct ptx_chunk *c = *chunk;
	struct ptx_record *record;
	uint64_t head;

	record = ptx_ring_reserve(rings, c, PTX_IDENT_RECORD_BYTES, &head);
	if (!record)
		return ptx_ring_turn(rings, chunk, ident); /* its header says whose it is */
	ptx_record_fill(record, sizeof *ident | PTX_RECORD_IDENT, 0, 0);
	ptx_copy_in((unsigned char *)(record + 1), (const unsigned char *)ident, sizeof *ident);
	ptx_ring_enter(c, head);
	ptx_store_word(&record->time, ptx_clock_now());
	atomic_store_explicit(&c->head, head + PTX_IDENT_RECORD_BYTES,
			      memory_order_release); /* (A) with (B) in ring_read.c */
	return true;
}
