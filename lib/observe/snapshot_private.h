/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/snapshot_private.h - the state of a copy in progress, for the files that make it.
 */
#ifndef PTX_OBSERVE_SNAPSHOT_PRIVATE_H
#define PTX_OBSERVE_SNAPSHOT_PRIVATE_H

#include "observe/snapshot.h"

/* A copy being made. */
struct ptx_taking {
	const struct ptx_image *image;
	struct ptx_snapshot *snapshot;
	uint64_t region;  /* its offset in the image */
	/* chunks_max words: the words of the chunks, as they were before the chunks were copied */
	uint64_t *word;
	/* the same words as they were after the chunks, and before the counts, were copied */
	uint64_t *after;
	uint64_t *claimed;
	int naps;         /* how often the copy has waited for writers */
	uint64_t late;    /* when to stop waiting, on the monotonic clock */
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
 * snapshot_clock.c: makes the calibration of the copy a usable one, and computes the range of times
 * of events. `opened` is the time when the oldest chunk was opened, UINT64_MAX if there is none.
 */
void ptx_snapshot_calibrate(struct ptx_taking *taking, uint64_t opened,
			    struct ptx_snapshot_span *span);

/*
 * snapshot_order.c: turns the copied bytes into rings that a reader can read. Returns 0 or ENOMEM.
 */
int ptx_snapshot_order(struct ptx_taking *taking);

#endif
