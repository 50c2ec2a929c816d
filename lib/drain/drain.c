/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "drain/drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

#include "drain/loop_cut.h"
#include "drain/step.h"
#include "drain/synthetic.h"

#define CUTS_MOST 1000 /* between two looks; no writer is that fast who means it */

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

bool ptx_step_pass_over(struct ptx_drain *drain, struct ptx_source *source)
{
	const struct ptx_record *record = ptx_step_record(source);
	enum ptx_phase phase;

	if (ptx_step_pass_gone(drain, source))
		return true;
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
		/* Its writer saw the stream running, but another had found it full by then. */
		atomic_store_explicit(&drain->rings->region->overrun, 1, memory_order_relaxed);
		ptx_step_book(drain, PTX_LOST_STREAM_FULL);
	} else {
		drain->not_running++;
		ptx_step_advance(drain);
	}
	return true;
}

/* False: nothing to deliver at hand. */
static bool find_next(struct ptx_drain *drain)
{
	unsigned cuts = 0;

	for (;;) {
		const struct ptx_mark *mark;
		struct ptx_source *source;
		uint64_t key = UINT64_MAX;

		if (drain->queued)
			return true;
		if (drain->loop && !drain->after_gap)
			ptx_loop_cut_apply(drain);
		mark = ptx_drain_first_mark(drain);
		source = ptx_step_top(drain);
		drain->held_back = source && source->key > drain->watermark;
		if (source && !drain->held_back)
			key = source->key;
		if (mark && mark->ticks <= key && mark->ticks <= drain->watermark) {
			/* A restart is told before the next event, not before there is one. */
			if (mark->kind == PTX_MARK_RESTART && key == UINT64_MAX &&
			    drain->marks == 1)
				return false;
			ptx_synthetic_mark(drain, mark, false);
			continue;
		}
		if (key == UINT64_MAX)
			return false;
		if (ptx_step_pass_over(drain, source))
			continue;
		if (drain->gap && !drain->after_gap) {
			/*
			 * The writer may have raised the cut since the gap was noticed. No
			 * remaining event may be older than the cut.
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

/* Describes what find_next() found. */
static void describe(struct ptx_drain *drain, struct ptx_drain_event *event)
{
	const struct ptx_record *record;
	struct ptx_source *source;

	drain->peeked_queue = drain->queued != 0;
	if (drain->peeked_queue) {
		*event = drain->queue[0];
	} else {
		source = ptx_step_first(drain);
		record = ptx_step_record(source);
		event->len_flags = record->len_flags & (PTX_RECORD_LEN_MAX | PTX_RECORD_TRUNCATED);
		event->type = record->type;
		event->ident = source->ident;
		event->address = record->address;
		event->ticks = record->time;
		event->data = record + 1;
	}
	if (event->ticks < drain->last_ticks)
		event->len_flags |= PTX_RECORD_LATE;
	event->time_ns = ptx_drain_label(drain, event->ticks);
	drain->peeked_ns = event->time_ns;
}

bool ptx_drain_peek(struct ptx_drain *drain, struct ptx_drain_event *event)
{
	if (!find_next(drain)) {
		ptx_drain_pass(drain);
		if (!find_next(drain)) {
			ptx_drain_sync(drain);
			return false;
		}
	}
	describe(drain, event);
	return true;
}

bool ptx_drain_peek_beyond(struct ptx_drain *drain, struct ptx_drain_event *event)
{
	const uint64_t certain = drain->watermark;

	if (certain >= drain->now)
		return false;
	drain->watermark = drain->now;
	if (!find_next(drain)) {
		/* nothing is held back: the order need not be given up */
		drain->watermark = certain;
		return false;
	}
	describe(drain, event);
	return true;
}

bool ptx_drain_is_outrun(const struct ptx_drain *drain)
{
	return drain->loop && (drain->outrun ||
			       atomic_load_explicit(&drain->rings->region->cut,
						    memory_order_acquire) >= drain->now);
}

void ptx_drain_consume(struct ptx_drain *drain, enum ptx_lost cause)
{
	struct ptx_region *region = drain->rings->region;

	if (drain->peeked_queue) {
		ptx_synthetic_consume(drain, cause);
		return;
	}
	ptx_step_delivered(drain, ptx_step_first(drain)->key);
	drain->after_gap = false;
	ptx_step_book(drain, cause);
	if (drain->loop) {
		if (atomic_load_explicit(&region->looped, memory_order_relaxed))
			atomic_store_explicit(&region->looped, 0, memory_order_relaxed);
	} else if (ptx_unlikely(drain->full_marked)) {
		ptx_drain_sync(drain);
	}
}

uint64_t ptx_drain_oldest(const struct ptx_drain *drain)
{
	const struct ptx_source *source = ptx_step_top(drain);

	return source ? source->key : 0;
}
