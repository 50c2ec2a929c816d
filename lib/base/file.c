/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/file.c - recognizes a file by device, inode and time of birth.
 *
 * The library calls ptx_file_check() or ptx_file_is() before it uses the descriptor of a log. Both
 * functions use system calls only and save errno. They avoid newfstatat(2), which common seccomp
 * filters refuse.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"

#define NS_PER_S INT64_C(1000000000)

/*
 * Gets the status of an open file. Returns false if fd is not open. The function does not use
 * fstat() of the C library: in many versions of glibc that function calls newfstatat(2), which many
 * sandboxes refuse.
 */
static bool get_status(int fd, struct stat *st)
{
	int saved = errno;
	bool is_open = syscall(SYS_fstat, fd, st) == 0;

	errno = saved;
	return is_open;
}

/*
 * Returns the time at which the file was made, in nanoseconds, or 0. Some file systems do not store
 * this time. Kernels before 4.11 and old versions of musl have no statx(2).
 */
static int64_t time_of_birth(int fd)
{
#ifdef STATX_BTIME
	int saved = errno;
	int64_t born_ns = 0;
	struct statx st;

	if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BTIME, &st) == 0 &&
	    st.stx_mask & STATX_BTIME)
		born_ns = st.stx_btime.tv_sec * NS_PER_S + st.stx_btime.tv_nsec;
	errno = saved;
	return born_ns;
#else
	(void)fd;
	return 0;
#endif
}

bool ptx_file_identify(int fd, struct ptx_file *file)
{
	struct stat st;

	if (!get_status(fd, &st))
		return false;
	file->device = st.st_dev;
	file->inode = st.st_ino;
	/* The time of birth is recorded only for regular files. */
	file->born_ns = S_ISREG(st.st_mode) ? time_of_birth(fd) : 0;
	return true;
}

static bool has_identity(const struct stat *st, const struct ptx_file *file)
{
	return st->st_dev == file->device && st->st_ino == file->inode;
}

bool ptx_file_is(int fd, const struct ptx_file *file)
{
	struct stat st;

	return fd >= 0 && get_status(fd, &st) && has_identity(&st, file);
}

int ptx_file_check(int fd, const struct ptx_file *file, uint64_t bytes)
{
	struct stat st;

	/*
	 * Device and inode are compared first: they reject nearly every other file without the
	 * second system call.
	 */
	if (fd < 0 || !get_status(fd, &st) || !has_identity(&st, file))
		return EBADF;
	if ((uint64_t)st.st_size >= bytes)
		return 0;
	return time_of_birth(fd) == file->born_ns ? EIO : EBADF;
}

void ptx_file_close(int fd, const struct ptx_file *file)
{
	/*
	 * If the number belongs to another file now, the program opened that file, and it stays
	 * open.
	 */
	if (ptx_file_is(fd, file))
		ptx_io_close(fd);
}

int ptx_file_duplicate(int fd, int *duplicate)
{
	int saved = errno, err = 0;

	*duplicate = fcntl(fd, F_DUPFD_CLOEXEC, PTX_FILE_FD_MIN);
	if (*duplicate < 0) /* the limit of open files is too low, or all high numbers are in use */
		*duplicate = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	/* The kernel returns EINVAL instead of EMFILE if the limit of open files is 0. */
	if (*duplicate < 0)
		err = errno == EINVAL ? EMFILE : errno;
	errno = saved;
	return err;
}
