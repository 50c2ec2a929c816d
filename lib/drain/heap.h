/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/heap.h - a heap of the sources by the time of their next record. If two sources have the
 * same time, the source with the lower number is first, so that the order does not change.
 *
 * Threads   the caller holds the stream's lock.
 */
#ifndef PTX_DRAIN_HEAP_H
#define PTX_DRAIN_HEAP_H

#include "drain/drain.h"

static inline bool ptx_heap_before(const struct ptx_drain *drain, uint32_t a, uint32_t b)
{
	uint64_t ka = drain->source[a]->key, kb = drain->source[b]->key;

	return ka < kb || (ka == kb && a < b);
}

static inline void ptx_heap_sift(struct ptx_drain *drain, uint32_t at)
{
	uint32_t *heap = drain->heap, n = drain->heap_count, moving = heap[at];

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= n)
			break;
		if (child + 1 < n && ptx_heap_before(drain, heap[child + 1], heap[child]))
			child++;
		if (!ptx_heap_before(drain, heap[child], moving))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moving;
}

static inline void ptx_heap_build(struct ptx_drain *drain)
{
	drain->heap_count = 0;
	for (uint32_t i = 0; i < drain->sources; i++)
		if (drain->source[i]->key != UINT64_MAX)
			drain->heap[drain->heap_count++] = i;
	for (uint32_t i = drain->heap_count / 2; i-- > 0;)
		ptx_heap_sift(drain, i);
}

/*
 * Restores the order after the key of the top source has grown. If the key is UINT64_MAX, the
 * source has no record any more, and leaves the heap.
 */
static inline void ptx_heap_fix_top(struct ptx_drain *drain)
{
	if (drain->source[drain->heap[0]]->key == UINT64_MAX) {
		drain->heap[0] = drain->heap[--drain->heap_count];
		if (drain->heap_count == 0)
			return;
	}
	ptx_heap_sift(drain, 0);
}

/* Claims the new records of a ring; in pass.c. */
void ptx_drain_refill(struct ptx_drain *drain, uint32_t index);

#endif
