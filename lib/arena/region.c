/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/region.c - allocates the memory of a stream's region, and makes it present. Memory is
 * present if the kernel has allocated it, so that an access cannot fail. If memory were not
 * present when a writer stores an event, the traced program could get SIGBUS. So the creator makes
 * the tables and the first chunks present. The creator gets ENOMEM if the machine, or the control
 * group of a container, has less memory available than the stream's size. Writers make further
 * chunks present before they use them (ring/pool.c), and count the event as lost if that fails.
 *
 * During a system call that makes memory present or gives memory back, the kernel locks the arena's
 * file, and the calls of other streams wait for this lock. So one call makes only a part of a large
 * stream present (ring/ring_layout.c), and ptx_region_punch() gives back at most SLICE bytes by one
 * call.
 *
 * The far part of a region has the chunks behind those of the first 1,024 rings. A late writer is a
 * thread that the kernel has suspended in a trace point, and that stores in a region after the
 * stream was destroyed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arena/arena.h"
#include "base/memory.h"
#include "base/quiet.h"

/*
 * SLICE: greatest number of bytes that one system call of ptx_region_punch() gives back.
 * LARGE_ARENA: least size of an arena whose streams can have many rings, and so a far part.
 */
#define SLICE       (UINT64_C(64) << 20)
#define LARGE_ARENA (UINT64_C(1) << 44)

/* The least size of a stream for which the limits of control groups are examined. */
#define GROUPS_FROM (UINT64_C(1) << 20)

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

/*
 * Returns true if this process can use this much memory. If the available memory is unknown, only
 * sizes that could overflow are refused. The limits of control groups cost more system calls, so
 * they are not examined for small streams.
 */
static bool is_available(size_t bytes)
{
	const uint64_t machine = ptx_memory_of_machine();

	if (machine == UINT64_MAX ? bytes >= SIZE_MAX / 4 : bytes >= machine)
		return false;
	return bytes < GROUPS_FROM || bytes < ptx_memory_of_groups();
}

/*
 * Makes present all pages that contain these bytes. errno is unchanged, because trace points call
 * this function.
 */
bool ptx_region_back(void *memory, size_t bytes)
{
	uintptr_t begin = (uintptr_t)memory & ~(uintptr_t)(PTX_PAGE - 1);
	uintptr_t end = ((uintptr_t)memory + bytes + PTX_PAGE - 1) & ~(uintptr_t)(PTX_PAGE - 1);
	int saved = errno, err = 0;

	/* A quiet process makes no system call. The pages become present at the first access. */
	if (ptx_is_quiet())
		return true;
	if (madvise((void *)begin, end - begin, MADV_POPULATE_WRITE) != 0)
		err = errno;
	/*
	 * These errors mean that the kernel is older than Linux 5.14, or refuses the call. In this
	 * case fallocate() has made the memory present already, or the first access makes it
	 * present.
	 */
	if (err == EINVAL || err == EPERM || err == ENOSYS)
		err = 0;
	errno = saved;
	return err == 0;
}

/*
 * The offsets of new regions only grow, so no two regions ever share memory, even if a late writer
 * still uses an old region. A hostile process can change next_region. If the offset is not valid,
 * ptx_arena_holds() rejects it later.
 */
int ptx_region_place(struct ptx_arena *arena, const struct ptx_geometry *geometry, uint64_t *offset)
{
	if (!is_available((size_t)geometry->chunks * geometry->chunk_bytes))
		return ENOMEM;
	/*
	 * The control page is at offset 0. So no region has the offset 0, and 0 can mean that there
	 * is no file.
	 */
	*offset = 0;
	if (ptx_arena_fd(arena) >= 0)
		*offset = atomic_fetch_add_explicit(&arena->control->next_region,
						    geometry->bytes + geometry->far_bytes,
						    memory_order_relaxed);
	return 0;
}

enum allocated { ALLOCATED, NO_ROOM, REFUSED };

/*
 * Allocates a part of the file. REFUSED: the kernel does not have fallocate() for this file, or a
 * seccomp filter forbids the call. NO_ROOM: any other error. EINTR is such an error, so the creator
 * gets ENOMEM and may try again.
 */
static enum allocated region_allocate(int fd, uint64_t offset, size_t bytes)
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
		return NO_ROOM; /* for example ENOSPC: no memory; EFBIG: the file may not grow */
	}
}

/* Returns true if madvise() can make single pages present, which is possible since Linux 5.14. */
static bool can_populate(void *memory)
{
	return madvise(memory, PTX_PAGE, MADV_POPULATE_WRITE) == 0;
}

/* A region that the creator is making. */
struct making {
	unsigned char *memory;
	int fd; /* -1: anonymous memory */
	uint64_t offset;
	bool refused; /* fallocate() was refused once */
};

