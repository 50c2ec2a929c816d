/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/wake.c - readers that sleep are woken, whoever is gone while he does it.
 *
 * A reader sleeps on a ticket, an even number that never comes again. Who wakes makes it odd, so
 * that nobody falls asleep on it any more; then wakes; then writes 0, unless there is a newer one.
 * As long as the word is not 0 every event wakes: one whose writer is killed or jumps away between
 * these steps is made up for by the next.
 */
#include "base/futex.h"
#include "base/quiet.h"
#include "ring/ring_write.h"

#define WAKING 1u

void ptx_ring_wake(struct ptx_region *region)
{
	_Atomic uint32_t *waiters = &region->waiters;
	uint32_t ticket = atomic_load_explicit(waiters, memory_order_relaxed);

	if (ptx_is_quiet())
		return; /* the reader has been told, and looks by itself */
	if (ticket != 0 && !(ticket & WAKING) &&
	    atomic_compare_exchange_strong_explicit(waiters, &ticket, ticket | WAKING,
						    memory_order_acq_rel, memory_order_relaxed))
		ticket |= WAKING;
	/*
	 * If it is another one by now: who made it odd is about to wake, or its reader looks again.
	 */
	if (!(ticket & WAKING))
		return;
	ptx_futex_wake(waiters);
	atomic_compare_exchange_strong_explicit(waiters, &ticket, 0, memory_order_acq_rel,
						memory_order_relaxed);
}
