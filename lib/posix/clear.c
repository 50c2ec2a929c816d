/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/shield.h"
#include "flush/flush.h"
#include "point/view.h"
#include "posix/call.h"

/* A writer may have found the stream full while it was being cleared; it was running. */
static bool resume_if_full(struct ptx_stream *stream)
{
	struct ptx_region *region = stream->view->rings.region;
	struct ptx_mark start = { .kind = PTX_MARK_START };

	if (ptx_state_kind(atomic_load_explicit(&region->state, memory_order_acquire)) != PTX_FULL)
		return true;
	start.ticks = ptx_drain_moment(stream->drain, true);
	if (!ptx_drain_mark(stream->drain, &start))
		return false;
	atomic_store_explicit(&region->state, ptx_state_make(PTX_RUNNING, start.ticks),
			      memory_order_release);
	return true;
}

/* As if returning from creation, but for the names and whether it runs (CLEAR-02 to CLEAR-05). */
static int clear(struct ptx_stream *stream)
{
	struct ptx_region *region = stream->view->rings.region;
	struct ptx_mark stop = { .kind = PTX_MARK_STOP };
	struct ptx_shield shield;
	uint64_t state;
	int err = 0;

	state = atomic_load_explicit(&region->state, memory_order_acquire);
	if (ptx_state_kind(state) == PTX_FULL || ptx_state_kind(state) == PTX_HELD) {
		stop.ticks = ptx_drain_moment(stream->drain, false);
		if (!ptx_drain_mark(stream->drain, &stop))
			return ENOMEM;
		atomic_store_explicit(&region->state, ptx_state_make(PTX_SUSPENDED, stop.ticks),
				      memory_order_release);
	}
	ptx_drain_clear(stream->drain);
	if (!resume_if_full(stream))
		return ENOMEM;
	atomic_store_explicit(&region->max_level, 0, memory_order_seq_cst);
	for (int i = 0; i < PTX_WORDS; i++)
		atomic_store_explicit(&region->admit[i], ~UINT64_C(0), memory_order_release);
	ptx_arena_changed(stream->drain->arena);
	if (stream->flush) {
		ptx_shield_raise(&shield);
		err = ptx_flush_clear(stream->flush);
		ptx_shield_lower(&shield);
	}
	stream->type_cursor = 0;
	return err;
}

PTX_EXPORT int posix_trace_clear(trace_id_t trid)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream = ptx_stream_enter(trid, PTX_ACTIVE);
	int err;

	if (!stream)
		return ptx_call_end(call, EINVAL);
	if (stream->flush)
		ptx_flush_take_turn(stream->flush);
	pthread_mutex_lock(&stream->lock);
	err = clear(stream);
	pthread_mutex_unlock(&stream->lock);
	if (stream->flush)
		ptx_flush_give_turn(stream->flush);
	ptx_registry_leave(stream);
	return ptx_call_end(call, err);
}
