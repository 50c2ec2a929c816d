/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arena/arena.h"
#include "base/barrier.h"

#define ARENA_BYTES  (UINT64_C(1) << 40) /* of address space in the file; only what is used exists */
#define ARENA_FD_MIN 200                 /* out of the way of programs that count on low numbers */
#define NAMES_AT     sizeof(union ptx_control_page)
#define REGIONS_AT   (UINT64_C(1) << 20)

_Alignas(PTX_PAGE) union ptx_control_page ptx_control_page;
struct ptx_arena ptx_arena_self = { .control = &ptx_control_page.is, .fd = -1 };
_Alignas(PTX_PAGE) union ptx_private_block ptx_private_block;

_Static_assert(sizeof ptx_own_control <= sizeof ptx_control_page.bytes, "the pages hold it");
_Static_assert(sizeof ptx_private <= sizeof ptx_private_block.bytes, "the block holds it");
_Static_assert(NAMES_AT + sizeof(struct ptx_names) <= REGIONS_AT, "the names lie below the regions");

static int make_memfd(uint64_t *bytes)
{
	struct rlimit limit;
	int fd, high;

	*bytes = ARENA_BYTES;
	/* A file larger than the limit would raise SIGXFSZ in the program. */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < *bytes)
		*bytes = limit.rlim_cur & ~(uint64_t)(PTX_PAGE - 1);
	if (*bytes < 2 * REGIONS_AT)
		return -1;
	fd = memfd_create("posix-trace", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -1;
	if (ftruncate(fd, (off_t)*bytes) != 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
		close(fd);
		return -1;
	}
	high = fcntl(fd, F_DUPFD_CLOEXEC, ARENA_FD_MIN);
	if (high >= 0) {
		close(fd);
		fd = high;
	}
	return fd;
}

/* Over a static page, so that its address stays what the linker made it. */
static bool map_over(void *page, size_t bytes, int fd, uint64_t offset)
{
	int flags = MAP_FIXED | (fd < 0 ? MAP_ANONYMOUS : 0);

	return mmap(page, bytes, PROT_READ | PROT_WRITE, flags | MAP_SHARED, fd, (off_t)offset) !=
	       MAP_FAILED;
}

static struct ptx_names *map_names(int fd)
{
	size_t bytes = (sizeof(struct ptx_names) + PTX_PAGE - 1) & ~(size_t)(PTX_PAGE - 1);
	void *names = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, fd < 0 ? 0 : NAMES_AT);

	return names == MAP_FAILED ? NULL : names;
}

/* The program may have closed it, and the number may be another file's by now. */
int ptx_arena_fd(const struct ptx_arena *arena)
{
	struct stat file;

	if (arena->fd >= 0 && fstat(arena->fd, &file) == 0 && file.st_dev == arena->device &&
	    file.st_ino == arena->inode)
		return arena->fd;
	return -1;
}

static void make_arena(void)
{
	struct ptx_arena *arena = &ptx_arena_self;
	struct ptx_names *old = arena->names, *names;
	struct stat file;
	int fd = ptx_arena_fd(arena);

	if (fd >= 0)
		close(fd); /* our parent's */
	fd = make_memfd(&arena->bytes);
	arena->fd = fd;
	if (fd >= 0 && fstat(fd, &file) == 0) {
		arena->device = file.st_dev;
		arena->inode = file.st_ino;
	}
	if (!map_over(&ptx_control_page, sizeof ptx_control_page, fd, 0))
		return;
	names = map_names(fd);
	if (names && old)
		ptx_names_copy(names, old); /* the old one is the parent's: it stays mapped there */
	if (names)
		arena->names = names;
	ptx_own_control.magic = PTX_ARENA_MAGIC;
	ptx_own_control.version = PTX_ARENA_VERSION;
	ptx_own_control.pid = (uint32_t)getpid();
	atomic_store_explicit(&ptx_own_control.next_region, REGIONS_AT, memory_order_relaxed);
}

void ptx_process_init(void)
{
	int saved = errno;

	/* Advice is for anonymous memory, which whole pages of zeros in a library mostly are. */
	if (madvise(&ptx_private_block, sizeof ptx_private_block, MADV_WIPEONFORK) != 0 &&
	    mmap(&ptx_private_block, sizeof ptx_private_block, PROT_READ | PROT_WRITE,
		 MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		madvise(&ptx_private_block, sizeof ptx_private_block, MADV_WIPEONFORK);
	ptx_barrier_init();
	make_arena();
	atomic_store_explicit(&ptx_private.pid, (uint32_t)getpid(), memory_order_release);
	errno = saved;
}

void ptx_process_child(void)
{
	sigset_t all, old;
	int saved = errno;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	if (ptx_process_is_child()) {
		ptx_barrier_init();
		make_arena();
		atomic_store_explicit(&ptx_private.pid, (uint32_t)getpid(), memory_order_release);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	errno = saved;
}
