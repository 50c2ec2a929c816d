/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/lane.c - fills a thread's lanes, from which event.c records.
 *
 * A lane has copies of the facts of a stream that a trace point needs: chunk, room, the limit of
 * the data, and a byte for each event type. The lanes are valid as long as the word of the control
 * page has the value that it had when the lanes were filled. The thread has claimed level 0 while
 * it fills a lane, so a signal handler of the thread does not read the lane. Other threads may
 * change the lane's chunk only: ptx_threads_drop_lanes().
 */
#include "point/lane.h"

#include <string.h>

#include "base/clock.h"
#include "ring/skip.h"

/*
 * Expands the filter to one byte for each type, so that a trace point tests it by one instruction.
 * A type that this process has not opened is not enabled: the program may not record events of this
 * type. A type that the stream skips is not enabled either: its bit in skip[] is set, and its
 * events are counted in the thread's row. skip_row is NULL as long as the stream has never skipped
 * a type. If the stream skips no type any more, its lane has a row, but PTX_LANE_SKIPS is not set.
 * So events that the filter refuses have the short path again.
 */
static void spread_types(struct ptx_lane *lane, const struct ptx_region *region)
{
	memset(lane->enabled, 0, sizeof lane->enabled);
	for (unsigned i = 0; i < PTX_WORDS; i++) {
		uint64_t bits = atomic_load_explicit(&region->admit[i], memory_order_relaxed) &
				atomic_load_explicit(&ptx_opened_types[i], memory_order_relaxed);
		uint64_t skip = lane->skip_row ? atomic_load_explicit(&region->skip[i],
								      memory_order_relaxed) & bits
					       : 0;

		lane->skip[i] = skip;
		if (skip)
			lane->refuses |= PTX_LANE_SKIPS;
		for (bits &= ~skip; bits; bits &= bits - 1)
			lane->enabled[64 * i + (unsigned)__builtin_ctzll(bits)] = 1;
	}
}

/*
 * Copies the thread's chunk from its cell into the lane. If the thread has no ring in the stream,
 * the lane gets a chunk without room, so that the event goes through record.c, which claims a ring.
 */
static void copy_chunk(struct ptx_lane *lane, const struct ptx_thread *thread,
		       const struct ptx_view *view)
{
	const struct ptx_cell *cell = &thread->cell[view->bit][0];
	bool has_chunk = cell->serial == view->serial;

	lane->room = has_chunk ? cell->room : 0;
	atomic_store_explicit(&lane->chunk, has_chunk ? cell->chunk : &ptx_thread_nowhere,
			      memory_order_relaxed);
}

/* Fills a lane for a stream. */
static void make_lane(struct ptx_lane *lane, const struct ptx_thread *thread,
		      const struct ptx_view *view)
{
	struct ptx_region *region = view->rings.region;
	/*
	 * The load acquires. It pairs with the release store of the controller that started the
	 * stream, so the filter that is loaded below is not older than the start.
	 */
	enum ptx_state kind = ptx_state_kind(atomic_load_explicit(&region->state,
								  memory_order_acquire));

	copy_chunk(lane, thread, view);
	lane->region = region;
	lane->serial = view->serial;
	lane->max_data = (uint32_t)view->rings.max_data_size;
	lane->bit = (uint16_t)view->bit;
	/* Events of a full stream go through record.c, which counts each of them as lost. */
	lane->refuses = kind == PTX_FULL ? PTX_LANE_FULL : 0;
	lane->skip_row = NULL;
	if (kind == PTX_RUNNING) {
		lane->skip_row = ptx_skip_row(&view->rings, thread->tid);
		spread_types(lane, region);
	} else {
		memset(lane->enabled, 0, sizeof lane->enabled);
		memset(lane->skip, 0, sizeof lane->skip);
	}
}

/*
 * Fills the lanes for all attached streams. The caller has claimed level 0. If trace points cannot
 * use lanes, word_one and word_many remain 0. The control word is never 0 while a stream is
 * attached, so no trace point finds an equal word.
 */
static void make_lanes(struct ptx_thread *thread)
{
	/*
	 * The control word is loaded first. If a stream changes while the lanes are filled, this
	 * word changes, too, and the next trace point finds that the lanes are invalid.
	 */
	uint64_t word = atomic_load_explicit(&ptx_own_control.word, memory_order_acquire);
	uint64_t attached = atomic_load_explicit(&ptx_own_control.attached, memory_order_acquire);
	uint32_t lanes = 0;
	bool is_short = true;

	thread->word_one = thread->word_many = 0;
	if (!ptx_clock_is_counter)
		return; /* event.c reads the counter only */
	for (; attached; attached &= attached - 1) {
		bool is_missing = false;
		struct ptx_view *view = ptx_view_seek((unsigned)__builtin_ctzll(attached),
						      &is_missing);

		if (is_missing)
			return; /* record.c counts each event as lost */
		if (!view)
			continue;
		/* There are more streams than lanes, so each event goes through record.c. */
		if (lanes == PTX_LANES)
			return;
		is_short = is_short && view->rings.max_data_size >= PTX_SHORT;
		make_lane(&thread->lane[lanes++], thread, view);
	}
	thread->lanes = lanes;
	if (lanes == 1 && is_short)
		thread->word_one = word;
	else
		thread->word_many = word;
}

static uintptr_t view_at(unsigned bit)
{
	return (uintptr_t)atomic_load_explicit(&ptx_private.view[bit], memory_order_relaxed);
}

/*
 * Retires the views of streams that other processes have detached; ptx_view_find() does this for
 * one stream. A relaxed load is enough, because ptx_view_find() loads the pointer again. Each new
 * thread calls this function, and nearly all places are empty, so one branch tests four of
 * them.
 */
static void drop_gone(void)
{
	uint64_t attached = atomic_load_explicit(&ptx_own_control.attached, memory_order_acquire);

	for (unsigned four = 0; four < PTX_STREAMS; four += 4) {
		if (!(view_at(four) | view_at(four + 1) | view_at(four + 2) | view_at(four + 3)))
			continue;
		for (unsigned bit = four; bit < four + 4; bit++)
			if (!(attached >> bit & 1) && view_at(bit))
				ptx_view_find(bit);
	}
}

void ptx_lanes_mend(struct ptx_thread *thread)
{
	uint64_t word = atomic_load_explicit(&ptx_own_control.word, memory_order_acquire);

	if (thread->word_one != word && thread->word_many != word) {
		drop_gone();
		/*
		 * The calls need this order: drop_gone() retires a detached view, then make_lanes()
		 * removes it from the lanes, and then ptx_views_sweep() may free it.
		 */
		make_lanes(thread);
		ptx_views_sweep(thread);
		return;
	}
	/* The streams are the same, but record.c may have moved the thread to another chunk. */
	for (uint32_t i = 0; i < thread->lanes; i++) {
		struct ptx_lane *lane = &thread->lane[i];
		const struct ptx_view *view = atomic_load_explicit(&ptx_private.view[lane->bit],
								   memory_order_acquire);

		if (!view || view->serial != lane->serial)
			/* the control word has changed, too, so the lane is invalid already */
			continue;
		copy_chunk(lane, thread, view);
	}
}
