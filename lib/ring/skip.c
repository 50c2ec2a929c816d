/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/skip.c - the rows in which skipped events are counted.
 *
 * With one count for all threads, all threads would write one cache line, which costs more than the
 * events themselves. A count for each thread would need memory for each thread and type. So there
 * are a few rows, and a thread uses the row that its id selects.
 */
#include "ring/skip.h"

/*
 * Several threads may call this function at the same time. The flag has_skips is set after the
 * memory is there.
 */
bool ptx_skip_prepare(struct ptx_rings *rings)
{
	if (atomic_load_explicit(&rings->region->has_skips, memory_order_acquire))
		return true;
	/* A view without the function back() uses memory that is all present. */
	if (rings->back && !rings->back((void *)rings->skips, PTX_SKIP_BYTES))
		return false;
	atomic_store_explicit(&rings->region->has_skips, 1, memory_order_release);
	return true;
}

/* The remainder keeps a hostile type inside the row. */
bool ptx_skip_count(struct ptx_rings *rings, unsigned type, uint32_t tid)
{
	if (!ptx_skip_prepare(rings))
		return false;
	atomic_fetch_add_explicit(&ptx_skip_row(rings, tid)[type % PTX_TYPE_MAX], 1,
				  memory_order_relaxed);
	return true;
}

uint64_t ptx_ring_lost(const struct ptx_rings *rings, enum ptx_writer_loss loss, unsigned type)
{
	const _Atomic uint64_t *row;
	uint64_t sum = 0;

	if (loss != PTX_WRITER_SKIPPED)
		return atomic_load_explicit(&rings->region->lost_type[loss][type],
					    memory_order_relaxed);
	row = ptx_skip_row(rings, 0);
	for (unsigned i = 0; row && i < PTX_SKIP_ROWS; i++)
		sum += atomic_load_explicit(&row[(size_t)i * PTX_TYPE_MAX + type],
					    memory_order_relaxed);
	return sum;
}
