/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/image.c - the image of an arena in a file, read by pread().
 */
#include "observe/image.h"

#include <sys/stat.h>

#include "arena/arena.h"
#include "base/io.h"

/* A file that is shorter than it was gives a short read, and no signal. */
static bool image_copy(const struct ptx_image *image, void *to, size_t bytes, uint64_t offset)
{
	size_t got;
	bool done = ptx_io_read_at(image->fd, to, bytes, offset, &got) == 0 && got == bytes;

	/*
	 * acquire: to see whether this copy is of one state, the caller may read something a second
	 * time. The second read must not be moved before this read.
	 */
	atomic_thread_fence(memory_order_acquire);
	return done;
}

/* If fstat() fails, the image has no bytes, so no region fits in it. */
void ptx_image_of_file(struct ptx_image *image, int fd)
{
	/*
	 * The file's present size. The size of a live arena is constant, because its file is
	 * sealed.
	 */
	struct stat file;

	*image = (struct ptx_image){ .copy = image_copy, .fd = fd };
	if (fstat(fd, &file) != 0)
		return;
	image->bytes = (uint64_t)file.st_size;
	/* Holes have no blocks, so the blocks are the part of a sparse file that has contents. */
	image->memory = (uint64_t)file.st_blocks * 512;
}

/* The region of a live image is whole. In any other image at least the tables must be there. */
bool ptx_image_holds(const struct ptx_image *image, uint64_t offset,
		     const struct ptx_geometry *geometry)
{
	return ptx_region_fits(image->bytes, offset,
			       image->is_live ? geometry->bytes + geometry->far_bytes
					      : geometry->chunks_at);
}
