/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/image.h - the bytes of an arena, wherever they are: in the file that processes share, in
 * the backing file of a stream, or in a copy of one of them, as the tool makes it of a core dump.
 *
 * Bytes are copied out and never mapped. So memory that its owner changes, scribbles over or gives
 * back meanwhile can at worst make a number wrong, and looking does not bring memory back that was
 * given back.
 */
#ifndef PTX_OBSERVE_IMAGE_H
#define PTX_OBSERVE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptx_arena;
struct ptx_geometry;

struct ptx_image {
	/* bytes from offset on, all of them; false: they are not there, or cannot be read. */
	bool (*copy)(const struct ptx_image *image, void *to, size_t bytes, uint64_t offset);
	uint64_t bytes;    /* of the arena: where regions must end */
	uint64_t memory;   /* how much of it can be anything but zeros, about */
	int fd;
	bool is_live;      /* somebody may be writing into it */
	const struct ptx_arena *arena; /* whose locks tell who is there; NULL: they tell nothing */
	/* Hears what is wrong with the bytes, and where; may be NULL. */
	void (*fault)(const struct ptx_image *image, uint64_t offset, uint64_t bytes,
		      const char *reason);
	void *fault_arg;
};

/*
 * Whether a region may lie there. A file that nobody writes any more may have been cut among the
 * chunks: what is left of those is there.
 */
bool ptx_image_holds(const struct ptx_image *image, uint64_t offset,
		     const struct ptx_geometry *geometry);

/* An arena in an open file, from its beginning on. */
void ptx_image_of_file(struct ptx_image *image, int fd);

static inline void ptx_image_fault(const struct ptx_image *image, uint64_t offset, uint64_t bytes,
				   const char *reason)
{
	if (image->fault)
		image->fault(image, offset, bytes, reason);
}

#endif
