/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/skip.h - counts the events of types that a stream skips.
 *
 * A skipped event counts as called and as lost. The stream counts it exactly, by its type, and
 * keeps nothing else of it. The counts are in shared memory, so they survive the death of the
 * writer.
 *
 * Threads   all functions may run concurrently.
 * Signals   all functions are async-signal-safe.
 */
#ifndef PTX_RING_SKIP_H
#define PTX_RING_SKIP_H

#include "ring/ring.h"

/* Makes the rows of counts present, unless they are present. Returns false if memory is lacking. */
bool ptx_skip_prepare(struct ptx_rings *rings);

/*
 * Returns the row of a thread, or NULL if the rows are not present. A writer adds 1 to row[type]
 * atomically, because another thread may have the same row.
 */
ptx_inline _Atomic uint64_t *ptx_skip_row(const struct ptx_rings *rings, uint32_t tid)
{
	/* The load acquires: if this process sees the flag, the rows are present. */
	if (!atomic_load_explicit(&rings->region->has_skips, memory_order_acquire))
		return NULL;
	return &rings->skips[(size_t)(tid % PTX_SKIP_ROWS) * PTX_TYPE_MAX];
}

/*
 * Counts an event of a type as skipped for the thread with the id `tid`. Returns false if there is
 * no memory for the rows: the caller then counts the event as lost for another cause.
 */
bool ptx_skip_count(struct ptx_rings *rings, unsigned type, uint32_t tid);

/*
 * Returns the number of events of a type that writers have counted as lost for a cause. The count
 * comes from shared memory, so it may have any value.
 */
uint64_t ptx_ring_lost(const struct ptx_rings *rings, enum ptx_writer_loss loss, unsigned type);

#endif
