/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/clear.c - removes the events of a stream: posix_trace_clear().
 *
 * The reader removes each event whose posix_trace_event() had returned before the clear began. The
 * event's time alone does not show this: the counters of two processors may differ by some
 * nanoseconds, so such an event can have a later time than the beginning of the clear. The reader
 * therefore also removes all other records that a ring had when the clear began. It recognizes
 * these records by their numbers in the ring. All removed events count as lost, cause CLEARED.
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
	 * `ahead` is the number of events in the buffer. `left` is how many of these events were
	 * published before the clear began.
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
	/* A negative number: the buffer's first event was published after the clear began. */
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
 * Removes all records and marks up to the time `limit`, in their order, and counts the records. The
 * marks are applied silently: the stream's state changes with them, but no event reports the
 * change. A record that is no member of the stream is dropped, as at a delivery, and does not count
 * as cleared.
 */
static void clear_up_to(struct ptx_drain *drain, uint64_t limit)
{
	for (;;) {
		const struct ptx_mark *mark = ptx_drain_first_mark(drain);
		struct ptx_source *source = ptx_step_top(drain);
		uint64_t key = source ? source->key : UINT64_MAX;

		/*
		 * A mark beyond the limit is applied, too, if no buffer has an older record. So in
		 * the end the stream has the state of its last mark.
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
 * The caller has the stream's lock, and no other thread flushes meanwhile. The call allocates no
 * memory, so it cannot fail. It does not wait for writers. However fast the writers are, the call
 * removes a limited number of records, because source->published does not change during the call.
 */
void ptx_drain_clear(struct ptx_drain *drain)
{
	struct ptx_region *region = drain->rings->region;
	/*
	 * The clock is read before the numbers of the records. An event may be published after its
	 * ring's number was read, although it was stamped before this clock reading. The clear
	 * removes such an event because of its time.
	 */
	const uint64_t began = ptx_clock_ordered(); /* ticks */
	uint64_t limit = began, latest = began;
	size_t marks = drain->marks;

	ptx_drain_pass(drain);
	/*
	 * Drops the marks that the pass has added, for instance a FULL mark because a writer found
	 * the stream full during the clear. No event needs to report this FULL state, because the
	 * stream is empty soon and the caller restarts it. If the mark remained, a record between
	 * the limit and the mark could keep clear_up_to() from applying it. The drain would then
	 * deliver a STOP for the mark later.
	 */
	drain->marks = marks;
	/*
	 * Records that are not younger than the cut count as overwritten, not as cleared, because a
	 * ledger before the clear would report them as overwritten, too.
	 */
	if (drain->loop && !drain->after_gap)
		ptx_loop_cut_apply(drain);
	/*
	 * The pass has made a source for each ring that it had memory for. The loop stores how many
	 * records each of these rings has published by now. The clear removes all of them.
	 */
	for (uint32_t i = 0; i < drain->sources; i++)
		drain->source[i]->published = ptx_ring_records(drain->rings, i);
	/*
	 * The events of the drain itself that wait in the queue are dropped. The drain counts an
	 * event of its own only when it is delivered or lost, so dropping it does not change the
	 * account.
	 */
	drain->queued = 0;
	drain->after_gap = false;
	/*
	 * While records are removed, further records are claimed into the buffers. Some of the
	 * further records may have been published before the clear began, although their times are
	 * beyond the limit. Then the limit rises. Each further round removes at least one such
	 * record, and the number of such records is fixed, so the loop ends.
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
	 * return before the end of the ring. The reader removes the remaining records when it
	 * reaches them later: it drops all records up to the time in drain->cleared. This is the
	 * time at which the clear began. drain->cleared must not be the limit, which may be later:
	 * on a processor whose counter is behind, an event may be recorded after the clear and yet
	 * have a time below the limit.
	 */
	drain->cleared = began;
	/*
	 * The drain does not report losses before the clear as a gap any more. A writer that
	 * overwrites a chunk raises the cut first, and stores the time of the first lost event in
	 * first_overwritten last. If the clear begins between these two steps, the time appears
	 * after the clear, but the loss was before it. ptx_loop_cut_apply() drops such a time,
	 * because the cut has not risen above reported_cut since.
	 */
	drain->gap = false;
	drain->gap_first = UINT64_MAX;
	atomic_store_explicit(&region->first_overwritten, UINT64_MAX, memory_order_relaxed);
	drain->reported_cut = drain->cut = atomic_load_explicit(&region->cut, memory_order_acquire);
	/* CLEAR-03, CLEAR-04: the status is that of a new stream. */
	atomic_store_explicit(&region->overrun, 0, memory_order_relaxed);
	atomic_store_explicit(&region->looped, 0, memory_order_relaxed);
	/*
	 * If the stream was full, the caller restarts or suspends it. So the FULL state needs no
	 * mark any more.
	 */
	drain->full_marked = false;
	drain->full = false;
	/*
	 * The next moment that ptx_drain_moment() returns, for instance that of a START, must be
	 * later than all events that were removed. The label of a time is its CLOCK_REALTIME
	 * (step.h). last_ns is set together with last_ticks, because it is the label of last_ticks.
	 */
	if (limit > drain->last_ticks) {
		drain->last_ns = ptx_drain_label(drain, limit);
		drain->last_ticks = limit;
	}
}
