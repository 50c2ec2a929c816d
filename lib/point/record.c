/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/record.c - records an event where event.c cannot.
 *
 * The functions read the state and the filter from the stream's region and not from the thread's
 * lanes. They claim what the thread lacks: an object, a nesting level, a ring, a chunk. Afterwards
 * they fill the lanes, so that the thread's next event can use event.c again.
 *
 * Everything is bounded, lock-free and async-signal-safe. A handler may interrupt any step, may
 * trace, and may leave by siglongjmp(). A fork may happen at any step: the child finds the thread
 * object wiped and publishes nothing.
 */
#include "point/record.h"

#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/futex.h"
#include "base/quiet.h"
#include "meet/family.h"
#include "meet/process.h"
#include "point/lane.h"
#include "record/items.h"
#include "ring/pool.h"
#include "ring/ring_write.h"
#include "ring/skip.h"

#define BATCH 8 /* the most streams that get an event with the same clock reading */
/*
 * How many chunks a thread fills, or how many events it loses because the stream is full, before
 * it checks again whether the stream's creator is alive.
 */
#define LOOK_AFTER_TURNS  64
#define LOOK_AFTER_LOSSES 4096

/* An event to record. */
struct payload {
	unsigned type;
	const void *data;
	size_t len;
	uint64_t address;
	/* the data are items; data that is too long is truncated between two items */
	bool is_items;
	bool is_short;  /* some items are missing already: the caller had no room for them */
	bool is_skipped; /* there are no data: the event is only counted */
};

/* A record that is written in one stream and not yet published. */
struct pending {
	struct ptx_view *view;
	struct ptx_chunk *chunk;
	struct ptx_record *record;
	uint64_t head;
	size_t size;
};

/*
 * Counts in the region that an event is lost. `thread` is the thread that lost the event, or NULL
 * if the thread has no object: the loss then counts for slot 0.
 */
static void lose_event(struct ptx_thread *thread, struct ptx_view *view, unsigned type,
		       enum ptx_writer_loss loss)
{
	struct ptx_ident ident = { .slot = 0 };

	if (thread && ptx_thread_is_left(thread))
		return; /* this is a child, and the event is its parent's */
	if (thread)
		ptx_thread_identify(thread, view, &ident);
	ptx_ring_count_loss(&view->rings, loss, type, ident.slot, 1);
	/* posix_trace_get_status() reports POSIX_TRACE_OVERRUN because of this flag. */
	atomic_store_explicit(&view->rings.region->overrun, 1, memory_order_relaxed);
}

/*
 * Counts an event as skipped. The function does not set the flag `overrun`, because the controller
 * has requested the skip. Without memory for the counts, the event counts as lost for lack of
 * memory.
 */
static void skip_event(struct ptx_thread *thread, struct ptx_view *view, unsigned type)
{
	if (ptx_thread_is_left(thread))
		return; /* as in lose_event() */
	if (!ptx_skip_count(&view->rings, type, thread->tid))
		lose_event(thread, view, type, PTX_WRITER_NO_MEMORY);
}

/*
 * Wakes the flusher if it sleeps. The exchange lets only one of several writers make the system
 * call. If this writer is killed before the call, the flusher wakes by itself after a second.
 */
static void wake_flusher(struct ptx_region *region)
{
	if (!ptx_is_quiet() &&
	    atomic_exchange_explicit(&region->flusher_asleep, 0, memory_order_acq_rel))
		ptx_futex_wake(&region->flusher_asleep);
}

void ptx_record_wake(struct ptx_region *region)
{
	ptx_ring_wake(region);
}

/* Wakes the readers before it releases level 0: until then the region stays mapped. */
void ptx_record_wake_and_leave(struct ptx_thread *thread, struct ptx_region *region)
{
	ptx_ring_wake(region);
	atomic_store_explicit(&thread->frame[0], NULL, memory_order_release);
}

/*
 * Returns whether this process opened the type. The program may have the id of a type from another
 * process of the arena.
 */
static bool is_opened(unsigned type)
{
	return atomic_load_explicit(&ptx_opened_types[type / 64], memory_order_relaxed) >>
		       (type % 64) & 1;
}

/*
 * Called when the pool is used up. In a stream without policy LOOP, the first writer that finds no
 * chunk stops the stream and stores the time, which becomes the time of the STOP event. The
 * writer's own event is counted as lost.
 */
