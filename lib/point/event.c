/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/event.c - posix_trace_event(): the path of an event from the program into the rings.
 *
 * A trace point waits for no other thread. In the usual case it makes no system call, and does not
 * store into a cache line that other threads store into. A trace point that never returns leaves a
 * consistent stream. The steps of a trace point:
 *
 * 	claim nesting level 0 by one store, so that a handler does not use this thread's chunk;
 * 	compare one word, to see whether this thread's lanes are still valid; test whether the
 * 	type is enabled;
 * 	write the record behind the head; announce that the clock is about to be read (the window);
 * 	read the clock, once for all streams;
 * 	check that this is still the same process, then publish by one release store per stream;
 * 	release the level.
 *
 * Most of the time of a trace point is the clock reading. The processor executes the instructions
 * before the reading in parallel with the reading, as long as they are few. Therefore this file has
 * the usual case only. record.c has all other cases: a handler in a trace point, a new thread, a
 * full chunk, a change of state or filter, a full stream.
 *
 * Claim and word     view.c unmaps a view when no thread is inside a trace point. Therefore a trace
 *                    point loads the control page's word after the claim, and the thread that
 *                    detaches the stream passes a barrier between changing the word and looking for
 *                    claims.
 * Window and clock   A signal fence keeps the compiler from moving the reading of the clock before
 *                    the window's store. The processor needs no fence: (K) and (L) in ring.h.
 * Child              A handler may fork between any two instructions. The kernel zeroes the thread
 *                    object in the child (MADV_WIPEONFORK). So the interrupted trace point finds in
 *                    the child that its claim is gone, and publishes nothing into the parent's
 *                    stream.
 *
 * An event with a duration has the same path. Its data begins with the duration, which ends at the
 * time of the event and is therefore stored between the reading of the clock and the publication.
 * The parameter `since` of the functions below points to the stamp of the beginning, or is NULL for
 * an event without a duration. The compiler makes a copy of the functions for each of the two
 * cases. The parameter `len` includes the bytes of the duration, but `data` points to the data
 * behind the duration.
 */
#include "base/clock.h"
#include "base/export.h"
#include "meet/process.h"
#include "point/record.h"
#include "ring/ring_write.h"

#include <string.h>
#include <trace_np.h>

/* A static program needs this reference: meet/process.h. */
__attribute__((used)) static const bool *const has_handlers = &ptx_process_has_handlers;

#undef posix_trace_event

#define SPAN sizeof(uint64_t) /* bytes of the duration */
/*
 * The usual length of an event with a duration. Such an event describes the call of a function: it
 * has an address and a number of 4 bytes behind the duration.
 */
#define SPAN_USUAL (SPAN + 12)

/*
 * The exported variable is a pointer to the byte, and not the byte itself. A program that refers to
 * an exported variable may use a copy of the variable in its own data (copy relocation). A copy of
 * the pointer still points to the byte. A copy of the byte would never change.
 */
PTX_EXPORT const volatile unsigned char *const posix_trace_active_np =
	(const volatile unsigned char *)&ptx_own_control.streams;

/* This variable is a pointer for the same reason. */
PTX_EXPORT const volatile unsigned char *const posix_trace_silent_np =
	(const volatile unsigned char *)ptx_own_control.silent;

/*
 * The address of the trace point's frame identifies the claim of a level. ptx_thread_nest()
 * compares such addresses to find frames that a siglongjmp() has abandoned.
 */
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

/*
 * A record that is written but not published. The members are copies of values of the lane, because
 * a fork may later wipe the lane, or another thread may change it.
 */
struct pending {
	struct ptx_region *region;
	/*
	 * `chunk` is loaded from the lane once: a thread that frees another view may change the
	 * lane's pointer.
	 */
	struct ptx_chunk *chunk;
	struct ptx_record *record;
	uint64_t head;
};

/*
 * Loads the lane's chunk. This load must be before the load of the lane's byte in enabled[]. A fork
 * between the two loads wipes the lane in the child, and a wiped lane enables no type. So the child
 * does not use the chunk that it has loaded. The fence keeps the compiler from exchanging the two
 * loads. The fork happens in a handler of the same thread, so the processor needs no fence.
 */
ptx_inline struct ptx_chunk *chunk_of(const struct ptx_lane *lane)
{
	struct ptx_chunk *chunk = atomic_load_explicit(&lane->chunk, memory_order_relaxed);

	atomic_signal_fence(memory_order_seq_cst);
	return chunk;
}

