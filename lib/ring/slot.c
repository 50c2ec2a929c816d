/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/slot.c - the losses of each thread.
 *
 * Slot 0 belongs to no thread. It counts losses that cannot be attributed. When a thread ends, its
 * counts stay in its slot. When another thread needs the slot, they move to slot 0. A thread stores
 * its identity in a slot before it makes the slot LIVE, so that no reader attributes its losses to
 * the slot's previous thread. A thread that is killed before it makes the slot LIVE leaves the slot
 * unused forever. When no slot is left, losses count in slot 0.
 *
 * The word of a slot has a generation of 16 bits. A thread keeps the generation and the index of
 * its slot in one word. So a count for a thread that has lost its slot goes to slot 0 and not to
 * the next thread (ptx_ring_count_loss()).
 *
 * Threads: any. The functions are async-signal-safe and do not wait.
 */
#include "ring/pool.h"
#include "ring/ring_write.h"

/*
 * Stores the identity, then makes the slot LIVE. The caller owns the slot: it has just acquired the
 * slot's number, or has made the slot UNUSED. Returns the value that the thread keeps.
 */
static uint32_t slot_take(struct ptx_slot *slot, uint32_t index, uint32_t pid, uint32_t tid,
			  uint64_t thread, uint32_t generation)
{
	atomic_store_explicit(&slot->pid, pid, memory_order_relaxed);
	atomic_store_explicit(&slot->tid, tid, memory_order_relaxed);
	atomic_store_explicit(&slot->thread, thread, memory_order_relaxed);
	atomic_store_explicit(&slot->word, generation << 16 | PTX_SLOT_LIVE, memory_order_release);
	return generation << 16 | index;
}

/*
 * Moves the counts of an ended thread to slot 0. Each count moves once, since the exchange first
 * sets the slot's count to 0. If the thread is killed between the exchange and the addition, the
 * count is missing among the threads' losses only. The region's counts by type still have it.
 */
static void slot_inherit(struct ptx_slot *heir, struct ptx_slot *slot)
{
	for (int i = 0; i < PTX_WRITER_ROWS; i++) {
		uint64_t count = atomic_exchange_explicit(&slot->lost[i], 0, memory_order_relaxed);

		atomic_fetch_add_explicit(&heir->lost[i], count, memory_order_relaxed);
	}
}

/*
 * Takes a new slot while there are unused numbers, so that the counts of ended threads stay
 * separate. When no number is left, reuses the slot of an ended thread. Also returns 0 if there is
 * no memory: losses are then counted in slot 0.
 */
uint32_t ptx_slot_claim(struct ptx_rings *rings, uint32_t pid, uint32_t tid, uint64_t thread)
{
	uint32_t used = atomic_load_explicit(&rings->region->slots, memory_order_relaxed);

	while (used < rings->geometry.rings - 1) {
		struct ptx_slot *slot = &rings->slot[used + 1];

		/* The memory of the slot comes first, since the number cannot be returned. */
		if (!ptx_pool_entry(rings, PTX_TABLE_SLOTS, used + 1, PTX_RINGS_BASE, slot,
				    sizeof *slot))
			return 0;
		if (!atomic_compare_exchange_weak_explicit(&rings->region->slots, &used, used + 1,
							   memory_order_relaxed,
							   memory_order_relaxed))
			continue;
		return slot_take(slot, used + 1, pid, tid, thread, 0);
	}
	for (uint32_t i = 1; i < rings->geometry.rings; i++) {
		struct ptx_slot *slot = &rings->slot[i];
		uint32_t word = atomic_load_explicit(&slot->word, memory_order_relaxed);
		uint32_t generation = (word >> 16) + 1;

		if ((word & 0xffff) != PTX_SLOT_ENDED ||
		    /*
		     * If several threads try to claim the slot, the exchange succeeds for one of
		     * them only.
		     */
		    !atomic_compare_exchange_strong_explicit(&slot->word, &word,
							     generation << 16 | PTX_SLOT_UNUSED,
							     memory_order_acq_rel,
							     memory_order_relaxed))
			continue;
		slot_inherit(&rings->slot[0], slot);
		return slot_take(slot, i, pid, tid, thread, generation);
	}
	return 0;
}

void ptx_slot_release(struct ptx_rings *rings, uint32_t slot)
{
	uint32_t index = slot & 0xffff, live = (slot & 0xffff0000u) | PTX_SLOT_LIVE;

	/* The exchange fails if another thread has the slot by now. */
	if (index != 0 && index < rings->geometry.rings)
		atomic_compare_exchange_strong_explicit(&rings->slot[index].word, &live,
							(slot & 0xffff0000u) | PTX_SLOT_ENDED,
							memory_order_release, memory_order_relaxed);
}

/*
 * A thread calls this function before it continues to use its slot: another process may have ended
 * the slot, either by mistake or because the process id was reused.
 */
bool ptx_slot_is_held(const struct ptx_rings *rings, uint32_t slot)
{
	uint32_t index = slot & 0xffff;

	return index < rings->geometry.rings &&
	       (index == 0 ||
		atomic_load_explicit(&rings->slot[index].word, memory_order_relaxed) ==
			((slot & 0xffff0000u) | PTX_SLOT_LIVE));
}
