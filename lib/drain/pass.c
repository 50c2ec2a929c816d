/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/pass.c - a pass over all rings: claims new records and computes the watermark. The
 * watermark is the time up to which no older event can still appear.
 *
 * A writer stores its window before it reads the clock. Afterwards it publishes the record by a
 * store of the head. The reader reads the clock, runs the barrier, and then loads the window and
 * the head. The barrier acts between two instructions of the writer. If the store of the window is
 * before the barrier, the reader sees that the writer is inside its window, and lowers the
 * watermark. If the store is after the barrier, the writer reads the clock later than the reader.
 * So if no writer is inside its window, all events that are older than the reader's clock reading
 * are visible. ring/DESIGN 5 has the argument, and tests/model/order.pml has the model.
 *
 * Rings, heads, links and records may be hostile. ring/ring_read.h checks them, and this file
 * bounds how often it reads them. The functions do not sleep. The caller has the stream's lock.
 */
#include <stdlib.h>
#include <string.h>

#include "base/barrier.h"
#include "base/life.h"
#include "drain/drain.h"
#include "drain/step.h"

/*
 * These times are in nanoseconds. After STALL_NS the reader no longer waits for a writer that is
 * inside its window.
 */
#define STALL_NS      200000000u
/*
 * If a writer has been inside its window for this time, is_dead() makes further system calls to
 * recognize that the writer's process has ended.
 */
#define LONG_INSIDE_NS 1000000u
/*
 * The counters of two processors may differ, so the time of a record may be ahead of the reader's
 * clock by this time. A record with a later time is damaged.
 */
#define FUTURE_NS     1000000u
/*
 * If the kernel refuses the barrier, the reader assumes that a store of a writer becomes visible
 * within this time.
 */
#define NO_BARRIER_NS 2000000u
/* after this many claimed bytes, ptx_drain_pass() forgets pages of another process's arena */
#define TOUCHED_MOST  (256u << 10)

/*
 * Doubles the room for sources, in both arrays. If the second allocation fails, the first array is
 * larger than `room`, which is harmless. Returns false if there is no memory.
 */
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

/*
 * Adds the source of the next ring. The source's buffer has room for a whole chunk, so one claim
 * can get all records of a chunk. Each source is allocated separately, so its address is unchanged
 * when the array grows. Returns false if there is no memory.
 */
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
 * Returns the number of rings up to the last ring that has a chunk, at least the number of sources.
 * A ring without a chunk is empty. If a ring gets its first chunk later, all its events are younger
 * than this call. A hostile process may store a large number of rings in shared memory. Because of
 * this function, such a number does not make the reader visit tens of thousands of unused rings.
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

/*
 * If there is no memory for a source, the sources that were added before remain, and the next pass
 * tries again. Sources are never removed, because a thread that ends leaves its ring to another
 * thread.
 */
bool ptx_drain_sources(struct ptx_drain *drain, uint32_t rings)
{
	rings = used_rings(drain, rings);
	while (drain->sources < rings)
		if (!add_source(drain))
			return false;
	return true;
}

/*
 * A batch is the bytes of one claim. Counts the bytes behind the last well-formed record of a batch
 * as one damaged record, because the number of records in these bytes is unknown. Type and thread
 * of the loss are unknown, so ptx_ledger_close() adds the loss to type 0 and to the line of pid 0.
 */
static void count_damage(struct ptx_drain *drain)
{
	drain->account.total.lost[PTX_LOST_DAMAGED]++;
}

/*
 * Drops all records of a batch and counts them as damaged, by type and thread. The reason is that
 * one of them has a time in the future, which no writer can have read from the clock. The drain
 * would hold back this record and all later records of the ring until the clock reaches that time.
 */
static void count_future(struct ptx_drain *drain, uint32_t index, uint32_t records)
{
	struct ptx_source *source = drain->source[index];
	_Atomic uint64_t *consumed = &drain->rings->region->consumed;

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
	/* With debts (a stream with a log), ptx_drain_settle() stores both numbers later. */
	if (!drain->rings->debts) {
		ptx_step_note(drain, index);
		atomic_store_explicit(
			consumed, atomic_load_explicit(consumed, memory_order_relaxed) + records,
			memory_order_relaxed);
	}
	source->at = source->end = 0;
}

/*
 * Returns true if events were overwritten that are younger than the last posix_trace_clear(). If
 * the result is false, records that are missing in a ring are no gap that the drain must report.
 */
static bool is_missed(const struct ptx_drain *drain)
{
	return atomic_load_explicit(&drain->rings->region->cut, memory_order_acquire) >
	       drain->cleared;
}

