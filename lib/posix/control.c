/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/control.c - posix_trace_start() and posix_trace_stop(), and the controller as a writer.
 *
 * The controller records START, STOP, FILTER and its own user events into the first ring of its
 * stream, which it claimed at the creation. The stream's lock lets only one thread of the
 * controller write there at a time. The state of a stream is one word with the time of its change;
 * a writer that finds the stream full changes this word, too.
 */
#include "posix/control.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/futex.h"
#include "base/proc.h"
#include "drain/drain.h"
#include "flush/flush.h"
#include "point/view.h"
#include "posix/call.h"
#include "record/eventset.h"
#include "ring/pool.h"
#include "ring/ring_write.h"

/* Nanoseconds between two passes of a stop that waits for writers. */
#define STOP_NAP_NS  50000
/*
 * A stop waits for writers at most this number of nanoseconds. That is several times as long as a
 * reader waits for one writer.
 */
#define STOP_MOST_NS UINT64_C(1000000000)

/*
 * Returns the identity of the calling thread. The function makes system calls. This is permitted,
 * because no trace point calls the function.
 */
static struct ptx_ident caller_ident(void)
{
	struct ptx_ident ident = { 0 };

	ident.pid = ptx_proc_own();
	ident.tid = (uint32_t)syscall(SYS_gettid);
	ident.thread = (uint64_t)pthread_self();
	return ident;
}

int ptx_control_open(struct ptx_stream *stream)
{
	struct ptx_ident ident = caller_ident();
	enum ptx_writer_loss loss;
	uint32_t ring; /* becomes 0: for the drain, ring 0 is the controller's */

	stream->control_writer.tid = ident.tid;
	/* The claim below writes an ident record of the thread that creates the stream. */
	stream->control_writer.thread = ident.thread;
	stream->control = ptx_ring_claim(&stream->view->rings, &ident, &ring, &loss);
	return stream->control ? 0 : ENOMEM;
}

/*
 * If the last record of the ring was another thread's, records an ident record: the records that
 * follow are then the caller's (SYSEV-05).
 */
static bool sign_records(struct ptx_stream *stream, const struct ptx_ident *ident,
			 enum ptx_writer_loss *loss)
{
	/*
	 * If the last record was the caller's, no ident record is needed. It would only use memory
	 * of the stream.
	 */
	if (stream->control_writer.tid == ident->tid &&
	    stream->control_writer.thread == ident->thread)
		return true;
	if (!ptx_ring_identify(&stream->view->rings, &stream->control, ident, loss))
		return false;
	stream->control_writer.tid = ident->tid;
	stream->control_writer.thread = ident->thread;
	return true;
}

/*
 * Counts an event of the controller as lost. If it is lost because the stream is full, stops the
 * stream, as a writer does.
 */
static void lose_event(struct ptx_stream *stream, unsigned type, enum ptx_writer_loss loss)
{
	struct ptx_region *region = stream->view->rings.region;
	uint64_t state = atomic_load_explicit(&region->state, memory_order_acquire);

	/*
	 * A LOOP stream does not become FULL by a loss. A loss for lack of memory does not stop a
	 * stream either.
	 */
	if (ptx_state_kind(state) == PTX_RUNNING && !stream->view->rings.loop &&
	    loss == PTX_WRITER_STREAM_FULL &&
	    atomic_compare_exchange_strong_explicit(
		    &region->state, &state,
		    ptx_state_make(PTX_FULL, ptx_drain_moment(stream->drain, false)),
		    memory_order_acq_rel, memory_order_relaxed) &&
	    stream->flush)
		ptx_flush_wake(stream->flush);
	ptx_arena_changed(stream->drain->arena);
	ptx_ring_count_loss(&stream->view->rings, loss, type, 0, 1);
	atomic_store_explicit(&region->overrun, 1, memory_order_relaxed);
}

/*
 * Returns the place for a record in the control ring; if the chunk is full, changes to another
 * chunk. NULL: the event is lost because of *loss.
 */
