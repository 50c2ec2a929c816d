/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/step.h - one step of the merge: gets the first record, counts it in the ledger, and moves
 * to the next record. The top source is the source with the oldest record of all buffers.
 *
 * Threads   the caller holds the stream's lock.
 */
#ifndef PTX_DRAIN_STEP_H
#define PTX_DRAIN_STEP_H

#include <string.h>

#include "drain/heap.h"

#define PTX_JITTER_NS    1000
#define PTX_CONTROL_RING 0 /* the first ring of a stream is its controller's */

static inline struct ptx_source *ptx_step_top(const struct ptx_drain *drain)
{
	return drain->heap_count ? drain->source[drain->heap[0]] : NULL;
}

/* Returns the top source. Precondition: the heap is not empty. */
static inline struct ptx_source *ptx_step_first(const struct ptx_drain *drain)
{
	return drain->source[drain->heap[0]];
}

static inline const struct ptx_record *ptx_step_at(const struct ptx_source *source, uint32_t at)
{
	return (const void *)(source->reader.buffer + at);
}

static inline uint32_t ptx_step_size(const struct ptx_source *source, uint32_t at)
{
	return (uint32_t)ptx_record_size(ptx_record_len(ptx_step_at(source, at)->len_flags));
}

static inline const struct ptx_record *ptx_step_record(const struct ptx_source *source)
{
	return ptx_step_at(source, source->at);
}

/*
 * Updates the key of the top source and the heap, after the source has moved to its next record or
 * has reached the end of its buffer.
 */
static inline void ptx_step_settle(struct ptx_drain *drain)
{
	uint32_t index = drain->heap[0];
	struct ptx_source *source = drain->source[index];

	if (ptx_likely(source->at < source->end))
		source->key = ptx_step_record(source)->time;
	else
		ptx_drain_refill(drain, index);
	ptx_heap_fix_top(drain);
}

/* Stores in the ring, for observers, up to which record the reader has delivered. */
static inline void ptx_step_note(struct ptx_drain *drain, uint32_t index)
{
	const struct ptx_source *source = drain->source[index];
	const struct ptx_place *place = &source->reader.place;

	atomic_store_explicit(&drain->rings->ring[index].delivered,
			      ptx_delivered(ptx_link_generation(place->link),
					    ptx_link_number(place->link),
					    place->claimed - (source->end - source->at)),
			      memory_order_relaxed);
}

/* Moves the top source to its next record. */
static inline void ptx_step_advance(struct ptx_drain *drain)
{
	struct ptx_source *source = ptx_step_first(drain);
	uint32_t len_flags = ptx_step_record(source)->len_flags;

	source->at += ptx_step_size(source, source->at);
	if (!drain->rings->debts) { /* with debts, ptx_drain_settle() stores both later */
		_Atomic uint64_t *consumed = &drain->rings->region->consumed;

		ptx_step_note(drain, drain->heap[0]);
		if (!(len_flags & PTX_RECORD_IDENT))
			atomic_store_explicit(
				consumed, atomic_load_explicit(consumed, memory_order_relaxed) + 1,
				memory_order_relaxed);
	}
	ptx_step_settle(drain);
}

static inline struct ptx_ledger_line *ptx_step_line(struct ptx_drain *drain,
						    struct ptx_source *source)
{
	if (ptx_unlikely(source->line == SIZE_MAX)) {
		struct ptx_ledger_line *line =
			ptx_ledger_thread(&drain->account, source->ident.pid, source->ident.tid,
					  source->ident.thread);

		source->line = (size_t)((struct ptx_ledger_thread *)(void *)((char *)line -
					offsetof(struct ptx_ledger_thread, line)) -
					drain->account.thread);
	}
	return &drain->account.thread[source->line].line;
}

static inline void ptx_step_add(struct ptx_ledger_line *line, enum ptx_lost cause)
{
	if (cause == PTX_LOST_CAUSES)
		line->reported++;
	else
		line->lost[cause]++;
}

/* Counts the top source's record and advances to the next record. */
static inline void ptx_step_book(struct ptx_drain *drain, enum ptx_lost cause)
{
	struct ptx_source *source = ptx_step_first(drain);

	ptx_step_add(&drain->account.total, cause);
	ptx_step_add(&drain->account.type[ptx_step_record(source)->type], cause);
	ptx_step_add(ptx_step_line(drain, source), cause);
	ptx_step_advance(drain);
}

/*
 * Consumes an IDENT record. The next records of the top source belong to the thread that this
 * record names.
 */
static inline void ptx_step_ident(struct ptx_drain *drain, struct ptx_source *source)
{
	memcpy(&source->ident, ptx_step_record(source) + 1, sizeof source->ident);
	source->line = SIZE_MAX;
	ptx_step_advance(drain);
}

/*
 * Consumes the top record if it is an IDENT record, or is not younger than the last
 * posix_trace_clear(). Returns true if the record was consumed.
 */
static inline bool ptx_step_drop_cleared(struct ptx_drain *drain, struct ptx_source *source)
{
	const struct ptx_record *record = ptx_step_record(source);

	if (record->len_flags & PTX_RECORD_IDENT) {
		ptx_step_ident(drain, source);
		return true;
	}
	if (ptx_likely(record->time > drain->cleared))
		return false;
	ptx_step_book(drain, PTX_LOST_CLEARED);
	return true;
}

/*
 * Drops the top record if it is an IDENT record or is cleared. In the rings of writers, also drops
 * it if it is damaged or was stamped while the stream was not running. Returns true if the record
 * was dropped. In drain.c.
 */
bool ptx_step_drop(struct ptx_drain *drain, struct ptx_source *source);

/*
 * Returns the time with which an event that is not LATE is delivered. If `ns` is a little before
 * last_ns, the cause can only be the jitter of the anchors. The function then returns last_ns,
 * because the times of such events must not decrease.
 */
static inline int64_t ptx_drain_unjitter(int64_t ns, int64_t last_ns)
{
	return ptx_unlikely(ns < last_ns) && last_ns - ns < PTX_JITTER_NS ? last_ns : ns;
}

/*
 * Returns the label of a time in ticks, which is its CLOCK_REALTIME in nanoseconds. The youngest
 * delivered time keeps its label, even if anchors were added since.
 */
static inline int64_t ptx_drain_label(struct ptx_drain *drain, uint64_t ticks)
{
	int64_t ns;

	if (ticks == drain->last_ticks)
		return drain->last_ns;
	ns = ptx_timescale_ns(&drain->scale, ticks);
	return ticks > drain->last_ticks ? ptx_drain_unjitter(ns, drain->last_ns) : ns;
}

/*
 * Called when an event is delivered: raises last_ticks and last_ns. An event that is older than
 * last_ticks is LATE. A peek does not raise them, because the event may be overwritten before it is
 * delivered. A late event does not raise them either, because its time is older.
 */
static inline void ptx_step_delivered(struct ptx_drain *drain, uint64_t ticks)
{
	if (ticks < drain->last_ticks)
		return;
	drain->last_ticks = ticks;
	drain->last_ns = drain->peeked_ns;
}

/* Returns the stream's state at a time that delivery has reached or passed. */
static inline enum ptx_phase ptx_step_phase(const struct ptx_drain *drain, uint64_t ticks)
{
	if (ptx_unlikely(ticks < drain->phases.since))
		return ptx_phases_before(&drain->phases, ticks);
	return drain->running ? PTX_PHASE_RUNNING :
	       drain->full    ? PTX_PHASE_FULL :
				PTX_PHASE_STOPPED;
}

#endif
