/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/snapshot_counts.c - checks the counts of losses in a copied region.
 *
 * The ledger of the snapshot's log adds up all counts. A hostile process may have stored any count.
 * The sum could then wrap around, and a log with such a ledger is not valid (log/FORMAT L1, L2).
 */
#include "observe/snapshot_private.h"

/*
 * The greatest count that is accepted: a thousand million events per second for 13 days. Sums of
 * such counts do not overflow.
 */
#define COUNT_MAX (UINT64_C(1) << 50)

/* Sets a count that is greater than `most` to 0, reports it, and returns false. */
static bool snapshot_counts_check(const struct ptx_taking *taking, _Atomic uint64_t *count,
				  uint64_t most)
{
	const unsigned char *begin = (const unsigned char *)taking->snapshot->rings.region;

	if (atomic_load_explicit(count, memory_order_relaxed) <= most)
		return true;
	atomic_store_explicit(count, 0, memory_order_relaxed);
	ptx_image_fault(taking->image,
			taking->region + (uint64_t)((const unsigned char *)count - begin),
			sizeof *count, "so many events cannot have been lost: not counted");
	return false;
}

/*
 * Only the slots that are in use can have counts. The region has the number of these slots, which
 * is bounded here. If a count was set to 0, the number of lost events is not exact.
 */
void ptx_snapshot_check_counts(struct ptx_taking *taking)
{
	struct ptx_rings *rings = &taking->snapshot->rings;
	uint32_t slots = atomic_load_explicit(&rings->region->slots, memory_order_relaxed);
	bool sound = true;

	slots = slots < rings->geometry.rings ? slots + 1 : rings->geometry.rings;

	/*
	 * No event has type 0. But a loss for lack of memory is counted for type 0 if the type of
	 * the event is unknown (drain/missed.c).
	 */
	for (int loss = 0; loss < PTX_WRITER_ROWS; loss++) {
		for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
			sound &= snapshot_counts_check(
				taking, &rings->region->lost_type[loss][type],
				type || loss == PTX_WRITER_NO_MEMORY ? COUNT_MAX : 0);
		for (unsigned slot = 0; slot < slots; slot++)
			sound &= snapshot_counts_check(taking, &rings->slot[slot].lost[loss],
						       COUNT_MAX);
	}
	/* If has_skips is 0, the counts of skipped events are not in the copy and are not used. */
	if (atomic_load_explicit(&rings->region->has_skips, memory_order_relaxed))
		for (unsigned i = 0; i < PTX_SKIP_ROWS * PTX_TYPE_MAX; i++)
			sound &= snapshot_counts_check(taking, &rings->skips[i],
						       i % PTX_TYPE_MAX ? COUNT_MAX : 0);
	taking->snapshot->is_even = taking->snapshot->is_even && sound;
}