static void fill_up(struct ptx_thread *thread, struct ptx_view *view, unsigned type)
{
	struct ptx_region *region = view->rings.region;
	uint64_t state = atomic_load_explicit(&region->state, memory_order_relaxed);

	if (!view->rings.loop && ptx_state_kind(state) == PTX_RUNNING) {
		/*
		 * The reading of the clock is ordered, so that the time is not before the times of
		 * events that this thread has published.
		 */
		uint64_t now = ptx_clock_ordered();

		if (atomic_compare_exchange_strong_explicit(&region->state, &state,
							    ptx_state_make(PTX_FULL, now),
							    memory_order_acq_rel,
							    memory_order_relaxed)) {
			/*
			 * Other threads must find their lanes invalid, so that they count their
			 * events as lost.
			 */
			ptx_control_changed(&ptx_own_control);
			wake_flusher(region);
			ptx_ring_wake(region);
		}
	}
	lose_event(thread, view, type, PTX_WRITER_STREAM_FULL);
}

/*
 * Returns the place for a record in the cell's chunk, and stores the chunk's head in *head. Returns
 * NULL if the chunk has no room for the record, or if its present part cannot be extended; *loss
 * then has the cause. cell->room is the end of the present part, as this thread last found it.
 */
static struct ptx_record *place_record(struct ptx_cell *cell, struct ptx_view *view,
					struct ptx_chunk *chunk, size_t size, uint64_t *head,
					enum ptx_writer_loss *loss)
{
	struct ptx_record *record = ptx_ring_prepare(&view->rings, chunk, size, head);
	size_t end = ptx_head_offset(*head) + size;

	*loss = PTX_WRITER_STREAM_FULL;
	if (!record || ptx_likely(end <= cell->room))
		return record;
	cell->room = ptx_ring_extend(&view->rings, chunk, end, loss);
	return end <= cell->room ? record : NULL;
}

/*
 * Changes to a new chunk of the ring, and wakes the flusher if closed chunks occupy at least half
 * of the stream's size. Returns the place in the new chunk, or NULL if there is no chunk; *loss
 * then has the cause.
 */
static struct ptx_record *turn_chunk(struct ptx_thread *thread, struct ptx_cell *cell,
				     struct ptx_view *view, size_t size, struct ptx_chunk **chunk,
				     uint64_t *head, enum ptx_writer_loss *loss)
{
	struct ptx_region *region = view->rings.region;
	struct ptx_ident ident;

	ptx_thread_identify(thread, view, &ident);
	if (ptx_unlikely(++thread->turns % LOOK_AFTER_TURNS == 0))
		ptx_view_check_creator(view);
	/*
	 * The member `room` is 0 until the present part of the new chunk is known: a handler may
	 * leave this function by siglongjmp(), and the lanes must then find a chunk without room.
	 */
	cell->room = 0;
	atomic_signal_fence(memory_order_seq_cst);
	if (!ptx_ring_turn(&view->rings, &cell->chunk, &ident, loss))
		return NULL;
	*chunk = cell->chunk;
	if (!*chunk)
		return NULL; /* this is a child, and the cell was wiped */
	cell->room = ptx_ring_room(&view->rings, *chunk);
	if (ptx_unlikely(atomic_load_explicit(&region->flusher_asleep, memory_order_relaxed)) &&
	    ptx_pool_is_filling(&view->rings, 2))
		wake_flusher(region);
	return place_record(cell, view, *chunk, size, head, loss);
}

/*
 * Counts the event as lost for this cause. The cause STREAM_FULL also ends the recording of the
 * stream. All other causes concern only this event.
 */
static void lose_for(struct ptx_thread *thread, struct ptx_view *view, unsigned type,
		     enum ptx_writer_loss loss)
{
	if (loss == PTX_WRITER_STREAM_FULL)
		fill_up(thread, view, type);
	else
		lose_event(thread, view, type, loss);
}

/* Limits the search for dead threads to ten times a second, however many events find no ring. */
static bool may_sweep(void)
{
	static _Atomic uint64_t swept_at;
	uint64_t then = atomic_load_explicit(&swept_at, memory_order_relaxed),
		 now = ptx_clock_now();

	return (then == 0 || now - then > ptx_clock_hz / 10) &&
	       atomic_compare_exchange_strong_explicit(&swept_at, &then, now, memory_order_relaxed,
						       memory_order_relaxed);
}

/*
 * Gets a ring for the thread at this level. The flusher of another process's stream may sleep until
 * the stream has a second ring, with the number 1 (must_poll() in flush/flusher.c). So the writer
 * that gets this ring wakes the flusher. If the writer is killed before that, turn_chunk() wakes
 * the flusher later. Writers that get other rings make no system call.
 */