/*
 * Copies the data behind a duration. The caller has usually just stored the data by two stores, of
 * 8 bytes and of 4 bytes. A single load of all these bytes would have to wait until both stores are
 * in the cache. So the function loads the two parts separately. The size of a record is a multiple
 * of 8 bytes, so the last word has room.
 */
ptx_inline void copy_behind_span(unsigned char *to, const unsigned char *data, size_t len)
{
	uint64_t first;
	uint32_t last;

	if (len != SPAN_USUAL) {
		ptx_copy_in(to + SPAN, data, len - SPAN);
		return;
	}
	memcpy(&first, data, sizeof first);
	memcpy(&last, data + sizeof first, sizeof last);
	ptx_store_word(to + SPAN, first);
	ptx_store_word(to + SPAN + sizeof first, last);
}

/*
 * Returns the nanoseconds since a stamp. The stamp is 0 if the process had no stream at that time;
 * the result is then 0, too.
 */
ptx_inline uint64_t since_stamp(uint64_t begin, uint64_t now)
{
	return ptx_likely(begin) ? ptx_clock_span(now - begin) : 0;
}

/*
 * Writes the record behind the head, except its time and its duration. Returns false if it does
 * not fit.
 */
ptx_inline bool prepare_record(const struct ptx_lane *lane, struct ptx_chunk *chunk, unsigned type,
			const uint64_t *since, const void *data, size_t len, uint64_t address,
			struct pending *pending)
{
	uint64_t head = atomic_load_explicit(&chunk->head, memory_order_relaxed) & PTX_HEAD_MASK;
	uint64_t at = ptx_head_offset(head);
	size_t size = ptx_record_size(len);
	struct ptx_record *record = (struct ptx_record *)(void *)(chunk->records + at);

	/*
	 * lane->room does not go beyond the chunk's present memory, so no store of the record can
	 * fault.
	 */
	if (ptx_unlikely(at + size > lane->room))
		return false;
	ptx_record_fill(record, (uint32_t)len, type, address);
	if (since)
		copy_behind_span((unsigned char *)(record + 1), data, len);
	else
		ptx_copy_in((unsigned char *)(record + 1), data, len);
	/*
	 * These loads are before the call of is_ours(), which then shows that no fork has wiped the
	 * lane.
	 */
	pending->region = lane->region;
	pending->chunk = chunk;
	pending->record = record;
	pending->head = head;
	return true;
}

/*
 * Returns whether this frame still has its claim of level 0. In a child of fork() the claim is
 * wiped, and the event belongs to the parent.
 */
ptx_inline bool is_ours(const struct ptx_thread *thread, const void *frame)
{
	return ptx_likely(atomic_load_explicit(&thread->frame[0], memory_order_relaxed) == frame);
}

/* Stores the duration and the time, and publishes the record by a release store of the head. */
ptx_inline void publish_record(const struct pending *pending, const uint64_t *since, size_t len,
			       uint64_t time)
{
	if (since)
		ptx_store_word(pending->record + 1, since_stamp(*since, time));
	ptx_ring_publish(pending->chunk, pending->record, pending->head,
			ptx_record_size(len), time);
}

/* (M) with (N) in posix/getnext.c */
ptx_inline bool has_waiter(const struct ptx_region *region)
{
	return ptx_unlikely(atomic_load_explicit(&region->waiters, memory_order_relaxed));
}

/*
 * Releases the level. The fence keeps the compiler from moving stores of the event behind the
 * release, because from the release on a handler can use the chunk.
 */
ptx_inline void leave_level(struct ptx_thread *thread)
{
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&thread->frame[0], NULL, memory_order_release);
}

/*
 * Hands an event with a duration to record.c. The duration ends now, a little before the time of
 * the event. The duration is 0 if the thread may not read the clock.
 */
static void __attribute__((noinline))
record_since(const void *frame, unsigned type, const uint64_t *since, const void *data, size_t len,
	     uint64_t address)
{
	const uint64_t span = ptx_clock_is_forbidden ? 0 :
						       since_stamp(*since, ptx_clock_now());
	unsigned char all[POSIX_TRACE_FIELDS_BYTES_NP];

	memcpy(all, &span, SPAN);
	if (len > SPAN)
		memcpy(all + SPAN, data, len - SPAN);
	ptx_record(frame, type, all, len, address);
}

/*
 * Returns the object whose level 0 the caller has claimed. A handler that has run since the claim
 * may have hidden the object (hide_object() in thread.c), or may have forked. Returns NULL in the
 * child, where the claim is wiped. The caller then releases no level, because level 0 of
 * ptx_thread_nobody must stay claimed.
 */
