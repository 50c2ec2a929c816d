/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/hint.c - queues of hints: a thread that looks for a chunk or a ring looks here first.
 *
 * An entry has three parts: lap 16 | generation 16 | number 32. A thread that adds a hint (a
 * pusher) takes a ticket from the member `tail`. The ticket gives the place and the lap of the
 * entry. The lap is the number of times that the queue has been filled. The parameter `last` of a
 * function is the index of a queue's last place.
 *
 * A pusher that is suspended after it took its ticket and before it stored its entry leaves a hole.
 * A thread that removes hints (a popper) and finds a hole reports "empty". Its caller then searches
 * the words of the chunks or rings. A pusher that died never fills its hole. So a popper skips a
 * hole when the entries behind the hole occupy a quarter of the queue's places. If no thread adds
 * to the queue any more, a popper skips a hole immediately.
 *
 * A hint can be lost, be late, or name a chunk that has another owner by now. Only the words
 * decide, so a lost hint costs a search and never a chunk or a record.
 *
 * Threads: any number of pushers and poppers, in any process of the arena. The functions are
 * async-signal-safe and wait for no thread. Each loop is bounded, because another process may store
 * any values in `head` and `tail`.
 */
#include "ring/ring.h"

/*
 * Returns the lap of a ticket as an entry has it. The first lap is 1, so that an entry of zeroed
 * memory is a hole and not a hint for chunk 0.
 */
static uint64_t lap_of(uint64_t ticket, uint32_t last)
{
	return (ticket / ((uint64_t)last + 1) + 1) & 0xffff;
}

/*
 * Adds a hint. The function never fails: a full queue loses its oldest hints, because the pusher
 * does not look at `head`. Most queues have a place for each chunk or ring that can exist in their
 * tier, so they are full only if no thread has popped their old hints. The queue of free small
 * chunks has fewer places and can be full of valid hints (ring_layout.c). The order of these hints
 * does not matter, and take_lost() in ring_write.c finds the chunks whose hints were lost.
 */
void ptx_hint_push(struct ptx_hints *hints, _Atomic uint64_t *queue, uint32_t last,
		   uint32_t number, uint32_t generation)
{
	uint64_t ticket = atomic_fetch_add_explicit(&hints->tail, 1, memory_order_relaxed);
	uint64_t entry =
		lap_of(ticket, last) << 48 | (uint64_t)(generation & 0xffff) << 32 | number;

	atomic_store_explicit(&queue[ticket % ((uint64_t)last + 1)], entry, memory_order_release);
}

/*
 * Removes the oldest hint. Returns false if there is none, or if the oldest place is a hole that a
 * pusher may still fill. Any process may have written the number, so the caller checks it.
 */
bool ptx_hint_pop(struct ptx_hints *hints, _Atomic uint64_t *queue, uint32_t last,
		  bool grows, uint32_t *number, uint32_t *generation)
{
	const uint32_t patience = grows ? last / 4 : 0;

	for (uint32_t tries = 0; tries <= last; tries++) {
		uint64_t head = atomic_load_explicit(&hints->head, memory_order_relaxed);
		uint64_t tail = atomic_load_explicit(&hints->tail, memory_order_relaxed);
		uint64_t entry;
		bool whole;

		/*
		 * The difference is signed, because a hostile process may have stored a `head` that
		 * is ahead of `tail`.
		 */
		if ((int64_t)(tail - head) <= 0)
			return false;
		if (tail - head > (uint64_t)last + 1) {
			/*
			 * No thread has popped a hint for a long time. Pushers have already
			 * overwritten the entries that are more than a lap behind `tail`, so `head`
			 * moves past those entries.
			 */
			atomic_compare_exchange_strong_explicit(&hints->head, &head,
								tail - last - 1,
								memory_order_relaxed,
								memory_order_relaxed);
			continue;
		}
		entry = atomic_load_explicit(&queue[head % ((uint64_t)last + 1)],
					     memory_order_acquire);
		/*
		 * The entry is loaded before `head` advances. After the advance, a pusher may reuse
		 * the place.
		 */
		whole = entry >> 48 == lap_of(head, last);
		if (!whole && tail - head <= patience)
			return false;
		if (!atomic_compare_exchange_weak_explicit(&hints->head, &head, head + 1,
							   memory_order_relaxed,
							   memory_order_relaxed))
			continue;
		/* The pusher of this entry is gone, or so slow that its hint is dropped. */
		if (!whole)
			continue;
		*number = (uint32_t)entry;
		*generation = (uint32_t)(entry >> 32) & 0xffff;
		return true;
	}
	return false;
}

