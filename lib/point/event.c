/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/event.c - posix_trace_event(): the path of an event from the program into the rings.
 *
 * Nothing here waits for anybody, calls the kernel, writes a line that another thread writes, or
 * leaves a trace if it never returns. In order:
 *
 *	claim a nesting level by one store, so that a handler does not touch our chunk;
 *	in each stream: is it running, is the type admitted; write the record beyond the head;
 *	announce that the clock is about to be read (the window), in each stream;
 *	read the clock, once: all streams get the same time;
 *	still in the same process? then publish by one release store, in each stream;
 *	give the level back.
 *
 * The clock read dominates; the stores before it hide behind it. It stands between window and
 * head, and only the compiler is kept from moving it: the reader's barrier does the rest.
 */
#include "base/clock.h"
#include "base/export.h"
#include "base/futex.h"
#include "point/thread.h"
#include "ring/ring_write.h"

#include <trace.h>

#define BATCH 8 /* streams served by one reading of the clock */

struct pending {
	struct ptx_view *view;
	struct ptx_chunk *chunk;
	struct ptx_record *record;
	uint64_t head;
	size_t size;
};

static void ptx_cold lose(struct ptx_thread *thread, struct ptx_view *view, unsigned type,
			  enum ptx_writer_loss loss)
{
	uint32_t slot = 0;

	if (thread && thread->slot_serial[view->bit] == view->serial)
		slot = thread->slot[view->bit];
	ptx_ring_count_loss(&view->rings, loss, type, slot, 1);
	atomic_store_explicit(&view->rings.region->overrun, 1, memory_order_relaxed);
}

static void ptx_cold wake(_Atomic uint32_t *word)
{
	if (atomic_exchange_explicit(word, 0, memory_order_acq_rel))
		ptx_futex_wake(word);
}

/* The pool is used up. The first to notice stops the stream, and the time of that is the STOP's. */
static void ptx_cold fill_up(struct ptx_thread *thread, struct ptx_view *view, unsigned type)
{
	struct ptx_region *region = view->rings.region;
	uint64_t state = atomic_load_explicit(&region->state, memory_order_relaxed);

	if (!view->rings.loop && ptx_state_kind(state) == PTX_RUNNING) {
		uint64_t now = ptx_clock_ordered();

		if (atomic_compare_exchange_strong_explicit(&region->state, &state,
							    ptx_state_make(PTX_FULL, now),
							    memory_order_acq_rel,
							    memory_order_relaxed)) {
			wake(&region->flush_wish);
			wake(&region->waiters);
		}
	}
	lose(thread, view, type, PTX_WRITER_STREAM_FULL);
}

/* A new chunk for the ring; now and then a word to the flusher. */
static struct ptx_record *ptx_cold turn(struct ptx_thread *thread, struct ptx_cell *cell,
					struct ptx_view *view, size_t size, uint64_t *head)
{
	struct ptx_region *region = view->rings.region;
	struct ptx_ident ident;
	struct ptx_chunk *chunk;

	ptx_thread_identify(thread, view, &ident);
	chunk = ptx_ring_turn(&view->rings, cell->chunk, &ident);
	if (!chunk)
		return NULL;
	cell->chunk = chunk;
	if (ptx_unlikely(atomic_load_explicit(&region->flush_wish, memory_order_relaxed)) &&
	    atomic_load_explicit(&region->free_chunks, memory_order_relaxed) <
		    view->rings.geometry.chunks / 2)
		wake(&region->flush_wish);
	return ptx_ring_reserve(&view->rings, chunk, size, head);
}

/* Not running, or filtered out. Only a stream that stopped because it was full counts. */
static void ptx_cold pass_over(struct ptx_thread *thread, struct ptx_view *view, unsigned type,
			       uint64_t admitted, uint64_t state)
{
	if (admitted && ptx_state_kind(state) == PTX_FULL)
		lose(thread, view, type, PTX_WRITER_STREAM_FULL);
}

