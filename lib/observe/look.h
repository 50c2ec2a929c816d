/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/look.h - the state of an arena's streams, for an observer that takes no part in them.
 *
 * The functions copy everything out of the file first (image.h), and then check the copy.
 * posix/look.c reports the result to programs.
 *
 * Threads   any, each with an object of its own. The file is open only while it is copied.
 */
#ifndef PTX_OBSERVE_LOOK_H
#define PTX_OBSERVE_LOOK_H

#include "arena/arena.h"
#include "meet/openers.h"
#include "observe/image.h"

#define PTX_CREATOR_GONE UINT32_MAX

/*
 * An attached stream: facts from its attachment, and state from its region. `bit` is the number of
 * its place.
 */
struct ptx_look_stream {
	unsigned bit;
	struct ptx_attachment attachment;
	uint32_t creator; /* process id; 0: unknown to this process; PTX_CREATOR_GONE */
	struct ptx_geometry geometry;
	uint64_t admit[PTX_WORDS];
	uint64_t state;
	bool overrun, looped;
	uint32_t chunks, free_chunks; /* free_chunks <= chunks */
	uint64_t recorded;            /* number of records, as the writers count them */
	uint64_t lost[PTX_WRITER_LOSSES];
};

struct ptx_look {
	struct ptx_control control; /* a copy; its user checks the values */
	struct ptx_names names;
	unsigned streams;
	bool is_foreign; /* the arena is of another version of this library */
	int err;         /* of ptx_look_at(): the error of the first read that failed; 0: none */
	struct ptx_look_stream stream[PTX_STREAMS];
	/* Working memory for the copy of one stream. */
	struct ptx_region region;
	struct ptx_ring ring[PTX_RINGS];
};

/*
 * Allocates a structure, which needs more alignment than malloc() gives. The caller frees it with
 * free(). Returns NULL if memory is lacking.
 */
struct ptx_look *ptx_look_new(void);

/*
 * Copy the state of all streams of the arena at `path`, or of the arena in an image. If `opener` is
 * not null, `path` must lead to the file that this opener had. If there is no arena of this
 * version, ptx_look_at() returns EINVAL and ptx_look_at_image() returns false. The member
 * is_foreign then shows whether there is an arena of another version. If a part cannot be read,
 * ptx_look_at() returns the error, for example EIO, because the list may lack streams. Other errors
 * are those of ptx_peer_arenas_peek().
 */
int ptx_look_at(struct ptx_look *look, const char *path, const struct ptx_opener *opener);
bool ptx_look_at_image(struct ptx_look *look, const struct ptx_image *image);

#endif