static struct ptx_record *prepare_record(struct ptx_stream *stream, const struct ptx_ident *ident,
					 size_t size, uint64_t *head, enum ptx_writer_loss *loss)
{
	struct ptx_rings *rings = &stream->view->rings;
	struct ptx_record *record;
	size_t end;

	/*
	 * Several threads, and the guardian, record in this ring one after the other, and claim the
	 * ring only once. ptx_chunk_open() has a condition: this thread must read the clock after
	 * the previous thread has read the times of its records. The fence makes sure of this.
	 */
	ptx_clock_fence();
	if (!sign_records(stream, ident, loss))
		return NULL;
	record = ptx_ring_prepare(rings, stream->control, size, head);
	if (!record && ptx_ring_turn(rings, &stream->control, ident, loss))
		record = ptx_ring_prepare(rings, stream->control, size, head);
	/* If `record` is NULL, neither the old chunk nor a new chunk has room. */
	if (!record)
		return NULL;
	/* The chunk's memory may be present only up to a place before the end of this record. */
	end = ptx_head_offset(*head) + size;
	return ptx_ring_extend(rings, stream->control, end, loss) >= end ? record : NULL;
}

void ptx_control_record(struct ptx_stream *stream, unsigned type, const void *data, size_t len,
			uint64_t ticks, const void *address)
{
	struct ptx_rings *rings = &stream->view->rings;
	const struct ptx_chunk *before = stream->control;
	struct ptx_ident ident = caller_ident();
	enum ptx_writer_loss loss;
	struct ptx_record *record;
	uint32_t flags = 0;
	uint64_t head;

	/*
	 * The filter applies to system events as well; the operation itself still happens
	 * (FILTER-11).
	 */
	if (!ptx_region_admits(rings->region, type))
		return;
	/* max-data-size limits user events only. */
	if (type >= PTX_TYPE_UNNAMED && len > rings->max_data_size) {
		len = rings->max_data_size;
		flags = PTX_RECORD_TRUNCATED;
	}
	record = prepare_record(stream, &ident, ptx_record_size(len), &head, &loss);
	/* The controller's records can fill the pool, too, as those of turn_chunk(). */
	if (stream->control != before && stream->flush && ptx_pool_is_filling(rings, 2))
		ptx_flush_wake(stream->flush);
	if (!record) {
		lose_event(stream, type, loss);
		return;
	}
	ptx_record_fill(record, (uint32_t)len | flags, type, (uint64_t)(uintptr_t)address);
	ptx_copy_in((unsigned char *)(record + 1), data, len);
	/*
	 * A system event has the time `ticks` of the operation that it reports, which is also the
	 * time of the mark in the drain. For any other event the clock is read now. Readers wait
	 * for a writer whose window is open, so the clock is read after ptx_ring_stamp().
	 */
	ptx_ring_stamp(stream->control, head);
	if (ticks == PTX_CONTROL_NOW)
		ticks = ptx_drain_moment(stream->drain, false);
	ptx_ring_publish(stream->control, record, head, ptx_record_size(len), ticks);
	atomic_thread_fence(memory_order_seq_cst); /* (M) with (N) in posix/getnext.c */
	if (atomic_load_explicit(&rings->region->waiters, memory_order_relaxed))
		ptx_ring_wake(rings->region);
}

void ptx_control_filter(const struct ptx_stream *stream, trace_event_set_t *set)
{
	const struct ptx_region *region = stream->view->rings.region;

	/*
	 * The set is emptied first, although every bit is replaced below: emptying it stores the
	 * magic word.
	 */
	ptx_eventset_empty(set);
	for (int i = 0; i < PTX_WORDS; i++)
		set->__bits[i] = ~atomic_load_explicit(&region->admit[i], memory_order_relaxed);
}

/* Changes the state, and then the epoch, so that the lanes of threads become invalid. */
static void set_state(struct ptx_stream *stream, enum ptx_state kind, uint64_t ticks)
{
	struct ptx_region *region = stream->view->rings.region;

	/*
	 * The state is stored before the epoch changes, so that a thread that sees the new epoch
	 * sees the new state.
	 */
	atomic_store_explicit(&region->state, ptx_state_make(kind, ticks), memory_order_release);
	ptx_arena_changed(stream->drain->arena);
}

