/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/missed.c - losses that processes could not count in the region, since they could not map
 * it.
 *
 * The processes count these losses in the attachment, without type and thread. The reader moves the
 * number into the region. There the losses count as lost for lack of memory, with type 0 and
 * without a known thread.
 */
#include "drain/drain.h"
#include "ring/ring_write.h"

/*
 * Each pass calls this function, so that status and ledger have the losses. The number in *missed
 * is hostile and is only added.
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
	 * If the reader is killed here, the next reader counts these losses again, and no loss is
	 * missing. Processes add to the word meanwhile. Therefore the word is decreased and not set
	 * to 0.
	 */
	atomic_fetch_sub_explicit(drain->missed, missed, memory_order_relaxed);
}