ptx_inline struct ptx_thread *claimed_object(void)
{
	struct ptx_thread *thread = atomic_load_explicit(&ptx_thread_self, memory_order_relaxed);

	return ptx_likely(thread != &ptx_thread_nobody) ? thread : ptx_thread_object();
}

/*
 * Hands the event to record.c, which claims a level itself. This function is not inlined, so that
 * the usual path is short. It has six parameters, which are all in registers, and loads the thread
 * again: so the trace point can jump to it, and saves no registers for a call.
 */
static void __attribute__((noinline))
give_up(const void *frame, unsigned type, const uint64_t *since, const void *data, size_t len,
	uint64_t address)
{
	struct ptx_thread *thread = claimed_object();

	if (ptx_likely(thread))
		leave_level(thread);
	if (since)
		record_since(frame, type, since, data, len, address);
	else
		ptx_record(frame, type, data, len, address);
}

/*
 * Stamps and publishes the records, and releases the level. If the parameter `count` is a constant,
 * the compiler unrolls the loops, and the pending records are in registers. In record_lanes() the
 * number is not a constant, and clang would warn that it does not unroll the loops.
 */
#ifdef __clang__
# pragma clang diagnostic ignored "-Wpass-failed"
#endif
ptx_inline void publish_all(struct ptx_thread *thread, const void *frame,
			    const struct pending *pending, unsigned count, const uint64_t *since,
			    size_t len)
{
	uint64_t time;

	/*
	 * The clock is read once, after the windows of all chunks are stored, so that the reader of
	 * each of the streams waits for this event.
	 */
	ptx_unroll_4
	for (unsigned i = 0; i < count; i++)
		ptx_ring_stamp(pending[i].chunk, pending[i].head);
	atomic_signal_fence(memory_order_seq_cst);
	time = ptx_clock_counter();
	atomic_signal_fence(memory_order_seq_cst);
	/*
	 * In a child the trace point publishes nothing. The fork has wiped the claim of the level,
	 * so the level is free already.
	 */
	if (!is_ours(thread, frame))
		return;
	ptx_unroll_4
	for (unsigned i = 0; i < count; i++)
		publish_record(&pending[i], since, len, time);
	/*
	 * Orders the store of the head before the load of `waiters` for the compiler. The reader's
	 * barrier orders them for the processor: (M) and (N). The regions stay mapped until the
	 * level is released, so the readers are woken before the release.
	 */
	atomic_signal_fence(memory_order_seq_cst);
	ptx_unroll_4
	for (unsigned i = 0; i < count; i++)
		if (has_waiter(pending[i].region))
			ptx_record_wake(pending[i].region);
	leave_level(thread);
}

/* Records into all lanes. `data` may have any length. The caller has claimed level 0. */
ptx_inline void
record_lanes(struct ptx_thread *thread, const void *frame, unsigned type, const uint64_t *since,
	     const void *data, size_t len, uint64_t address)
{
	struct pending pending[PTX_LANES];
	unsigned count = 0;
	uint64_t word = atomic_load_explicit(&ptx_own_control.word, memory_order_relaxed);

	/*
	 * The word was loaded after the claim. If it has not changed since the lanes were filled,
	 * no view was detached before the claim, and no view can be unmapped until the level is
	 * released.
	 */
	if (word != thread->word_many && word != thread->word_one)
		goto unusual;
	for (uint32_t i = 0; i < thread->lanes; i++) {
		const struct ptx_lane *lane = &thread->lane[i];
		struct ptx_chunk *chunk = chunk_of(lane);

		/*
		 * If the stream is full, no type is enabled, but each event counts as lost. Events
		 * of types that the stream skips are counted, too.
		 */
		if (!lane->enabled[type]) {
			if (ptx_unlikely(lane->refuses))
				goto unusual;
			continue;
		}
		if (ptx_unlikely(len > lane->max_data) ||
		    !prepare_record(lane, chunk, type, since, data, len, address, &pending[count]))
			goto unusual; /* nothing is published yet: record.c begins again */
		count++;
	}
	publish_all(thread, frame, pending, count, since, len);
	return;
unusual:
	give_up(frame, type, since, data, len, address);
}

/*
 * If the lane skips the type, counts the event in the thread's row and returns true. The row is
 * loaded before is_ours() checks that the lane belongs to this process.
 */