/*
 * A callback of ptx_ring_first_tables(): makes this part of the region present. Returns false if
 * that fails.
 */
static bool make_present(void *arg, size_t at, size_t bytes)
{
	struct making *making = arg;
	const size_t begin = at & ~(size_t)(PTX_PAGE - 1);

	/*
	 * If there is no memory, fallocate() returns an error now. Otherwise an access could raise
	 * SIGBUS later.
	 */
	if (making->fd >= 0 && !making->refused) {
		enum allocated allocated =
			region_allocate(making->fd, making->offset + begin, at + bytes - begin);

		/*
		 * After a refusal, fallocate() is not called again. The first access makes the
		 * memory present.
		 */
		making->refused = allocated == REFUSED;
		if (allocated == NO_ROOM)
			return false;
	}
	return ptx_region_back(making->memory + at, bytes);
}

/*
 * Makes the tables and the first chunks present. If the kernel cannot make single pages present
 * later, the function now makes present all chunks that the stream's size requires. Returns false
 * if a part cannot be made present.
 */
static bool make_all_present(struct making *making, const struct ptx_geometry *g)
{
	/* The chunks that the stream has from the beginning. */
	size_t chunks = g->present * g->chunk_bytes;

	if (!can_populate(making->memory)) {
		/*
		 * Writers could not find out later whether there is memory, so all of it is
		 * allocated now.
		 */
		return make_present(making, 0, g->bytes_first) && !making->refused;
	}
	return ptx_ring_first_tables(g, make_present, making) &&
	       (chunks == 0 || make_present(making, g->chunks_at, chunks));
}

/*
 * A stream with many rings has a far part, which needs a large range of offsets in the arena's
 * file. Backing files and small arenas do not have this range.
 */
uint32_t ptx_region_rings(const struct ptx_arena *arena, const char *backing)
{
	return backing || arena->bytes < LARGE_ARENA ? PTX_RINGS_FEW : PTX_RINGS;
}

/*
 * Maps a part of the file, or anonymous memory if `fd` is -1. Returns NULL after an error. A region
 * is mostly address space that is never used. Because of MAP_NORESERVE it does not count as memory.
 *
 * If the program has called mlockall(MCL_FUTURE), the kernel makes each new mapping present, except
 * a mapping without access rights. So the function maps without access rights and adds them then.
 * Pages that a thread has used stay locked.
 */
static void *region_map(int fd, uint64_t offset, size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_NONE,
			    MAP_SHARED | MAP_NORESERVE | (fd < 0 ? MAP_ANONYMOUS : 0), fd,
			    fd < 0 ? 0 : (off_t)offset);

	if (memory == MAP_FAILED)
		return NULL;
	if (mprotect(memory, bytes, PROT_READ | PROT_WRITE) == 0)
		return memory;
	munmap(memory, bytes);
	return NULL;
}

/*
 * Maps a region, and makes its tables and first chunks present. After an error the function returns
 * NULL, and nothing stays mapped. The caller then gives back the pages of the file.
 */
static void *region_make(struct making *making, const struct ptx_geometry *geometry)
{
	making->memory = region_map(making->fd, making->offset, geometry->bytes);
	if (!making->memory)
		return NULL;
	if (make_all_present(making, geometry))
		return making->memory;
	munmap(making->memory, geometry->bytes);
	return NULL;
}

/*
 * If the file has no room for the region, for example because its size limit is reached, the
 * function uses anonymous memory. In this case only this process and its children can use the
 * stream.
 */
int ptx_region_create(struct ptx_arena *arena, const struct ptx_geometry *geometry, void **memory,
		      uint64_t *offset)
{
	struct making making = { .fd = ptx_arena_fd(arena), .offset = *offset };

	*memory = NULL;
	/* Another process may have changed next_region, so the offset is checked. */
	if (making.fd >= 0 && *offset != 0 &&
	    ptx_arena_holds(arena, *offset, geometry->bytes + geometry->far_bytes)) {
		*memory = region_make(&making, geometry);
		if (*memory)
			return 0;
		/*
		 * Gives the part that was made present back to the system. No other region will use
		 * the offset.
		 */
		ptx_region_punch(arena, geometry, *offset);
	}
	/* Anonymous memory: other processes cannot map it. */
	making = (struct making){ .fd = -1 };
	*offset = 0;
	*memory = region_make(&making, geometry);
	return *memory ? 0 : ENOMEM;
}

/* The caller has checked that the region is inside the file. */
int ptx_region_map(struct ptx_arena *arena, const struct ptx_geometry *geometry, uint64_t offset,
		   void **memory)
{
	*memory = region_map(arena->fd, offset, geometry->bytes);
	return *memory ? 0 : ENOMEM;
}

