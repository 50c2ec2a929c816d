/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/adopt.c - a stream that another process attached to this process.
 *
 * This process gets no notification. The next trace point of any thread sees that the control
 * page's word has changed, and so uses record.c, which maps the region with the functions of this
 * file. If several threads see the change at the same time, each of them maps the region, and all
 * but one unmap it again. So no thread waits for another thread, and no event after
 * posix_trace_start() is missed. The facts of the attachment are checked, because another process
 * wrote them: a hostile process can make the trace wrong but cannot harm this process.
 *
 * A process counts its events in the attachment in two cases: it cannot map the region (no memory,
 * a refused system call), or it cannot determine whether the stream traces this process. The
 * stream's reader moves this count into the region. There the events count as lost for lack of
 * memory (drain/missed.c).
 *
 * All functions run inside trace points: lock-free, async-signal-safe, errno is restored by
 * ptx_view_seek().
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "arena/attachment.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/quiet.h"
#include "meet/family.h"
#include "point/thread.h"
#include "point/view_private.h"
#include "ring/ring_write.h"

/* Seconds. If a reader has looked at the stream within this time, that reader counts as alive. */
#define ALIVE_S 2

/*
 * Maps the region of the stream that is attached at the place `bit`. Returns NULL if the region
 * cannot be mapped. The caller publishes the view or unmaps it.
 */
static struct ptx_view *map_view(unsigned bit, uint64_t generation)
{
	const struct ptx_attachment *attachment = &ptx_own_control.attachment[bit];
	struct ptx_attachment_plan plan;
	struct ptx_view *view;
	void *memory;

	/*
	 * The plan is computed from the sizes in the attachment. ptx_attachment_plan() fails if no
	 * controller could have made such a stream. All processes of an arena must stamp with one
	 * clock.
	 */
	if (ptx_arena_fd(&ptx_arena_self) < 0 ||
	    !ptx_attachment_plan(&ptx_arena_self, bit, &plan) ||
	    !ptx_clock_follow(atomic_load_explicit(&ptx_own_control.clock, memory_order_relaxed) ==
			      PTX_ARENA_CLOCK_COUNTER))
		return NULL;
	view = ptx_view_take();
	if (!view)
		return NULL;
	/*
	 * The mapping covers the stream's largest size, and memory exists only where chunks are in
	 * use.
	 */
	if (ptx_region_map(&ptx_arena_self, &plan.geometry, plan.offset, &memory)) {
		ptx_view_give(view);
		return NULL;
	}
	view->arena = &ptx_arena_self;
	view->generation = generation;
	view->serial = ptx_view_serial();
	view->offset = plan.offset;
	view->device = ptx_arena_self.device;
	view->inode = ptx_arena_self.inode;
	view->bit = bit;
	view->adopted = true;
	ptx_ring_view(&view->rings, memory, &plan.geometry, plan.max_data_size,
		      attachment->loop != 0);
	view->rings.back = ptx_region_back;
	view->rings.map_far = ptx_view_map_far;
	return view;
}

/*
 * Gives back the rings that the former program of this process has left in the stream. Without
 * this, a process that executes programs again and again would leave a ring for each of them, since
 * no other process finds it dead.
 *
 * The function runs before this call publishes the view. Each thread claims its rings through the
 * published view. So this program has no ring in the stream as long as the bit of ptx_private.fresh
 * is set, and each thread clears this bit before it publishes. The thread that clears the bit of
 * ptx_private.former is the only one that takes rings. In a child, fork() has wiped both words.
 */
static void reap_former(struct ptx_view *view, unsigned bit)
{
	const uint64_t mask = UINT64_C(1) << bit;
	const uint32_t pid = atomic_load_explicit(&ptx_private.pid, memory_order_relaxed);
	sigset_t all, old;

	if (pid && (atomic_load_explicit(&ptx_private.former, memory_order_relaxed) & mask) &&
	    ptx_ring_has_former(&view->rings, pid)) {
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, &old);
		if ((atomic_fetch_and_explicit(&ptx_private.former, ~mask, memory_order_relaxed) &
		     mask) &&
		    ptx_family_may_have_former())
			ptx_ring_reap_former(&view->rings, pid, &ptx_private.fresh, mask);
		sigprocmask(SIG_SETMASK, &old, NULL);
	}
	if (atomic_load_explicit(&ptx_private.fresh, memory_order_relaxed) & mask)
		atomic_fetch_and_explicit(&ptx_private.fresh, ~mask, memory_order_seq_cst);
}

/*
 * Makes the view of an attached stream and publishes it in ptx_private.view. If another thread has
 * already published a view of the stream, that view is the result. Returns NULL if the stream has
 * been detached or cannot be mapped.
 */
static struct ptx_view *adopt_view(unsigned bit, uint64_t generation)
{
	struct ptx_view *view = ptx_view_of_parent(bit, generation), *none = NULL;
	uint64_t word = ptx_attachment_make(generation, PTX_ATTACHMENT_ATTACHED);

