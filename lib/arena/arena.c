/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/arena.c - the file of an arena, and its descriptor.
 *
 * The control page and the process block (process_block.h) are static pages of the library, so a
 * trace point reaches them without a pointer. When the process starts, the library maps the file of
 * the arena, a memfd, over the static pages of the control page. Until then, and if the mapping
 * fails, the static pages themselves are the control page.
 */
#include "arena/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/io.h"
#include "base/proc.h"

/* With these seals no process can shrink the file. Otherwise an access could raise SIGBUS. */
#define SEALS       (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

ptx_whole_pages union ptx_control_page ptx_control_page;
struct ptx_arena ptx_arena_self = { .control = &ptx_control_page.is, .fd = -1 };
ptx_whole_pages union ptx_private_block ptx_private_block;

_Static_assert(sizeof ptx_own_control <= sizeof ptx_control_page.bytes, "the pages hold it");
_Static_assert(sizeof ptx_private <= sizeof ptx_private_block.bytes, "the block holds it");
_Static_assert(PTX_NAMES_AT + PTX_LISTS_BYTES <= PTX_REGIONS_AT, "the lists lie below the regions");
_Static_assert(offsetof(struct ptx_lists, names) == 0, "the names lie where they always did");

/*
 * Makes a memfd with a unique name. A core dump may have parts of several arenas, and the tool
 * distinguishes the arenas by these names (tools/posixtrace/live/core.h). The function uses no
 * stdio, because it may run in a child after fork(). Returns 0 or an error number.
 */
static int make_file(int *fd)
{
	static _Atomic uint32_t made;
	/* The process id and a counter make the name unique in the pid namespace. */
	char name[sizeof "posix-trace" + 2 * PTX_IO_DIGITS] = "posix-trace.", digits[PTX_IO_DIGITS];

	strcat(name, ptx_io_digits(ptx_proc_own(), digits));
	strcat(name, ".");
	strcat(name,
	       ptx_io_digits(atomic_fetch_add_explicit(&made, 1, memory_order_relaxed), digits));
	return ptx_io_memory_file(name, fd);
}

int ptx_arena_file(uint64_t *bytes)
{
	struct rlimit limit;
	int fd;

	*bytes = PTX_ARENA_BYTES;
	/* If the size exceeded the limit, ftruncate() would raise SIGXFSZ in the program. */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < *bytes)
		*bytes = limit.rlim_cur & ~(uint64_t)(PTX_PAGE - 1);
	/* A smaller file has no room for a region, so streams use anonymous memory. */
	if (*bytes < 2 * PTX_REGIONS_AT)
		return -1;
	/*
	 * This descriptor is close-on-exec. FD_CLOEXEC is cleared later if executed programs can
	 * inherit a stream (meet/family.c).
	 */
	if (make_file(&fd))
		return -1;
	/* The size is set before the seals, because F_SEAL_GROW forbids a larger size. */
	if (ptx_io_truncate(fd, *bytes) != 0 ||
	    fcntl(fd, F_ADD_SEALS, SEALS) != 0) {
		close(fd);
		return -1;
	}
	/*
	 * The descriptor gets a high number, because programs expect the lowest numbers for their
	 * own files.
	 */
	return ptx_io_move_up(fd, PTX_ARENA_FD_MIN);
}

/*
 * The release store of the member `owner` publishes the other members: a process that has read
 * `owner` also sees the other members.
 */
void ptx_arena_begin(struct ptx_control *control, uint32_t pid, enum ptx_arena_owner owner)
{
	/* The page was zeroed: no attachment, no member, epoch 0. */
	control->magic = PTX_ARENA_MAGIC;
	control->version = PTX_ARENA_VERSION;
	control->pid = pid;
	atomic_store_explicit(&control->next_region, PTX_REGIONS_AT, memory_order_relaxed);
	atomic_store_explicit(&control->owner, owner, memory_order_release);
}

/*
 * The file of another process may be any kind of file. Only a file with all seals may be mapped,
 * because no process can shrink it.
 */
bool ptx_arena_is_sealed(int fd, uint64_t bytes)
{
	/* Files that cannot have seals give an error. */
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & SEALS) == SEALS && bytes >= 2 * PTX_REGIONS_AT;
}

bool ptx_control_map(int fd)
{
	int flags = MAP_FIXED | (fd < 0 ? MAP_ANONYMOUS : 0);

	return mmap(&ptx_control_page, sizeof ptx_control_page, PROT_READ | PROT_WRITE,
		    flags | MAP_SHARED, fd, 0) != MAP_FAILED;
}

/*
 * The new pages are like static pages that were never used. If they cannot be mapped, nothing
 * changes.
 */
void ptx_control_unmap(void)
{
	mmap(&ptx_control_page, sizeof ptx_control_page, PROT_READ | PROT_WRITE,
	     MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* The beginning of an arena that is the same in all versions. */
struct head {
	uint64_t magic;
	uint32_t version, pid;
};

_Static_assert(offsetof(struct ptx_control, magic) == 64 &&
		       offsetof(struct ptx_control, version) == 72,
	       "other versions find magic and version here");

/*
 * Reads the head of the file. Returns false if the file is too short or cannot be read. The
 * function uses pread() and no mapping: another process may truncate the file meanwhile, and then
 * an access to a mapping would raise SIGBUS.
 */
static bool read_head(int fd, struct head *head)
{
	return pread(fd, head, sizeof(*head), offsetof(struct ptx_control, magic)) ==
	       sizeof(*head);
}

bool ptx_arena_is_foreign(int fd)
{
	struct head head;

	return read_head(fd, &head) && ptx_arena_is_foreign_head(head.magic, head.version);
}

bool ptx_arena_is_ours(int fd)
{
	struct head head;

	return read_head(fd, &head) && ptx_arena_is_own_head(head.magic, head.version);
}

/*
 * The program may have closed the descriptor, and its number may belong to another file
 * (arena/DESIGN 5, L4). So device and inode are compared at each use.
 */
int ptx_arena_fd(const struct ptx_arena *arena)
{
	int saved = errno, fd = -1;
	struct stat file;

	/*
	 * The check costs one system call, but trace points call this function rarely, for example
	 * when the epoch of the arena has changed.
	 */
	if (arena->fd >= 0 && fstat(arena->fd, &file) == 0 && file.st_dev == arena->device &&
	    file.st_ino == arena->inode)
		fd = arena->fd;
	/* fstat() may have set errno, which must not change in a trace point. */
	errno = saved;
	return fd;
}

/*
 * Under a seccomp filter that refuses fcntl(), the library cannot leave the descriptor open for an
 * executed program, so the result is false.
 */
bool ptx_arena_is_shareable(const struct ptx_arena *arena)
{
	int fd = ptx_arena_fd(arena), saved = errno;
	bool is = fd >= 0 && fcntl(fd, F_GETFD) >= 0;

	errno = saved;
	return is;
}
