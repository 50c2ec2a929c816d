/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"

#define NS_PER_S INT64_C(1000000000)

/* Not by the C library's fstat(): that is newfstatat(2) today, which many sandboxes refuse. */
static bool look(int fd, struct stat *st)
{
	int saved = errno;
	bool is_open = syscall(SYS_fstat, fd, st) == 0;

	errno = saved;
	return is_open;
}

/* Not every file system and kernel tells it. */
static int64_t time_of_birth(int fd)
{
	int saved = errno;
	int64_t born_ns = 0;
	struct statx st;

	if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BTIME, &st) == 0 &&
	    st.stx_mask & STATX_BTIME)
		born_ns = st.stx_btime.tv_sec * NS_PER_S + st.stx_btime.tv_nsec;
	errno = saved;
	return born_ns;
}

bool ptx_file_know(int fd, struct ptx_file *file)
{
	struct stat st;

	if (!look(fd, &st))
		return false;
	file->device = st.st_dev;
	file->inode = st.st_ino;
	file->born_ns = S_ISREG(st.st_mode) ? time_of_birth(fd) : 0;
	return true;
}

bool ptx_file_is(int fd, const struct ptx_file *file, uint64_t bytes)
{
	struct stat st;

	if (fd < 0 || !look(fd, &st) || st.st_dev != file->device || st.st_ino != file->inode)
		return false;
	return (uint64_t)st.st_size >= bytes || time_of_birth(fd) == file->born_ns;
}

void ptx_file_close(int fd, const struct ptx_file *file)
{
	if (ptx_file_is(fd, file, 0))
		ptx_io_close(fd);
}

int ptx_file_duplicate(int fd, int *duplicate)
{
	int saved = errno, err = 0;

	*duplicate = fcntl(fd, F_DUPFD_CLOEXEC, PTX_FILE_FD_MIN);
	if (*duplicate < 0) /* no number so high is free or allowed */
		*duplicate = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (*duplicate < 0)
		err = errno;
	errno = saved;
	return err;
}
