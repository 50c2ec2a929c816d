/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/clear.c - the stream without what was in it.
 *
 * An event is gone if its call had returned before the clear. Of that its time alone is no proof:
 * the counters of two processors may disagree by some nanoseconds, and then it seems younger than
 * our reading. So what was published when we began goes, too; we know it by its number in its ring.
 */
#include "drain/drain.h"
#include "drain/loop_cut.h"
#include "drain/step.h"
#include "drain/synthetic.h"

/*
 * The latest time of what the source has at hand and what was published when we began; 0: nothing.
 */
static uint64_t latest_published(const struct ptx_source *source)
{
	uint32_t at, ahead = 0, left;
	uint64_t latest = 0;

	for (at = source->at; at < source->end; at += ptx_step_size(source, at))
		ahead += !(ptx_step_at(source, at)->len_flags & PTX_RECORD_IDENT);
	left = source->published - (source->records - ahead);
	if (left > INT32_MAX)
		return 0; /* the first one at hand came later */
	for (at = source->at; left && at < source->end; at += ptx_step_size(source, at)) {
		const struct ptx_record *record = ptx_step_at(source, at);

		if (record->len_flags & PTX_RECORD_IDENT)
			continue;
		latest = record->time > latest ? record->time : latest;
		left--;
	}
	return latest;
}

static void clear_up_to(struct ptx_drain *drain, uint64_t limit)
{
	for (;;) {
		const struct ptx_mark *mark = ptx_drain_first_mark(drain);
		struct ptx_source *source = ptx_step_top(drain);
		uint64_t key = source ? source->key : UINT64_MAX;

		if (mark && mark->ticks <= key) {
			ptx_synthetic_mark(drain, mark, true);
			continue;
		}
		if (!source || key > limit)
			return;
		if (!ptx_step_pass_over(drain, source))
			ptx_step_book(drain, PTX_LOST_CLEARED);
	}
}

void ptx_drain_clear(struct ptx_drain *drain)
{
	struct ptx_region *region = drain->rings->region;
	const uint64_t began = ptx_clock_ordered();
	uint64_t limit = began, latest = began;
	size_t marks = drain->marks;

	ptx_drain_pass(drain);
	/*
	 * A writer that finds it full from now on stops it for nobody: it is empty in a moment, and
	 * our caller lets it go on. Were the mark left behind a late event, the STOP would be told.
	 */
	drain->marks = marks;
	/*
	 * What is as old as what was overwritten was lost to that already, and the ledger told it
	 * so.
	 */
	if (drain->loop && !drain->after_gap)
		ptx_loop_cut_apply(drain);
	for (uint32_t i = 0; i < drain->sources; i++)
		drain->source[i]->published = ptx_ring_records(drain->rings, i);
	drain->queued = 0;
	drain->after_gap = false;
	do {
		limit = latest;
		clear_up_to(drain, limit);
		for (uint32_t i = 0; i < drain->sources; i++) {
			uint64_t last = latest_published(drain->source[i]);

			latest = last > latest ? last : latest;
		}
	} while (latest > limit);
	/*
	 * A writer that goes round as fast as we read drives us from our place until
	 * ptx_drain_refill() gives up. What we did not come to then goes when we do: by our own
	 * clock, since who is called from now on may be where it is behind another's.
	 */
	drain->cleared = began;
	drain->gap = false;
	drain->gap_first = UINT64_MAX;
	atomic_store_explicit(&region->first_overwritten, UINT64_MAX, memory_order_relaxed);
	drain->reported_cut = drain->cut = atomic_load_explicit(&region->cut, memory_order_acquire);
	atomic_store_explicit(&region->overrun, 0, memory_order_relaxed);
	atomic_store_explicit(&region->looped, 0, memory_order_relaxed);
	drain->full_marked = false;
	drain->full = false;
	if (limit > drain->last_ticks) {
		drain->last_ns = ptx_drain_label(drain, limit);
		drain->last_ticks = limit;
	}
}
