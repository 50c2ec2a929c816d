/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "point/lane.h"

#include <string.h>

#include "base/clock.h"

/* A byte a type, so that a trace point looks by one instruction. */
static void spread(uint8_t *enabled, const struct ptx_region *region)
{
	memset(enabled, 0, PTX_TYPE_MAX);
	for (unsigned i = 0; i < PTX_WORDS; i++) {
		uint64_t bits = atomic_load_explicit(&region->admit[i], memory_order_relaxed) &
				atomic_load_explicit(&ptx_mapped[i], memory_order_relaxed);

		for (; bits; bits &= bits - 1)
			enabled[64 * i + (unsigned)__builtin_ctzll(bits)] = 1;
	}
}

/* The chunk of a thread that has not joined is nowhere. */
static void take_chunk(struct ptx_lane *lane, const struct ptx_thread *thread,
		       const struct ptx_view *view)
{
	const struct ptx_cell *cell = &thread->cell[0][view->bit];
	bool has_chunk = cell->serial == view->serial;

	lane->room = has_chunk ? cell->room : 0;
	atomic_store_explicit(&lane->chunk, has_chunk ? cell->chunk : &ptx_thread_nowhere,
			      memory_order_relaxed);
}

static void make_lane(struct ptx_lane *lane, const struct ptx_thread *thread,
		      const struct ptx_view *view)
{
	struct ptx_region *region = view->rings.region;
	enum ptx_state kind = ptx_state_kind(atomic_load_explicit(&region->state,
								  memory_order_acquire));

	take_chunk(lane, thread, view);
	lane->region = region;
	lane->serial = view->serial;
	lane->max_data = (uint32_t)view->rings.max_data_size;
	lane->bit = (uint16_t)view->bit;
	lane->is_full = kind == PTX_FULL;
	if (kind == PTX_RUNNING)
		spread(lane->enabled, region);
	else
		memset(lane->enabled, 0, sizeof lane->enabled);
}

/* What the next event of this thread needs to know. With level 0 claimed. */
static void make_lanes(struct ptx_thread *thread)
{
	uint64_t word = atomic_load_explicit(&ptx_own_control.word, memory_order_acquire);
	uint64_t attached = atomic_load_explicit(&ptx_own_control.attached, memory_order_acquire);
	uint32_t lanes = 0;
	bool is_short = true;

	thread->word_one = thread->word_many = 0;
	if (!ptx_clock_is_counter)
		return; /* event.c reads the counter and nothing else */
	for (; attached; attached &= attached - 1) {
		bool is_missing = false;
		struct ptx_view *view = ptx_view_seek((unsigned)__builtin_ctzll(attached),
						      &is_missing);

		if (is_missing)
			return; /* each event comes by the long way, which counts it as lost */
		if (!view)
			continue;
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

/* Views whose streams other processes have detached. */
static void drop_gone(void)
{
	uint64_t attached = atomic_load_explicit(&ptx_own_control.attached, memory_order_acquire);

	for (unsigned bit = 0; bit < PTX_STREAMS; bit++)
		if (!(attached >> bit & 1) &&
		    atomic_load_explicit(&ptx_private.view[bit], memory_order_relaxed))
			ptx_view_find(bit);
}

void ptx_lanes_mend(struct ptx_thread *thread)
{
	uint64_t word = atomic_load_explicit(&ptx_own_control.word, memory_order_acquire);

	if (thread->word_one != word && thread->word_many != word) {
		drop_gone();
		make_lanes(thread);
		ptx_views_sweep(thread);
		return;
	}
	for (uint32_t i = 0; i < thread->lanes; i++) {
		struct ptx_lane *lane = &thread->lane[i];
		const struct ptx_view *view = atomic_load_explicit(&ptx_private.view[lane->bit],
								   memory_order_acquire);

		if (!view || view->serial != lane->serial)
			continue; /* the word will say so */
		take_chunk(lane, thread, view);
	}
}
