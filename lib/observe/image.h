/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/image.h - the bytes of an arena, for an observer: in the file that processes share, in
 * the backing file of a stream, or in a file that the tool makes from a core dump.
 *
 * The observer copies bytes and never maps them. If the owner changes, overwrites or gives back
 * memory meanwhile, the worst effect is a wrong number. Reading does not make memory present again
 * that was given back.
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
	/* copies all bytes from offset on; false: some are missing, or cannot be read */
	bool (*copy)(const struct ptx_image *image, void *to, size_t bytes, uint64_t offset);
	uint64_t bytes;    /* size of the arena: a live region must end within it */
	uint64_t memory;   /* about how many of these bytes are memory and not holes */
	int fd;
	bool is_live;      /* a process may write to the arena at the same time */
	/* its locks show whether the creators of the streams live; NULL: they have ended */
	const struct ptx_arena *arena;
	/* called for each part that is wrong, with its place and the reason; may be NULL */
	void (*fault)(const struct ptx_image *image, uint64_t offset, uint64_t bytes,
		      const char *reason);
	void *fault_arg;
	int *err;          /* gets the error of the first read that failed; may be NULL */
};

/*
 * Returns true if a region may be at this offset. If is_live is false, the file may be incomplete
 * and may end among the chunks of the region. In this case the chunks before the end of the file
 * can be read.
 */
bool ptx_image_holds(const struct ptx_image *image, uint64_t offset,
		     const struct ptx_geometry *geometry);

/* Makes the image of an arena in an open file. The arena begins at offset 0. */
void ptx_image_of_file(struct ptx_image *image, int fd);

/* Calls image->fault, if there is one. */
static inline void ptx_image_fault(const struct ptx_image *image, uint64_t offset, uint64_t bytes,
				   const char *reason)
{
	if (image->fault)
		image->fault(image, offset, bytes, reason);
}

#endif