	/*
	 * A child of fork() may be in another time namespace than its parent, so the offset of the
	 * clock is read again.
	 */
	if (view && !ptx_clock_is_counter && !ptx_is_quiet())
		ptx_clock_follow(false);
	if (!view && !ptx_is_quiet())
		view = map_view(bit, generation);
	if (!view)
		return NULL;
	reap_former(view, bit);
	/*
	 * The acquire fence orders the loads of the attachment's facts before the load of its word.
	 * If the word still has this generation and is ATTACHED, the facts are those of this
	 * stream. Otherwise another creator may have overwritten some of the facts.
	 */
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&ptx_own_control.attachment[bit].word, memory_order_acquire) ==
		    word &&
	    atomic_compare_exchange_strong_explicit(&ptx_private.view[bit], &none, view,
						    memory_order_acq_rel, memory_order_acquire)) {
		/*
		 * The view is noted for a child of this process, and for programs that this process
		 * executes, which may inherit the stream.
		 */
		ptx_view_note(view);
		if (atomic_load_explicit(&ptx_own_control.attachment[bit].inherited,
					 memory_order_relaxed))
			ptx_family_update_cloexec();
		return view;
	}
	/*
	 * Another thread was faster, or the stream is gone. If this call has mapped the region, no
	 * other thread has a pointer to the view, so the view is freed immediately. If the mapping
	 * is a parent's, other threads may have a pointer to the view, so it is retired.
	 */
	if (view->is_parents) {
		ptx_view_discard(view);
	} else {
		ptx_region_unmap(&view->rings);
		ptx_view_give(view);
	}
	return none && none->generation == generation ? none : NULL;
}

/*
 * Removes an adopted view from ptx_private.view. Other threads may be using the view, so
 * ptx_views_sweep() frees it later. Only the thread whose exchange succeeds retires it.
 */
static void drop_view(unsigned bit, struct ptx_view *view)
{
	if (view->adopted &&
	    atomic_compare_exchange_strong_explicit(&ptx_private.view[bit], &view, NULL,
						    memory_order_acq_rel, memory_order_relaxed))
		ptx_view_discard(view);
}

struct ptx_view *ptx_view_seek(unsigned bit, bool *is_missing)
{
	uint64_t word = atomic_load_explicit(&ptx_own_control.attachment[bit].word,
					     memory_order_acquire);
	uint64_t generation = ptx_attachment_generation(word);
	struct ptx_view *view = atomic_load_explicit(&ptx_private.view[bit], memory_order_acquire);
	bool is_attached = ptx_attachment_state(word) == PTX_ATTACHMENT_ATTACHED;
	int saved = errno;

	/*
	 * Only this process removes the streams that it created, so the views of these streams need
	 * no check.
	 */
	if (view && (!view->adopted || (is_attached && view->generation == generation)))
		return view;
	if (view)
		drop_view(bit, view);
	view = NULL;
	/* The id of the target alone is not enough, since the kernel reuses ids. */
	if (is_attached)
		switch (ptx_family_traces_self(bit, generation)) {
		case PTX_SAME:
			view = adopt_view(bit, generation);
			*is_missing = !view;
			break;
		/*
		 * It is unknown whether this process is the target, so the event must not be
		 * recorded. A reader must be able to see that an event may be missing, so the
		 * caller counts the event.
		 */
		case PTX_SAME_UNKNOWN:
			*is_missing = true;
			break;
		case PTX_OTHER:
			break;
		}
	/*
	 * If the stream was detached meanwhile, the event belongs to no stream and is not
	 * counted.
	 */
	if (*is_missing)
		*is_missing = atomic_load_explicit(&ptx_own_control.attachment[bit].word,
						   memory_order_acquire) == word;
	errno = saved;
	return view;
}

struct ptx_view *ptx_view_find(unsigned bit)
{
	bool is_missing = false;

	return ptx_view_seek(bit, &is_missing);
}

/*
 * Returns true if the stream would have recorded the event, or counted it as lost, if its region
 * were mapped here. The function reads the state and the filter from the arena's file by pread().
 * If it cannot read them, it returns true: a loss that is counted without need is better than a
 * loss that is not counted.
 */
static bool would_get(unsigned bit, unsigned type)
{
	int fd = ptx_is_quiet() ? -1 : ptx_arena_fd(&ptx_arena_self), saved = errno;
	uint64_t offset = ptx_own_control.attachment[bit].offset, state, admit;
	size_t got, types_at = offsetof(struct ptx_region, admit) + type / 64 * sizeof admit;
	bool would = true;

	if (fd >= 0 && !ptx_io_read_at(fd, &state, sizeof state,
				       offset + offsetof(struct ptx_region, state), &got) &&
	    got == sizeof state)
		would = ptx_state_kind(state) == PTX_RUNNING || ptx_state_kind(state) == PTX_FULL;
	if (fd >= 0 && would &&
	    !ptx_io_read_at(fd, &admit, sizeof admit, offset + types_at, &got) &&
	    got == sizeof admit)
		would = admit >> type % 64 & 1;
	errno = saved;
	return would;
}

struct ptx_view *ptx_view_for(unsigned bit, unsigned type)
{
	bool is_missing = false;
	struct ptx_view *view = ptx_view_seek(bit, &is_missing);

	/*
	 * The process counts the event even if there is no reader. A later reader finds the count,
	 * because the attachment is in shared memory.
	 */
	if (is_missing && would_get(bit, type))
		atomic_fetch_add_explicit(&ptx_own_control.attachment[bit].missed, 1,
					  memory_order_relaxed);
	return view;
}

/*
 * Writers of a stream call this function now and then (record.c). If the creator has died and no
 * guardian or reader has noticed, the writer detaches the stream, so that the traced program stops
 * recording events that no process will read.
 */
void ptx_view_check_creator(struct ptx_view *view)
{
	const struct ptx_region *region = view->rings.region;
	uint64_t looked_at = atomic_load_explicit(&region->looked_at, memory_order_relaxed);

	/*
	 * A reader stores looked_at at each pass. While a reader is active, writers do not make the
	 * system calls below.
	 */
	if (!view->adopted || ptx_is_quiet() ||
	    ptx_clock_now() - looked_at < ALIVE_S * region->calibration.hz)
		return;
	if (ptx_attachment_is_orphan(view->arena, view->bit))
		ptx_attachment_bury(view->arena, view->bit, view->generation);
}
