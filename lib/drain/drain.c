/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/drain.c - merges the rings: finds the oldest event that may be delivered, and delivers or
 * drops this event.
 *
 * At each step the drain delivers a synthetic event (synthetic.c), if one is in its queue.
 * Otherwise it compares the first mark with the record at the top of the heap, which is the oldest
 * record of all buffers. The older of the two is next, and a mark precedes a record of the same
 * time. The drain does not deliver events that are younger than the watermark of the last pass
 * (pass.c).
 *
 * A phase is a span of time in which the stream was stopped, running or full. A record belongs to
 * the stream (is a member) if it was stamped in a running phase. A gap is a group of overwritten
 * events, which OVERFLOW and RESUME report. The survivor is the first event after a gap.
 *
 * The functions do not lock and do not wait for writers; the caller has the stream's lock. Each
 * loop over shared memory has a bound here or in pass.c, so that no writer can make the loop
 * endless.
 */
#include "drain/drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

#include "drain/loop_cut.h"
#include "drain/step.h"
#include "drain/synthetic.h"

/* how often find_next() may start again because a writer has raised the cut */
#define CUTS_MOST 1000

/*
 * In a new drain the stream is stopped until the first START mark. Before the first pass, the
 * caller sets the members `arena`, `missed`, `shared` and `same_ids` if their defaults are wrong.
 * The parameter `created` is the first anchor of the time scale.
 */
int ptx_drain_create(struct ptx_rings *rings, const struct ptx_attr *attr,
		     struct ptx_anchor created, struct ptx_drain **result)
{
	struct ptx_drain *drain = calloc(1, sizeof *drain);

	if (!drain)
		return ENOMEM;
	drain->source = calloc(PTX_SOURCES_FIRST, sizeof *drain->source);
	drain->heap = calloc(PTX_SOURCES_FIRST, sizeof *drain->heap);
	if (!drain->source || !drain->heap) {
		free(drain->source);
		free(drain->heap);
		free(drain);
		return ENOMEM;
	}
	drain->room = PTX_SOURCES_FIRST;
	drain->rings = rings;
	drain->arena = &ptx_arena_self;
	drain->loop = attr->stream_policy == POSIX_TRACE_LOOP;
	drain->flush_policy = attr->stream_policy == POSIX_TRACE_FLUSH;
	drain->gap_first = UINT64_MAX;
	ptx_timescale_init(&drain->scale, created);
	ptx_ledger_init(&drain->account);
	*result = drain;
	return 0;
}

/* The function uses no shared memory, so the caller may have unmapped the region before. */
void ptx_drain_destroy(struct ptx_drain *drain)
{
	for (uint32_t i = 0; i < drain->sources; i++) {
		free(drain->source[i]->reader.buffer);
		free(drain->source[i]);
	}
	free(drain->source);
	free(drain->heap);
	free(drain->mark);
	free(drain->debts.chunk);
	ptx_ledger_fini(&drain->account);
	free(drain);
}

/*
 * Returns false if the top record is to be delivered. Otherwise drops the record, counts it if it
 * is an event, and returns true. The state of the stream at the time of the record decides, and not
 * the state when the record is read (ring/DESIGN 6).
 */
bool ptx_step_drop(struct ptx_drain *drain, struct ptx_source *source)
{
	const struct ptx_record *record = ptx_step_record(source);
	enum ptx_phase phase;

	if (ptx_step_drop_cleared(drain, source))
		return true;
	/*
	 * START, STOP and FILTER are delivered in every state, because they report the changes of
	 * the state.
	 */
	if (source == drain->source[PTX_CONTROL_RING])
		return false;
	if (record->type < PTX_TYPE_UNNAMED) {
		/* only the controller writes system events */
		ptx_step_book(drain, PTX_LOST_DAMAGED);
		return true;
	}
	phase = ptx_step_phase(drain, record->time);
	if (phase == PTX_PHASE_RUNNING)
		return false;
	if (phase == PTX_PHASE_FULL) {
		/*
		 * The record's writer saw the stream running. But another writer had found the
		 * stream full before the time of the record.
		 */
		atomic_store_explicit(&drain->rings->region->overrun, 1, memory_order_relaxed);
		ptx_step_book(drain, PTX_LOST_STREAM_FULL);
	} else {
		/*
		 * The stream was stopped at the time of the record, so no column of the ledger
		 * counts the record.
		 */
		drain->not_running++;
		ptx_step_advance(drain);
	}
	return true;
}

