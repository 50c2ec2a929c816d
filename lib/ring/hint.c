/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/hint.c - queues of hints: who looks for a chunk looks here first.
 *
 * An entry is lap 16 | generation 16 | number 32. A ticket from tail names the place and the lap.
 * A pusher that is held up between its ticket and its entry leaves a hole: a popper that meets one
 * says "empty", and the caller looks through the words themselves, which alone are true. A hole
 * whose pusher died is passed over when the queue behind it has grown by a quarter of its size.
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
	uint64_t entry = lap_of(ticket, mask) << 48 | (uint64_t)(generation & 0xffff) << 32 | number;

	atomic_store_explicit(&queue[ticket & mask], entry, memory_order_release);
}

bool ptx_hint_pop(struct ptx_hints *hints, _Atomic uint64_t *queue, uint32_t mask,
		  uint32_t *number, uint32_t *generation)
{
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
		if (!whole && tail - head <= mask / 4)
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
