/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/loop_cut.c - drops those events of a LOOP stream that are not younger than the cut.
 *
 * A writer that overwrites a chunk raises the cut, claims the chunk, counts its unread records, and
 * at the end stores the time of the first of these records (ring/overwrite.c). The reader may read
 * the region between two of these steps.
 */
#include "drain/loop_cut.h"

#include "drain/step.h"
#include "drain/synthetic.h"

/*
 * Notes that an event of this time is lost. The next OVERFLOW event gets the least of these times.
 */
static void lower_gap(struct ptx_drain *drain, uint64_t ticks)
{
	if (ticks < drain->gap_first)
		drain->gap_first = ticks;
}

/*
 * Refills each empty buffer after the cut has risen. If a writer has overwritten a chunk, the
 * reader notices the loss only when it claims from the ring of this chunk. So the reader must claim
 * from each ring before it delivers an event that is younger than the loss.
 */
static void refill_all(struct ptx_drain *drain)
{
	for (uint32_t i = 0; i < drain->sources; i++)
		if (drain->source[i]->key == UINT64_MAX)
			ptx_drain_refill(drain, i);
	ptx_heap_build(drain);
}

/*
 * A writer raises the cut first and stores the time of the first lost event last. The reader may
 * have reported the gap before this time was stored.
 */
void ptx_loop_cut_apply(struct ptx_drain *drain)
{
	struct ptx_region *region = drain->rings->region;
	uint64_t first = UINT64_MAX, cut;
	const struct ptx_mark *mark;
	struct ptx_source *source;

	/*
	 * This function is called for each event, and an exchange takes the cache line from the
	 * writers. So the function loads the time first, and exchanges it only if a writer has
	 * stored one.
	 */
	if (atomic_load_explicit(&region->first_overwritten, memory_order_relaxed) != UINT64_MAX)
		first = atomic_exchange_explicit(&region->first_overwritten, UINT64_MAX,
						 memory_order_acquire);
	/* (J) with (I) in ring/overwrite.c */
	cut = atomic_load_explicit(&region->cut, memory_order_acquire);
	if (cut != drain->cut) {
		drain->cut = cut;
		refill_all(drain);
	}
	/*
	 * OVERFLOW has reported the losses up to reported_cut. If the cut has not risen since, the
	 * time in `first` belongs to these losses and is ignored. Otherwise there is a new gap,
	 * which begins after reported_cut.
	 */
	if (first != UINT64_MAX && cut > drain->reported_cut)
		lower_gap(drain, first > drain->reported_cut ? first : drain->reported_cut + 1);
	/*
	 * The reader may have claimed records that are not younger than the cut. These records
	 * count as overwritten, too. Otherwise the drain would deliver them without the events of
	 * other rings that were overwritten between them (ring/DESIGN 4).
	 */
	while ((source = ptx_step_top(drain)) && source->key <= drain->cut) {
		if (ptx_step_drop_cleared(drain, source))
			continue;
		lower_gap(drain, source->key);
		drain->gap = true;
		/* the writer that overwrites has set region->overrun */
		ptx_step_book(drain, PTX_LOST_OVERWRITTEN);
	}
	/* Marks up to the cut change the state, but no event reports the change. */
	while ((mark = ptx_drain_first_mark(drain)) && mark->ticks <= drain->cut)
		ptx_synthetic_mark(drain, mark, true);
}
