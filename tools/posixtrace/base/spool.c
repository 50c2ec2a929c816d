/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spool.c - copies an input on which lseek() is impossible, such as a pipe, to a temporary file.
 * The input may be endless, so the copy stops at a limit.
 */
#include "base/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/quantity.h"
#include "base/say.h"
#include "base/whole.h"

/*
 * Creates a file without a name in TMPDIR or /tmp. Returns the descriptor, or -1 and errno. If the
 * file system lacks O_TMPFILE, the function creates a file with a name and removes the name
 * immediately.
 */
static int temporary_file(void)
{
	const char *dir = getenv("TMPDIR");
	char path[4096];
	int fd;

	if (!dir || !*dir)
		dir = "/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	if ((size_t)snprintf(path, sizeof(path), "%s/posixtrace.XXXXXX", dir) >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

/*
 * Copies at most limit bytes and stores their number in *copied. Returns 0, also at the end of the
 * input, or an error number.
 */
static int copy_some(int from, int to, uint64_t limit, uint64_t *copied)
{
	static char buffer[256 * 1024];

	for (*copied = 0; *copied < limit;) {
		uint64_t left = limit - *copied;
		ssize_t n =
			read(from, buffer, left < sizeof(buffer) ? (size_t)left : sizeof(buffer));
		int err;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : 0;
		err = whole_write(to, buffer, (size_t)n);
		if (err)
			return err;
		*copied += (uint64_t)n;
	}
	return 0;
}

int spool_copy(int from, int to)
{
	uint64_t copied;

	return copy_some(from, to, UINT64_MAX, &copied);
}

/* Half of the free space is the most, so that an endless input does not fill the disk. */
uint64_t spool_most(int file)
{
	const char *text = getenv("POSIXTRACE_SPOOL_MAX");
	uint64_t limit = SPOOL_BYTES, half;
	size_t given;
	struct statvfs vfs;

	if (text && *text && quantity_bytes("POSIXTRACE_SPOOL_MAX", text, &given))
		limit = given;
	if (!fstatvfs(file, &vfs) &&
	    !__builtin_mul_overflow((uint64_t)vfs.f_bavail, (uint64_t)vfs.f_frsize / 2, &half) &&
	    half < limit)
		limit = half;
	return limit;
}

int spool_fill(int from, int to)
{
	uint64_t limit = spool_most(to), copied;
	int err = copy_some(from, to, limit, &copied);
	char more;

	/*
	 * An input of exactly limit bytes is still allowed. If one more byte can be read, the input
	 * is too long.
	 */
	if (err || copied < limit)
		return err;
	return read(from, &more, 1) > 0 ? EFBIG : 0;
}

void spool_say_why(const char *name, int err)
{
	if (err == EFBIG)
		say("%s: this input cannot seek, and is longer than the limit of its copy, which "
		    "is at most half of the free space in TMPDIR: read it from a file, choose "
		    "another TMPDIR, or raise POSIXTRACE_SPOOL_MAX",
		    name);
	else
		say("%s: %s", name, say_strerror(err));
}

int spool_create(int *fd)
{
	*fd = temporary_file();
	return *fd < 0 ? errno : 0;
}

int spool_create_or_say(int *fd)
{
	const char *dir = getenv("TMPDIR");
	int err = spool_create(fd);

	if (!err)
		return 0;
	say("%s: no temporary file can be made in this folder: %s; choose another TMPDIR",
	    dir && *dir ? dir : "/tmp", say_strerror(err));
	return -1;
}

int spool_seekable(int fd, bool (*accepts)(int file), int *result)
{
	struct stat st;
	uint64_t copied;
	int file, err;

	if (fstat(fd, &st))
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	/*
	 * If the offset is not 0, another process has already read a part of the file. In this case
	 * the rest of the file is copied.
	 */
	if ((S_ISREG(st.st_mode) || S_ISBLK(st.st_mode)) && lseek(fd, 0, SEEK_CUR) == 0) {
		*result = fd;
		return 0;
	}
	file = temporary_file();
	if (file < 0)
		return errno;
	/*
	 * If the input is a terminal or an endless pipe and its content is not a log, the command
	 * should fail soon. So the function copies only the first 256 KiB before it asks accepts(),
	 * which needs no more to recognize the format.
	 */
	err = copy_some(fd, file, SPOOL_HEAD, &copied);
	if (!err && copied == SPOOL_HEAD && accepts(file))
		err = spool_fill(fd, file);
	if (err) {
		close(file);
		return err;
	}
	close(fd);
	*result = file;
	return 0;
}