/* Starts a locked stream. ENOMEM: no memory for the mark. */
static int start_stream(struct ptx_stream *stream, const void *address)
{
	struct ptx_region *region = stream->view->rings.region;
	struct ptx_mark mark = { .kind = PTX_MARK_START };
	trace_event_set_t filter;
	uint64_t state;

	/*
	 * If a writer has found the stream full, its mark is made first, so that the marks are in
	 * their order.
	 */
	ptx_drain_sync(stream->drain);
	state = atomic_load_explicit(&region->state, memory_order_acquire);
	if (ptx_state_kind(state) == PTX_HELD) { /* permits the automatic restart again (STOP-05) */
		set_state(stream, PTX_FULL, ptx_state_time(state));
		return 0;
	}
	/*
	 * START-03, START-04: a running stream, and one that stopped by itself, are not changed.
	 */
	if (ptx_state_kind(state) != PTX_SUSPENDED)
		return 0;
	/*
	 * Marks that separate no events are dropped if there are many, so that the memory for marks
	 * is bounded.
	 */
	ptx_drain_thin(stream->drain);
	mark.ticks = ptx_drain_moment(stream->drain, true);
	/* The mark is made before the state changes: if there is no memory, nothing has changed. */
	if (!ptx_drain_mark(stream->drain, &mark))
		return ENOMEM;
	ptx_control_filter(stream, &filter);
	set_state(stream, PTX_RUNNING, mark.ticks);
	/*
	 * The data of START are the filter (START-02). The record has the time of the mark, at
	 * which the new phase begins.
	 */
	ptx_control_record(stream, POSIX_TRACE_START, &filter, sizeof filter, mark.ticks, address);
	if (stream->flush)
		ptx_flush_wake(stream->flush);
	return 0;
}

/* Stops a locked stream: STOP-01 to STOP-05. */
void ptx_control_stop(struct ptx_stream *stream, const void *address)
{
	struct ptx_region *region = stream->view->rings.region;
	struct ptx_mark mark = { .kind = PTX_MARK_STOP };
	uint64_t state = atomic_load_explicit(&region->state, memory_order_acquire);
	const int by_call = 0;

	while (ptx_state_kind(state) == PTX_RUNNING) {
		mark.ticks = ptx_drain_moment(stream->drain, false);
		if (!atomic_compare_exchange_strong_explicit(
			    &region->state, &state, ptx_state_make(PTX_SUSPENDED, mark.ticks),
			    memory_order_acq_rel, memory_order_acquire))
			continue; /* a writer has made the stream FULL: examine the new state */
		ptx_arena_changed(stream->drain->arena);
		if (!ptx_drain_mark(stream->drain, &mark))
			return;
		ptx_control_record(stream, POSIX_TRACE_STOP, &by_call, sizeof by_call, mark.ticks,
				   address);
		return;
	}
	/* STOP-05: the stream stopped by itself; the call only prevents its automatic restart. */
	if (ptx_state_kind(state) == PTX_FULL)
		set_state(stream, PTX_HELD, ptx_state_time(state));
}

static bool is_running(const struct ptx_stream *stream)
{
	/* acquire: pairs with the release of set_state(). */
	return ptx_state_kind(atomic_load_explicit(&stream->view->rings.region->state,
						   memory_order_acquire)) == PTX_RUNNING;
}

/*
 * Some writers may have been suspended in a trace point when the stream stopped. This function
 * waits until they have published their events, but no longer than STOP_MOST_NS. So a later
 * posix_trace_trygetnext_event() finds these events in their order, before the STOP. A stream with
 * log does not need this function, because a flush waits for writers itself.
 */