ptx_inline bool count_skip(struct ptx_thread *thread, const void *frame, unsigned type)
{
	const struct ptx_lane *lane = &thread->lane[0];
	_Atomic uint64_t *row = lane->skip_row;

	if (!(lane->skip[type / 64] >> type % 64 & 1))
		return false;
	atomic_signal_fence(memory_order_seq_cst);
	/* In a child the lane is wiped, and the event belongs to the parent, which counts it. */
	if (is_ours(thread, frame))
		atomic_fetch_add_explicit(&row[type], 1, memory_order_relaxed);
	return true;
}

/*
 * Handles an event of a type that is not enabled, in a lane that counts such events. If the type is
 * skipped, counts the event in the thread's row, which costs one atomic addition. If the stream is
 * full, record.c counts the event as lost. Not inlined, so that the path of filtered events has
 * only one test; for its parameters, see give_up().
 */
static void __attribute__((noinline))
refuse_event(const void *frame, unsigned type, const uint64_t *since, const void *data, size_t len,
	     uint64_t address)
{
	struct ptx_thread *thread = claimed_object();

	/* In a child the event belongs to the parent, which counts it. */
	if (ptx_unlikely(!thread))
		return;
	if (count_skip(thread, frame, type) || !(thread->lane[0].refuses & PTX_LANE_FULL))
		leave_level(thread);
	else
		give_up(frame, type, since, data, len, address);
}

/* the largest number of streams for which the loops over lanes are unrolled */
#define FEW_LANES 4

/*
 * Records one word into `lanes` lanes, if all of them record the type. `lanes` is a constant, so
 * the compiler unrolls the loops and keeps the pending records in registers. Returns false if
 * record_lanes() must record the event; readers see no change then. In a child of fork() the lanes
 * are wiped, and the event belongs to the parent, so the function returns true without a record.
 */
ptx_inline bool record_few(struct ptx_thread *thread, const void *frame, unsigned type,
			   const void *data, uint64_t address, const unsigned lanes)
{
	struct pending pending[FEW_LANES];

	ptx_unroll_4
	for (unsigned i = 0; i < lanes; i++) {
		const struct ptx_lane *lane = &thread->lane[i];
		struct ptx_chunk *chunk = chunk_of(lane);

		if (ptx_unlikely(!lane->enabled[type]) || ptx_unlikely(lane->max_data < 8) ||
		    !prepare_record(lane, chunk, type, NULL, data, 8, address, &pending[i]))
			return !is_ours(thread, frame);
	}
	publish_all(thread, frame, pending, lanes, NULL, 8);
	return true;
}

/* Calls record_few() with the constant that is the thread's number of lanes. */
ptx_inline bool record_by_number(struct ptx_thread *thread, const void *frame, unsigned type,
				 const void *data, uint64_t address)
{
	switch (thread->lanes) {
	case 2:
		return record_few(thread, frame, type, data, address, 2);
	case 3:
		return record_few(thread, frame, type, data, address, 3);
	case FEW_LANES:
		return record_few(thread, frame, type, data, address, FEW_LANES);
	default:
		return false;
	}
}

/*
 * Records one word into several lanes. record_lanes() is called with a constant length, so that the
 * compiler copies eight bytes by one store.
 */
static void ptx_at_line __attribute__((noinline))
record_words(struct ptx_thread *thread, const void *frame, unsigned type, const void *data,
	     uint64_t address)
{
	if (ptx_likely(atomic_load_explicit(&ptx_own_control.word, memory_order_relaxed) ==
		       thread->word_many) &&
	    record_by_number(thread, frame, type, data, address))
		return;
	record_lanes(thread, frame, type, NULL, data, 8, address);
}

/* Records into the only lane. The caller has claimed level 0. */
ptx_inline void record_lane(struct ptx_thread *thread, const void *frame, unsigned type,
			    const uint64_t *since, const void *data, size_t len, uint64_t address)
{
	const struct ptx_lane *lane = &thread->lane[0];
	struct ptx_chunk *chunk = chunk_of(lane);
	struct pending pending;
	uint64_t time;

	if (ptx_unlikely(!lane->enabled[type])) {
		if (ptx_likely(!lane->refuses))
			leave_level(thread);
		else
			refuse_event(frame, type, since, data, len, address);
		return;
	}
	/*
	 * word_one is valid only if max_data is at least PTX_SHORT, so short data need no
	 * comparison with max_data. If the data are too long, record.c truncates them.
	 */
	if ((len > PTX_SHORT && ptx_unlikely(len > lane->max_data)) ||
	    !prepare_record(lane, chunk, type, since, data, len, address, &pending)) {
		give_up(frame, type, since, data, len, address);
		return;
	}
	ptx_ring_stamp(pending.chunk, pending.head);
	time = ptx_clock_counter();
	atomic_signal_fence(memory_order_seq_cst);
	if (!is_ours(thread, frame))
		return;
	publish_record(&pending, since, len, time);
	atomic_signal_fence(memory_order_seq_cst);
	if (has_waiter(pending.region)) {
		ptx_record_wake_and_leave(thread, pending.region);
		return;
	}
	leave_level(thread);
}

