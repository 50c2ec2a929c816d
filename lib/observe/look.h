/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/look.h - the streams of an arena as they are now, seen by who takes no part in them.
 *
 * Everything is copied out of the file first and checked then (image.h).
 *
 * Threads   all. The file is open for as long as the copying takes, and no longer.
 */
#ifndef PTX_OBSERVE_LOOK_H
#define PTX_OBSERVE_LOOK_H

#include "arena/arena.h"
#include "observe/image.h"

#define PTX_CREATOR_GONE UINT32_MAX

/* An attached stream, and what its region says of it. */
struct ptx_look_stream {
	unsigned bit;
	struct ptx_attachment attachment;
	uint32_t creator; /* 0: cannot be told here; PTX_CREATOR_GONE */
	struct ptx_geometry geometry;
	uint64_t admit[PTX_WORDS];
	uint64_t state;
	bool overrun, looped;
	uint32_t chunks, free_chunks; /* free_chunks <= chunks */
	uint64_t recorded;            /* by the writers' own count */
	uint64_t lost[PTX_WRITER_LOSSES];
};

struct ptx_look {
	struct ptx_control control; /* a copy: what it says is checked by who uses it */
	struct ptx_names names;
	unsigned streams;
	struct ptx_look_stream stream[PTX_STREAMS];
	/* What is being copied. */
	struct ptx_region region;
	struct ptx_ring ring[PTX_RINGS];
};

/* For free(). Its parts need more alignment than malloc() gives. NULL without memory. */
struct ptx_look *ptx_look_new(void);

/* All that is attached in the arena behind path; false: it is no arena of this version. */
bool ptx_look_at(struct ptx_look *look, const char *path);
bool ptx_look_at_image(struct ptx_look *look, const struct ptx_image *image);

#endif