static void wait_for_writers(struct ptx_stream *stream)
{
	const uint64_t stopped = ptx_clock_ordered();
	const uint64_t too_long = stopped + ptx_clock_ticks(STOP_MOST_NS);
	_Atomic uint32_t never = 0;

	/* Another thread may shut the stream down meanwhile. */
	while (!atomic_load_explicit(&stream->ended, memory_order_acquire)) {
		bool over;

		pthread_mutex_lock(&stream->lock);
		ptx_drain_pass(stream->drain);
		/*
		 * Each event with a time before `certain` has been published or will never be
		 * published.
		 */
		over = stream->drain->certain >= stopped || stream->drain->now > too_long;
		pthread_mutex_unlock(&stream->lock);
		if (over)
			return;
		/*
		 * The word never changes, so the wait ends only by its timeout. Such a sleep is no
		 * cancellation point.
		 */
		ptx_futex_nap(&never, 0, STOP_NAP_NS);
	}
}

/*
 * START-01 to START-06. The address of the event is that of the call (SYSEV-04). The return address
 * is behind the call instruction, so 1 is subtracted.
 */
PTX_EXPORT int posix_trace_start(trace_id_t trid)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream = ptx_stream_lock(trid, PTX_ACTIVE);
	const void *address = (const char *)__builtin_return_address(0) - 1;
	int err;

	if (!stream)
		return ptx_call_end(call, EINVAL);
	err = start_stream(stream, address);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, err);
}

/*
 * STOP-01 to STOP-06. The lock is not held during the wait, so that other threads can use the
 * stream.
 */
PTX_EXPORT int posix_trace_stop(trace_id_t trid)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream = ptx_stream_lock(trid, PTX_ACTIVE);
	const void *address = (const char *)__builtin_return_address(0) - 1;
	bool ran;

	if (!stream)
		return ptx_call_end(call, EINVAL);
	/*
	 * If the stream was full and has room again, ptx_drain_sync() restarts it before the stop.
	 */
	ptx_drain_sync(stream->drain);
	ran = is_running(stream);
	ptx_control_stop(stream, address);
	/*
	 * ptx_registry_hold() keeps the stream from being freed while this thread waits for the
	 * stream's writers.
	 */
	ptx_registry_hold(stream);
	ptx_stream_unlock(stream);
	if (ran && stream->kind == PTX_STREAM_UNLOGGED)
		wait_for_writers(stream);
	ptx_registry_leave(stream);
	return ptx_call_end(call, 0);
}

/* Records a user event of the controller in a locked stream. The type has a name. */
static void record_event(struct ptx_stream *stream, unsigned type, const void *data, size_t len,
			 const void *address)
{
	struct ptx_region *region = stream->view->rings.region;
	/* acquire: pairs with the release of set_state(). */
	uint64_t state = atomic_load_explicit(&region->state, memory_order_acquire);

	switch (ptx_state_kind(state)) {
	case PTX_RUNNING:
		ptx_control_record(stream, type, data, len, PTX_CONTROL_NOW, address);
		return;
	/* A full stream counts the events that it refuses, as for a trace point. */
	case PTX_FULL:
		if (ptx_region_admits(region, type))
			lose_event(stream, type, PTX_WRITER_STREAM_FULL);
		return;
	default:
		return;
	}
}

/*
 * This function is not in the standard. Without it, a controller could not add an event to the
 * stream of another process. ptx_drain_sync() is called first, because it may restart a stream that
 * was full.
 */
PTX_EXPORT int posix_trace_trid_event_np(trace_id_t trid, trace_event_id_t event_id,
					 const void *data, size_t len)
{
	struct ptx_call call = ptx_call_begin();
	const void *address = (const char *)__builtin_return_address(0) - 1;
	char name[PTX_TYPE_NAME_BYTES];
	struct ptx_stream *stream;
	bool is_known;

	if (len && !data)
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_ACTIVE);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	is_known = event_id >= PTX_TYPE_FIRST_USER &&
		   ptx_names_get(stream->drain->arena->names, event_id, name);
	if (is_known) {
		ptx_drain_sync(stream->drain);
		record_event(stream, event_id, data, len, address);
	}
	ptx_stream_unlock(stream);
	return ptx_call_end(call, is_known ? 0 : EINVAL);
}
