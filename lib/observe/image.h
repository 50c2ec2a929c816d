/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/image.h - the bytes of an arena: in the file that processes share, in the backing file of
 * a stream, or in a copy of one of them, which the tool makes from a core dump.
 *
 * Bytes are copied out and never mapped. If the owner changes, overwrites or gives back memory
 * meanwhile, the worst effect is a wrong number. Memory that was given back does not become present
 * by reading.
 *
 * Threads   any; an image is constant while it is used.
 */
#ifndef PTX_OBSERVE_IMAGE_H
#define PTX_OBSERVE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptx_arena;
struct ptx_geometry;

struct ptx_image {
	/* copies all bytes from offset on; false: they are not there, or cannot be read */
	bool (*copy)(const struct ptx_image *image, void *to, size_t bytes, uint64_t offset);
	uint64_t bytes;    /* size of the arena: no region may end behind it */
	uint64_t memory;   /* about how many of these bytes are not in holes */
	int fd;
	bool is_live;      /* a process may be writing into it */
	const struct ptx_arena *arena; /* its locks show if creators live; NULL: not known */
	/* gets the place and the reason of each part that is wrong; may be NULL */
	void (*fault)(const struct ptx_image *image, uint64_t offset, uint64_t bytes,
		      const char *reason);
	void *fault_arg;
};

/*
 * Returns true if a region may be at this offset. A file that no process writes may be incomplete
 * and may end among the chunks of the region. Then the chunks before its end can be read.
 */
bool ptx_image_holds(const struct ptx_image *image, uint64_t offset,
		     const struct ptx_geometry *geometry);

/* Makes the image of an arena that begins at the beginning of an open file. */
void ptx_image_of_file(struct ptx_image *image, int fd);

/* Calls image->fault, if there is one. */
static inline void ptx_image_fault(const struct ptx_image *image, uint64_t offset, uint64_t bytes,
				   const char *reason)
{
	if (image->fault)
		image->fault(image, offset, bytes, reason);
}

#endif
