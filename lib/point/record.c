/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/record.c - an event by the long way.
 *
 * What stands in the region is asked here, not what a thread remembers: the state, the filter.
 * Everything is still bounded, lock-free and async-signal-safe.
 */
#include "point/record.h"

#include <string.h>

#include "base/clock.h"
#include "base/futex.h"
#include "base/quiet.h"
#include "meet/family.h"
#include "meet/process.h"
#include "point/lane.h"
#include "record/items.h"
#include "ring/pool.h"
#include "ring/ring_write.h"

#define BATCH 8 /* streams served by one reading of the clock */
/*
 * So often, in chunks, or in events that find the stream full, a thread asks whether a creator is
 * there.
 */
#define LOOK_AFTER_TURNS  64
#define LOOK_AFTER_LOSSES 4096

/* What is to be recorded. */
struct payload {
	unsigned type;
	const void *data;
	size_t len;
	uint64_t address;
	bool is_items;  /* where it is too long, it is cut between two items */
	bool is_short;  /* something is missing already */
};

struct pending {
	struct ptx_view *view;
	struct ptx_chunk *chunk;
	struct ptx_record *record;
	uint64_t head;
	size_t size;
};

static void lose(struct ptx_thread *thread, struct ptx_view *view, unsigned type,
		 enum ptx_writer_loss loss)
{
	struct ptx_ident ident = { .slot = 0 };

	if (thread && ptx_thread_is_left(thread))
		return; /* this is a child, and the event its parent's */
	if (thread)
		ptx_thread_identify(thread, view, &ident);
	ptx_ring_count_loss(&view->rings, loss, type, ident.slot, 1);
	atomic_store_explicit(&view->rings.region->overrun, 1, memory_order_relaxed);
}

/* It sleeps a second at most, should its waker be killed in between. */
static void wake_flusher(struct ptx_region *region)
{
	if (!ptx_is_quiet() &&
	    atomic_exchange_explicit(&region->flush_wish, 0, memory_order_acq_rel))
		ptx_futex_wake(&region->flush_wish);
}

void ptx_record_wake(struct ptx_region *region)
{
	ptx_ring_wake(region);
}

void ptx_record_wake_and_leave(struct ptx_thread *thread, struct ptx_region *region)
{
	ptx_ring_wake(region);
	atomic_store_explicit(&thread->frame[0], NULL, memory_order_release);
}

static bool is_admitted(const struct ptx_region *region, unsigned type)
{
	return atomic_load_explicit(&region->admit[type / 64], memory_order_relaxed) >>
		       (type % 64) & 1;
}

static bool is_mapped(unsigned type)
{
	return atomic_load_explicit(&ptx_mapped[type / 64], memory_order_relaxed) >>
		       (type % 64) & 1;
}

/* The pool is used up. The first to notice stops the stream, and the time of that is the STOP's. */
static void fill_up(struct ptx_thread *thread, struct ptx_view *view, unsigned type)
{
	struct ptx_region *region = view->rings.region;
	uint64_t state = atomic_load_explicit(&region->state, memory_order_relaxed);

	if (!view->rings.loop && ptx_state_kind(state) == PTX_RUNNING) {
		uint64_t now = ptx_clock_ordered();

		if (atomic_compare_exchange_strong_explicit(&region->state, &state,
							    ptx_state_make(PTX_FULL, now),
							    memory_order_acq_rel,
							    memory_order_relaxed)) {
			ptx_control_changed(&ptx_own_control);
			wake_flusher(region);
			ptx_ring_wake(region);
		}
	}
	lose(thread, view, type, PTX_WRITER_STREAM_FULL);
}

/*
 * The place for a record in the cell's chunk. NULL: the chunk has no room, or no memory for it, by
 * *loss. Memory is asked for where the chunk was never filled so far; the cell remembers how far
 * there is some.
 */
static struct ptx_record *reserve(struct ptx_cell *cell, struct ptx_view *view,
				  struct ptx_chunk *chunk, size_t size, uint64_t *head,
				  enum ptx_writer_loss *loss)
{
	struct ptx_record *record = ptx_ring_reserve(&view->rings, chunk, size, head);
	size_t end = ptx_head_offset(*head) + size;

