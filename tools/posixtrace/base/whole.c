/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* whole.c - repeats system calls that read or write until all bytes are transferred. */
#include "base/whole.h"

#include <errno.h>
#include <unistd.h>

int whole_write(int fd, const void *bytes, size_t len)
{
	const char *from = bytes;

	while (len) {
		ssize_t n = write(fd, from, len);

		if (n < 0 && errno == EINTR)
			continue;
		/*
		 * write() should not return 0. If it does, the function returns an error, because
		 * the loop might never end otherwise.
		 */
		if (n <= 0)
			return n ? errno : ENOSPC;
		from += n;
		len -= (size_t)n;
	}
	return 0;
}

int whole_pwrite(int fd, const void *bytes, size_t len, uint64_t at)
{
	const char *from = bytes;

	while (len) {
		ssize_t n = pwrite(fd, from, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? errno : ENOSPC;
		from += n;
		len -= (size_t)n;
		at += (uint64_t)n;
	}
	return 0;
}

int whole_pread(int fd, void *bytes, size_t len, uint64_t at)
{
	char *to = bytes;

	while (len) {
		ssize_t n = pread(fd, to, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? errno : EIO;
		to += n;
		len -= (size_t)n;
		at += (uint64_t)n;
	}
	return 0;
}
