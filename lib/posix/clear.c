/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/clear.c - posix_trace_clear(): removes all events of a stream and of its log.
 *
 * Writers continue to record meanwhile (CLEAR-11), because the stream's lock does not stop them.
 * The drain notes the moment of the clear; events before it count as lost, cause CLEARED.
 */
#include "arena/silence.h"
#include "base/shield.h"
#include "flush/flush.h"
#include "point/view.h"
#include "posix/call.h"

/*
 * Restarts a stream that was running, if a writer has found the stream full during the clear. The
 * caller holds the lock. Returns false if there is no memory for the mark: the stream then stays
 * FULL.
 */
static bool resume_if_full(struct ptx_stream *stream)
{
	struct ptx_region *region = stream->view->rings.region;
	struct ptx_mark start = { .kind = PTX_MARK_START };

	if (ptx_state_kind(atomic_load_explicit(&region->state, memory_order_acquire)) != PTX_FULL)
		return true;
	/* The start must be later than all events that were cleared. */
	start.ticks = ptx_drain_moment(stream->drain, true);
	if (!ptx_drain_mark(stream->drain, &start))
		return false;
	atomic_store_explicit(&region->state, ptx_state_make(PTX_RUNNING, start.ticks),
			      memory_order_release);
	return true;
}

/*
 * Restores the state that the stream had after its creation, except for its names and whether it
 * runs (CLEAR-01 to CLEAR-07). The caller holds the lock and has the turn of the flush.
 */
static int clear_stream(struct ptx_stream *stream)
{
	struct ptx_region *region = stream->view->rings.region;
	struct ptx_mark stop = { .kind = PTX_MARK_STOP };
	struct ptx_shield shield;
	uint64_t state;
	int err = 0;

	state = atomic_load_explicit(&region->state, memory_order_acquire);
	/*
	 * A stream that stopped by itself becomes SUSPENDED and NOT_FULL, and does not restart
	 * without a call (UFULL-14). No STOP is recorded (CLEAR-02).
	 */
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
	/*
	 * The level is stored before the filter. If a process describes a type at this moment,
	 * either that process sees the new level, or the loop below overwrites the bit that the
	 * process changes.
	 */
	atomic_store_explicit(&region->max_level, 0, memory_order_seq_cst);
	for (int i = 0; i < PTX_WORDS; i++) {
		atomic_store_explicit(&region->admit[i], ~UINT64_C(0), memory_order_release);
		atomic_store_explicit(&region->skip[i], 0, memory_order_release);
	}
	ptx_silence_set(stream->drain->arena->control, region);
	/*
	 * Threads must see the empty filter at their next event. Therefore the epoch changes, so
	 * that their lanes become invalid.
	 */
	ptx_arena_changed(stream->drain->arena);
	/*
	 * Writing to the log may raise SIGXFSZ or SIGPIPE, which must not reach the program
	 * (FLUSHF-09).
	 */
	if (stream->flush) {
		ptx_shield_raise(&shield);
		err = ptx_flush_clear(stream->flush);
		ptx_shield_lower(&shield);
	}
	/*
	 * The next posix_trace_eventtypelist_getnext_id() returns the first type again (CLEAR-04).
	 */
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
	/*
	 * The turn of the flush is acquired before the lock, in the order that all flushes use. So
	 * a clear and a flush of one stream run one after the other (FLUSHF-11).
	 */
	if (stream->flush)
		ptx_flush_acquire_turn(stream->flush);
	pthread_mutex_lock(&stream->lock);
	err = clear_stream(stream);
	pthread_mutex_unlock(&stream->lock);
	if (stream->flush)
		ptx_flush_release_turn(stream->flush);
	ptx_registry_leave(stream);
	return ptx_call_end(call, err);
}