	*loss = PTX_WRITER_STREAM_FULL;
	if (!record || ptx_likely(end <= cell->room))
		return record;
	cell->room = ptx_ring_extend(&view->rings, chunk, end, loss);
	return end <= cell->room ? record : NULL;
}

/* A new chunk for the ring; now and then a word to the flusher. */
static struct ptx_record *turn(struct ptx_thread *thread, struct ptx_cell *cell,
			       struct ptx_view *view, size_t size, struct ptx_chunk **chunk,
			       uint64_t *head, enum ptx_writer_loss *loss)
{
	struct ptx_region *region = view->rings.region;
	struct ptx_ident ident;

	ptx_thread_identify(thread, view, &ident);
	if (ptx_unlikely(++thread->turns % LOOK_AFTER_TURNS == 0))
		ptx_view_check_creator(view);
	/* Not known from here until the new chunk's is: a handler may jump out of this. */
	cell->room = 0;
	atomic_signal_fence(memory_order_seq_cst);
	if (!ptx_ring_turn(&view->rings, &cell->chunk, &ident, loss))
		return NULL;
	*chunk = cell->chunk;
	if (!*chunk)
		return NULL; /* this is a child, and the cell was wiped */
	cell->room = ptx_ring_room(&view->rings, *chunk);
	if (ptx_unlikely(atomic_load_explicit(&region->flush_wish, memory_order_relaxed)) &&
	    ptx_pool_is_filling(&view->rings, 2))
		wake_flusher(region);
	return reserve(cell, view, *chunk, size, head, loss);
}

static void lose_for(struct ptx_thread *thread, struct ptx_view *view, unsigned type,
		     enum ptx_writer_loss loss)
{
	if (loss == PTX_WRITER_STREAM_FULL)
		fill_up(thread, view, type);
	else
		lose(thread, view, type, loss);
}

/* The dead are looked for ten times a second at most, however many events find no ring. */
static bool may_sweep(void)
{
	static _Atomic uint64_t swept_at;
	uint64_t then = atomic_load_explicit(&swept_at, memory_order_relaxed),
		 now = ptx_clock_now();

	return (then == 0 || now - then > ptx_clock_hz / 10) &&
	       atomic_compare_exchange_strong_explicit(&swept_at, &then, now, memory_order_relaxed,
						       memory_order_relaxed);
}

static bool join(struct ptx_thread *thread, unsigned level, struct ptx_view *view, unsigned type)
{
	enum ptx_writer_loss loss;

	if (ptx_thread_is_left(thread))
		return false; /* this is a child, and the frame its parent's */
	if (ptx_thread_join(thread, level, view, &loss))
		return true;
	if (loss == PTX_WRITER_NO_SLOT && !ptx_is_quiet() && may_sweep()) {
		bool swept = ptx_threads_sweep();
		bool reaped = ptx_ring_reap(&view->rings, thread->pid, ptx_family_is_dead);

		if ((swept || reaped) && ptx_thread_join(thread, level, view, &loss))
			return true;
	}
	lose_for(thread, view, type, loss);
	return false;
}

