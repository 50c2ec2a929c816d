/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/image.c - the image of an arena in a file, read by pread().
 */
#include "observe/image.h"

#include <sys/stat.h>

#include "arena/arena.h"
#include "base/io.h"

/*
 * If another process has truncated the file, pread() returns fewer bytes, and no signal is raised.
 */
static bool image_copy(const struct ptx_image *image, void *to, size_t bytes, uint64_t offset)
{
	size_t got;
	int err = ptx_io_read_at(image->fd, to, bytes, offset, &got);

	/*
	 * Acquire order: the caller may read a word again later, to find out whether the copied
	 * bytes have changed meanwhile. That second read must not be moved before this read.
	 */
	atomic_thread_fence(memory_order_acquire);
	if (err && image->err && !*image->err)
		*image->err = err;
	return !err && got == bytes;
}

/* If fstat() fails, the image has no bytes, so no region fits in it. */
void ptx_image_of_file(struct ptx_image *image, int fd)
{
	/*
	 * `file` gets the present size. The size of a live arena is constant, because its file is
	 * sealed.
	 */
	struct stat file;

	*image = (struct ptx_image){ .copy = image_copy, .fd = fd };
	if (fstat(fd, &file) != 0)
		return;
	image->bytes = (uint64_t)file.st_size;
	/* The blocks of a sparse file are its parts that are not holes. */
	image->memory = (uint64_t)file.st_blocks * 512;
}

/*
 * In a live image the whole region must be within the file. In any other image at least the tables
 * of the region must be within the file.
 */
bool ptx_image_holds(const struct ptx_image *image, uint64_t offset,
		     const struct ptx_geometry *geometry)
{
	return ptx_region_fits(image->bytes, offset,
			       image->is_live ? geometry->bytes + geometry->far_bytes
					      : geometry->chunks_at);
}