/*
 * The far part must not become present as a whole after mlockall(MCL_FUTURE), as in region_map().
 * The function also unlocks the far part, because the limit of locked memory does not permit its
 * size.
 *
 * Core dumps omit the far part, because the kernel would write its holes as zeros.
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
	/* Without this, a core dump could have terabytes of zeros. */
	if (memory != MAP_FAILED)
		madvise(memory, bytes, MADV_DONTDUMP);
	errno = saved;
	return memory == MAP_FAILED ? NULL : memory;
}

/*
 * Returns the address of the far part in this process. Returns NULL if the region has none, or if
 * this process has not mapped it.
 */
static void *far_of(const struct ptx_rings *rings)
{
	return ptx_ring_has_far(rings) ? atomic_load_explicit(&rings->far, memory_order_relaxed)
				       : NULL;
}

/*
 * Replaces a mapping by memory that only this process has. Late writers may store in the mapping at
 * the same time. ThreadSanitizer intercepts mmap() and would report a race with them, so the
 * function makes the system call directly. MAP_SHARED is used because RLIMIT_DATA counts private
 * memory, and a child may have reached that limit.
 */
static void region_sink(void *memory, size_t bytes)
{
	syscall(SYS_mmap, memory, bytes, PROT_READ | PROT_WRITE,
		MAP_FIXED | MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/*
 * region_sink() replaces each mapping in one step (MAP_FIXED), so a late writer finds memory at
 * every moment.
 */
void ptx_region_sink(const struct ptx_rings *rings)
{
	void *far = far_of(rings);

	region_sink(rings->region, rings->geometry.bytes);
	if (far)
		region_sink(far, rings->geometry.far_bytes);
}

/* Unmaps the region, and also its far part if this process has mapped it. */
void ptx_region_unmap(const struct ptx_rings *rings)
{
	void *far = far_of(rings);

	if (far)
		munmap(far, rings->geometry.far_bytes);
	munmap(rings->region, rings->geometry.bytes);
}

/*
 * Gives back the pages of the file behind a mapping. The function uses madvise(MADV_REMOVE),
 * because it needs no descriptor, and because each seccomp filter under which trace points work
 * permits madvise(). The kernel refuses MADV_REMOVE for locked memory, as after mlockall(), so the
 * function then unlocks the memory first.
 */
static void remove_pages(void *memory, size_t bytes)
{
	int saved = errno;

	if (madvise(memory, bytes, MADV_REMOVE) != 0 && errno == EINVAL &&
	    munlock(memory, bytes) == 0)
		madvise(memory, bytes, MADV_REMOVE);
	errno = saved;
}

/*
 * The memory stays in the arena's file, and an access maps its page again. The kernel refuses
 * MADV_DONTNEED for locked memory, which then stays mapped.
 */
void ptx_region_forget(const struct ptx_rings *rings)
{
	int saved = errno;

	madvise(rings->region, rings->geometry.bytes, MADV_DONTNEED);
	errno = saved;
}

/*
 * The creator gives the memory of its stream back when it destroys the stream. A late writer of
 * another process may then store in the region again, so that the file gets pages again. The
 * process of the late writer calls this function to give these pages back.
 */
void ptx_region_remove_late(const struct ptx_rings *rings)
{
	void *far = far_of(rings);

	remove_pages(rings->region, rings->geometry.bytes);
	if (far)
		remove_pages(far, rings->geometry.far_bytes);
}

/*
 * Gives the memory back in slices, because the kernel holds the lock of the file during each call.
 * A region is mostly holes, which SEEK_DATA skips. No other code uses the file position, so lseek()
 * may change it. After an error the function returns. The rest of the memory is given back when a
 * creator claims the attachment again.
 */
void ptx_region_punch(const struct ptx_arena *arena, const struct ptx_geometry *geometry,
		      uint64_t offset)
{
	const uint64_t end = offset + geometry->bytes + geometry->far_bytes;
	int fd = ptx_arena_fd(arena), saved = errno;

	while (fd >= 0 && offset != 0 && offset < end) {
		off_t data = lseek(fd, (off_t)offset, SEEK_DATA);
		uint64_t slice;

		/* There are only holes behind this offset. */
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

/*
 * If `in_use` is true, a thread may be storing in the region, so the addresses of the region stay
 * valid. point/view.c unmaps them later.
 */
void ptx_region_destroy(struct ptx_arena *arena, const struct ptx_rings *rings, uint64_t offset,
			bool in_use)
{
	if (in_use)
		ptx_region_sink(rings);
	else
		ptx_region_unmap(rings);
	ptx_region_punch(arena, &rings->geometry, offset);
}