/* Everything but the time. False: this stream does not get the event. */
static bool prepare(struct ptx_thread *thread, unsigned level, unsigned bit,
		    const struct payload *payload, struct pending *pending)
{
	/* The thread is left if this is a child, and the event its parent's. */
	struct ptx_view *view = ptx_thread_is_left(thread) ? ptx_view_find(bit) :
							     ptx_view_for(bit, payload->type);
	struct ptx_cell *cell = &thread->cell[level][bit];
	unsigned type = payload->type;
	size_t len = payload->len;
	struct ptx_chunk *chunk;
	enum ptx_state kind;
	uint32_t flags = payload->is_short ? PTX_RECORD_TRUNCATED : 0;
	enum ptx_writer_loss loss;

	if (!view)
		return false; /* being detached, another process's, or counted as lost */
	kind = ptx_state_kind(atomic_load_explicit(&view->rings.region->state,
						   memory_order_relaxed));
	if ((kind != PTX_RUNNING && kind != PTX_FULL) || !is_admitted(view->rings.region, type))
		return false;
	if (kind == PTX_FULL) {
		if (++thread->turns % LOOK_AFTER_LOSSES == 0)
			ptx_view_check_creator(view);
		lose(thread, view, type, PTX_WRITER_STREAM_FULL);
		return false;
	}
	if (cell->serial != view->serial && !join(thread, level, view, type))
		return false;
	chunk = cell->chunk;
	if (!chunk || cell->serial != view->serial)
		return false; /* wiped: this is a child, whose frame does not publish */
	if (len > view->rings.max_data_size) {
		len = view->rings.max_data_size;
		if (payload->is_items)
			len = ptx_items_fit(payload->data, payload->len, len);
		flags = PTX_RECORD_TRUNCATED;
	}
	pending->size = ptx_record_size(len);
	pending->record = reserve(cell, view, chunk, pending->size, &pending->head, &loss);
	if (!pending->record && ptx_unlikely(!ptx_thread_holds(cell, view))) {
		/*
		 * Somebody mistook this process for dead. The chunk is the next holder's: take
		 * another.
		 */
		if (!join(thread, level, view, type))
			return false;
		chunk = cell->chunk;
		if (!chunk)
			return false; /* wiped, as above */
		pending->record = reserve(cell, view, chunk, pending->size, &pending->head, &loss);
	}
	/* Without memory for more of this chunk another one may have some. */
	if (!pending->record &&
	    (loss == PTX_WRITER_STREAM_FULL || ptx_head_offset(pending->head) != 0))
		pending->record = turn(thread, cell, view, pending->size, &chunk, &pending->head,
				       &loss);
	if (!pending->record) {
		if (!ptx_process_is_child()) /* whose stream is its parent's yet */
			lose_for(thread, view, type, loss);
		return false;
	}
	ptx_record_fill(pending->record, (uint32_t)len | flags, type, payload->address);
	ptx_copy_in((unsigned char *)(pending->record + 1), payload->data, len);
	pending->view = view;
	pending->chunk = chunk;
	return true;
}

static void publish(const struct pending *pending, uint64_t time)
{
	struct ptx_region *region = pending->view->rings.region;

	ptx_ring_commit(pending->chunk, pending->record, pending->head, pending->size, time);
	atomic_signal_fence(memory_order_seq_cst);
	/* (M) with (N) in posix/getnext.c */
	if (atomic_load_explicit(&region->waiters, memory_order_relaxed))
		ptx_ring_wake(region);
}

static bool is_ours(struct ptx_thread *thread, unsigned level, const void *frame)
{
	return atomic_load_explicit(&thread->frame[level], memory_order_relaxed) == frame;
}

/* Into every attached stream. False: a fork interrupted us, and this is the child. */
static bool record_all(struct ptx_thread *thread, unsigned level, const void *frame,
		       const struct payload *payload)
{
	uint64_t attached = atomic_load_explicit(&ptx_own_control.attached, memory_order_acquire);

	while (attached) {
		struct pending pending[BATCH];
		unsigned count = 0;
		uint64_t time;

		for (; attached && count < BATCH; attached &= attached - 1)
			count += prepare(thread, level, (unsigned)__builtin_ctzll(attached),
					 payload, &pending[count]);
		for (unsigned i = 0; i < count; i++)
			ptx_ring_enter(pending[i].chunk, pending[i].head);
		atomic_signal_fence(memory_order_seq_cst);
		time = ptx_clock_now();
		atomic_signal_fence(memory_order_seq_cst);
		/*
		 * Of a child of fork() the regions are sunk by now; of one without fork handlers
		 * they are not.
		 */
		if (!is_ours(thread, level, frame))
			return false;
		for (unsigned i = 0; i < count; i++)
			publish(&pending[i], time);
	}
	return true;
}

static void lose_everywhere(struct ptx_thread *thread, unsigned type, enum ptx_writer_loss loss)
{
	uint64_t attached = atomic_load_explicit(&ptx_own_control.attached, memory_order_acquire);

	for (; attached; attached &= attached - 1) {
		unsigned bit = (unsigned)__builtin_ctzll(attached);
		struct ptx_view *view = ptx_view_for(bit, type);
		enum ptx_state kind;

		if (!view)
			continue;
		kind = ptx_state_kind(atomic_load_explicit(&view->rings.region->state,
							   memory_order_relaxed));
		if ((kind == PTX_RUNNING || kind == PTX_FULL) &&
		    is_admitted(view->rings.region, type))
			lose(thread, view, type, loss);
	}
}

