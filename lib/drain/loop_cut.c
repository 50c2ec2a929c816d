/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/loop_cut.c - what a LOOP stream has overwritten, as the reader meets it.
 */
#include "drain/loop_cut.h"

#include "drain/step.h"
#include "drain/synthetic.h"

static void lower_gap(struct ptx_drain *drain, uint64_t ticks)
{
	if (ticks < drain->gap_first)
		drain->gap_first = ticks;
}

/* Something may have been overwritten: a ring with nothing at hand shows now whether it was its. */
static void take_all(struct ptx_drain *drain)
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

	if (atomic_load_explicit(&region->first_overwritten, memory_order_relaxed) != UINT64_MAX)
		first = atomic_exchange_explicit(&region->first_overwritten, UINT64_MAX,
						 memory_order_acquire);
	/* (J) with (I) in ring/overwrite.c */
	cut = atomic_load_explicit(&region->cut, memory_order_acquire);
	if (cut != drain->cut) {
		drain->cut = cut;
		take_all(drain);
	}
	if (first != UINT64_MAX && cut > drain->reported_cut)
		lower_gap(drain, first > drain->reported_cut ? first : drain->reported_cut + 1);
	while ((source = ptx_step_top(drain)) && source->key <= drain->cut) {
		if (ptx_step_pass_gone(drain, source))
			continue;
		lower_gap(drain, source->key);
		drain->gap = true;
		ptx_step_book(drain, PTX_LOST_OVERWRITTEN); /* OVERRUN was told by who overwrote */
	}
	while ((mark = ptx_drain_first_mark(drain)) && mark->ticks <= drain->cut)
		ptx_synthetic_mark(drain, mark, true);
}
