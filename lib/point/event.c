/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/event.c - posix_trace_event(): the path of an event from the program into the rings.
 *
 * Nothing here waits for anybody, calls the kernel, writes a line that another thread writes, or
 * leaves a trace if it never returns. In order:
 *
 *	claim nesting level 0 by one store, so that a handler does not touch our chunk;
 *	is what this thread knows of the streams still true (one word), is the type enabled;
 *	write the record beyond the head; announce that the clock is about to be read (the window);
 *	read the clock, once for all streams;
 *	still in the same process? then publish by one release store in each stream;
 *	give the level back.
 *
 * Reading the clock costs most of it, and what stands before hides behind it as far as it is few
 * instructions. So this file has only the usual case; everything else goes to record.c: a handler
 * in a trace point, a new thread, a full chunk, a change of state or filter, a stream that is full.
 *
 * Claim and word     A view is unmapped when nobody is inside (view.c). The word is therefore
 *                    loaded again after the claim; the barrier of who detaches stands between.
 * Window and clock   Only the compiler is kept from moving the clock reading; (K) and (L) in
 *                    ring.h.
 */
#include "base/clock.h"
#include "base/export.h"
#include "point/record.h"
#include "ring/ring_write.h"

#include <trace_np.h>
#undef posix_trace_event

/* A pointer, since a program may get a copy of whatever variable it names. */
PTX_EXPORT const volatile unsigned char *const posix_trace_active_np =
	(const volatile unsigned char *)&ptx_own_control.streams;

ptx_inline const void *stack_pointer(void)
{
	const void *sp;

#if defined __x86_64__
	__asm__ volatile("mov %%rsp, %0" : "=r"(sp));
#elif defined __aarch64__
	__asm__ volatile("mov %0, sp" : "=r"(sp));
#else
	sp = __builtin_frame_address(0);
#endif
	return sp;
}

struct pending {
	struct ptx_region *region;
	struct ptx_chunk *chunk; /* loaded once: who frees another view may take it from the lane */
	struct ptx_record *record;
	uint64_t head;
};

/*
 * The lane's chunk, loaded before the lane says that it is enabled: a child of fork() finds the
 * lane wiped at whatever point, and what is wiped is not enabled.
 */
ptx_inline struct ptx_chunk *chunk_of(const struct ptx_lane *lane)
{
	struct ptx_chunk *chunk = atomic_load_explicit(&lane->chunk, memory_order_relaxed);

	atomic_signal_fence(memory_order_seq_cst);
	return chunk;
}

/* The record, but for its time, beyond the head. False: it does not fit. */
ptx_inline bool prepare(const struct ptx_lane *lane, struct ptx_chunk *chunk, unsigned type,
			const void *data, size_t len, uint64_t address, struct pending *pending)
{
	uint64_t head = atomic_load_explicit(&chunk->head, memory_order_relaxed) & PTX_HEAD_MASK;
	uint64_t at = ptx_head_offset(head);
	size_t size = ptx_record_size(len);
	struct ptx_record *record = (struct ptx_record *)(void *)(chunk->records + at);

	if (ptx_unlikely(at + size > lane->room))
		return false;
	ptx_record_fill(record, (uint32_t)len, type, address);
	ptx_copy_in((unsigned char *)(record + 1), data, len);
	pending->region = lane->region; /* before it is known that the lane was not wiped */
	pending->chunk = chunk;
	pending->record = record;
	pending->head = head;
	return true;
}

/* True while the level is ours: a child of fork() finds it wiped, and must not publish. */
ptx_inline bool is_ours(const struct ptx_thread *thread, const void *frame)
{
	return ptx_likely(atomic_load_explicit(&thread->frame[0], memory_order_relaxed) == frame);
}

ptx_inline void publish(const struct pending *pending, size_t len, uint64_t time)
{
	ptx_ring_commit(pending->chunk, pending->record, pending->head,
			ptx_record_size(len), time);
}

/* (M) with (N) in posix/getnext.c */
ptx_inline bool has_waiter(const struct ptx_region *region)
{
	return ptx_unlikely(atomic_load_explicit(&region->waiters, memory_order_relaxed));
}

ptx_inline void leave(struct ptx_thread *thread)
{
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&thread->frame[0], NULL, memory_order_release);
}

static void __attribute__((noinline))
give_up(struct ptx_thread *thread, const void *frame, unsigned type, const void *data, size_t len,
	uint64_t address)
{
	leave(thread);
	ptx_record(frame, type, data, len, address);
}