/*
 * Finds the next event. If the function returns true, the next event is the first event of the
 * queue or, if the queue is empty, the record at the top of the heap. Returns false if no event may
 * be delivered now. Each round drops a record or a mark, fills the queue, or increments `cuts`,
 * which is bounded. So the loop ends.
 */
static bool find_next(struct ptx_drain *drain)
{
	unsigned cuts = 0;

	for (;;) {
		const struct ptx_mark *mark;
		struct ptx_source *source;
		uint64_t key = UINT64_MAX;

		if (drain->queued)
			return true;
		/*
		 * The event behind RESUME must be the survivor. The survivor is in a private
		 * buffer, so it remains valid even if a writer overwrites its chunk. Until the
		 * survivor is delivered, the cut is not applied, because that could drop it.
		 */
		if (drain->loop && !drain->after_gap)
			ptx_loop_cut_apply(drain);
		mark = ptx_drain_first_mark(drain);
		source = ptx_step_top(drain);
		/*
		 * A record that is younger than the watermark must wait, because an older record
		 * may still appear in another ring.
		 */
		drain->held_back = source && source->key > drain->watermark;
		if (source && !drain->held_back)
			key = source->key;
		if (mark && mark->ticks <= key && mark->ticks <= drain->watermark) {
			/*
			 * A RESTART mark is applied only when an event or another mark follows it.
			 */
			if (mark->kind == PTX_MARK_RESTART && key == UINT64_MAX &&
			    drain->marks == 1)
				return false;
			ptx_synthetic_mark(drain, mark, false);
			continue;
		}
		if (key == UINT64_MAX)
			return false;
		if (ptx_step_drop(drain, source))
			continue;
		if (drain->gap && !drain->after_gap) {
			/*
			 * Writers may have raised the cut since the reader noticed the gap. In this
			 * case the loop begins again and applies the new cut, so that no event
			 * older than the cut remains.
			 */
			if (atomic_load_explicit(&drain->rings->region->cut,
						 memory_order_acquire) != drain->cut &&
			    ++cuts < CUTS_MOST)
				continue;
			ptx_synthetic_gap(drain, key);
			continue;
		}
		return true;
	}
}

/*
 * Describes the event that find_next() has found. The data stay in the source's buffer or in the
 * drain, and are valid until the next call. The event's CLOCK_REALTIME and the flag LATE depend on
 * the events that were delivered before, so they are computed here and not when the reader claims
 * the record.
 */
static void drain_describe(struct ptx_drain *drain, struct ptx_drain_event *event)
{
	const struct ptx_record *record;
	struct ptx_source *source;

	drain->peeked_queue = drain->queued != 0;
	if (drain->peeked_queue) {
		*event = drain->queue[0];
	} else {
		source = ptx_step_first(drain);
		record = ptx_step_record(source);
		/*
		 * A writer can set any bit. The flags LATE and IDENT are removed: only the drain
		 * sets LATE, and IDENT has a meaning only inside of a ring.
		 */
		event->len_flags = record->len_flags & (PTX_RECORD_LEN_MAX | PTX_RECORD_TRUNCATED);
		event->type = record->type;
		event->ident = source->ident;
		event->address = record->address;
		event->ticks = record->time;
		event->data = record + 1;
	}
	/* A synthetic event can be LATE, too (ring/DESIGN 5). */
	if (event->ticks < drain->last_ticks)
		event->len_flags |= PTX_RECORD_LATE;
	event->time_ns = ptx_drain_label(drain, event->ticks);
	drain->peeked_ns = event->time_ns;
}