static bool ptx_cold join(struct ptx_thread *thread, unsigned level, struct ptx_view *view,
			  unsigned type)
{
	enum ptx_writer_loss loss;

	if (thread->pid == 0)
		ptx_thread_revive(thread); /* a child's, wiped by the fork */
	if (ptx_thread_join(thread, level, view, &loss))
		return true;
	if (loss == PTX_WRITER_STREAM_FULL)
		fill_up(thread, view, type);
	else
		lose(thread, view, type, loss);
	return false;
}

/* The stream is being detached; or it is our parent's, and no fork handler has told us. */
static void ptx_cold no_view(void)
{
	if (ptx_process_is_child())
		ptx_process_child();
}

/* Everything but the time. False: this stream does not get the event. */
ptx_inline bool prepare(struct ptx_thread *thread, unsigned level, unsigned bit, unsigned type,
			const void *data, size_t len, uint64_t address, struct pending *pending)
{
	struct ptx_view *view = atomic_load_explicit(&ptx_private.view[bit], memory_order_acquire);
	struct ptx_cell *cell = &thread->cell[level][bit];
	struct ptx_region *region;
	struct ptx_record *record;
	uint64_t state, admitted, head;
	uint32_t flags = 0;
	size_t size;

	if (ptx_unlikely(!view)) {
		no_view();
		return false;
	}
	region = view->rings.region;
	state = atomic_load_explicit(&region->state, memory_order_relaxed);
	admitted = atomic_load_explicit(&region->admit[type / 64], memory_order_relaxed) >>
			   (type % 64) & 1;
	if (ptx_unlikely(!admitted || ptx_state_kind(state) != PTX_RUNNING)) {
		if (ptx_unlikely(ptx_state_kind(state) == PTX_FULL))
			pass_over(thread, view, type, admitted, state);
		return false;
	}
	if (ptx_unlikely(cell->serial != view->serial) && !join(thread, level, view, type))
		return false;
	if (ptx_unlikely(len > view->rings.max_data_size)) {
		len = view->rings.max_data_size;
		flags = PTX_RECORD_TRUNCATED;
	}
	size = ptx_record_size(len);
	record = ptx_ring_reserve(&view->rings, cell->chunk, size, &head);
	if (ptx_unlikely(!record)) {
		record = turn(thread, cell, view, size, &head);
		if (!record) {
			fill_up(thread, view, type);
			return false;
		}
	}
	ptx_record_fill(record, (uint32_t)len | flags, type, address);
	ptx_copy_in((unsigned char *)(record + 1), data, len);
	pending->view = view;
	pending->chunk = cell->chunk;
	pending->record = record;
	pending->head = head;
	pending->size = size;
	return true;
}

ptx_inline void publish(const struct pending *pending, uint64_t time)
{
	ptx_ring_commit(pending->chunk, pending->record, pending->head, pending->size, time);
	atomic_signal_fence(memory_order_seq_cst);
	if (ptx_unlikely(atomic_load_explicit(&pending->view->rings.region->waiters,
					      memory_order_relaxed))) /* (M) with (N) in drain/wake.c */
		wake(&pending->view->rings.region->waiters);
}

/* True while the level is ours: a child of fork() finds it wiped, and must not publish. */
ptx_inline bool still_here(struct ptx_thread *thread, unsigned level, const void *frame)
{
	return ptx_likely(atomic_load_explicit(&thread->frame[level], memory_order_relaxed) ==
			  frame);
}

static void __attribute__((noinline))
record_many(struct ptx_thread *thread, unsigned level, const void *frame, uint64_t attached,
	    unsigned type, const void *data, size_t len, uint64_t address)
{
	while (attached) {
		struct pending pending[BATCH];
		unsigned count = 0;
		uint64_t time;

		for (; attached && count < BATCH; attached &= attached - 1)
			count += prepare(thread, level, (unsigned)__builtin_ctzll(attached), type,
					 data, len, address, &pending[count]);
		if (count == 0)
			continue;
		for (unsigned i = 0; i < count; i++)
			ptx_ring_enter(pending[i].chunk, pending[i].head);
		atomic_signal_fence(memory_order_seq_cst);
		time = ptx_clock_now();
		atomic_signal_fence(memory_order_seq_cst);
		if (!still_here(thread, level, frame))
			return;
		for (unsigned i = 0; i < count; i++)
			publish(&pending[i], time);
	}
}

