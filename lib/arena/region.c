/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/region.c - memory for a stream: there at creation or not at all.
 *
 * Memory that is promised and not there when an event is written would be a SIGBUS in the traced
 * program. So everything is made present here, and the caller hears ENOMEM.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arena/arena.h"
#include "base/quiet.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

/* The kernel would rather kill somebody than refuse: ask first whether so much is there. */
static bool is_available(size_t bytes)
{
	char text[4096], *at;
	int fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return bytes < SIZE_MAX / 4;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n < 0 ? 0 : n] = '\0';
	at = strstr(text, "MemAvailable:");
	return !at || bytes / 1024 < strtoull(at + strlen("MemAvailable:"), NULL, 10);
}

bool ptx_region_back(void *memory, size_t bytes)
{
	uintptr_t begin = (uintptr_t)memory & ~(uintptr_t)(PTX_PAGE - 1);
	uintptr_t end = ((uintptr_t)memory + bytes + PTX_PAGE - 1) & ~(uintptr_t)(PTX_PAGE - 1);
	int saved = errno, err = 0;

	/* Then the pages come with the first touch: a memory file has no limit but the machine's. */
	if (ptx_is_quiet())
		return true;
	if (madvise((void *)begin, end - begin, MADV_POPULATE_WRITE) != 0)
		err = errno;
	/* An older kernel: the file's memory is there by fallocate() or comes with the first touch. */
	if (err == EINVAL)
		err = 0;
	errno = saved;
	return err == 0;
}

int ptx_region_place(struct ptx_arena *arena, const struct ptx_geometry *geometry, uint64_t *offset)
{
	if (!is_available(geometry->bytes_first))
		return ENOMEM;
	*offset = 0;
	if (ptx_arena_fd(arena) >= 0)
		*offset = atomic_fetch_add_explicit(&arena->control->next_region, geometry->bytes,
						    memory_order_relaxed);
	return 0;
}

enum allocated { ALLOCATED, NO_ROOM, REFUSED };

static enum allocated allocate(int fd, uint64_t offset, size_t bytes)
{
	if (fallocate(fd, 0, (off_t)offset, (off_t)bytes) == 0)
		return ALLOCATED;
	switch (errno) {
	case EPERM:
	case EACCES:
	case ENOSYS:
	case EOPNOTSUPP:
		return REFUSED;
	default:
		return NO_ROOM; /* beyond the end of the file, or of what memory there is */
	}
}

/* The system refuses fallocate(): populating a mapping makes a file's memory present as well. */
static bool can_populate(void *memory)
{
	return madvise(memory, PTX_PAGE, MADV_POPULATE_WRITE) == 0;
}

int ptx_region_create(struct ptx_arena *arena, const struct ptx_geometry *geometry, void **memory,
		      uint64_t *offset)
{
	enum allocated allocated = NO_ROOM;
	int fd = ptx_arena_fd(arena);
	void *map;

	if (fd >= 0 && *offset != 0)
		allocated = allocate(fd, *offset, geometry->bytes_first);
	if (allocated == NO_ROOM)
		fd = -1; /* then anonymous memory */
	map = mmap(NULL, geometry->bytes, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_NORESERVE | (fd < 0 ? MAP_ANONYMOUS : 0), fd,
		   fd < 0 ? 0 : (off_t)*offset);
	if (map == MAP_FAILED)
		return ENOMEM;
	if (fd < 0)
		*offset = 0;
	if ((allocated == REFUSED && !can_populate(map)) ||
	    !ptx_region_back(map, geometry->bytes_first)) {
		ptx_region_destroy(arena, geometry, map, *offset, false);
		return ENOMEM;
	}
	*memory = map;
	return 0;
}

int ptx_region_map(struct ptx_arena *arena, const struct ptx_geometry *geometry, uint64_t offset,
		   void **memory)
{
	void *map = mmap(NULL, geometry->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			 arena->fd, (off_t)offset);

	if (map == MAP_FAILED)
		return ENOMEM;
	*memory = map;
	return 0;
}

/*
 * Past the wrapper: late writers write here by design, which ThreadSanitizer would call a race. Shared
 * memory, though nobody shares it: RLIMIT_DATA counts private memory, and a child may have room for no
 * more of that.
 */
void ptx_region_sink(void *memory, size_t bytes)
{
	syscall(SYS_mmap, memory, bytes, PROT_READ | PROT_WRITE,
		MAP_FIXED | MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

void ptx_region_destroy(struct ptx_arena *arena, const struct ptx_geometry *geometry, void *memory,
			uint64_t offset, bool in_use)
{
	int fd = ptx_arena_fd(arena);

	if (in_use)
		ptx_region_sink(memory, geometry->bytes);
	else
		munmap(memory, geometry->bytes);
	if (fd >= 0 && offset != 0)
		(void)!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
				 (off_t)geometry->bytes);
}
