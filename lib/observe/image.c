/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "observe/image.h"

#include <sys/stat.h>

#include "arena/arena.h"
#include "base/io.h"

static bool copy(const struct ptx_image *image, void *to, size_t bytes, uint64_t offset)
{
	size_t got;
	bool done = ptx_io_read_at(image->fd, to, bytes, offset, &got) == 0 && got == bytes;

	/* A second look that is to tell whether the first was worth anything comes behind it. */
	atomic_thread_fence(memory_order_acquire);
	return done;
}

void ptx_image_of_file(struct ptx_image *image, int fd)
{
	struct stat file;

	*image = (struct ptx_image){ .copy = copy, .fd = fd };
	if (fstat(fd, &file) != 0)
		return;
	image->bytes = (uint64_t)file.st_size;
	image->memory = (uint64_t)file.st_blocks * 512;
}

bool ptx_image_holds(const struct ptx_image *image, uint64_t offset,
		     const struct ptx_geometry *geometry)
{
	return ptx_region_fits(image->bytes, offset,
			       image->is_live ? geometry->bytes + geometry->far_bytes
					      : geometry->chunks_at);
}
