/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "point/view.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/barrier.h"
#include "point/thread.h"

#define PREPARED_THREADS 16

static _Atomic uint64_t serials;
static _Atomic(struct ptx_view *) retired;
/* What is attached, kept where a child can still read it. */
static _Atomic(struct ptx_view *) before_fork[PTX_STREAMS];

static int claim_bit(unsigned *bit)
{
	uint64_t used = atomic_load_explicit(&ptx_private.bits, memory_order_relaxed);

	do {
		if (used == UINT64_MAX)
			return EAGAIN;
		*bit = (unsigned)__builtin_ctzll(~used);
	} while (!atomic_compare_exchange_weak_explicit(&ptx_private.bits, &used, used | UINT64_C(1) << *bit,
							memory_order_acq_rel,
							memory_order_relaxed));
	return 0;
}

static void release_bit(unsigned bit)
{
	atomic_fetch_and_explicit(&ptx_private.bits, ~(UINT64_C(1) << bit), memory_order_release);
}

static void retire(struct ptx_view *view)
{
	struct ptx_view *first = atomic_load_explicit(&retired, memory_order_relaxed);

	do
		view->retired = first;
	while (!atomic_compare_exchange_weak_explicit(&retired, &first, view, memory_order_release,
						      memory_order_relaxed));
}

/* Frees the views that were still in use when they were destroyed, if they no longer are. */
static void sweep(void)
{
	struct ptx_view *view = atomic_exchange_explicit(&retired, NULL, memory_order_acquire);
	bool busy;

	if (!view)
		return;
	busy = !ptx_barrier() || ptx_threads_busy();
	while (view) {
		struct ptx_view *next = view->retired;

		if (busy) {
			retire(view);
		} else {
			munmap(view->rings.region, view->rings.geometry.bytes);
			free(view);
		}
		view = next;
	}
}

int ptx_view_create(const struct ptx_geometry *geometry, size_t max_data_size, bool loop,
		    struct ptx_view **result)
{
	struct ptx_view *view;
	void *memory;
	int err;

	sweep();
	view = calloc(1, sizeof *view);
	if (!view)
		return ENOMEM;
	err = claim_bit(&view->bit);
	if (err)
		goto undo_alloc;
	err = ptx_region_create(&ptx_arena_self, geometry, &memory, &view->offset);
	if (err)
		goto undo_bit;
	view->serial = atomic_fetch_add_explicit(&serials, 1, memory_order_relaxed) + 1;
	ptx_ring_view(&view->rings, memory, geometry, max_data_size, loop);
	view->rings.back = ptx_region_back;
	ptx_ring_init(&view->rings);
	ptx_threads_prepare(PREPARED_THREADS);
	*result = view;
	return 0;
undo_bit:
	release_bit(view->bit);
undo_alloc:
	free(view);
	return err;
}

void ptx_view_attach(struct ptx_view *view)
{
	atomic_store_explicit(&before_fork[view->bit], view, memory_order_relaxed);
	atomic_store_explicit(&ptx_private.view[view->bit], view, memory_order_release);
	atomic_fetch_or_explicit(&ptx_own_control.attached, UINT64_C(1) << view->bit,
				 memory_order_release);
	ptx_control_changed(&ptx_own_control, 1);
}

void ptx_view_destroy(struct ptx_view *view)
{
	const uint64_t bit = UINT64_C(1) << view->bit;
	bool in_use;

	/* A creation that failed never attached it. */
	if (atomic_fetch_and_explicit(&ptx_own_control.attached, ~bit, memory_order_release) & bit)
		ptx_control_changed(&ptx_own_control, -1);
	atomic_store_explicit(&ptx_private.view[view->bit], NULL, memory_order_release);
	atomic_store_explicit(&before_fork[view->bit], NULL, memory_order_relaxed);
	release_bit(view->bit);
	/* Who is inside now may have read the pointer before. */
	in_use = !ptx_barrier() || ptx_threads_busy();
	ptx_region_destroy(&ptx_arena_self, &view->rings.geometry, view->rings.region, view->offset, in_use);
	if (in_use)
		retire(view);
	else
		free(view);
}

void ptx_view_child(void)
{
	for (unsigned bit = 0; bit < PTX_STREAMS; bit++) {
		struct ptx_view *view = atomic_exchange_explicit(&before_fork[bit], NULL,
								 memory_order_relaxed);

		if (view)
			ptx_region_sink(view->rings.region, view->rings.geometry.bytes);
	}
	atomic_store_explicit(&retired, NULL, memory_order_relaxed);
}
