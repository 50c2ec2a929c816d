/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "posix/control.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/futex.h"
#include "drain/drain.h"
#include "flush/flush.h"
#include "point/view.h"
#include "posix/call.h"
#include "record/eventset.h"
#include "ring/ring_write.h"

#define STOP_NAP_NS  50000
#define STOP_MOST_NS UINT64_C(1000000000) /* several times as long as one writer is waited for */

static struct ptx_ident caller(void)
{
	struct ptx_ident ident = { 0 };

	ident.pid = (uint32_t)getpid();
	ident.tid = (uint32_t)syscall(SYS_gettid);
	ident.thread = (uint64_t)pthread_self();
	return ident;
}

int ptx_control_open(struct ptx_stream *stream)
{
	struct ptx_ident ident = caller();
	enum ptx_writer_loss loss;
	uint32_t ring; /* 0: the drain counts on it */

	stream->control_writer.tid = ident.tid;
	stream->control_writer.thread = ident.thread;
	stream->control = ptx_ring_claim(&stream->view->rings, &ident, &ring, &loss);
	return stream->control ? 0 : ENOMEM;
}

static bool is_admitted(const struct ptx_region *region, unsigned type)
{
	return atomic_load_explicit(&region->admit[type / 64], memory_order_relaxed) >>
		       (type % 64) & 1;
}

/* The records that follow in the control ring are the caller's. */
static bool sign(struct ptx_stream *stream, const struct ptx_ident *ident,
		 enum ptx_writer_loss *loss)
{
	if (stream->control_writer.tid == ident->tid &&
	    stream->control_writer.thread == ident->thread)
		return true;
	if (!ptx_ring_identify(&stream->view->rings, &stream->control, ident, loss))
		return false;
	stream->control_writer.tid = ident->tid;
	stream->control_writer.thread = ident->thread;
	return true;
}

static void write_record(struct ptx_chunk *chunk, struct ptx_record *record, uint64_t head,
			 unsigned type, const void *data, size_t len, uint64_t ticks,
			 const void *address)
{
	ptx_record_fill(record, (uint32_t)len, type, (uint64_t)(uintptr_t)address);
	ptx_copy_in((unsigned char *)(record + 1), data, len);
	ptx_ring_enter(chunk, head);
	ptx_ring_commit(chunk, record, head, ptx_record_size(len), ticks);
}

static void lose(struct ptx_stream *stream, unsigned type, enum ptx_writer_loss loss)
{
	struct ptx_region *region = stream->view->rings.region;
	uint64_t state = atomic_load_explicit(&region->state, memory_order_acquire);

	if (ptx_state_kind(state) == PTX_RUNNING && !stream->view->rings.loop &&
	    loss == PTX_WRITER_STREAM_FULL)
		atomic_compare_exchange_strong_explicit(
			&region->state, &state,
			ptx_state_make(PTX_FULL, ptx_drain_moment(stream->drain, false)),
			memory_order_acq_rel, memory_order_relaxed);
	ptx_arena_changed(stream->drain->arena);
	ptx_ring_count_loss(&stream->view->rings, loss, type, 0, 1);
	atomic_store_explicit(&region->overrun, 1, memory_order_relaxed);
}

/* The place for a record in the control ring, whose chunk changes if need be; NULL: by *loss. */
static struct ptx_record *reserve(struct ptx_stream *stream, const struct ptx_ident *ident,
				  size_t size, uint64_t *head, enum ptx_writer_loss *loss)
{
	struct ptx_rings *rings = &stream->view->rings;
	struct ptx_record *record;
	size_t end;

	if (!sign(stream, ident, loss))
		return NULL;
	record = ptx_ring_reserve(rings, stream->control, size, head);
	if (!record && ptx_ring_turn(rings, &stream->control, ident, loss))
		record = ptx_ring_reserve(rings, stream->control, size, head);
	if (!record)
		return NULL;
	end = ptx_head_offset(*head) + size;
	return ptx_ring_extend(rings, stream->control, end, loss) >= end ? record : NULL;
}

void ptx_control_record(struct ptx_stream *stream, unsigned type, const void *data, size_t len,
			uint64_t ticks, const void *address)
{
	struct ptx_rings *rings = &stream->view->rings;
	struct ptx_ident ident = caller();
	enum ptx_writer_loss loss;
	struct ptx_record *record;
	uint64_t head;

	if (!is_admitted(rings->region, type))
		return;
	record = reserve(stream, &ident, ptx_record_size(len), &head, &loss);
	if (!record) {
		lose(stream, type, loss);
		return;
	}
	write_record(stream->control, record, head, type, data, len, ticks, address);
	atomic_thread_fence(memory_order_seq_cst); /* (M) with (N) in posix/getnext.c */
	if (atomic_load_explicit(&rings->region->waiters, memory_order_relaxed))
		ptx_ring_wake(rings->region);
}

