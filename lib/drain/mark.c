/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/mark.c - the moments at which a stream started, stopped, became full or was flushed.
 *
 * A mark is such a moment. The marks are a queue in the reader's private memory, in the order of
 * time: mark[mark_first] is the oldest mark. When delivery reaches a mark, the drain removes it
 * (synthetic.c). Writers do not use marks. A writer changes the state of the region only from
 * RUNNING to FULL, and ptx_drain_sync() makes the mark for this change. The caller of each function
 * has the stream's lock.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arena/arena.h"
#include "drain/drain.h"

/*
 * A processor may execute a writer's clock reading earlier than the load of the stream's state, by
 * at most this time.
 */
#define EARLY_NS 1000u
#define TICK_TRIES 1000

/*
 * Precondition: the mark is not older than the last mark. ptx_drain_moment() returns times for
 * which this holds. The room for marks doubles, so a mark costs constant time on average. If there
 * is no memory, the function returns false, and the queue is unchanged.
 */
bool ptx_drain_mark(struct ptx_drain *drain, const struct ptx_mark *mark)
{
	if (drain->marks == drain->mark_room) {
		size_t room = drain->mark_room ? 2 * drain->mark_room : 8;
		struct ptx_mark *more = malloc(room * sizeof *more);

		if (!more)
			return false;
		/*
		 * The queue may wrap around the end of its old memory. In the copy the first mark
		 * is at index 0.
		 */
		for (size_t i = 0; i < drain->marks; i++)
			more[i] = drain->mark[(drain->mark_first + i) % drain->mark_room];
		free(drain->mark);
		drain->mark = more;
		drain->mark_room = room;
		drain->mark_first = 0;
	}
	drain->mark[(drain->mark_first + drain->marks++) % drain->mark_room] = *mark;
	return true;
}

/*
 * Adds the mark at the end, and moves it towards the beginning until it is behind all marks that
 * are not younger. A reader that replaces another reader needs this function (flush/checkpoint.c):
 * it finds the marks of starts, of FULL states and of flushes in different places, and so not in
 * the order of time.
 */
bool ptx_drain_mark_in_order(struct ptx_drain *drain, const struct ptx_mark *mark)
{
	if (!ptx_drain_mark(drain, mark))
		return false;
	for (size_t i = drain->marks - 1; i > 0; i--) {
		struct ptx_mark *last = &drain->mark[(drain->mark_first + i) % drain->mark_room];
		struct ptx_mark *before =
			&drain->mark[(drain->mark_first + i - 1) % drain->mark_room];
		struct ptx_mark moved = *before;

		if (before->ticks <= last->ticks)
			break;
		*before = *last;
		*last = moved;
	}
	return true;
}

const struct ptx_mark *ptx_drain_first_mark(const struct ptx_drain *drain)
{
	return drain->marks ? &drain->mark[drain->mark_first] : NULL;
}

void ptx_drain_drop_mark(struct ptx_drain *drain)
{
	drain->mark_first = (drain->mark_first + 1) % drain->mark_room;
	drain->marks--;
}

/*
 * Returns the latest time of the delivered events and of the marks. A new mark must be later than
 * this time. Otherwise its order among events and marks of the same time would depend on chance.
 */
static uint64_t last_moment(const struct ptx_drain *drain)
{
	uint64_t last = drain->last_ticks;

	if (drain->marks) {
		size_t i = (drain->mark_first + drain->marks - 1) % drain->mark_room;

		if (drain->mark[i].ticks > last)
			last = drain->mark[i].ticks;
	}
	return last;
}

/*
 * Waits until the clock has reached the time. The wait is short: a tick of the clock lasts 20 to 60
 * ns on many arm64 processors, and a microsecond in an emulator. A hostile writer can cause a time
 * in the far future, so the number of clock readings is bounded.
 */
static void wait_for_tick(uint64_t time)
{
	for (int tries = 0; tries < TICK_TRIES && ptx_clock_ordered() < time; tries++)
		;
}

uint64_t ptx_drain_moment(const struct ptx_drain *drain, bool early)
{
	/* Time does not advance in a snapshot, because a snapshot is a copy of one moment. */
	uint64_t now = drain->is_snapshot ? drain->snapshot_at : ptx_clock_ordered();
	uint64_t last = last_moment(drain), moment;

	/*
	 * A writer loads the stream's state and then reads the clock, but its processor may read
	 * the clock before the load. So an event that is recorded immediately after the START could
	 * have a time before the START, and would be dropped. The time of the START is a little
	 * earlier to prevent this.
	 */
	if (early)
		now -= ptx_clock_ticks(EARLY_NS);
	else
		now++; /* later than an event that was recorded before in the same tick */
	moment = now > last ? now : last + 1;
	/* No event that is recorded after the call may be older than the mark. */
	if (!drain->is_snapshot)
		wait_for_tick(moment);
	return moment;
}

