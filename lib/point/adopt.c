/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/adopt.c - a stream that another process attached to this one.
 *
 * Nobody here is told: the next trace point of any thread sees that the control word has changed,
 * comes by the long way, and maps what it finds. Threads that find the same at once each map it, and
 * all but one unmap it again: so no event waits, and none that comes after posix_trace_start() is
 * missed. What the attachment says is checked, since another process wrote it: at worst the trace is
 * spoilt.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "arena/attachment.h"
#include "arena/family.h"
#include "base/clock.h"
#include "base/quiet.h"
#include "point/thread.h"
#include "point/view_private.h"

/* Who looked so recently is not asked for. */
#define ALIVE_S 2

static struct ptx_view *map_view(unsigned bit, uint64_t generation)
{
	const struct ptx_attachment *attachment = &ptx_own_control.attachment[bit];
	struct ptx_attachment_plan plan;
	struct ptx_view *view;
	void *memory;
	int fd = ptx_arena_fd(&ptx_arena_self);

	if (fd < 0 || !ptx_attachment_plan(&ptx_arena_self, bit, &plan) ||
	    !ptx_clock_follow(atomic_load_explicit(&ptx_own_control.clock, memory_order_relaxed) ==
			      PTX_ARENA_CLOCK_COUNTER))
		return NULL;
	view = mmap(NULL, sizeof *view, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (view == MAP_FAILED)
		return NULL;
	memory = mmap(NULL, plan.geometry.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
		      fd, (off_t)plan.offset);
	if (memory == MAP_FAILED) {
		munmap(view, sizeof *view);
		return NULL;
	}
	view->arena = &ptx_arena_self;
	view->generation = generation;
	view->serial = ptx_view_serial();
	view->offset = plan.offset;
	view->bit = bit;
	view->adopted = true;
	ptx_ring_view(&view->rings, memory, &plan.geometry, plan.max_data_size,
		      attachment->loop != 0);
	view->rings.back = ptx_region_back;
	return view;
}

static struct ptx_view *adopt(unsigned bit, uint64_t generation)
{
	struct ptx_view *view = ptx_view_of_parent(bit, generation), *none = NULL;
	uint64_t word = ptx_attachment_make(generation, PTX_ATTACHMENT_ATTACHED);

	if (!view && !ptx_is_quiet())
		view = map_view(bit, generation);
	if (!view)
		return NULL;
	/* The facts, which are read by now, were this stream's if it is still attached. */
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&ptx_own_control.attachment[bit].word, memory_order_acquire) == word &&
	    atomic_compare_exchange_strong_explicit(&ptx_private.view[bit], &none, view,
						    memory_order_acq_rel, memory_order_acquire)) {
		ptx_view_note(view);
		if (atomic_load_explicit(&ptx_own_control.attachment[bit].inherited,
					 memory_order_relaxed))
			ptx_family_settle();
		return view;
	}
	if (view->is_parents) {
		ptx_view_discard(view);
	} else {
		munmap(view->rings.region, view->rings.geometry.bytes);
		munmap(view, sizeof *view);
	}
	return none && none->generation == generation ? none : NULL;
}

static void drop(unsigned bit, struct ptx_view *view)
{
	if (view->adopted &&
	    atomic_compare_exchange_strong_explicit(&ptx_private.view[bit], &view, NULL,
						    memory_order_acq_rel, memory_order_relaxed))
		ptx_view_discard(view);
}

struct ptx_view *ptx_view_find(unsigned bit)
{
	uint64_t word = atomic_load_explicit(&ptx_own_control.attachment[bit].word,
					     memory_order_acquire);
	uint64_t generation = ptx_attachment_generation(word);
	struct ptx_view *view = atomic_load_explicit(&ptx_private.view[bit], memory_order_acquire);
	bool is_attached = ptx_attachment_state(word) == PTX_ATTACHMENT_ATTACHED;
	int saved = errno;

	if (view && (!view->adopted || (is_attached && view->generation == generation)))
		return view;
	if (view)
		drop(bit, view);
	if (is_attached && ptx_family_is_ours(bit, generation))
		view = adopt(bit, generation);
	else
		view = NULL;
	errno = saved;
	return view;
}

void ptx_view_check_creator(struct ptx_view *view)
{
	const struct ptx_region *region = view->rings.region;
	uint64_t looked_at = atomic_load_explicit(&region->looked_at, memory_order_relaxed);

	if (!view->adopted || ptx_is_quiet() ||
	    ptx_clock_now() - looked_at < ALIVE_S * region->calibration.hz)
		return;
	if (ptx_attachment_is_orphan(view->arena, view->bit))
		ptx_attachment_bury(view->arena, view->bit, view->generation);
}
