/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/missed.c - losses of processes that could not map the region, and so could not count the
 * losses there.
 *
 * Such a process counts its losses in the attachment, without type and thread. The reader moves the
 * number into the region, as losses for lack of memory with type 0 and without a known thread.
 */
#include "drain/drain.h"
#include "ring/ring_write.h"

/*
 * Each pass over a stream with writers calls this function, so that status and ledger include the
 * losses. The number in *missed may be hostile, so it is only added and never used as an index or a
 * size.
 */
void ptx_drain_missed(struct ptx_drain *drain)
{
	struct ptx_region *region = drain->rings->region;
	uint64_t missed = drain->missed ?
				  atomic_load_explicit(drain->missed, memory_order_relaxed) : 0;

	if (missed == 0)
		return;
	ptx_ring_count_loss(drain->rings, PTX_WRITER_NO_MEMORY, 0, 0, missed); /* type 0, slot 0 */
	atomic_store_explicit(&region->overrun, 1, memory_order_relaxed);
	/*
	 * If the reader is killed here, the next reader counts these losses a second time. That is
	 * better than a missing loss. Processes may add to the word meanwhile. Therefore the word
	 * is decreased and not set to 0.
	 */
	atomic_fetch_sub_explicit(drain->missed, missed, memory_order_relaxed);
}