void ptx_control_filter(const struct ptx_stream *stream, trace_event_set_t *set)
{
	const struct ptx_region *region = stream->view->rings.region;

	ptx_eventset_empty(set);
	for (int i = 0; i < PTX_WORDS; i++)
		set->__bits[i] = ~atomic_load_explicit(&region->admit[i], memory_order_relaxed);
}

static void set_state(struct ptx_stream *stream, enum ptx_state kind, uint64_t ticks)
{
	struct ptx_region *region = stream->view->rings.region;

	atomic_store_explicit(&region->state, ptx_state_make(kind, ticks), memory_order_release);
	ptx_arena_changed(stream->drain->arena);
}

static int start(struct ptx_stream *stream, const void *address)
{
	struct ptx_region *region = stream->view->rings.region;
	struct ptx_mark mark = { .kind = PTX_MARK_START };
	trace_event_set_t filter;
	uint64_t state;

	ptx_drain_sync(stream->drain);
	state = atomic_load_explicit(&region->state, memory_order_acquire);
	if (ptx_state_kind(state) == PTX_HELD) { /* re-arms the automatic restart (STOP-05) */
		set_state(stream, PTX_FULL, ptx_state_time(state));
		return 0;
	}
	if (ptx_state_kind(state) != PTX_SUSPENDED)
		return 0;
	ptx_drain_thin(stream->drain);
	mark.ticks = ptx_drain_moment(stream->drain, true);
	if (!ptx_drain_mark(stream->drain, &mark))
		return ENOMEM;
	ptx_control_filter(stream, &filter);
	set_state(stream, PTX_RUNNING, mark.ticks);
	ptx_control_record(stream, POSIX_TRACE_START, &filter, sizeof filter, mark.ticks, address);
	if (stream->flush)
		ptx_flush_wake(stream->flush);
	return 0;
}

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
			continue; /* a writer found it full */
		ptx_arena_changed(stream->drain->arena);
		if (!ptx_drain_mark(stream->drain, &mark))
			return;
		ptx_control_record(stream, POSIX_TRACE_STOP, &by_call, sizeof by_call, mark.ticks,
				   address);
		return;
	}
	if (ptx_state_kind(state) == PTX_FULL)
		set_state(stream, PTX_HELD, ptx_state_time(state));
}

static bool is_running(const struct ptx_stream *stream)
{
	return ptx_state_kind(atomic_load_explicit(&stream->view->rings.region->state,
						   memory_order_acquire)) == PTX_RUNNING;
}

/*
 * Writers that were preempted in a trace point when the stream stopped publish their events now, so
 * that a reader which does not wait finds them in their order, and none behind the STOP. It is
 * waited for them as long as any reader waits. A stream with log has a flush that does it.
 */
static void wait_for_writers(struct ptx_stream *stream)
{
	const uint64_t stopped = ptx_clock_ordered();
	const uint64_t too_long = stopped + ptx_clock_ticks(STOP_MOST_NS);
	_Atomic uint32_t never = 0;

	while (!atomic_load_explicit(&stream->gone, memory_order_acquire)) {
		bool over;

		pthread_mutex_lock(&stream->lock);
		ptx_drain_pass(stream->drain);
		over = stream->drain->certain >= stopped || stream->drain->now > too_long;
		pthread_mutex_unlock(&stream->lock);
		if (over)
			return;
		ptx_futex_nap(&never, 0, STOP_NAP_NS);
	}
}

PTX_EXPORT int posix_trace_start(trace_id_t trid)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream = ptx_stream_lock(trid, PTX_ACTIVE);
	const void *address = (const char *)__builtin_return_address(0) - 1;
	int err;

	if (!stream)
		return ptx_call_end(call, EINVAL);
	err = start(stream, address);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, err);
}

PTX_EXPORT int posix_trace_stop(trace_id_t trid)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream = ptx_stream_lock(trid, PTX_ACTIVE);
	const void *address = (const char *)__builtin_return_address(0) - 1;
	bool ran;

	if (!stream)
		return ptx_call_end(call, EINVAL);
	ptx_drain_sync(stream->drain);
	ran = is_running(stream);
	ptx_control_stop(stream, address);
	ptx_registry_hold(stream);
	ptx_stream_unlock(stream);
	if (ran && stream->kind == PTX_STREAM_LIVE)
		wait_for_writers(stream);
	ptx_registry_leave(stream);
	return ptx_call_end(call, 0);
}
