/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/wake.c - how writers wake sleeping readers, also if a writer is killed while it does so.
 *
 * A reader sleeps on a ticket: an even number that differs from the ticket before it. A writer
 * first makes the word odd, so that no further reader sleeps on this ticket. Then it wakes the
 * readers. Then it stores 0, unless there is a newer ticket. While the word is not 0, each event
 * wakes the readers. So if a writer is killed or leaves by longjmp() between these steps, the next
 * event completes them.
 */
#include "base/futex.h"
#include "base/quiet.h"
#include "ring/ring_write.h"

/* The bit that a writer sets in a ticket before it wakes. */
#define WAKING 1u

/*
 * Any number of writers may call this function at the same time, also in handlers. It makes one
 * system call, which does not block. If no reader sleeps, it makes no system call.
 */
void ptx_ring_wake(struct ptx_region *region)
{
	_Atomic uint32_t *waiters = &region->waiters;
	uint32_t ticket = atomic_load_explicit(waiters, memory_order_relaxed);

	/*
	 * A seccomp filter may forbid the call. The reader of a quiet process wakes by itself after
	 * a while.
	 */
	if (ptx_is_quiet())
		return; /* no system call */
	if (ticket != 0 && !(ticket & WAKING) &&
	    atomic_compare_exchange_strong_explicit(waiters, &ticket, ticket | WAKING,
						    memory_order_acq_rel, memory_order_relaxed))
		ticket |= WAKING;
	/*
	 * If the word has another, even ticket by now, this writer need not wake a reader. Either
	 * another writer has made the former ticket odd and wakes the readers of that ticket, or
	 * the reader of the new ticket checks again before it sleeps.
	 */
	if (!(ticket & WAKING))
		return;
	/*
	 * Each writer that sees the odd ticket wakes the readers again, because the writer that
	 * made the ticket odd may have been killed before it woke them.
	 */
	ptx_futex_wake(waiters);
	/*
	 * The exchange fails if a reader has stored a newer ticket since then, because that reader
	 * still needs a wake-up.
	 */
	atomic_compare_exchange_strong_explicit(waiters, &ticket, 0, memory_order_acq_rel,
						memory_order_relaxed);
}
