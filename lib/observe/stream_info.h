/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/stream_info.h - a description of a stream in its region, for a recovery when no process
 * of the stream is left.
 *
 * The creator writes the description before it attaches the stream, and no process changes the
 * description afterwards. The description is in the region at geometry.info_at.
 *
 * Threads   only the creator writes a description; any number of threads may read it.
 */
#ifndef PTX_OBSERVE_STREAM_INFO_H
#define PTX_OBSERVE_STREAM_INFO_H

#include "record/attr.h"
#include "ring/ring.h"

#define PTX_STREAM_INFO_MAGIC UINT64_C(0x3173746361467870) /* "pxFacts1" */

struct ptx_stream_info {
	uint64_t magic;
	struct ptx_attr attr;
	uint32_t pid;     /* of the traced process, in its own namespace */
	/* 1: the stream's ticks are those of the processor's counter; 0: nanoseconds */
	uint32_t counter;
	char clock[32];   /* name of the clock that stamps the events */
	/*
	 * the kernel's boot id; after another boot the ticks begin again, so they cannot be
	 * compared
	 */
	char boot[40];
};

_Static_assert(sizeof(struct ptx_stream_info) <= PTX_STREAM_INFO_BYTES, "the region has room");

/*
 * Returns the description in the region of these rings. If the region is a copy, the description
 * may be hostile.
 */
static inline struct ptx_stream_info *ptx_stream_info_of(const struct ptx_rings *rings)
{
	return (struct ptx_stream_info *)(void *)((unsigned char *)rings->region +
						  rings->geometry.info_at);
}

/* Stores the present boot id, or an empty text if it is unknown. */
void ptx_stream_info_boot(char boot[40]);

/* Fills the description. Called once, by the creator, before the stream is attached. */
void ptx_stream_info_write(const struct ptx_rings *rings, const struct ptx_attr *attr,
			   uint32_t pid);

#endif