/*
 * Claims the next records of a ring into the source's buffer. Precondition: all records of the
 * buffer were delivered or dropped. Afterwards `key` is the time of the first record, or UINT64_MAX
 * if there is no record. The caller repairs the heap.
 */
void ptx_drain_refill(struct ptx_drain *drain, uint32_t index)
{
	struct ptx_source *source = drain->source[index];

	source->at = source->end = 0;
	source->key = UINT64_MAX;
	/*
	 * Two numbers bound the loop: drain->claims_left for all rings until the next pass, and
	 * `losses` for this ring. If a bound is reached, a writer records as fast as the reader
	 * reads, and the reader has claimed or lost all records that the last pass saw. So the
	 * reader may stop.
	 */
	for (unsigned losses = 0; drain->claims_left && losses < PTX_LOSSES_MOST;
	     drain->claims_left--) {
		struct ptx_reader *reader = &source->reader;
		uint32_t records, before;
		uint64_t last;

		switch (ptx_ring_take(reader)) {
		case PTX_CLAIM_NOTHING:
			return;
		case PTX_CLAIM_LOST:
			losses++;
			/*
			 * The chunk was overwritten. The reader continues with the ring's oldest
			 * remaining chunk. The header of that chunk has the number of the ring's
			 * records before the chunk. If this number is not source->records, records
			 * are missing. These records are a gap if they were not cleared.
			 */
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
			/* the number of records before this chunk */
			source->records = reader->ident.before;
		}
		/* The claimed bytes are a private copy. They are checked here, and never again. */
		source->end = ptx_records_check(drain->rings, reader->buffer, reader->bytes,
						&records, &last);
		if (source->end < reader->bytes)
			count_damage(drain);
		source->records += records;
		drain->touched += reader->bytes;
		if (!drain->is_snapshot && last > ptx_clock_now() + ptx_clock_ticks(FUTURE_NS)) {
			count_future(drain, index, records);
			continue;
		}
		if (source->end == 0)
			continue;
		/* bound_of() uses source->last: the writer's next record is not older. */
		if (last > source->last)
			source->last = last;
		source->key = ((const struct ptx_record *)(const void *)reader->buffer)->time;
		return;
	}
	drain->outrun = true;
}

/*
 * Returns true if the process that holds the ring has certainly ended, so that the writer inside
 * its window will not publish a record. kill(2) still finds a zombie, which is a process that has
 * ended but whose parent has not waited for it. To recognize a zombie, the reader needs further
 * system calls, which it makes only after some time. The parameter `inside_for` is the time in
 * ticks for which the writer has been inside.
 */
static bool is_dead(const struct ptx_drain *drain, uint32_t index, uint64_t inside_for)
{
	uint32_t pid;

	if (!drain->shared || !drain->same_ids)
		return false;
	/*
	 * A process of another pid namespace sets `mixed` before it holds a ring. So `mixed` is
	 * loaded after the holder.
	 */
	pid = ptx_ring_pid(atomic_load_explicit(&drain->rings->ring[index].holder,
						memory_order_acquire));
	if (pid == 0 || atomic_load_explicit(&drain->arena->control->mixed, memory_order_relaxed))
		return false;
	return ptx_life_by_kill(pid) == PTX_DEAD ||
	       (inside_for > ptx_clock_ticks(LONG_INSIDE_NS) && ptx_life_of(pid) == PTX_DEAD);
}

/*
 * Returns the bound of the ring: a time such that the ring's writer will not publish an older
 * event. If the writer is outside of its window, the bound is `now`, the time of the pass. When the
 * reader first sees the writer inside its window at this position, the function computes the bound,
 * which then remains until the writer has moved. After STALL_NS, or if the writer's process is
 * dead, the function returns `now` again, so a later event of this writer is LATE.
 */
static uint64_t bound_of(struct ptx_drain *drain, uint32_t index, uint64_t now)
{
	struct ptx_source *source = drain->source[index];
	const uint64_t looked_at = source->looked_at;
	struct ptx_writer writer;

	/* ptx_ring_watch() loads the window and then the head, after the barrier (L). */
	ptx_ring_watch(drain->rings, index, &writer);
	source->looked_at = now;
	/* If the writer is outside, it will read a later time than `now` for its next event. */
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
		/*
		 * If the reader last saw the writer outside at this same position, the writer has
		 * entered its window after that pass. So its event is not older than that pass. If
		 * the writer is at the beginning of a chunk, its event is not older than the
		 * opening of the chunk. The comparison with `now` excludes a hostile time. In all
		 * other cases the reader knows only that the writer's clock reading is not earlier
		 * than the time of its last record, so the bound is the time of the last record
		 * that was claimed.
		 */
		if (writer.link == source->idle_link && writer.head == source->idle_head)
			source->bound = source->idle_at;
		else if (ptx_head_offset(writer.head) == 0 && writer.opened < now)
			source->bound = writer.opened;
		else
			source->bound = source->last;
		/*
		 * The writer has moved since the last pass, so it has read the clock for its
		 * present event after that pass.
		 */
		if (looked_at > source->bound)
			source->bound = looked_at;
	} else if (now - source->inside_since > ptx_clock_ticks(STALL_NS)) {
		/*
		 * The writer is suspended, or siglongjmp() has left the trace point. The reader no
		 * longer waits. If the event still appears, it will be LATE.
		 */
		return now;
	}
	return is_dead(drain, index, now - source->inside_since) ? now : source->bound;
}

