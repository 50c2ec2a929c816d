/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/loop_cut.c - drops the events of a LOOP stream that are not younger than the overwrite cut.
 *
 * A writer raises the cut, claims the chunk, counts its unread records, and at the end stores
 * the time of the first of them (ring/overwrite.c). If the reader looks between two of these steps,
 * it sees only the steps before its look.
 */
#include "drain/loop_cut.h"

#include "drain/step.h"
#include "drain/synthetic.h"

/* Notes that an event of this time is lost. The next OVERFLOW has the least time that is noted. */
static void lower_gap(struct ptx_drain *drain, uint64_t ticks)
{
	if (ticks < drain->gap_first)
		drain->gap_first = ticks;
}

/*
 * After the cut has risen, refills each empty buffer. If a chunk of a ring was overwritten, the
 * reader notices the loss only when it claims from that ring. So the reader must claim from each
 * ring before it delivers an event that is younger than a loss.
 */
static void refill_all(struct ptx_drain *drain)
{
	for (uint32_t i = 0; i < drain->sources; i++)
		if (drain->source[i]->key == UINT64_MAX)
			ptx_drain_refill(drain, i);
	ptx_heap_build(drain);
}

/*
 * Discards all events up to the overwrite cut, so that exactly the youngest part of the stream
 * remains. A writer that overwrites raises the cut first and stores the time of the first lost
 * event last, possibly after the reader has reported the gap.
 */
void ptx_loop_cut_apply(struct ptx_drain *drain)
{
	struct ptx_region *region = drain->rings->region;
	uint64_t first = UINT64_MAX, cut;
	const struct ptx_mark *mark;
	struct ptx_source *source;

	/*
	 * This function is called for each event, and an exchange locks the cache line. So a plain
	 * load first tests whether a writer has stored a time.
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
	 * OVERFLOW has reported losses up to reported_cut. If the cut has not risen since, the time
	 * in `first` belongs to those losses and is dropped. Otherwise there is a new gap, which
	 * begins after reported_cut at the earliest.
	 */
	if (first != UINT64_MAX && cut > drain->reported_cut)
		lower_gap(drain, first > drain->reported_cut ? first : drain->reported_cut + 1);
	/*
	 * The reader may have claimed records that are not younger than the cut. Other rings have
	 * lost records up to the cut. If the drain delivered the claimed records, events of other
	 * rings would be missing among them (ring/DESIGN 4).
	 */
	while ((source = ptx_step_top(drain)) && source->key <= drain->cut) {
		if (ptx_step_drop_cleared(drain, source))
			continue;
		lower_gap(drain, source->key);
		drain->gap = true;
		/* the writer that overwrites sets the region's member `overrun` */
		ptx_step_book(drain, PTX_LOST_OVERWRITTEN);
	}
	/* Marks in the lost part change the state, too, but no event reports the change. */
	while ((mark = ptx_drain_first_mark(drain)) && mark->ticks <= drain->cut)
		ptx_synthetic_mark(drain, mark, true);
}
