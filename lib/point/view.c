/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/view.c - creates, attaches and frees the views of streams.
 *
 * A view is freed in three steps. First, the view is removed from ptx_private.view and from the
 * lanes, so that trace points no longer find it. Second, a barrier is run on every thread. Third,
 * the view is freed if no thread is inside a trace point. If a thread is inside a trace point, the
 * view is retired, and a later sweep tries again. A trace point therefore needs no reference count.
 *
 * Two arrays are in ordinary memory, which a fork copies and does not wipe. before_fork has the
 * attached views, whose mappings a child keeps or replaces. from_parent has the views whose
 * mappings a child has kept.
 */
#include "point/view.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <trace.h>

#include "arena/attachment.h"
#include "arena/backing.h"
#include "base/compiler.h"
#include "meet/family.h"
#include "base/barrier.h"
#include "base/quiet.h"
#include "point/view_private.h"
#include "point/thread.h"

#define PREPARED_THREADS 16

/* The last serial number that was given to a view. */
static ptx_start_data _Atomic uint64_t serials;
/* Views that are detached and may still be in use. A stack without a lock. */
static ptx_start_data _Atomic(struct ptx_view *) retired;
/* The attached views, in memory that a child can still read. */
static ptx_start_data _Atomic(struct ptx_view *) before_fork[PTX_STREAMS];
/* In a child: mappings of its parent that it may use, if it inherits the streams. */
static ptx_start_data _Atomic(struct ptx_view *) from_parent[PTX_STREAMS];
/*
 * True between the handlers before and after fork(), if the thread that forks is not in a trace
 * point.
 */
static atomic_bool is_outside;

/* The memory of the first adopted view, so that most processes map no memory for their view. */
static ptx_start_data struct ptx_view start_view;
static ptx_start_data atomic_bool start_view_is_used;

/*
 * malloc() is not async-signal-safe, so the memory of further views is mapped. start_view is used
 * only once: after ptx_view_give() it is no longer zero.
 */
struct ptx_view *ptx_view_take(void)
{
	struct ptx_view *view;