/*
 * The words of the filter are loaded one by one. If a process registers a schema at this moment,
 * the filter may change between two loads.
 */
void ptx_drain_admitted(const struct ptx_drain *drain, struct ptx_mark *mark)
{
	for (int i = 0; i < PTX_WORDS; i++)
		mark->admit[i] = atomic_load_explicit(&drain->rings->region->admit[i],
						      memory_order_relaxed);
}

/*
 * Returns true if there is room for a restart: half of the stream's size is free, or no event is
 * left to deliver. The second case is needed because each ring keeps its open chunk. So the rings
 * of many threads may hold most of the pool although the chunks have no undelivered events.
 */
static bool has_room(struct ptx_drain *drain)
{
	const struct ptx_geometry *g = &drain->rings->geometry;

	return ptx_ring_free_bytes(drain->rings) >= (g->required + 1) / 2 * g->chunk_bytes ||
	       (drain->heap_count == 0 && drain->full && drain->queued == 0);
}

/*
 * Called at each pass, at deliveries while the stream is full, and by functions of the controller
 * before they use the state. If a writer has set FULL, the first call makes the mark. If a full
 * stream has room, a later call restarts the stream. HELD is the state of a stream that was full
 * when posix_trace_stop() stopped it. Such a stream must not restart by itself. When it has room,
 * it becomes SUSPENDED (STOP-05).
 */
void ptx_drain_sync(struct ptx_drain *drain)
{
	struct ptx_region *region = drain->rings->region;
	uint64_t state = atomic_load_explicit(&region->state, memory_order_acquire);
	enum ptx_state kind = ptx_state_kind(state);
	struct ptx_mark mark = { .ticks = ptx_state_time(state), .kind = PTX_MARK_FULL };
	uint64_t last = last_moment(drain), now;

	if (kind != PTX_FULL && kind != PTX_HELD)
		return;
	if (!drain->full_marked) {
		/*
		 * A hostile writer can store any time. The mark must not be in the future, because
		 * delivery would never reach it.
		 */
		now = ptx_clock_ordered();
		if (mark.ticks > now)
			mark.ticks = now;
		/*
		 * Before the drain noticed the FULL state, it may have delivered events that were
		 * stamped after this time. So the mark gets a time behind these events, and the
		 * STOP event follows them.
		 */
		if (mark.ticks <= last)
			mark.ticks = last + 1;
		drain->full_at = mark.ticks;
		/*
		 * If there is no memory for the mark, full_marked stays false, and the next call
		 * tries again.
		 */
		drain->full_marked = ptx_drain_mark(drain, &mark);
		return;
	}
	if (drain->is_snapshot || !has_room(drain))
		return;
	if (kind == PTX_HELD) {
		drain->full_marked = false;
		atomic_store_explicit(&region->state,
				      ptx_state_make(PTX_SUSPENDED, ptx_state_time(state)),
				      memory_order_release);
		ptx_arena_changed(drain->arena);
		return;
	}
	mark.kind = PTX_MARK_RESTART;
	/*
	 * The mark has the present time. Events that were stamped before the mark, while the stream
	 * was full, count as lost. So all these losses are between the STOP and the START.
	 */
	mark.ticks = ptx_drain_moment(drain, false);
	/* The data of the START event is the filter. */
	ptx_drain_admitted(drain, &mark);
	if (!ptx_drain_mark(drain, &mark))
		return;
	drain->full_marked = false;
	/*
	 * Both times are stored before the state. If this process is killed before it stores the
	 * state, the state is still FULL, so the reader that replaces this one recognizes that the
	 * restart has not happened (resume_full() in flush/checkpoint.c).
	 */
	atomic_store_explicit(&region->full_from, drain->full_at, memory_order_relaxed);
	atomic_store_explicit(&region->full_until, mark.ticks, memory_order_relaxed);
	atomic_store_explicit(&region->state, ptx_state_make(PTX_RUNNING, mark.ticks),
			      memory_order_release);
	/* The new epoch makes threads that have skipped the full stream read its state again. */
	ptx_arena_changed(drain->arena);
}