/*
 * The functions below are not inlined into record_other(), so that the path of short events saves
 * no registers for them. record_long() and record_longest() record more than PTX_SHORT bytes into
 * the only lane: the compiler knows the range of lengths and can choose how to copy.
 */
static void ptx_at_line __attribute__((noinline))
record_long(struct ptx_thread *thread, const void *frame, unsigned type, const void *data,
	    size_t len, uint64_t address)
{
	if (len <= PTX_SHORT || len > PTX_COPY_INLINE)
		__builtin_unreachable();
	record_lane(thread, frame, type, NULL, data, len, address);
}

static void ptx_at_line __attribute__((noinline))
record_longest(struct ptx_thread *thread, const void *frame, unsigned type, const void *data,
	       size_t len, uint64_t address)
{
	if (len <= PTX_COPY_INLINE)
		__builtin_unreachable();
	record_lane(thread, frame, type, NULL, data, len, address);
}

static void ptx_at_line __attribute__((noinline))
record_several(struct ptx_thread *thread, const void *frame, unsigned type, const void *data,
	       size_t len, uint64_t address)
{
	record_lanes(thread, frame, type, NULL, data, len, address);
}

/*
 * Handles every event without a duration, except an event with one word of data. The caller has
 * claimed level 0. The function is not inlined, so that in record_one() the code of the usual case
 * directly follows the first test.
 */
static void ptx_at_line __attribute__((noinline))
record_other(struct ptx_thread *thread, const void *frame, unsigned type, const void *data,
	     size_t len, uint64_t address)
{
	/* A null pointer with a length is an event without data. */
	if (!data)
		len = 0;
	if (ptx_likely(atomic_load_explicit(&ptx_own_control.word, memory_order_relaxed) ==
		       thread->word_one)) {
		if (ptx_likely(len <= PTX_SHORT))
			record_lane(thread, frame, type, NULL, data, len, address);
		else if (len <= PTX_COPY_INLINE)
			record_long(thread, frame, type, data, len, address);
		else
			record_longest(thread, frame, type, data, len, address);
	} else {
		record_several(thread, frame, type, data, len, address);
	}
}

/* Does the same as record_other() for events with a duration. `data` may be NULL if len is SPAN. */
static void ptx_at_line __attribute__((noinline))
record_other_since(struct ptx_thread *thread, const void *frame, unsigned type,
		   const uint64_t *since, const void *data, size_t len, uint64_t address)
{
	if (ptx_likely(len <= PTX_SHORT) &&
	    ptx_likely(atomic_load_explicit(&ptx_own_control.word, memory_order_relaxed) ==
		       thread->word_one))
		record_lane(thread, frame, type, since, data, len, address);
	else
		record_lanes(thread, frame, type, since, data, len, address);
}

