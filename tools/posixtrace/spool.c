/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

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

int spool_copy(int from, int to)
{
	static char buffer[256 * 1024];

	for (;;) {
		ssize_t n = read(from, buffer, sizeof(buffer));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : 0;
		for (char *p = buffer; n;) {
			ssize_t written = write(to, p, (size_t)n);

			if (written < 0 && errno != EINTR)
				return errno;
			if (written > 0) {
				p += written;
				n -= written;
			}
		}
	}
}

int spool_create(int *fd)
{
	*fd = temporary_file();
	return *fd < 0 ? errno : 0;
}

/* The library reads by offset from the beginning; what cannot do that becomes a file that can. */
int spool_seekable(int fd, int *result)
{
	struct stat st;
	int file, err;

	if (fstat(fd, &st))
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	if ((S_ISREG(st.st_mode) || S_ISBLK(st.st_mode)) && lseek(fd, 0, SEEK_CUR) == 0) {
		*result = fd;
		return 0;
	}
	file = temporary_file();
	if (file < 0)
		return errno;
	err = spool_copy(fd, file);
	if (err) {
		close(file);
		return err;
	}
	close(fd);
	*result = file;
	return 0;
}
