/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/pass.c - looking at the rings: what is new, and up to when the order is certain.
 *
 * A writer announces (window) that it is going to read the clock, reads it, and publishes (head).
 * We read the clock, then the barrier, then window and head. The barrier falls somewhere in the
 * writer's instruction stream. If the announcement lies before it, we see it and hold back; if
 * after, the writer's clock reading is later than ours. So with nobody inside, everything older
 * than our reading is visible.
 */
#include <stdlib.h>
#include <string.h>

#include "base/barrier.h"
#include "base/life.h"
#include "drain/drain.h"
#include "drain/step.h"

#define STALL_NS      200000000u /* for so long a writer inside its window is waited for */
#define LONG_INSIDE_NS 1000000u
#define FUTURE_NS     1000000u
#define NO_BARRIER_NS 2000000u   /* without barrier: nobody is assumed to take longer */

/* Room for twice as many sources, here and in the heap. */
static bool make_room(struct ptx_drain *drain)
{
	const uint32_t room = 2 * drain->room;
	struct ptx_source **source = realloc(drain->source, room * sizeof *source);
	uint32_t *heap;

	if (!source)
		return false;
	memset(source + drain->room, 0, drain->room * sizeof *source);
	drain->source = source;
	heap = realloc(drain->heap, room * sizeof *heap);
	if (!heap)
		return false;
	drain->heap = heap;
	drain->room = room;
	return true;
}

static bool add_source(struct ptx_drain *drain)
{
	struct ptx_source *source;

	if (drain->sources == drain->room && !make_room(drain))
		return false;
	source = calloc(1, sizeof *source);
	if (!source)
		return false;
	source->reader.buffer = malloc(drain->rings->geometry.chunk_room);
	if (!source->reader.buffer) {
		free(source);
		return false;
	}
	source->reader.rings = drain->rings;
	source->reader.ring = drain->sources;
	source->key = UINT64_MAX;
	source->line = SIZE_MAX;
	drain->source[drain->sources++] = source;
	return true;
}

/*
 * Rings up to the last one that has a chunk. One without is empty, and one that gets its first
 * chunk after this look has no event older than the look. So a number that some process wrote into
 * shared memory does not make the reader visit tens of thousands of rings that nobody uses.
 */
static uint32_t used_rings(const struct ptx_drain *drain, uint32_t rings)
{
	const struct ptx_ring *ring = drain->rings->ring;

	if (rings > drain->rings->geometry.rings)
		rings = drain->rings->geometry.rings;
	while (rings > drain->sources &&
	       atomic_load_explicit(&ring[rings - 1].current, memory_order_acquire) == 0)
		rings--;
	return rings;
}

bool ptx_drain_sources(struct ptx_drain *drain, uint32_t rings)
{
	rings = used_rings(drain, rings);
	while (drain->sources < rings)
		if (!add_source(drain))
			return false;
	return true;
}

/* The records of a batch that cannot be read are gone; how many they were is not known. */
static void count_damage(struct ptx_drain *drain)
{
	drain->account.total.lost[PTX_LOST_DAMAGED]++;
}

/* A batch from the future, which no writer of this machine's clock can have stamped yet. */
static void count_future(struct ptx_drain *drain, uint32_t index, uint32_t records)
{
	struct ptx_source *source = drain->source[index];
	_Atomic uint64_t *taken = &drain->rings->region->taken;

	for (; source->at < source->end; source->at += ptx_step_size(source, source->at)) {
		const struct ptx_record *record = ptx_step_record(source);

		if (record->len_flags & PTX_RECORD_IDENT) {
			memcpy(&source->ident, record + 1, sizeof source->ident);
			source->line = SIZE_MAX;
			continue;
		}
		ptx_step_add(&drain->account.total, PTX_LOST_DAMAGED);
		ptx_step_add(&drain->account.type[record->type], PTX_LOST_DAMAGED);
		ptx_step_add(ptx_step_line(drain, source), PTX_LOST_DAMAGED);
	}
	if (!drain->rings->debts) { /* else the log's next block says so */
		ptx_step_note(drain, index);
		atomic_store_explicit(taken,
				      atomic_load_explicit(taken, memory_order_relaxed) + records,
				      memory_order_relaxed);
	}
	source->at = source->end = 0;
}

/* Returns true if events that no clear has covered were overwritten. */
static bool is_missed(const struct ptx_drain *drain)
{
	return atomic_load_explicit(&drain->rings->region->cut, memory_order_acquire) >
	       drain->cleared;
}

