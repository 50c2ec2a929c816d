/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/snapshot_private.h - the state of a copy in progress, for the files that make the copy.
 * snapshot.c explains the words moment, cut and counts.
 *
 * Threads   any, each with a copy of its own.
 */
#ifndef PTX_OBSERVE_SNAPSHOT_PRIVATE_H
#define PTX_OBSERVE_SNAPSHOT_PRIVATE_H

#include "observe/snapshot.h"

/* A copy being made. */
struct ptx_taking {
	const struct ptx_image *image;
	struct ptx_snapshot *snapshot;
	uint64_t region;  /* offset of the region in the image */
	/*
	 * the words of the chunks, as they were before the chunks were copied; chunks_max elements
	 */
	uint64_t *word;
	/*
	 * the words of the chunks, as they were between the copy of the chunks and the copy of the
	 * counts
	 */
	uint64_t *after;
	uint64_t *claimed;
	int naps;         /* number of short pauses in which the copy has waited for writers */
	uint64_t late;    /* when the copy stops waiting for writers, on the monotonic clock */
	/* bytes that may still be copied: a sparse file may claim any size */
	uint64_t budget;
};

/* snapshot_counts.c: sets impossible counts of losses to 0. */
void ptx_snapshot_check_counts(struct ptx_taking *taking);

/* The range of times that an event of the copy can have. */
struct ptx_snapshot_span {
	uint64_t first_ticks, last_ticks;
};

/*
 * snapshot_clock.c: replaces an impossible calibration in the copy, and computes the range of times
 * that events can have. `opened` is the time when the oldest chunk was opened, or UINT64_MAX if
 * there is no chunk.
 */
void ptx_snapshot_calibrate(struct ptx_taking *taking, uint64_t opened,
			    struct ptx_snapshot_span *span);

/*
 * snapshot_order.c: turns the copied bytes into rings that a reader can read. Returns 0 or ENOMEM.
 */
int ptx_snapshot_order(struct ptx_taking *taking);

#endif