/* Several streams, or data of any length; level 0 claimed. */
ptx_inline void
record_lanes(struct ptx_thread *thread, const void *frame, unsigned type, const void *data,
	     size_t len, uint64_t address)
{
	struct pending pending[PTX_LANES];
	unsigned count = 0;
	uint64_t time, word = atomic_load_explicit(&ptx_own_control.word, memory_order_relaxed);

	if (word != thread->word_many && word != thread->word_one)
		goto unusual;
	for (uint32_t i = 0; i < thread->lanes; i++) {
		const struct ptx_lane *lane = &thread->lane[i];
		struct ptx_chunk *chunk = chunk_of(lane);

		if (!lane->enabled[type]) {
			if (ptx_unlikely(lane->is_full))
				goto unusual;
			continue;
		}
		if (ptx_unlikely(len > lane->max_data) ||
		    !prepare(lane, chunk, type, data, len, address, &pending[count]))
			goto unusual; /* nothing is published yet: it starts over */
		count++;
	}
	for (unsigned i = 0; i < count; i++)
		ptx_ring_enter(pending[i].chunk, pending[i].head);
	atomic_signal_fence(memory_order_seq_cst);
	time = ptx_clock_counter();
	atomic_signal_fence(memory_order_seq_cst);
	if (!is_ours(thread, frame))
		return;
	for (unsigned i = 0; i < count; i++)
		publish(&pending[i], len, time);
	atomic_signal_fence(memory_order_seq_cst);
	for (unsigned i = 0; i < count; i++)
		if (has_waiter(pending[i].region))
			ptx_record_wake(pending[i].region);
	leave(thread);
	return;
unusual:
	give_up(thread, frame, type, data, len, address);
}

static void __attribute__((noinline))
record_words(struct ptx_thread *thread, const void *frame, unsigned type, const void *data,
	     uint64_t address)
{
	record_lanes(thread, frame, type, data, 8, address);
}

/* One stream, level 0 claimed, at most PTX_SHORT bytes. */
ptx_inline void record_lane(struct ptx_thread *thread, const void *frame, unsigned type,
			    const void *data, size_t len, uint64_t address)
{
	const struct ptx_lane *lane = &thread->lane[0];
	struct ptx_chunk *chunk = chunk_of(lane);
	struct pending pending;
	uint64_t time;

	if (ptx_unlikely(!lane->enabled[type])) {
		if (ptx_unlikely(lane->is_full))
			give_up(thread, frame, type, data, len, address);
		else
			leave(thread);
		return;
	}
	if (!prepare(lane, chunk, type, data, len, address, &pending)) {
		give_up(thread, frame, type, data, len, address);
		return;
	}
	ptx_ring_enter(pending.chunk, pending.head);
	time = ptx_clock_counter();
	atomic_signal_fence(memory_order_seq_cst);
	if (!is_ours(thread, frame))
		return;
	publish(&pending, len, time);
	atomic_signal_fence(memory_order_seq_cst);
	if (has_waiter(pending.region)) {
		ptx_record_wake_and_leave(thread, pending.region);
		return;
	}
	leave(thread);
}

/* Level 0 claimed; not a word of data in one stream. */
static void __attribute__((noinline))
record_other(struct ptx_thread *thread, const void *frame, unsigned type, const void *data,
	     size_t len, uint64_t address)
{
	if (!data)
		len = 0;
	if (ptx_likely(len <= PTX_SHORT) &&
	    ptx_likely(atomic_load_explicit(&ptx_own_control.word, memory_order_relaxed) ==
		       thread->word_one))
		record_lane(thread, frame, type, data, len, address);
	else if (len == 8)
		record_words(thread, frame, type, data, address);
	else
		record_lanes(thread, frame, type, data, len, address);
}

ptx_inline void record(trace_event_id_t event_id, const void *data, size_t len, uint64_t address)
{
	struct ptx_thread *thread;
	const void *frame;

	if (ptx_likely(atomic_load_explicit(&ptx_own_control.streams, memory_order_relaxed) == 0))
		return;
	if (ptx_unlikely(event_id >= PTX_TYPE_MAX))
		return;
	thread = atomic_load_explicit(&ptx_thread_self, memory_order_relaxed);
	frame = stack_pointer();
	if (ptx_unlikely(atomic_load_explicit(&thread->frame[0], memory_order_relaxed) != NULL)) {
		ptx_record(frame, event_id, data, data ? len : 0, address);
		return;
	}
	atomic_store_explicit(&thread->frame[0], frame, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	if (ptx_likely(len == 8) && ptx_likely(data) &&
	    ptx_likely(atomic_load_explicit(&ptx_own_control.word, memory_order_relaxed) ==
		       thread->word_one))
		record_lane(thread, frame, event_id, data, 8, address); /* all is constant */
	else
		record_other(thread, frame, event_id, data, len, address);
}

PTX_EXPORT void posix_trace_event(trace_event_id_t event_id, const void *restrict data_ptr,
				  size_t data_len)
{
	record(event_id, data_ptr, data_len, (uint64_t)(uintptr_t)__builtin_return_address(0));
}

PTX_EXPORT void posix_trace_event_at_np(trace_event_id_t event_id, const void *data, size_t len,
					const void *address)
{
	record(event_id, data, len, (uint64_t)(uintptr_t)address);
}