static bool join_ring(struct ptx_thread *thread, unsigned level, struct ptx_view *view,
		      enum ptx_writer_loss *loss)
{
	if (!ptx_thread_join(thread, level, view, loss))
		return false;
	/*
	 * As in turn_chunk(), either this thread finds that the flusher sleeps, or the flusher
	 * finds the new ring.
	 */
	if (view->adopted && thread->cell[view->bit][level].ring == 1 &&
	    ptx_unlikely(atomic_load_explicit(&view->rings.region->flusher_asleep,
					      memory_order_relaxed)))
		wake_flusher(view->rings.region);
	return true;
}

/*
 * Gets a ring for the thread at this level. If all rings are in use, the function collects the
 * rings and slots of dead threads, and tries again. Returns false if the event has been counted as
 * lost, or if this is a child.
 */
static bool join_stream(struct ptx_thread *thread, unsigned level, struct ptx_view *view,
			unsigned type)
{
	enum ptx_writer_loss loss;

	if (ptx_thread_is_left(thread))
		return false; /* this is a child, and the frame belongs to its parent */
	if (join_ring(thread, level, view, &loss))
		return true;
	if (loss == PTX_WRITER_NO_SLOT && !ptx_is_quiet() && may_sweep()) {
		/*
		 * The rings of ended threads of this process are collected first, then those of
		 * dead processes of the family.
		 */
		bool swept = ptx_threads_sweep();
		bool reaped = ptx_ring_reap(&view->rings, thread->pid, ptx_family_is_dead);

		if ((swept || reaped) && join_ring(thread, level, view, &loss))
			return true;
	}
	lose_for(thread, view, type, loss);
	return false;
}

/*
 * Writes the record except its time, in one stream. Returns false if the stream does not get the
 * event, because it does not record such events now, or because the event has been counted as lost.
 */
static bool prepare_record(struct ptx_thread *thread, unsigned level, unsigned bit,
			   const struct payload *payload, struct pending *pending)
{
	/*
	 * If ptx_thread_is_left() is true, this is a child, and the event belongs to its parent:
	 * the child must not count it.
	 */
	struct ptx_view *view = ptx_thread_is_left(thread) ? ptx_view_find(bit) :
							     ptx_view_for(bit, payload->type);
	struct ptx_cell *cell = &thread->cell[bit][level];
	unsigned type = payload->type;
	size_t len = payload->len;
	struct ptx_chunk *chunk;
	enum ptx_state kind;
	uint32_t flags = payload->is_short ? PTX_RECORD_TRUNCATED : 0;
	enum ptx_writer_loss loss;

	if (!view)
		/*
		 * the stream is being detached or traces another process, or the event has been
		 * counted as lost
		 */
		return false;
	kind = ptx_state_kind(atomic_load_explicit(&view->rings.region->state,
						   memory_order_relaxed));
	if ((kind != PTX_RUNNING && kind != PTX_FULL) ||
	    !ptx_region_admits(view->rings.region, type))
		return false;
	if (kind == PTX_FULL) {
		/* A full stream has a slow reader or no reader, so its creator may be gone. */
		if (++thread->turns % LOOK_AFTER_LOSSES == 0)
			ptx_view_check_creator(view);
		lose_event(thread, view, type, PTX_WRITER_STREAM_FULL);
		return false;
	}
	if (payload->is_skipped || ptx_region_skips(view->rings.region, type)) {
		skip_event(thread, view, type);
		return false;
	}
	if (cell->serial != view->serial && !join_stream(thread, level, view, type))
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
	/*
	 * The size is that of the truncated data. POSIX_TRACE_TRUNCATED_RECORD reports the
	 * truncation to readers.
	 */
	pending->size = ptx_record_size(len);
	pending->record = place_record(cell, view, chunk, pending->size, &pending->head, &loss);
	if (!pending->record && ptx_unlikely(!ptx_thread_holds(cell, view))) {
		/*
		 * Another process mistook this process for dead and released the ring. The chunk
		 * belongs to the next holder of that ring, so this thread must claim another ring.
		 */
		if (!join_stream(thread, level, view, type))
			return false;
		chunk = cell->chunk;
		if (!chunk)
			return false; /* wiped, as above */
		pending->record = place_record(cell, view, chunk, pending->size, &pending->head,
						 &loss);
	}
	/*
	 * If there is no memory to extend this chunk, the thread tries another chunk, which may
	 * have memory already. If this chunk is empty, the thread keeps it, because another chunk
	 * would probably have no memory either.
	 */
	if (!pending->record &&
	    (loss == PTX_WRITER_STREAM_FULL || ptx_head_offset(pending->head) != 0))
		pending->record = turn_chunk(thread, cell, view, pending->size, &chunk,
					     &pending->head,
				       &loss);
	if (!pending->record) {
		/* in a child, the stream is the parent's, so nothing is counted */
		if (!ptx_process_is_child())
			lose_for(thread, view, type, loss);
		return false;
	}
	ptx_record_fill(pending->record, (uint32_t)len | flags, type, payload->address);
	ptx_copy_in((unsigned char *)(pending->record + 1), payload->data, len);
	pending->view = view;
	pending->chunk = chunk;
	return true;
}

