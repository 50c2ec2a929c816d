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
 * losses. The number in *missed may be hostile, but the function only adds it to a count.
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
	 * If the reader is killed here, the next reader counts these losses a second time. In the
	 * opposite order the losses would be missing, which is worse. The function does not set the
	 * word to 0, because processes may have added to it since the load.
	 */
	atomic_fetch_sub_explicit(drain->missed, missed, memory_order_relaxed);
}
