/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/hint.c - queues of hints: who looks for a chunk looks here first.
 *
 * An entry is lap 16 | generation 16 | number 32. A ticket from tail names the place and the lap.
 * A pusher that is held up between its ticket and its entry leaves a hole: a popper that meets one
 * says "empty", and the caller looks through the words themselves, which alone are true. A hole
 * whose pusher died is passed over when the queue behind it has grown by a quarter of its size, or
 * at once if the queue grows no more.
 */
#include "ring/ring.h"

static uint64_t lap_of(uint64_t ticket, uint32_t mask)
{
	return (ticket / ((uint64_t)mask + 1) + 1) & 0xffff;
}

void ptx_hint_push(struct ptx_hints *hints, _Atomic uint64_t *queue, uint32_t mask,
		   uint32_t number, uint32_t generation)
{
	uint64_t ticket = atomic_fetch_add_explicit(&hints->tail, 1, memory_order_relaxed);
	uint64_t entry =
		lap_of(ticket, mask) << 48 | (uint64_t)(generation & 0xffff) << 32 | number;

	atomic_store_explicit(&queue[ticket & mask], entry, memory_order_release);
}

bool ptx_hint_pop(struct ptx_hints *hints, _Atomic uint64_t *queue, uint32_t mask,
		  bool grows, uint32_t *number, uint32_t *generation)
{
	const uint32_t patience = grows ? mask / 4 : 0;

	for (uint32_t tries = 0; tries <= mask; tries++) {
		uint64_t head = atomic_load_explicit(&hints->head, memory_order_relaxed);
		uint64_t tail = atomic_load_explicit(&hints->tail, memory_order_relaxed);
		uint64_t entry;
		bool whole;

		if ((int64_t)(tail - head) <= 0)
			return false;
		if (tail - head > (uint64_t)mask + 1) {
			/* Nobody popped for long: what is a lap behind is written over. */
			atomic_compare_exchange_strong_explicit(&hints->head, &head,
								tail - mask - 1,
								memory_order_relaxed,
								memory_order_relaxed);
			continue;
		}
		entry = atomic_load_explicit(&queue[head & mask], memory_order_acquire);
		whole = entry >> 48 == lap_of(head, mask);
		if (!whole && tail - head <= patience)
			return false;
		if (!atomic_compare_exchange_weak_explicit(&hints->head, &head, head + 1,
							   memory_order_relaxed,
							   memory_order_relaxed))
			continue;
		if (!whole)
			continue;
		*number = (uint32_t)entry;
		*generation = (uint32_t)(entry >> 32) & 0xffff;
		return true;
	}
	return false;
}

/*
 * A queue goes round in its memory, so a large one becomes present as a whole, and a small stream
 * would pay for the rings that it never has. So there are PTX_TIERS of them: pushers use the queue
 * for the number of rings that there are, poppers empty the smaller ones first. The order of two
 * hints can change where the number of rings grows between: by one hint of each ring at most, since
 * a pusher has one hint in hand. The capacity has room for as many chunks that are out of order
 * (ring_layout.c).
 */
static unsigned tier_of(const struct ptx_rings *rings)
{
	uint32_t count = atomic_load_explicit(&rings->region->rings, memory_order_relaxed);

	if (ptx_likely(count <= PTX_RINGS_BASE))
		return 0;
	return count <= PTX_RINGS_FEW || rings->geometry.rings <= PTX_RINGS_FEW ? 1 : 2;
}

void ptx_ring_hint(struct ptx_rings *rings, enum ptx_hint kind, uint32_t number,
		   uint32_t generation)
{
	unsigned tier = tier_of(rings);

	ptx_hint_push(&rings->region->hints[kind][tier], rings->queue[kind][tier],
		      rings->geometry.hint_mask[tier], number, generation);
}

bool ptx_ring_hinted(struct ptx_rings *rings, enum ptx_hint kind, uint32_t *number,
		     uint32_t *generation)
{
	unsigned last = tier_of(rings);

	for (unsigned tier = 0; tier <= last; tier++)
		if (ptx_hint_pop(&rings->region->hints[kind][tier], rings->queue[kind][tier],
				 rings->geometry.hint_mask[tier], tier == last, number, generation))
			return true;
	return false;
}

bool ptx_ring_has_hints(const struct ptx_rings *rings, enum ptx_hint kind)
{
	unsigned last = tier_of(rings);

	for (unsigned tier = 0; tier <= last; tier++) {
		const struct ptx_hints *hints = &rings->region->hints[kind][tier];

		if (atomic_load_explicit(&hints->head, memory_order_relaxed) !=
		    atomic_load_explicit(&hints->tail, memory_order_relaxed))
			return true;
	}
	return false;
}