static void ptx_cold lose_everywhere(struct ptx_thread *thread, uint64_t attached, unsigned type,
				     enum ptx_writer_loss loss)
{
	for (; attached; attached &= attached - 1) {
		unsigned bit = (unsigned)__builtin_ctzll(attached);
		struct ptx_view *view = atomic_load_explicit(&ptx_private.view[bit],
							     memory_order_acquire);
		struct ptx_region *region;
		uint64_t state;

		if (!view)
			continue;
		region = view->rings.region;
		state = atomic_load_explicit(&region->state, memory_order_relaxed);
		if ((ptx_state_kind(state) == PTX_RUNNING || ptx_state_kind(state) == PTX_FULL) &&
		    (atomic_load_explicit(&region->admit[type / 64], memory_order_relaxed) >>
			     (type % 64) & 1))
			lose(thread, view, type, loss);
	}
}

static struct ptx_thread *ptx_cold begin(uint64_t attached, unsigned type)
{
	struct ptx_thread *thread = ptx_thread_make();

	if (!thread)
		lose_everywhere(NULL, attached, type, PTX_WRITER_NO_MEMORY);
	return thread;
}

static void __attribute__((noinline))
record(uint64_t attached, unsigned type, const void *data, size_t len, uint64_t address)
{
	struct ptx_thread *thread = atomic_load_explicit(&ptx_thread_self, memory_order_relaxed);
	const void *frame = __builtin_frame_address(0);
	unsigned level = 0;

	/* Names that this process opened, and the unnamed type; all below 63 are the system's. */
	if (ptx_unlikely(type >= PTX_TYPE_MAX ||
			 !(atomic_load_explicit(&ptx_mapped[type / 64], memory_order_relaxed) >>
				   (type % 64) & 1)))
		return;
	if (ptx_unlikely(!thread)) {
		thread = begin(attached, type);
		if (!thread)
			return;
	}
	if (ptx_unlikely(atomic_load_explicit(&thread->frame[0], memory_order_relaxed) != NULL)) {
		level = ptx_thread_nest(thread, frame);
		if (level == PTX_LEVELS) {
			lose_everywhere(thread, attached, type, PTX_WRITER_NESTING);
			return;
		}
	}
	atomic_store_explicit(&thread->frame[level], frame, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	if (ptx_likely((attached & (attached - 1)) == 0)) {
		struct pending pending;

		if (prepare(thread, level, (unsigned)__builtin_ctzll(attached), type, data, len,
			    address, &pending)) {
			uint64_t time;

			ptx_ring_enter(pending.chunk, pending.head);
			time = ptx_clock_now();
			atomic_signal_fence(memory_order_seq_cst);
			if (!still_here(thread, level, frame))
				return;
			publish(&pending, time);
		}
	} else {
		record_many(thread, level, frame, attached, type, data, len, address);
		if (!still_here(thread, level, frame))
			return;
	}
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&thread->frame[level], NULL, memory_order_release);
}

PTX_EXPORT void posix_trace_event(trace_event_id_t event_id, const void *restrict data_ptr,
				  size_t data_len)
{
	uint64_t attached = atomic_load_explicit(&ptx_control.attached, memory_order_relaxed);

	if (ptx_likely(attached == 0))
		return;
	/* One byte back: inside the call, also when it is the caller's last instruction. */
	record(attached, event_id, data_ptr, data_ptr ? data_len : 0,
	       (uint64_t)(uintptr_t)__builtin_return_address(0) - 1);
}