/*
 * Runs the barrier on every thread that may write into the stream. Returns false if the kernel
 * refuses the barrier.
 */
static bool barrier_for(const struct ptx_drain *drain)
{
	return drain->shared ? ptx_barrier_everywhere() : ptx_barrier();
}

/*
 * The pass over a copy of a region. No writer adds records. The reader uses the time of the copy
 * instead of its clock.
 */
static void pass_still(struct ptx_drain *drain)
{
	drain->now = drain->watermark = drain->snapshot_at;
	drain->claims_left = 4 * ptx_drain_chunks(drain);
	ptx_drain_sync(drain);
	for (uint32_t i = 0; i < drain->sources; i++)
		if (drain->source[i]->key == UINT64_MAX)
			ptx_drain_refill(drain, i);
	ptx_heap_build(drain);
}

/*
 * The pass over a stream with writers. The reader reads in this order: clock, barrier, number of
 * rings, windows, records. A ring that is added after the clock reading has no event that is older
 * than the clock reading.
 */
static void pass_live(struct ptx_drain *drain)
{
	uint64_t now = ptx_clock_ordered(), watermark = now;
	bool ordered = barrier_for(drain); /* (L) with (K) in ring/ring_write.h */
	uint32_t rings = atomic_load_explicit(&drain->rings->region->rings, memory_order_acquire);

	/*
	 * If the kernel refuses the barrier, the reader may not see that a writer has just entered
	 * its window. So the watermark is lowered. drain->certain is not lowered, because it
	 * concerns only the writers that the pass has seen inside of their windows.
	 */
	if (!ordered)
		watermark -= ptx_clock_ticks(NO_BARRIER_NS);
	drain->outrun = false;
	/*
	 * If there is no memory for the source of a ring, a later pass reads the ring, and its
	 * events may be LATE.
	 */
	ptx_drain_sources(drain, rings);
	drain->now = drain->certain = now;
	/* As long as this time is recent, writers do not check whether the reader is alive. */
	atomic_store_explicit(&drain->rings->region->looked_at, now, memory_order_relaxed);
	/* 4 for each chunk, because a chunk may be claimed in parts */
	drain->claims_left = 4 * ptx_drain_chunks(drain);
	/*
	 * The reader makes the anchor after its clock reading, so the time of each event of this
	 * pass is before an anchor.
	 */
	ptx_timescale_add(&drain->scale, ptx_clock_anchor());
	ptx_drain_sync(drain);
	for (uint32_t i = 0; i < drain->sources; i++) {
		uint64_t bound;

		/*
		 * The writer is examined before the claim. So the claim includes all records that
		 * were published when the writer was examined.
		 */
		bound = bound_of(drain, i, now);
		if (drain->source[i]->key == UINT64_MAX)
			ptx_drain_refill(drain, i);
		if (bound < watermark)
			watermark = bound;
		if (bound < drain->certain)
			drain->certain = bound;
	}
	/*
	 * The watermark never falls, because ptx_drain_peek_beyond() may have raised it and
	 * delivered events up to it.
	 */
	if (watermark > drain->watermark)
		drain->watermark = watermark;
	ptx_heap_build(drain);
}

/*
 * Only one reader at a time may call this function. It costs one barrier, a few loads for each
 * ring, and a copy of claimed records for each ring whose buffer was empty.
 */
void ptx_drain_pass(struct ptx_drain *drain)
{
	if (drain->is_snapshot) {
		pass_still(drain);
		return;
	}
	/*
	 * The drain does not need these pages any more, because the records in the buffers of the
	 * sources are copies. In its own arena a process keeps the pages, because its threads write
	 * there.
	 */
	if (drain->touched >= TOUCHED_MOST && drain->arena != &ptx_arena_self) {
		ptx_region_forget(drain->rings);
		drain->touched = 0;
	}
	ptx_drain_missed(drain);
	pass_live(drain);
}