static void publish_record(const struct pending *pending, uint64_t time)
{
	struct ptx_region *region = pending->view->rings.region;

	ptx_ring_publish(pending->chunk, pending->record, pending->head, pending->size, time);
	atomic_signal_fence(memory_order_seq_cst);
	/* (M) with (N) in posix/getnext.c */
	if (atomic_load_explicit(&region->waiters, memory_order_relaxed))
		ptx_ring_wake(region);
}

/*
 * Returns whether the level still has this frame's claim. In a child the claim is wiped, and the
 * result is false.
 */
static bool is_ours(struct ptx_thread *thread, unsigned level, const void *frame)
{
	return atomic_load_explicit(&thread->frame[level], memory_order_relaxed) == frame;
}

/*
 * Records the event into every attached stream, in batches that share a time stamp. Returns false
 * if a handler has forked and this is the child. The child must not change the streams of its
 * parent.
 */
static bool record_all(struct ptx_thread *thread, unsigned level, const void *frame,
		       const struct payload *payload)
{
	uint64_t attached = atomic_load_explicit(&ptx_own_control.attached, memory_order_acquire);

	/*
	 * The streams of a batch get the event with the same time, so that they agree on the order
	 * of events.
	 */
	while (attached) {
		struct pending pending[BATCH];
		unsigned count = 0;
		uint64_t time;

		for (; attached && count < BATCH; attached &= attached - 1)
			count += prepare_record(thread, level, (unsigned)__builtin_ctzll(attached),
						payload, &pending[count]);
		/*
		 * From now on a reader of any of these streams waits for the event until its head
		 * is published.
		 */
		for (unsigned i = 0; i < count; i++)
			ptx_ring_stamp(pending[i].chunk, pending[i].head);
		atomic_signal_fence(memory_order_seq_cst);
		time = ptx_clock_now();
		atomic_signal_fence(memory_order_seq_cst);
		/*
		 * In a child, the fork handler may have mapped other memory over the regions. But
		 * if no fork handler ran (_Fork(), a raw clone()), the regions are still those of
		 * the parent, and publishing would store into them.
		 */
		if (!is_ours(thread, level, frame))
			return false;
		for (unsigned i = 0; i < count; i++)
			publish_record(&pending[i], time);
	}
	return true;
}

/* Counts the event as lost in every stream that would have recorded it. */
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
		    ptx_region_admits(view->rings.region, type))
			lose_event(thread, view, type, loss);
	}
}

/* Records one event, at any level. */
static void record_payload(const void *frame, const struct payload *payload)
{
	unsigned type = payload->type;
	struct ptx_thread *thread;
	unsigned level = 0;
	bool is_abandoned;

	if (ptx_process_is_child())
		ptx_process_child(); /* no fork handler ran: _Fork() or a raw clone() */
	/* A blind thread must not read the clock, so it cannot stamp events. */
	if (ptx_unlikely(ptx_thread_is_blind)) {
		if (is_opened(type))
			lose_everywhere(ptx_thread_object(), type, PTX_WRITER_NO_SLOT);
		return;
	}
	/*
	 * The program may record the types whose names it opened, and the unnamed type. Types below
	 * 63 belong to the system.
	 */
	if (!is_opened(type))
		return;
	if (ptx_unlikely(ptx_thread_is_shared) && !ptx_thread_is_owner()) {
		lose_everywhere(NULL, type, PTX_WRITER_NO_SLOT);
		return;
	}
	thread = ptx_thread_object();
	if (!thread && !ptx_thread_is_shared)
		thread = ptx_thread_make();
	if (!thread) {
		lose_everywhere(NULL, type, PTX_WRITER_NO_MEMORY);
		return;
	}
	/*
	 * Level 0 is in use: this is a handler within a trace point, or a handler left a trace
	 * point by siglongjmp().
	 */
	if (atomic_load_explicit(&thread->frame[0], memory_order_relaxed) != NULL)
		level = ptx_thread_nest(thread, frame);
	if (level == PTX_LEVELS) {
		lose_everywhere(thread, type, PTX_WRITER_NESTING);
		return;
	}
	/*
	 * If the level still has a frame of a trace point that cannot be active any more, that
	 * trace point did not return. The level's rings may have a chunk that is being opened or a
	 * window that is open.
	 */
	is_abandoned = atomic_load_explicit(&thread->frame[level], memory_order_relaxed) != NULL;
	/*
	 * The claim comes first, so that a handler that interrupts from here on uses the next
	 * level.
	 */
	atomic_store_explicit(&thread->frame[level], frame, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	if (is_abandoned)
		ptx_thread_mend(thread, level);
	if (!record_all(thread, level, frame, payload))
		return;
	/*
	 * Lanes are for level 0 only. In a child the object is wiped, and lanes must not appear
	 * in it.
	 */
	if (level == 0 && !ptx_thread_is_left(thread))
		ptx_lanes_mend(thread);
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&thread->frame[level], NULL, memory_order_release);
}

