/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/clear.c - removes the events of a stream: posix_trace_clear().
 *
 * The reader must remove each event whose posix_trace_event() had returned before the clear began.
 * The times of the events are not enough to recognize these events. The counters of two processors
 * may differ by some nanoseconds, so such an event can have a later time than the beginning of the
 * clear. Therefore the reader also removes all other records that a ring had when the clear began.
 * It recognizes them by their numbers in the ring. All removed events count as lost with the cause
 * CLEARED.
 *
 * A source is a ring as the drain sees it. It has a buffer with records that the reader has
 * claimed.
 */
#include "drain/drain.h"
#include "drain/loop_cut.h"
#include "drain/step.h"
#include "drain/synthetic.h"

/*
 * Returns the latest time of the records that are in the source's buffer and were published before
 * the clear began, or 0 if there are no such records.
 */
static uint64_t latest_published(const struct ptx_source *source)
{
	/*
	 * `ahead` is the number of events in the buffer. The first `left` of these events were
	 * published before the clear began. If `left` is greater than `ahead`, the ring has further
	 * such events that are not in the buffer yet.
	 */
	uint32_t at, ahead = 0, left;
	uint64_t latest = 0;

	for (at = source->at; at < source->end; at += ptx_step_size(source, at))
		ahead += !(ptx_step_at(source, at)->len_flags & PTX_RECORD_IDENT);
	/*
	 * A ring numbers its events. The first event in the buffer has the number (records -
	 * ahead). All numbers are modulo 2^32, so a difference is right if it is less than 2^31.
	 */
	left = source->published - (source->records - ahead);
	/*
	 * If the difference is negative, the first event in the buffer was published after the
	 * clear began.
	 */
	if (left > INT32_MAX)
		return 0;
	for (at = source->at; left && at < source->end; at += ptx_step_size(source, at)) {
		const struct ptx_record *record = ptx_step_at(source, at);

		if (record->len_flags & PTX_RECORD_IDENT)
			continue;
		latest = record->time > latest ? record->time : latest;
		left--;
	}
	return latest;
}

/*
 * Removes all records up to the time `limit` in the order of time. A record that the drain would
 * have delivered counts as cleared. ptx_step_drop() drops the other records and counts them. The
 * function also applies all marks that are not later than the first remaining record. It applies
 * them silently: the drain's state changes, but no event reports the change.
 */
static void clear_up_to(struct ptx_drain *drain, uint64_t limit)
{
	for (;;) {
		const struct ptx_mark *mark = ptx_drain_first_mark(drain);
		struct ptx_source *source = ptx_step_top(drain);
		uint64_t key = source ? source->key : UINT64_MAX;

		/*
		 * If no record remains, marks that are later than the limit are applied, too. So
		 * the drain then has the state of the last mark.
		 */
		if (mark && mark->ticks <= key) {
			ptx_synthetic_mark(drain, mark, true);
			continue;
		}
		if (!source || key > limit)
			return;
		if (!ptx_step_drop(drain, source))
			ptx_step_book(drain, PTX_LOST_CLEARED);
	}
}

/*
 * The caller has the stream's lock, and no other thread flushes meanwhile. The call cannot fail: if
 * there is no memory for the source of a ring, the reader removes the events of this ring later, up
 * to the time drain->cleared. The call does not wait for writers. However fast the writers are, the
 * call removes a limited number of records, because source->published does not change during the
 * call.
 */
void ptx_drain_clear(struct ptx_drain *drain)
{
	struct ptx_region *region = drain->rings->region;
	/*
	 * The clock is read before the numbers of the records. A writer may stamp an event before
	 * this clock reading, and publish it after the number of its ring was read. The clear
	 * removes such an event because of its time.
	 */
	const uint64_t began = ptx_clock_ordered(); /* ticks */
	uint64_t limit = began, latest = began;
	size_t marks = drain->marks;

	ptx_drain_pass(drain);
	/*
	 * Drops the marks that the pass has added, for instance a FULL mark if a writer found the
	 * stream full during the clear. No event must report this FULL state, because the stream
	 * will be empty and the caller restarts it. If the mark remained and a record had a time
	 * between the limit and the mark, clear_up_to() would not apply the mark, and the drain
	 * would deliver a STOP later.
	 */
	drain->marks = marks;
	/*
	 * Records that are not younger than the cut count as overwritten and not as cleared,
	 * because a ledger before the clear would have counted them as overwritten.
	 */
	if (drain->loop && !drain->after_gap)
		ptx_loop_cut_apply(drain);
	/*
	 * The pass has made a source for each ring, as far as there was memory. The loop stores for
	 * each source how many records its ring has by now. The clear removes all these records.
	 */
	for (uint32_t i = 0; i < drain->sources; i++)
		drain->source[i]->published = ptx_ring_records(drain->rings, i);
	/*
	 * Drops the synthetic events in the queue. A synthetic event is counted only when it is
	 * delivered or lost, so the account does not change.
	 */
	drain->queued = 0;
	drain->after_gap = false;
	/*
	 * While clear_up_to() removes records, the reader claims further records into the buffers.
	 * Some of these records may have been published before the clear began, although their
	 * times are later than the limit. In this case the limit rises. Each further round removes
	 * at least one such record, and the number of such records is fixed, so the loop ends.
	 */
	do {
		limit = latest;
		clear_up_to(drain, limit);
		for (uint32_t i = 0; i < drain->sources; i++) {
			uint64_t last = latest_published(drain->source[i]);

			latest = last > latest ? last : latest;
		}
	} while (latest > limit);
	/*
	 * If a writer overwrites chunks as fast as the reader reads them, ptx_drain_refill() can
	 * return before the end of the ring. The reader removes the remaining records later,
	 * because it drops all records up to the time drain->cleared. This is the time when the
	 * clear began. The limit may be later and must not be used here. An event that is recorded
	 * after the clear, on a processor whose counter is behind, can have a time below the limit.
	 */
	drain->cleared = began;
	/*
	 * The drain does not report losses before the clear as a gap any more. A writer that
	 * overwrites a chunk raises the cut first, and at the end stores the time of the first lost
	 * event in first_overwritten. If the clear happens between these two steps,
	 * first_overwritten gets a value after the clear, although the loss was before the clear.
	 * ptx_loop_cut_apply() ignores this value, because the cut has not risen above reported_cut
	 * since.
	 */
	drain->gap = false;
	drain->gap_first = UINT64_MAX;
	atomic_store_explicit(&region->first_overwritten, UINT64_MAX, memory_order_relaxed);
	drain->reported_cut = drain->cut = atomic_load_explicit(&region->cut, memory_order_acquire);
	/* The status becomes that of a new stream (CLEAR-03, CLEAR-04). */
	atomic_store_explicit(&region->overrun, 0, memory_order_relaxed);
	atomic_store_explicit(&region->looped, 0, memory_order_relaxed);
	/* The caller ends a FULL state: it restarts or suspends the stream. */
	drain->full_marked = false;
	drain->full = false;
	/*
	 * ptx_drain_moment() later returns the time for a mark such as START. This time must be
	 * later than all removed events. Because it is later than last_ticks, last_ticks rises to
	 * the limit. last_ns is the CLOCK_REALTIME of last_ticks, so both are set together.
	 */
	if (limit > drain->last_ticks) {
		drain->last_ns = ptx_drain_label(drain, limit);
		drain->last_ticks = limit;
	}
}
