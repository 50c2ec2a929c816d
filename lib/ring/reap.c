/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/reap.c - takes rings and slots from dead processes, so that other writers can use them. Also
 * takes those of the program that the caller's process ran before it executed its present program.
 *
 * A ring's word has the process and the number of claims. One compare-and-swap therefore takes the
 * ring from the dead process, and fails if another thread has claimed it since. The records stay in
 * the ring. ptx_rings_mend() finishes the steps that the dead writer had begun, then the ring is
 * released.
 *
 * A ring is taken only if its process is certainly dead: if is_dead() cannot decide whether a
 * process is dead, it returns false. If the ring of a living writer were taken, two threads would
 * store in one chunk.
 *
 * Threads: any number of writers and the reader may reap at the same time. The functions are
 * async-signal-safe if is_dead() is. If this process is killed here, the rings that it has taken
 * name this process as their holder. The next call, by another process, takes them.
 */
#include "ring/ring_write.h"

#define WINDOW 256u /* rings that are mended together, by one walk over the chunks */

/*
 * Remembers the last process that was alive, because neighbouring rings and slots mostly belong to
 * one process. The struct does not remember a dead process: the id of that process may be reused,
 * and a word that is loaded later may name the new process. So is_dead() is called again after the
 * word was loaded.
 */
struct asking {
	bool (*is_dead)(uint32_t pid);
	/*
	 * Process ids as the stream's words have them. The member `alive` is at first equal to
	 * `self`, the caller's own process.
	 */
	uint32_t self, alive;
	/* the condition of ptx_ring_reap_former(); NULL: rings of dead processes are taken */
	const _Atomic uint64_t *fresh;
	uint64_t bit;
};

/*
 * Returns true if the process is certainly dead, or if only the former program of this process can
 * have stored the word. Otherwise the caller's own process never counts as dead.
 *
 * The load of *fresh comes after the load of the word (acquire). So if the bit is still set, no
 * thread of the present program had a ring when the word was loaded.
 */
static bool is_gone(struct asking *asking, uint32_t pid)
{
	if (asking->fresh)
		return pid == asking->self &&
		       (atomic_load_explicit(asking->fresh, memory_order_seq_cst) & asking->bit);
	if (pid == asking->self || pid == asking->alive)
		return false;
	if (asking->is_dead(pid))
		return true;
	asking->alive = pid;
	return false;
}

/*
 * Claims the ring for this process if a dead process holds it. Returns true if it claimed the ring.
 * The exchange compares the whole word with its count of claims. So it fails if the ring was
 * released and claimed again since the load, even by a process with the same id. It increases the
 * count, because the former program of this process has the same id.
 */
static bool take_from_dead(struct ptx_rings *rings, uint32_t ring, struct asking *asking)
{
	_Atomic uint64_t *holder = &rings->ring[ring].holder;
	uint64_t word = atomic_load_explicit(holder, memory_order_acquire);

	return (word & PTX_RING_STATE) == PTX_RING_HELD && is_gone(asking, ptx_ring_pid(word)) &&
	       atomic_compare_exchange_strong_explicit(holder, &word,
						       ((word >> 32) + 1) << 32 |
							       ptx_ring_held_by(asking->self),
						       memory_order_acq_rel, memory_order_relaxed);
}

/*
 * Takes, mends and releases all rings of dead processes. It omits ring 0, which belongs to the
 * controller: the controller's id may be from another namespace. Returns true if it took a ring.
 */
static bool reap_rings(struct ptx_rings *rings, struct asking *asking)
{
	uint32_t count = ptx_ring_count(rings);
	bool found = false;

	for (uint32_t first = 0; first < count; first += WINDOW) {
		uint32_t size = count - first < WINDOW ? count - first : WINDOW;
		/*
		 * A bit for each ring of the window. The window is small, because a signal stack
		 * may be small.
		 */
		unsigned char held[WINDOW / 8] = { 0 };
		bool any = false;

		for (uint32_t i = first == 0 ? 1 : 0; i < size; i++)
			if (take_from_dead(rings, first + i, asking)) {
				held[i / 8] |= (unsigned char)(1u << i % 8);
				any = true;
			}
		if (!any)
			continue;
		ptx_rings_mend(rings, first, size, held);
		for (uint32_t i = 0; i < size; i++)
			if (held[i / 8] >> i % 8 & 1)
				ptx_ring_release(rings, first + i);
		found = true;
	}
	return found;
}

/* Ends the slots of the threads of dead processes. Slot 0 belongs to no thread. */
static void reap_slots(struct ptx_rings *rings, struct asking *asking)
{
	uint32_t count = atomic_load_explicit(&rings->region->slots, memory_order_acquire);

	for (uint32_t i = 1; i <= count && i < rings->geometry.rings; i++) {
		/*
		 * The id is loaded after the word (acquire), and slot_take() in slot.c stores the
		 * id before the word. The exchange fails if the slot has ended or has another
		 * thread since then.
		 */
		struct ptx_slot *slot = &rings->slot[i];
		uint32_t word = atomic_load_explicit(&slot->word, memory_order_acquire);
		uint32_t pid = atomic_load_explicit(&slot->pid, memory_order_relaxed);

		if ((word & 0xffff) == PTX_SLOT_LIVE && is_gone(asking, pid))
			atomic_compare_exchange_strong_explicit(
				&slot->word, &word, (word & 0xffff0000u) | PTX_SLOT_ENDED,
				memory_order_release, memory_order_relaxed);
	}
}

/*
 * is_dead() is called rarely: neighbouring rings mostly belong to one process, and the variable
 * `asking` remembers the last process that was alive.
 */
bool ptx_ring_reap(struct ptx_rings *rings, uint32_t self, bool (*is_dead)(uint32_t pid))
{
	struct asking asking = { .is_dead = is_dead, .self = self, .alive = self };

	reap_slots(rings, &asking);
	return reap_rings(rings, &asking);
}

/*
 * A ring that this process holds is the usual case only for a process that executes programs again
 * and again, so the search is separate from the calls that taking needs.
 */
bool ptx_ring_has_former(const struct ptx_rings *rings, uint32_t self)
{
	for (uint32_t i = 1; i < ptx_ring_count(rings); i++)
		if ((uint32_t)ptx_ring_held(rings, i) == ptx_ring_held_by(self))
			return true;
	return false;
}

void ptx_ring_reap_former(struct ptx_rings *rings, uint32_t self, const _Atomic uint64_t *fresh,
			  uint64_t bit)
{
	struct asking asking = { .self = self, .fresh = fresh, .bit = bit };

	reap_slots(rings, &asking);
	reap_rings(rings, &asking);
}