static void record(const void *frame, const struct payload *payload)
{
	unsigned type = payload->type;
	struct ptx_thread *thread;
	unsigned level = 0;
	bool is_abandoned;

	if (ptx_process_is_child())
		ptx_process_child(); /* no fork handler has told us */
	if (ptx_unlikely(ptx_thread_is_blind)) {
		if (is_mapped(type))
			lose_everywhere(ptx_thread_blind_object(), type, PTX_WRITER_NO_SLOT);
		return;
	}
	/* Names that this process opened, and the unnamed type; all below 63 are the system's. */
	if (!is_mapped(type))
		return;
	thread = atomic_load_explicit(&ptx_thread_self, memory_order_relaxed);
	if (ptx_thread_is_left(thread))
		thread = ptx_thread_make();
	if (!thread) {
		lose_everywhere(NULL, type, PTX_WRITER_NO_MEMORY);
		return;
	}
	if (atomic_load_explicit(&thread->frame[0], memory_order_relaxed) != NULL)
		level = ptx_thread_nest(thread, frame);
	if (level == PTX_LEVELS) {
		lose_everywhere(thread, type, PTX_WRITER_NESTING);
		return;
	}
	is_abandoned = atomic_load_explicit(&thread->frame[level], memory_order_relaxed) != NULL;
	atomic_store_explicit(&thread->frame[level], frame, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	if (is_abandoned)
		ptx_thread_mend(thread, level);
	if (!record_all(thread, level, frame, payload))
		return;
	if (level == 0 && !ptx_thread_is_left(thread))
		ptx_lanes_mend(thread);
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&thread->frame[level], NULL, memory_order_release);
}

void ptx_record_join(const void *frame)
{
	struct ptx_thread *thread;
	uint64_t attached = atomic_load_explicit(&ptx_own_control.attached, memory_order_acquire);
	enum ptx_writer_loss loss;

	if (ptx_process_is_child())
		ptx_process_child();
	thread = atomic_load_explicit(&ptx_thread_self, memory_order_relaxed);
	if (ptx_thread_is_left(thread))
		thread = ptx_thread_make();
	/* In a handler that interrupted a trace point the thread has its rings already. */
	if (!thread || atomic_load_explicit(&thread->frame[0], memory_order_relaxed) != NULL)
		return;
	atomic_store_explicit(&thread->frame[0], frame, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	for (; attached; attached &= attached - 1) {
		unsigned bit = (unsigned)__builtin_ctzll(attached);
		struct ptx_view *view = ptx_view_find(bit);

		if (view && thread->cell[0][bit].serial != view->serial)
			ptx_thread_join(thread, 0, view, &loss);
	}
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&thread->frame[0], NULL, memory_order_release);
}

void ptx_record_tell_quiet(void)
{
	atomic_store_explicit(&ptx_own_control.quiet, 1, memory_order_seq_cst);
	for (unsigned bit = 0; bit < PTX_STREAMS; bit++) {
		struct ptx_view *view = atomic_load_explicit(&ptx_private.view[bit],
							     memory_order_acquire);

		if (!view)
			continue;
		wake_flusher(view->rings.region);
		ptx_ring_wake(view->rings.region);
	}
	atomic_store_explicit(&ptx_quiet, true, memory_order_seq_cst);
}

void ptx_record(const void *frame, unsigned type, const void *data, size_t len, uint64_t address)
{
	const struct payload payload = {
		.type = type, .data = data, .len = len, .address = address,
	};

	record(frame, &payload);
}

void ptx_record_items(const void *frame, unsigned type, const void *items, size_t len,
		      bool is_short, uint64_t address)
{
	const struct payload payload = {
		.type = type, .data = items, .len = len, .address = address, .is_items = true,
		.is_short = is_short,
	};

	record(frame, &payload);
}
