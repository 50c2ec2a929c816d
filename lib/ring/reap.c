/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/reap.c - what processes that died held of a stream is there for others.
 *
 * A ring's word names the process and counts the claims, so one exchange takes a ring over from a
 * dead process and from no other. Its records stay where they are; what its writer had begun is
 * finished first.
 */
#include "ring/ring_write.h"

/* The first ring is the controller's, which may be in another name space of process ids. */
static bool reap_rings(struct ptx_rings *rings, uint32_t self, bool (*is_dead)(uint32_t pid))
{
	uint32_t count = ptx_ring_count(rings);
	bool found = false;

	for (uint32_t i = 1; i < count; i++) {
		uint64_t word = atomic_load_explicit(&rings->ring[i].holder, memory_order_acquire);
		uint32_t pid = ptx_ring_pid(word);

		/*
		 * Asked after the word was read: its holder is meant, and no later process of that
		 * id.
		 */
		if ((word & PTX_RING_STATE) != PTX_RING_HELD || pid == self || !is_dead(pid))
			continue;
		if (!atomic_compare_exchange_strong_explicit(&rings->ring[i].holder, &word,
							     (word & ~(uint64_t)UINT32_MAX) |
								     ptx_ring_held_by(self),
							     memory_order_acq_rel,
							     memory_order_relaxed))
			continue;
		ptx_ring_mend(rings, i);
		ptx_ring_release(rings, i);
		found = true;
	}
	return found;
}

static void reap_slots(struct ptx_rings *rings, uint32_t self, bool (*is_dead)(uint32_t pid))
{
	uint32_t count = atomic_load_explicit(&rings->region->slots, memory_order_acquire);

	for (uint32_t i = 1; i <= count && i < rings->geometry.rings; i++) {
		struct ptx_slot *slot = &rings->slot[i];
		uint32_t word = atomic_load_explicit(&slot->word, memory_order_acquire);
		uint32_t pid = atomic_load_explicit(&slot->pid, memory_order_relaxed);

		if ((word & 0xffff) == PTX_SLOT_LIVE && pid != self && is_dead(pid))
			atomic_compare_exchange_strong_explicit(
				&slot->word, &word, (word & 0xffff0000u) | PTX_SLOT_ENDED,
				memory_order_release, memory_order_relaxed);
	}
}

bool ptx_ring_reap(struct ptx_rings *rings, uint32_t self, bool (*is_dead)(uint32_t pid))
{
	reap_slots(rings, self, is_dead);
	return reap_rings(rings, self, is_dead);
}