/* The trace point. `address` is recorded as the program address of the event. */
ptx_inline void record_one(trace_event_id_t event_id, const uint64_t *since, const void *data,
			   size_t len, uint64_t address)
{
	const size_t usual = since ? SPAN_USUAL : 8;
	struct ptx_thread *thread;
	const void *frame;

	/*
	 * The byte is 0 if no stream is attached. Then a trace point costs only this test.
	 */
	if (ptx_likely(atomic_load_explicit(&ptx_own_control.streams, memory_order_relaxed) == 0))
		return;
	if (ptx_unlikely(event_id >= PTX_TYPE_MAX))
		return;
	/*
	 * A thread without an object has ptx_thread_nobody, whose level 0 is always in use. So one
	 * test finds both a nested handler and a new thread.
	 */
	thread = atomic_load_explicit(&ptx_thread_self, memory_order_relaxed);
	frame = stack_pointer();
	if (ptx_unlikely(atomic_load_explicit(&thread->frame[0], memory_order_relaxed) != NULL)) {
		if (since)
			record_since(frame, event_id, since, data, len, address);
		else
			ptx_record(frame, event_id, data, data ? len : 0, address);
		return;
	}
	/*
	 * The claim is a relaxed store: only handlers of this thread must see it immediately. A
	 * thread that detaches a stream sees the claim after its barrier.
	 */
	atomic_store_explicit(&thread->frame[0], frame, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	/*
	 * The commonest event has one word of data, or a duration and the data of a call, and one
	 * stream. Its length is constant in this branch.
	 */
	if (ptx_likely(len == usual) && ptx_likely(data) &&
	    ptx_likely(atomic_load_explicit(&ptx_own_control.word, memory_order_relaxed) ==
		       thread->word_one))
		/* all lengths are constant here */
		record_lane(thread, frame, event_id, since, data, usual, address);
	else if (!since && len == usual && data)
		/* the same for several streams */
		record_words(thread, frame, event_id, data, address);
	else if (since)
		record_other_since(thread, frame, event_id, since, data, len, address);
	else
		record_other(thread, frame, event_id, data, len, address);
}

/* The standard requires that a trace point is async-signal-safe and returns nothing. */
PTX_EXPORT ptx_at_line void posix_trace_event(trace_event_id_t event_id,
					      const void *restrict data_ptr, size_t data_len)
{
	record_one(event_id, NULL, data_ptr, data_len,
		   (uint64_t)(uintptr_t)__builtin_return_address(0));
}

/* An extension: the caller gives the program address, for wrappers and other languages. */
PTX_EXPORT ptx_at_line void posix_trace_event_at_np(trace_event_id_t event_id, const void *data,
						    size_t len, const void *address)
{
	record_one(event_id, NULL, data, len, (uint64_t)(uintptr_t)address);
}

/*
 * Counts an event for which a wrapper has prepared no data, because posix_trace_silent_np[] showed
 * that the stream skips the type. If the stream has stopped skipping the type since, the event
 * still counts as skipped, because there is no data to record.
 */
PTX_EXPORT void posix_trace_skip_np(trace_event_id_t event_id)
{
	struct ptx_thread *thread;
	const void *frame;

	if (atomic_load_explicit(&ptx_own_control.streams, memory_order_relaxed) == 0 ||
	    event_id >= PTX_TYPE_MAX)
		return;
	thread = atomic_load_explicit(&ptx_thread_self, memory_order_relaxed);
	frame = stack_pointer();
	if (atomic_load_explicit(&thread->frame[0], memory_order_relaxed) != NULL) {
		ptx_record_skip(frame, event_id);
		return;
	}
	/* The same claim as in record_one(): the rows stay mapped until the level is released. */
	atomic_store_explicit(&thread->frame[0], frame, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	if (ptx_likely(atomic_load_explicit(&ptx_own_control.word, memory_order_relaxed) ==
		       thread->word_one) &&
	    ptx_likely(count_skip(thread, frame, event_id))) {
		leave_level(thread);
		return;
	}
	leave_level(thread);
	ptx_record_skip(frame, event_id);
}

/*
 * Makes the first stamp after a stream was attached. From then on this process uses the clock of
 * the arena and knows the clock's rate. Before that each stamp is 0, because the clock of a later
 * stream is not known.
 */
static uint64_t __attribute__((noinline)) first_stamp(void)
{
	if (atomic_load_explicit(&ptx_own_control.streams, memory_order_acquire) == 0 ||
	    !ptx_clock_follow(atomic_load_explicit(&ptx_own_control.clock, memory_order_relaxed) ==
			      PTX_ARENA_CLOCK_COUNTER))
		return 0;
	ptx_clock_measure();
	return ptx_clock_now();
}

PTX_EXPORT uint64_t posix_trace_stamp_np(void)
{
	if (ptx_unlikely(ptx_clock_is_forbidden))
		return 0;
	if (ptx_unlikely(!atomic_load_explicit(&ptx_clock_slope, memory_order_acquire)))
		return first_stamp();
	return ptx_clock_now();
}

/* Data that is too long for the copy in record_since() loses its end. */
PTX_EXPORT ptx_at_line void posix_trace_event_since_np(trace_event_id_t event_id, uint64_t begin,
						       const void *data, size_t len,
						       const void *address)
{
	if (!data)
		len = 0;
	if (ptx_unlikely(len > POSIX_TRACE_FIELDS_BYTES_NP - SPAN))
		len = POSIX_TRACE_FIELDS_BYTES_NP - SPAN;
	record_one(event_id, &begin, data, len + SPAN, (uint64_t)(uintptr_t)address);
}