	if (!atomic_exchange_explicit(&start_view_is_used, true, memory_order_relaxed))
		return &start_view;
	view = mmap(NULL, sizeof *view, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return view == MAP_FAILED ? NULL : view;
}

void ptx_view_give(struct ptx_view *view)
{
	if (view != &start_view)
		munmap(view, sizeof *view);
}

/* Adds a view to the retired views, the views that wait to be freed. Async-signal-safe. */
static void retire_view(struct ptx_view *view)
{
	struct ptx_view *first = atomic_load_explicit(&retired, memory_order_relaxed);

	do
		view->retired = first;
	while (!atomic_compare_exchange_weak_explicit(&retired, &first, view, memory_order_release,
						      memory_order_relaxed));
}

/*
 * Returns true if the stream of an adopted view is gone. Its region is then never used again,
 * because a generation and an offset are never used twice. Returns false for the mapping of a
 * parent, because the parent may have another arena than this process.
 */
static bool is_gone(const struct ptx_view *view)
{
	uint64_t word;

	if (!view->adopted || view->is_parents)
		return false;
	word = atomic_load_explicit(&view->arena->control->attachment[view->bit].word,
				    memory_order_acquire);
	return ptx_attachment_generation(word) != view->generation ||
	       ptx_attachment_state(word) == PTX_ATTACHMENT_FREE;
}

static void free_view(struct ptx_view *view)
{
	if (is_gone(view))
		ptx_region_remove_late(&view->rings);
	ptx_region_unmap(&view->rings);
	if (view->is_parents)
		/*
		 * The view's memory is a copy of what the parent allocated. The parent's
		 * allocator may have been in any state at the fork, so free() is not safe here.
		 */
		return;
	if (view->adopted)
		ptx_view_give(view);
	else
		free(view);
}

/*
 * `self` is the calling thread. It is inside a trace point at level 0, but uses no retired view. If
 * `self` is NULL, the caller is in no trace point.
 */
void ptx_views_sweep(const struct ptx_thread *self)
{
	struct ptx_view *view = atomic_exchange_explicit(&retired, NULL, memory_order_acquire);
	bool busy;

	if (!view)
		return;
	ptx_threads_drop_lanes();
	/* Without a barrier it is unknown where the other threads are, so the views stay. */
	busy = !ptx_barrier() || ptx_threads_busy(self);
	while (view) {
		struct ptx_view *next = view->retired;

		if (busy)
			retire_view(view);
		else
			free_view(view);
		view = next;
	}
}

bool ptx_view_map_far(struct ptx_rings *rings)
{
	/* `rings` is a member of the view, so that the ring code needs no pointer to the view. */
	const struct ptx_view *view = (const struct ptx_view *)(const void *)
		((const char *)rings - offsetof(struct ptx_view, rings));
	unsigned char *none = NULL, *far;

	/* A quiet process makes no system call. The event that needs this memory is lost. */
	if (ptx_is_quiet())
		return false;
	far = ptx_region_map_far(view->arena, &rings->geometry, view->offset);
	if (far && view->arena != &ptx_arena_self)
		/* No child of this process uses the memory of another process's stream. */
		madvise(far, rings->geometry.far_bytes, MADV_DONTFORK);
	/* Another thread may have mapped the far part at the same time. */
	if (far && !atomic_compare_exchange_strong_explicit(&rings->far, &none, far,
							    memory_order_acq_rel,
							    memory_order_acquire))
		munmap(far, rings->geometry.far_bytes);
	return far != NULL;
}

/* Creates the stream's region in the arena. */
static int make_region(struct ptx_view *view, const struct ptx_geometry *geometry,
		       size_t max_data_size, void **memory)
{
	int err = ptx_region_place(view->arena, geometry, &view->offset);

	if (err)
		return err;
	/*
	 * The place of the memory is published before the memory exists. If this process is killed
	 * while it makes the memory, another process gives the memory at this place back
	 * (ptx_attachment_bury()).
	 */
	ptx_attachment_place(view->arena, view->bit, view->offset, geometry, max_data_size);
	return ptx_region_create(view->arena, geometry, memory, &view->offset);
}

/*
 * The new stream is invisible to trace points before ptx_view_attach(). After an error nothing of
 * the stream remains.
 */
int ptx_view_create(struct ptx_arena *arena, const struct ptx_geometry *geometry,
		    size_t max_data_size, bool loop, const char *backing, struct ptx_view **result)
{
	struct ptx_geometry planned = *geometry;
	struct ptx_view *view;
	void *memory = NULL;
	int err;

	if (backing)
		/*
		 * Space in a file must be allocated before it is used, so all the first chunks are
		 * made present at the creation (arena/backing.c).
		 */
		planned.present = planned.chunks;
	/*
	 * Memory of earlier streams is freed first. Otherwise the memory of a program that creates
	 * and shuts down streams in turn would grow.
	 */
	ptx_views_sweep(NULL);
	/* Members that are not set below are 0: `offset`, `adopted`, is_parents, `retired`. */
	view = calloc(1, sizeof *view);
	if (!view)
		return ENOMEM;
	view->arena = arena;
	err = ptx_attachment_claim(arena, &view->bit, &view->generation);
	if (err)
		goto undo_alloc;
	view->backed = backing != NULL;
	if (backing)
		err = ptx_backing_create(view->bit, backing, geometry, &memory);
	else
		err = make_region(view, geometry, max_data_size, &memory);
	if (err)
		goto undo_claim;
	/*
	 * A thread may keep the cell of an earlier stream with this bit. The new serial makes such
	 * a cell invalid.
	 */
	view->serial = ptx_view_serial();
	ptx_ring_view(&view->rings, memory, &planned, max_data_size, loop);
	view->rings.back = backing ? ptx_backing_extend : ptx_region_back;
	view->rings.map_far = ptx_view_map_far;
	view->device = arena->device;
	view->inode = arena->inode;
	ptx_ring_init(&view->rings);
	if (arena == &ptx_arena_self)
		/* The next threads then need no system call at their first event. */
		ptx_threads_prepare(PREPARED_THREADS);
	else
		/* No child of this process uses the memory of another process's stream. */
		madvise(memory, geometry->bytes, MADV_DONTFORK);
	*result = view;
	return 0;
undo_claim:
	ptx_attachment_retract(arena, view->bit, view->generation);
undo_alloc:
	free(view);
	return err;
}

/* Notes the view where a child finds it, although ptx_private is wiped in the child. */
void ptx_view_note(struct ptx_view *view)
{
	atomic_store_explicit(&before_fork[view->bit], view, memory_order_relaxed);
}

/*
 * All facts are stored before ptx_attachment_publish() publishes them by a release store of the
 * attachment's word. So a process that sees the word sees all facts.
 */
void ptx_view_attach(struct ptx_view *view, const struct ptx_target *target,
		     const struct ptx_attr *attr, bool has_log)
{
	const bool inherited = attr->inheritance == POSIX_TRACE_INHERITED;
	struct ptx_attachment *attachment = &view->arena->control->attachment[view->bit];

	ptx_attachment_place(view->arena, view->bit, view->offset, &view->rings.geometry,
			     view->rings.max_data_size);
	attachment->loop = view->rings.loop;
	atomic_store_explicit(&attachment->inherited, inherited, memory_order_relaxed);
	atomic_store_explicit(&attachment->target, target->pid, memory_order_relaxed);
	atomic_store_explicit(&attachment->target_inode, target->identity.inode,
			      memory_order_relaxed);
	atomic_store_explicit(&attachment->target_start, target->identity.start,
			      memory_order_relaxed);
	attachment->target_space = target->space;
	/* The counter `missed` has the events of processes that could not map the region. */
	atomic_store_explicit(&attachment->missed, 0, memory_order_relaxed);
	/* The policies are stored only for observers. This process uses the policies in `attr`. */
	attachment->stream_policy = (uint16_t)attr->stream_policy;
	attachment->log_policy = (uint16_t)(has_log ? attr->log_policy : 0);
	atomic_store_explicit(&attachment->linger_ms, 0, memory_order_relaxed);
	atomic_store_explicit(&attachment->executed_ns, 0, memory_order_relaxed);
	attachment->creation_ns = attr->creation_ns;
	memcpy(attachment->name, attr->name, sizeof(attachment->name));
	if (view->backed)
		ptx_backing_publish(view->bit, view->arena, attachment);
	if (view->arena == &ptx_arena_self) {
		struct ptx_view *before;

		ptx_view_note(view);
		/*
		 * The place was free when this process claimed it. So if there is still a view at
		 * this bit, it is an adopted view of a stream that was detached, and no trace point
		 * has noticed that yet.
		 */
		before = atomic_exchange_explicit(&ptx_private.view[view->bit], view,
						  memory_order_acq_rel);
		if (before)
			ptx_view_discard(before);
	}
	ptx_attachment_publish(view->arena, view->bit, view->generation);
	/* A program that is executed must find the arena if it may inherit the stream. */
	if (view->arena == &ptx_arena_self)
		ptx_family_update_cloexec();
}

/* Frees the view of a stream of this process, whose trace points may be using it. */
static void destroy_own(struct ptx_view *view)
{
	bool in_use;

	atomic_store_explicit(&ptx_private.view[view->bit], NULL, memory_order_release);
	atomic_store_explicit(&before_fork[view->bit], NULL, memory_order_relaxed);
	ptx_threads_drop_lanes();
	/* A thread that is in a trace point now may have loaded the view's pointer before. */
	in_use = !ptx_barrier() || ptx_threads_busy(NULL);
	if (view->backed)
		ptx_backing_end(view->bit);
	/*
	 * The memory is given back now. The addresses remain mapped until the view is freed,
	 * because a late writer may store there.
	 */
	ptx_region_destroy(view->arena, &view->rings, view->offset, in_use);
	if (in_use)
		retire_view(view);
	else
		free(view);
}

void ptx_view_destroy(struct ptx_view *view)
{
	struct ptx_arena *arena = view->arena;
	unsigned bit = view->bit;
	uint64_t generation = view->generation;

	/*
	 * First the stream becomes invisible. Its place is released last, when no part of the
	 * stream is in use.
	 */
	ptx_attachment_hide(arena, bit, generation);
	if (arena == &ptx_arena_self) {
		destroy_own(view);
	} else {
		/*
		 * The traced process has its own mapping, so no thread records through this
		 * mapping.
		 */
		ptx_region_destroy(arena, &view->rings, view->offset, false);
		free(view);
	}
	ptx_attachment_retract(arena, bit, generation);
	if (arena == &ptx_arena_self)
		ptx_family_update_cloexec();
}

/* Called if the creation fails later: nothing of the stream remains, not even its file. */
void ptx_view_withdraw(struct ptx_view *view, const char *backing)
{
	if (view->backed)
		ptx_backing_withdraw(view->bit, backing);
	ptx_view_destroy(view);
}

/* If before_fork has a later view at this bit already, that view stays. */
void ptx_view_discard(struct ptx_view *view)
{
	struct ptx_view *noted = view;

	atomic_compare_exchange_strong_explicit(&before_fork[view->bit], &noted, NULL,
						memory_order_relaxed, memory_order_relaxed);
	retire_view(view);
}

/* Serials distinguish the views of successive streams at one bit, and begin with 1. */
uint64_t ptx_view_serial(void)
{
	return atomic_fetch_add_explicit(&serials, 1, memory_order_relaxed) + 1;
}

void ptx_view_before_fork(void)
{
	/*
	 * The address space of the child is a copy, so its stack has the frames of this thread. If
	 * the object belongs to a parent, no frame of this process uses it.
	 */
	const struct ptx_thread *thread = ptx_thread_object();
	bool outside = true;

	for (int level = 0; thread && level < PTX_LEVELS; level++)
		outside = outside && !atomic_load_explicit(&thread->frame[level],
							   memory_order_relaxed);
	atomic_store_explicit(&is_outside, outside, memory_order_relaxed);
}

void ptx_view_after_fork(void)
{
	/*
	 * The note is only valid during fork(): a child of a raw clone() at another time must not
	 * use the note.
	 */
	atomic_store_explicit(&is_outside, false, memory_order_relaxed);
}

/*
 * Keeps the mapping of a parent's stream for this child. If the parent created the stream, the
 * child treats the view like a view of any other process's stream.
 */
static void keep_mapping(struct ptx_view *view)
{
	view->adopted = true;
	view->is_parents = true;
	/* The debts and their memory belong to the parent, which is the reader of its stream. */
	view->rings.debts = NULL;
	atomic_store_explicit(&from_parent[view->bit], view, memory_order_release);
}

/*
 * Called in a child. If the fork interrupted no trace point, no frame writes into the parent's
 * memory. The child then keeps the mappings, so that it can be traced without a system call.
 * Otherwise memory of the child's own is mapped over them.
 */
void ptx_view_child(void)
{
	bool can_stay = atomic_load_explicit(&is_outside, memory_order_relaxed);

	ptx_thread_leave();
	ptx_backing_child();
	for (unsigned bit = 0; bit < PTX_STREAMS; bit++) {
		struct ptx_view *view = atomic_exchange_explicit(&before_fork[bit], NULL,
								 memory_order_relaxed);

		if (!view)
			continue;
		/*
		 * A region outside of the arena's file, or in a backing file, is not shared with
		 * children.
		 */
		if (can_stay && view->offset && !view->backed)
			keep_mapping(view);
		else
			ptx_region_sink(&view->rings);
	}
	/* The child forgets the views that its parent retired: it must not free their memory. */
	atomic_store_explicit(&retired, NULL, memory_order_relaxed);
}

/*
 * Returns whether the mapping belongs to a stream in this process's arena. If the process has not
 * kept the arena of that stream, a stream of its own may have the same place and generation. The
 * mapping may belong to a grandparent's stream, so each view has the identity of its arena.
 */
static bool is_of_own_arena(const struct ptx_view *view)
{
	return view->device == ptx_arena_self.device && view->inode == ptx_arena_self.inode;
}

/* The exchange gives the mapping to only one of several threads. */
struct ptx_view *ptx_view_of_parent(unsigned bit, uint64_t generation)
{
	struct ptx_view *view = atomic_load_explicit(&from_parent[bit], memory_order_acquire);

	if (!view || !atomic_compare_exchange_strong_explicit(&from_parent[bit], &view, NULL,
							      memory_order_acquire,
							      memory_order_relaxed))
		return NULL;
	if (view->generation != generation || !is_of_own_arena(view)) {
		/* A quiet process keeps the mapping: unmapping would need a system call. */
		if (!ptx_is_quiet())
			ptx_region_unmap(&view->rings);
		return NULL;
	}
	/* The view gets a new serial, so that it matches no cell that a thread kept. */
	view->serial = ptx_view_serial();
	return view;
}
