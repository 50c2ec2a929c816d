/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "point/view.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <trace.h>

#include "arena/attachment.h"
#include "arena/backing.h"
#include "meet/family.h"
#include "base/barrier.h"
#include "base/quiet.h"
#include "point/view_private.h"
#include "point/thread.h"

#define PREPARED_THREADS 16

static _Atomic uint64_t serials;
static _Atomic(struct ptx_view *) retired;
/* What is attached, kept where a child can still read it. */
static _Atomic(struct ptx_view *) before_fork[PTX_STREAMS];
/* In a child: mappings of its parent that it may go on with, if it inherits the streams. */
static _Atomic(struct ptx_view *) from_parent[PTX_STREAMS];
static atomic_bool is_outside; /* the thread that forks is in no trace point */

static void retire(struct ptx_view *view)
{
	struct ptx_view *first = atomic_load_explicit(&retired, memory_order_relaxed);

	do
		view->retired = first;
	while (!atomic_compare_exchange_weak_explicit(&retired, &first, view, memory_order_release,
						      memory_order_relaxed));
}

static void free_view(struct ptx_view *view)
{
	ptx_region_unmap(&view->rings);
	if (view->is_parents)
		/* a copy of what the parent allocated, in whatever state its allocator was */
		return;
	if (view->adopted)
		munmap(view, sizeof *view);
	else
		free(view);
}

void ptx_views_sweep(const struct ptx_thread *self)
{
	struct ptx_view *view = atomic_exchange_explicit(&retired, NULL, memory_order_acquire);
	bool busy;

	if (!view)
		return;
	ptx_threads_drop_lanes();
	busy = !ptx_barrier() || ptx_threads_busy(self);
	while (view) {
		struct ptx_view *next = view->retired;

		if (busy)
			retire(view);
		else
			free_view(view);
		view = next;
	}
}

bool ptx_view_map_far(struct ptx_rings *rings)
{
	const struct ptx_view *view = (const struct ptx_view *)(const void *)
		((const char *)rings - offsetof(struct ptx_view, rings));
	unsigned char *none = NULL, *far;

	if (ptx_is_quiet())
		return false;
	far = ptx_region_map_far(view->arena, &rings->geometry, view->offset);
	if (far && view->arena != &ptx_arena_self)
		/* no child has use for it */
		madvise(far, rings->geometry.far_bytes, MADV_DONTFORK);
	if (far && !atomic_compare_exchange_strong_explicit(&rings->far, &none, far,
							    memory_order_acq_rel,
							    memory_order_acquire))
		munmap(far, rings->geometry.far_bytes);
	return far != NULL;
}

static int make_region(struct ptx_view *view, const struct ptx_geometry *geometry,
		       size_t max_data_size, void **memory)
{
	int err = ptx_region_place(view->arena, geometry, &view->offset);

	if (err)
		return err;
	/* Who is killed with the memory in his hands has said where it is. */
	ptx_attachment_place(view->arena, view->bit, view->offset, geometry, max_data_size);
	return ptx_region_create(view->arena, geometry, memory, &view->offset);
}

int ptx_view_create(struct ptx_arena *arena, const struct ptx_geometry *geometry,
		    size_t max_data_size, bool loop, const char *backing, struct ptx_view **result)
{
	struct ptx_geometry planned = *geometry;
	struct ptx_view *view;
	void *memory = NULL;
	int err;

	if (backing)
		/* a file system has no memory to spare (arena/backing.c) */
		planned.present = planned.chunks;
	ptx_views_sweep(NULL);
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
	view->serial = ptx_view_serial();
	ptx_ring_view(&view->rings, memory, &planned, max_data_size, loop);
	view->rings.back = backing ? ptx_backing_extend : ptx_region_back;
	view->rings.map_far = ptx_view_map_far;
	ptx_ring_init(&view->rings);
	if (arena == &ptx_arena_self)
		ptx_threads_prepare(PREPARED_THREADS);
	else
		/* no child of ours has use for it */
		madvise(memory, geometry->bytes, MADV_DONTFORK);
	*result = view;
	return 0;
undo_claim:
	ptx_attachment_retract(arena, view->bit, view->generation);
undo_alloc:
	free(view);
	return err;
}

