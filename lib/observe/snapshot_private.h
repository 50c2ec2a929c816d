/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/snapshot_private.h - what taking a copy and putting it in order share.
 */
#ifndef PTX_OBSERVE_SNAPSHOT_PRIVATE_H
#define PTX_OBSERVE_SNAPSHOT_PRIVATE_H

#include "observe/snapshot.h"

/* A copy being made. */
struct ptx_taking {
	const struct ptx_image *image;
	struct ptx_snapshot *snapshot;
	uint64_t region;  /* where it begins in the image */
	uint64_t *word;   /* chunks_max each: the chunks' words before they were copied, */
	uint64_t *after;  /* and when all was copied and counted */
	uint64_t *claimed;
	int naps;         /* that were taken for writers */
	uint64_t late;    /* after it no writer is waited for, on the monotonic clock */
	/* bytes that may still be copied: what a sparse file says it has is not believed */
	uint64_t budget;
};

/* snapshot_counts.c: makes what cannot be a count of losses 0. */
void ptx_snapshot_check_counts(struct ptx_taking *taking);

struct ptx_snapshot_span {
	uint64_t first_ticks, last_ticks;
};

/*
 * snapshot_clock.c: makes the copy's calibration one that can be reckoned with, and says where no
 * event's time lies outside. opened: when the oldest chunk was, UINT64_MAX if there is none.
 */
void ptx_snapshot_calibrate(struct ptx_taking *taking, uint64_t opened,
			    struct ptx_snapshot_span *span);

/* snapshot_order.c: makes what was copied the copy. ENOMEM. */
int ptx_snapshot_order(struct ptx_taking *taking);

#endif