/* Claims rings for the calling thread before it becomes unable to ask the kernel for memory. */
void ptx_record_join(const void *frame)
{
	struct ptx_thread *thread;
	uint64_t attached = atomic_load_explicit(&ptx_own_control.attached, memory_order_acquire);
	enum ptx_writer_loss loss;

	if (ptx_process_is_child())
		ptx_process_child();
	/* A blind or shared thread records no event in a quiet process. */
	if (ptx_thread_is_blind || ptx_thread_is_shared)
		return;
	thread = ptx_thread_object();
	if (!thread)
		thread = ptx_thread_make();
	/*
	 * If level 0 is in use, a handler has interrupted a trace point: the thread has its rings
	 * already.
	 */
	if (!thread || atomic_load_explicit(&thread->frame[0], memory_order_relaxed) != NULL)
		return;
	atomic_store_explicit(&thread->frame[0], frame, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	for (; attached; attached &= attached - 1) {
		unsigned bit = (unsigned)__builtin_ctzll(attached);
		struct ptx_view *view = ptx_view_find(bit);

		/*
		 * A failure is no error here: the event that needs the ring will be counted as
		 * lost.
		 */
		if (view && thread->cell[bit][0].serial != view->serial)
			ptx_thread_join(thread, 0, view, &loss);
	}
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&thread->frame[0], NULL, memory_order_release);
}

/* Wakes all sleeping readers once, so that they examine the word `quiet` of the control page. */
static void wake_sleepers(void)
{
	for (unsigned bit = 0; bit < PTX_STREAMS; bit++) {
		struct ptx_view *view = atomic_load_explicit(&ptx_private.view[bit],
							     memory_order_acquire);

		if (!view)
			continue;
		wake_flusher(view->rings.region);
		ptx_ring_wake(view->rings.region);
	}
}

void ptx_record_become_quiet(void)
{
	/*
	 * Readers load the word before they decide how long to sleep. Sleeping readers are woken
	 * once, so that they load the word, and then sleep with a time limit.
	 */
	atomic_fetch_or_explicit(&ptx_own_control.quiet, PTX_QUIET_PROCESS, memory_order_seq_cst);
	wake_sleepers();
	/*
	 * The flag of this process is stored last: from then on ptx_ring_wake() and wake_flusher()
	 * make no system call.
	 */
	atomic_store_explicit(&ptx_quiet, true, memory_order_seq_cst);
}

void ptx_record_lend_quiet(void)
{
	if (ptx_quiet_lent)
		return;
	atomic_fetch_add_explicit(&ptx_own_control.quiet, 1, memory_order_seq_cst);
	wake_sleepers();
	ptx_quiet_lent = true;
}

void ptx_record_return_quiet(void)
{
	if (!ptx_quiet_lent)
		return;
	ptx_quiet_lent = false;
	atomic_fetch_sub_explicit(&ptx_own_control.quiet, 1, memory_order_seq_cst);
}

void ptx_record(const void *frame, unsigned type, const void *data, size_t len, uint64_t address)
{
	const struct payload payload = {
		.type = type, .data = data, .len = len, .address = address,
	};

	record_payload(frame, &payload);
}

void ptx_record_skip(const void *frame, unsigned type)
{
	const struct payload payload = { .type = type, .is_skipped = true };

	record_payload(frame, &payload);
}

void ptx_record_items(const void *frame, unsigned type, const void *items, size_t len,
		      bool is_short, uint64_t address)
{
	const struct payload payload = {
		.type = type, .data = items, .len = len, .address = address, .is_items = true,
		.is_short = is_short,
	};

	record_payload(frame, &payload);
}