void ptx_view_note(struct ptx_view *view)
{
	atomic_store_explicit(&before_fork[view->bit], view, memory_order_relaxed);
}

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
	atomic_store_explicit(&attachment->missed, 0, memory_order_relaxed);
	attachment->stream_policy = (uint16_t)attr->stream_policy;
	attachment->log_policy = (uint16_t)(has_log ? attr->log_policy : 0);
	atomic_store_explicit(&attachment->executed_ns, 0, memory_order_relaxed);
	attachment->creation_ns = attr->creation_ns;
	memcpy(attachment->name, attr->name, sizeof(attachment->name));
	if (view->backed)
		ptx_backing_publish(view->bit, view->arena, attachment);
	if (view->arena == &ptx_arena_self) {
		struct ptx_view *before;

		ptx_view_note(view);
		before = atomic_exchange_explicit(&ptx_private.view[view->bit], view,
						  memory_order_acq_rel);
		if (before) /* another process's, which no trace point has missed yet */
			ptx_view_discard(before);
	}
	ptx_attachment_publish(view->arena, view->bit, view->generation);
	if (view->arena == &ptx_arena_self)
		ptx_family_settle();
}

static void destroy_own(struct ptx_view *view)
{
	bool in_use;

	atomic_store_explicit(&ptx_private.view[view->bit], NULL, memory_order_release);
	atomic_store_explicit(&before_fork[view->bit], NULL, memory_order_relaxed);
	ptx_threads_drop_lanes();
	/* Who is inside now may have read the pointer before. */
	in_use = !ptx_barrier() || ptx_threads_busy(NULL);
	if (view->backed)
		ptx_backing_leave(view->bit);
	ptx_region_destroy(view->arena, &view->rings, view->offset, in_use);
	if (in_use)
		retire(view);
	else
		free(view);
}

void ptx_view_destroy(struct ptx_view *view)
{
	struct ptx_arena *arena = view->arena;
	unsigned bit = view->bit;
	uint64_t generation = view->generation;

	/* Out of sight first, to be had by the next one last. */
	ptx_attachment_hide(arena, bit, generation);
	if (arena == &ptx_arena_self) {
		destroy_own(view);
	} else {
		ptx_region_destroy(arena, &view->rings, view->offset, false);
		free(view);
	}
	ptx_attachment_retract(arena, bit, generation);
	if (arena == &ptx_arena_self)
		ptx_family_settle();
}

void ptx_view_withdraw(struct ptx_view *view, const char *backing)
{
	if (view->backed)
		ptx_backing_withdraw(view->bit, backing);
	ptx_view_destroy(view);
}

void ptx_view_discard(struct ptx_view *view)
{
	struct ptx_view *noted = view;

	atomic_compare_exchange_strong_explicit(&before_fork[view->bit], &noted, NULL,
						memory_order_relaxed, memory_order_relaxed);
	retire(view);
}

uint64_t ptx_view_serial(void)
{
	return atomic_fetch_add_explicit(&serials, 1, memory_order_relaxed) + 1;
}

void ptx_view_before_fork(void)
{
	const struct ptx_thread *thread =
		atomic_load_explicit(&ptx_thread_self, memory_order_relaxed);
	bool outside = true;

	for (int level = 0; !ptx_thread_is_left(thread) && level < PTX_LEVELS; level++)
		outside = outside && !atomic_load_explicit(&thread->frame[level],
							   memory_order_relaxed);
	atomic_store_explicit(&is_outside, outside, memory_order_relaxed);
}

void ptx_view_after_fork(void)
{
	atomic_store_explicit(&is_outside, false, memory_order_relaxed);
}

/* The creator's own is the child's as any other process's. */
static void keep(struct ptx_view *view)
{
	view->adopted = true;
	view->is_parents = true;
	view->rings.debts = NULL;
	atomic_store_explicit(&from_parent[view->bit], view, memory_order_release);
}

/*
 * Where the fork interrupted no trace point, nobody goes on to write into the parent's memory: what
 * is mapped serves the child, which then needs no system call to be traced.
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
		if (can_stay && view->offset && !view->backed)
			keep(view);
		else
			ptx_region_sink(&view->rings);
	}
	atomic_store_explicit(&retired, NULL, memory_order_relaxed);
}

struct ptx_view *ptx_view_of_parent(unsigned bit, uint64_t generation)
{
	struct ptx_view *view = atomic_load_explicit(&from_parent[bit], memory_order_acquire);

	if (!view || !atomic_compare_exchange_strong_explicit(&from_parent[bit], &view, NULL,
							      memory_order_acquire,
							      memory_order_relaxed))
		return NULL;
	if (view->generation != generation) {
		if (!ptx_is_quiet())
			ptx_region_unmap(&view->rings);
		return NULL;
	}
	view->serial = ptx_view_serial();
	return view;
}