/*
 * Returns the tier of the present number of rings. A kind of hint has PTX_TIERS queues of different
 * sizes. A queue is used circularly, so all its memory becomes present. With a single large queue,
 * a small stream would need memory for rings that it never has. A pusher uses the queue of the
 * present tier, and a popper empties the smaller queues first. If the number of rings grows between
 * two pushes, a popper may find the two hints in the opposite order. This affects at most one hint
 * of each ring, because a pusher adds one hint at a time. For such hints the pool can have one more
 * chunk for each ring (ring_layout.c). Free chunks have one queue for all tiers.
 */
static unsigned tier_of(const struct ptx_rings *rings, enum ptx_hint kind)
{
	const struct ptx_geometry *g = &rings->geometry;
	uint32_t count = atomic_load_explicit(&rings->region->rings, memory_order_relaxed);
	unsigned tier = 0;

	if (kind == PTX_HINT_FREE || kind == PTX_HINT_SMALL)
		return 0;
	/*
	 * Any process may have stored the number of rings in `count`. So the loop stops at the tier
	 * of the largest number of rings that the stream can have.
	 */
	while (tier < PTX_TIERS - 1 && count > g->tier_rings[tier] &&
	       g->tier_rings[tier] < g->rings)
		tier++;
	return tier;
}

/*
 * Adds a hint to the queue of the present tier. Writers and the reader may call this function at
 * the same time. The caller has changed the word of the chunk or ring before, so that the hint is
 * true when a thread finds it.
 */
void ptx_ring_hint(struct ptx_rings *rings, enum ptx_hint kind, uint32_t number,
		   uint32_t generation)
{
	unsigned tier = tier_of(rings, kind);

	ptx_hint_push(&rings->region->hints[kind][tier], rings->queue[kind][tier],
		      rings->geometry.hint_last[kind][tier], number, generation);
}

/*
 * Removes a hint from the first queue that has a hint. The search begins with the smallest tier.
 * Writers add hints only to the last queue, so only in the last queue a pusher may still fill a
 * hole.
 */
bool ptx_ring_hinted(struct ptx_rings *rings, enum ptx_hint kind, uint32_t *number,
		     uint32_t *generation)
{
	unsigned last = tier_of(rings, kind);

	for (unsigned tier = 0; tier <= last; tier++)
		if (ptx_hint_pop(&rings->region->hints[kind][tier], rings->queue[kind][tier],
				 rings->geometry.hint_last[kind][tier], tier == last, number,
				 generation))
			return true;
	return false;
}

/*
 * Returns how many hints were removed from the queues of this kind so far, modulo 2^32. A tier that
 * the stream has not reached has no hints.
 */
uint32_t ptx_ring_hints_taken(const struct ptx_rings *rings, enum ptx_hint kind)
{
	unsigned last = tier_of(rings, kind);
	uint32_t taken = 0;

	for (unsigned tier = 0; tier <= last; tier++)
		taken += (uint32_t)atomic_load_explicit(&rings->region->hints[kind][tier].head,
							memory_order_relaxed);
	return taken;
}

/*
 * Returns true if a queue is not empty at this moment. The queue may consist of holes. So if the
 * caller cannot remove a hint although the result is true, it searches the words.
 */
bool ptx_ring_has_hints(const struct ptx_rings *rings, enum ptx_hint kind)
{
	unsigned last = tier_of(rings, kind);

	for (unsigned tier = 0; tier <= last; tier++) {
		const struct ptx_hints *hints = &rings->region->hints[kind][tier];

		if (atomic_load_explicit(&hints->head, memory_order_relaxed) !=
		    atomic_load_explicit(&hints->tail, memory_order_relaxed))
			return true;
	}
	return false;
}
