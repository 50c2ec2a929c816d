/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/stream_info.h - what a region says of its stream, for who finds it when nobody is left to
 * ask.
 *
 * The creator writes them before the stream is attached, and nobody changes them. They lie in the
 * region at geometry.info_at.
 */
#ifndef PTX_OBSERVE_STREAM_INFO_H
#define PTX_OBSERVE_STREAM_INFO_H

#include "record/attr.h"
#include "ring/ring.h"

#define PTX_STREAM_INFO_MAGIC UINT64_C(0x3173746361467870) /* "pxFacts1" */

struct ptx_stream_info {
	uint64_t magic;
	struct ptx_attr attr;
	uint32_t pid;     /* of the traced process, as it knows itself */
	uint32_t counter; /* what its ticks are: the processor's counter, or nanoseconds */
	char clock[32];   /* the same in a word */
	/* the kernel's name for the time it has been up: ticks of another are others */
	char boot[40];
};

_Static_assert(sizeof(struct ptx_stream_info) <= PTX_STREAM_INFO_BYTES, "the region has room");

static inline struct ptx_stream_info *ptx_stream_info_of(const struct ptx_rings *rings)
{
	return (struct ptx_stream_info *)(void *)((unsigned char *)rings->region +
						  rings->geometry.info_at);
}

/* boot as it is now; empty if it cannot be told. */
void ptx_stream_info_boot(char boot[40]);

void ptx_stream_info_write(const struct ptx_rings *rings, const struct ptx_attr *attr,
			   uint32_t pid);

#endif