/*
 * A pass is expensive, because it runs a barrier on all writers. So the reader makes a pass only
 * when it may deliver no event without one, and at most one pass in a call. The returned event
 * remains the next event until ptx_drain_consume(), unless writers of a LOOP stream overwrite it.
 */
bool ptx_drain_peek(struct ptx_drain *drain, struct ptx_drain_event *event)
{
	if (!find_next(drain)) {
		ptx_drain_pass(drain);
		if (!find_next(drain)) {
			/*
			 * There is no event to deliver. If the stream is FULL and all its events
			 * are delivered, the stream restarts here (UFULL-08).
			 */
			ptx_drain_sync(drain);
			return false;
		}
	}
	drain_describe(drain, event);
	return true;
}

/*
 * Raises the watermark to the time `limit`, and finds the oldest event up to it. Returns false if
 * there is none. After a success the watermark stays raised, and older events that appear
 * afterwards are LATE.
 */
static bool peek_up_to(struct ptx_drain *drain, uint64_t limit, struct ptx_drain_event *event)
{
	const uint64_t certain = drain->watermark;

	if (certain >= limit)
		return false;
	drain->watermark = limit;
	if (!find_next(drain)) {
		/* No event is older than `limit`, so the watermark need not stay raised. */
		drain->watermark = certain;
		return false;
	}
	drain_describe(drain, event);
	return true;
}

/*
 * The limit is the clock reading of the last pass. It must not be later, because a running writer
 * may not have published yet an event that was stamped later.
 */
bool ptx_drain_peek_beyond(struct ptx_drain *drain, struct ptx_drain_event *event)
{
	return peek_up_to(drain, drain->now, event);
}

/* The watermark is earlier than `certain` only if the kernel has refused the barrier. */
bool ptx_drain_peek_unordered(struct ptx_drain *drain, struct ptx_drain_event *event)
{
	return peek_up_to(drain, drain->certain, event);
}

/*
 * Returns true if the pass has left a ring because its writers were too fast (drain->outrun). Also
 * returns true if the cut has reached the clock reading of the pass, because then all events that
 * the pass has seen are overwritten.
 */
bool ptx_drain_is_outrun(const struct ptx_drain *drain)
{
	return drain->loop && (drain->outrun ||
			       atomic_load_explicit(&drain->rings->region->cut,
						    memory_order_acquire) >= drain->now);
}

/*
 * Precondition: the last call on the drain was one of the three peek functions, and it returned
 * true. The data of the event are invalid afterwards.
 */
void ptx_drain_consume(struct ptx_drain *drain, enum ptx_lost cause)
{
	struct ptx_region *region = drain->rings->region;

	if (drain->peeked_queue) {
		ptx_synthetic_consume(drain, cause);
		return;
	}
	ptx_step_delivered(drain, ptx_step_first(drain)->key);
	/*
	 * If this event was the survivor of a gap, it is delivered now, so find_next() applies the
	 * cut again.
	 */
	drain->after_gap = false;
	ptx_step_book(drain, cause);
	if (drain->loop) {
		/*
		 * After an event was read, a LOOP stream is not full any more. The reader stores
		 * only a changed value, because each store removes the cache line from the caches
		 * of the writers.
		 */
		if (atomic_load_explicit(&region->looped, memory_order_relaxed))
			atomic_store_explicit(&region->looped, 0, memory_order_relaxed);
	} else if (ptx_unlikely(drain->full_marked)) {
		/*
		 * The stream is full. This delivery may have freed enough room, so that the stream
		 * restarts.
		 */
		ptx_drain_sync(drain);
	}
}

/*
 * The result is in ticks. The flusher uses it to compute how long the oldest event has waited.
 * Events in the rings that the reader has not claimed yet are not considered.
 */
uint64_t ptx_drain_oldest(const struct ptx_drain *drain)
{
	const struct ptx_source *source = ptx_step_top(drain);

	return source ? source->key : 0;
}
