/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/adopt.c - a stream that another process attached to this one.
 *
 * Nobody here is told: the next trace point of any thread sees that the control word has changed,
 * comes by the long way, and maps what it finds. Threads that find the same at once each map it,
 * and all but one unmap it again: so no event waits, and none that comes after posix_trace_start()
 * is missed. What the attachment says is checked, since another process wrote it: at worst the
 * trace is spoilt.
 *
 * A process that cannot map the region (no memory, a system call that is refused), or cannot find
 * out whether it is the one that the stream traces, counts its events in the attachment. The
 * stream's reader moves the count into the region, as lost for lack of memory (drain/missed.c).
 */
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "arena/attachment.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/quiet.h"
#include "meet/family.h"
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
	view->rings.map_far = ptx_view_map_far;
	return view;
}

static struct ptx_view *adopt(unsigned bit, uint64_t generation)
{
	struct ptx_view *view = ptx_view_of_parent(bit, generation), *none = NULL;
	uint64_t word = ptx_attachment_make(generation, PTX_ATTACHMENT_ATTACHED);

	/* The child may be in another time name space than its parent. */
	if (view && !ptx_clock_is_counter && !ptx_is_quiet())
		ptx_clock_follow(false);
	if (!view && !ptx_is_quiet())
		view = map_view(bit, generation);
	if (!view)
		return NULL;
	/* The facts, which are read by now, were this stream's if it is still attached. */
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&ptx_own_control.attachment[bit].word, memory_order_acquire) ==
		    word &&
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
		ptx_region_unmap(&view->rings);
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

struct ptx_view *ptx_view_seek(unsigned bit, bool *is_missing)
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
	view = NULL;
	if (is_attached)
		switch (ptx_family_is_ours(bit, generation)) {
		case PTX_SAME:
			view = adopt(bit, generation);
			*is_missing = !view;
			break;
		case PTX_SAME_UNKNOWN:
			*is_missing = true;
			break;
		case PTX_OTHER:
			break;
		}
	/* Not if it was detached meanwhile. */
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
 * Whether the stream would have got the event, or counted it as lost, had its region been mapped
 * here. Where that cannot be read the event counts.
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

	if (is_missing && would_get(bit, type))
		atomic_fetch_add_explicit(&ptx_own_control.attachment[bit].missed, 1,
					  memory_order_relaxed);
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
