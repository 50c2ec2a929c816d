/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/region.c - memory for a stream: made present before anything is written to it.
 *
 * Memory that is promised and missing when an event is written would be a SIGBUS in the traced
 * program. So the creator makes the tables present and the first chunks, and gets ENOMEM if the
 * machine has less memory available than the stream's size asks for. Writers make the rest present
 * before they use it (ring/pool.c), and count the event as lost if that fails.
 *
 * No part of this holds the lock of the arena's file for long, which other streams need: what is
 * made present or given back at once is bounded.
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

#define SLICE       (UINT64_C(64) << 20)
#define LARGE_ARENA (UINT64_C(1) << 44)

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

	/*
	 * Then the pages come with the first touch: a memory file has no limit but the machine's.
	 */
	if (ptx_is_quiet())
		return true;
	if (madvise((void *)begin, end - begin, MADV_POPULATE_WRITE) != 0)
		err = errno;
	/*
	 * An older kernel, or one that refuses the call: the file's memory is there by fallocate()
	 * or comes with the first touch.
	 */
	if (err == EINVAL || err == EPERM || err == ENOSYS)
		err = 0;
	errno = saved;
	return err == 0;
}

int ptx_region_place(struct ptx_arena *arena, const struct ptx_geometry *geometry, uint64_t *offset)
{
	if (!is_available((size_t)geometry->chunks * geometry->chunk_bytes))
		return ENOMEM;
	*offset = 0;
	if (ptx_arena_fd(arena) >= 0)
		*offset = atomic_fetch_add_explicit(&arena->control->next_region,
						    geometry->bytes + geometry->far_bytes,
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

/* Linux 5.14; before, memory that fallocate() has not made present comes with its first touch. */
static bool can_populate(void *memory)
{
	return madvise(memory, PTX_PAGE, MADV_POPULATE_WRITE) == 0;
}

/* A region that is being made. */
struct making {
	unsigned char *memory;
	int fd; /* -1: anonymous memory */
	uint64_t offset;
	bool refused; /* the system allows no fallocate() */
};

static bool make_present(void *arg, size_t at, size_t bytes)
{
	struct making *making = arg;
	const size_t begin = at & ~(size_t)(PTX_PAGE - 1);

	if (making->fd >= 0 && !making->refused) {
		enum allocated allocated = allocate(making->fd, making->offset + begin,
						    at + bytes - begin);

		making->refused = allocated == REFUSED;
		if (allocated == NO_ROOM)
			return false;
	}
	return ptx_region_back(making->memory + at, bytes);
}

static bool make_all_present(struct making *making, const struct ptx_geometry *g)
{
	size_t chunks = g->present * g->chunk_bytes;

	if (!can_populate(making->memory)) {
		/*
		 * Later nobody could tell whether there is memory: all that the size asks for now.
		 */
		return make_present(making, 0, g->bytes_first) && !making->refused;
	}
	return ptx_ring_first_tables(g, make_present, making) &&
	       (chunks == 0 || make_present(making, g->chunks_at, chunks));
}

uint32_t ptx_region_rings(const struct ptx_arena *arena, const char *backing)
{
	return backing || arena->bytes < LARGE_ARENA ? PTX_RINGS_FEW : PTX_RINGS;
}

static void *map(int fd, uint64_t offset, size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_NORESERVE | (fd < 0 ? MAP_ANONYMOUS : 0), fd,
			    fd < 0 ? 0 : (off_t)offset);

	return memory == MAP_FAILED ? NULL : memory;
}

static void *make(struct making *making, const struct ptx_geometry *geometry)
{
	making->memory = map(making->fd, making->offset, geometry->bytes);
	if (!making->memory)
		return NULL;
	if (make_all_present(making, geometry))
		return making->memory;
	munmap(making->memory, geometry->bytes);
	return NULL;
}

int ptx_region_create(struct ptx_arena *arena, const struct ptx_geometry *geometry, void **memory,
		      uint64_t *offset)
{
	struct making making = { .fd = ptx_arena_fd(arena), .offset = *offset };

	*memory = NULL;
	if (making.fd >= 0 && *offset != 0 &&
	    ptx_arena_holds(arena, *offset, geometry->bytes + geometry->far_bytes)) {
		*memory = make(&making, geometry);
		if (*memory)
			return 0;
		ptx_region_punch(arena, geometry, *offset);
	}
	/* Anonymous memory, which only this process and its children can have. */
	making = (struct making){ .fd = -1 };
	*offset = 0;
	*memory = make(&making, geometry);
	return *memory ? 0 : ENOMEM;
}

int ptx_region_map(struct ptx_arena *arena, const struct ptx_geometry *geometry, uint64_t offset,
		   void **memory)
{
	*memory = map(arena->fd, offset, geometry->bytes);
	return *memory ? 0 : ENOMEM;
}

/*
 * A program that locks its memory (mlockall(MCL_FUTURE)) would get the whole mapping as memory. It
 * gets none of a mapping that it must not access, and none later of one that is not locked.
 */
void *ptx_region_map_far(const struct ptx_arena *arena, const struct ptx_geometry *geometry,
			 uint64_t offset)
{
	const size_t bytes = geometry->far_bytes;
	int fd = ptx_arena_fd(arena), saved = errno;
	void *memory = MAP_FAILED;

	if (fd >= 0 && offset != 0 && bytes != 0)
		memory = mmap(NULL, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd,
			      (off_t)(offset + geometry->bytes));
	if (memory != MAP_FAILED &&
	    (munlock(memory, bytes) != 0 || mprotect(memory, bytes, PROT_READ | PROT_WRITE) != 0)) {
		munmap(memory, bytes);
		memory = MAP_FAILED;
	}
	if (memory != MAP_FAILED)
		madvise(memory, bytes, MADV_DONTDUMP);
	errno = saved;
	return memory == MAP_FAILED ? NULL : memory;
}

/* NULL, or where this process has the far part mapped. */
static void *far_of(const struct ptx_rings *rings)
{
	return ptx_ring_has_far(rings) ? atomic_load_explicit(&rings->far, memory_order_relaxed)
				       : NULL;
}

/*
 * Past the wrapper: late writers write here by design, which ThreadSanitizer would call a race.
 * Shared memory, though nobody shares it: RLIMIT_DATA counts private memory, and a child may have
 * room for no more of that.
 */
static void sink(void *memory, size_t bytes)
{
	syscall(SYS_mmap, memory, bytes, PROT_READ | PROT_WRITE,
		MAP_FIXED | MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

void ptx_region_sink(const struct ptx_rings *rings)
{
	void *far = far_of(rings);

	sink(rings->region, rings->geometry.bytes);
	if (far)
		sink(far, rings->geometry.far_bytes);
}

void ptx_region_unmap(const struct ptx_rings *rings)
{
	void *far = far_of(rings);

	if (far)
		munmap(far, rings->geometry.far_bytes);
	munmap(rings->region, rings->geometry.bytes);
}

/*
 * In slices, since the kernel holds the lock of the file for as long as one takes. Where there is
 * no memory nothing is to be done: a region is address space for the most part. No other code uses
 * the file's position.
 */
void ptx_region_punch(const struct ptx_arena *arena, const struct ptx_geometry *geometry,
		      uint64_t offset)
{
	const uint64_t end = offset + geometry->bytes + geometry->far_bytes;
	int fd = ptx_arena_fd(arena), saved = errno;

	while (fd >= 0 && offset != 0 && offset < end) {
		off_t data = lseek(fd, (off_t)offset, SEEK_DATA);
		uint64_t slice;

		if (data < 0 && errno == ENXIO)
			break;
		if (data > 0 && (uint64_t)data > offset)
			offset = (uint64_t)data;
		if (offset >= end)
			break;
		slice = end - offset < SLICE ? end - offset : SLICE;
		if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
			      (off_t)slice) != 0)
			break;
		offset += slice;
	}
	errno = saved;
}

void ptx_region_destroy(struct ptx_arena *arena, const struct ptx_rings *rings, uint64_t offset,
			bool in_use)
{
	if (in_use)
		ptx_region_sink(rings);
	else
		ptx_region_unmap(rings);
	ptx_region_punch(arena, &rings->geometry, offset);
}