void ptx_drain_refill(struct ptx_drain *drain, uint32_t index)
{
	struct ptx_source *source = drain->source[index];

	source->at = source->end = 0;
	source->key = UINT64_MAX;
	/*
	 * Where none is left all that the last pass saw has been taken: somebody writes for ever.
	 */
	for (unsigned losses = 0; drain->takes && losses < PTX_LOSSES_MOST; drain->takes--) {
		struct ptx_reader *reader = &source->reader;
		uint32_t records, before;
		uint64_t last;

		switch (ptx_ring_take(reader)) {
		case PTX_CLAIM_NOTHING:
			return;
		case PTX_CLAIM_LOST:
			losses++;
			if (ptx_ring_find(drain->rings, index, &reader->place, &before)) {
				drain->gap = drain->gap ||
					     (before != source->records && is_missed(drain));
				source->records = before;
			}
			continue;
		case PTX_CLAIM_BYTES:
			break;
		}
		if (reader->fresh) {
			source->ident = reader->ident;
			source->line = SIZE_MAX;
			/* as was found; and what it is at first */
			source->records = reader->ident.spare;
		}
		source->end = ptx_records_check(drain->rings, reader->buffer, reader->bytes,
						&records, &last);
		if (source->end < reader->bytes)
			count_damage(drain);
		source->records += records;
		if (!drain->is_snapshot && last > ptx_clock_now() + ptx_clock_ticks(FUTURE_NS)) {
			count_future(drain, index, records);
			continue;
		}
		if (source->end == 0)
			continue;
		if (last > source->last)
			source->last = last;
		source->key = ((const struct ptx_record *)(const void *)reader->buffer)->time;
		return;
	}
	drain->outrun = true;
}

/*
 * The writer was killed in its window: nothing will come. A process that nobody has waited for
 * still has its id. It takes more system calls to see that it has ended, so this is asked later.
 */
static bool is_dead(const struct ptx_drain *drain, uint32_t index, uint64_t inside_for)
{
	uint32_t pid;

	if (!drain->shared || !drain->same_ids)
		return false;
	/* Whose ids are others has said so before he held a ring. */
	pid = ptx_ring_pid(atomic_load_explicit(&drain->rings->ring[index].holder,
						memory_order_acquire));
	if (pid == 0 || atomic_load_explicit(&drain->arena->control->mixed, memory_order_relaxed))
		return false;
	return ptx_life_by_kill(pid) == PTX_DEAD ||
	       (inside_for > ptx_clock_ticks(LONG_INSIDE_NS) && ptx_life_of(pid) == PTX_DEAD);
}

/* The latest time such that the ring's writer can publish nothing older. */
static uint64_t bound_of(struct ptx_drain *drain, uint32_t index, uint64_t now)
{
	struct ptx_source *source = drain->source[index];
	const uint64_t looked_at = source->looked_at;
	struct ptx_writer writer;

	ptx_ring_watch(drain->rings, index, &writer);
	source->looked_at = now;
	if (!writer.inside) {
		source->idle_link = writer.link;
		source->idle_head = writer.head;
		source->idle_at = now;
		return now;
	}
	if (writer.link != source->inside_link || writer.head != source->inside_head) {
		source->inside_link = writer.link;
		source->inside_head = writer.head;
		source->inside_since = now;
		if (writer.link == source->idle_link && writer.head == source->idle_head)
			source->bound = source->idle_at;
		else if (ptx_head_offset(writer.head) == 0 && writer.opened < now)
			source->bound = writer.opened;
		else
			source->bound = source->last;
		/* It has come on since the last look, and read the clock after that. */
		if (looked_at > source->bound)
			source->bound = looked_at;
	} else if (now - source->inside_since > ptx_clock_ticks(STALL_NS)) {
		return now; /* stopped there, or gone by siglongjmp(): its event will be late */
	}
	return is_dead(drain, index, now - source->inside_since) ? now : source->bound;
}

/* On every thread that may write into the stream. */
static bool barrier_for(const struct ptx_drain *drain)
{
	return drain->shared ? ptx_barrier_everywhere() : ptx_barrier();
}

/* Everything is there, and nobody comes any more. */
static void pass_still(struct ptx_drain *drain)
{
	drain->now = drain->watermark = drain->snapshot_at;
	drain->takes = 4 * ptx_drain_chunks(drain);
	ptx_drain_sync(drain);
	for (uint32_t i = 0; i < drain->sources; i++)
		if (drain->source[i]->key == UINT64_MAX)
			ptx_drain_refill(drain, i);
	ptx_heap_build(drain);
}

static void pass_live(struct ptx_drain *drain)
{
	uint64_t now = ptx_clock_ordered(), watermark = now;
	bool ordered = barrier_for(drain); /* (L) with (K) in ring/ring_write.h */
	uint32_t rings = atomic_load_explicit(&drain->rings->region->rings, memory_order_acquire);

	if (!ordered)
		watermark -= ptx_clock_ticks(NO_BARRIER_NS);
	drain->outrun = false;
	ptx_drain_sources(drain, rings);
	drain->now = drain->certain = now;
	atomic_store_explicit(&drain->rings->region->looked_at, now, memory_order_relaxed);
	drain->takes = 4 * ptx_drain_chunks(drain);
	ptx_timescale_add(&drain->scale, ptx_clock_anchor());
	ptx_drain_sync(drain);
	for (uint32_t i = 0; i < drain->sources; i++) {
		uint64_t bound;

		/* First the look, then the taking: what was seen published is at hand. */
		bound = bound_of(drain, i, now);
		if (drain->source[i]->key == UINT64_MAX)
			ptx_drain_refill(drain, i);
		if (bound < watermark)
			watermark = bound;
		if (bound < drain->certain)
			drain->certain = bound;
	}
	if (watermark > drain->watermark)
		drain->watermark = watermark;
	ptx_heap_build(drain);
}

void ptx_drain_pass(struct ptx_drain *drain)
{
	if (drain->is_snapshot) {
		pass_still(drain);
		return;
	}
	ptx_drain_missed(drain);
	pass_live(drain);
}
