/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"

/* One call moves at most this much: Linux stops at 2 GiB and answers with a short count. */
#define CALL_MAX ((size_t)1 << 30)

/*
 * The kernel's answer, -errno on failure, past the C library's wrappers: those are cancellation
 * points. Arguments are whole registers on the 64-bit systems that we run on.
 */
static long call(long number, long a, long b, long c, long d)
{
	int saved = errno;
	long ret = syscall(number, a, b, c, d);

	if (ret < 0) {
		ret = -errno;
		errno = saved;
	}
	return ret;
}

static void wait_writable(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLOUT };

	/* No time limit. An error or a hang-up also ends the wait; the next write tells which. */
	call(SYS_ppoll, (long)&wait, 1, 0, 0);
}

static int moved(long ret, int fd, size_t *done)
{
	if (ret > 0) {
		*done += (size_t)ret;
		return 0;
	}
	if (ret == -EAGAIN) {
		wait_writable(fd);
		return 0;
	}
	if (ret == -EINTR)
		return 0;
	return ret ? (int)-ret : EIO; /* a device that takes nothing and says nothing */
}

static size_t next_call(size_t len, size_t done)
{
	return len - done < CALL_MAX ? len - done : CALL_MAX;
}

int ptx_io_write(int fd, const void *bytes, size_t len, size_t *done)
{
	const unsigned char *from = bytes;
	int err = 0;

	while (!err && *done < len)
		err = moved(call(SYS_write, fd, (long)(from + *done),
				 (long)next_call(len, *done), 0), fd, done);
	return err;
}

int ptx_io_write_at(int fd, const void *bytes, size_t len, uint64_t offset, size_t *done)
{
	const unsigned char *from = bytes;
	int err = 0;

	if (offset > INT64_MAX || len > INT64_MAX - offset)
		return EFBIG;
	while (!err && *done < len)
		err = moved(call(SYS_pwrite64, fd, (long)(from + *done),
				 (long)next_call(len, *done), (long)(offset + *done)), fd, done);
	return err;
}

int ptx_io_read_at(int fd, void *bytes, size_t len, uint64_t offset, size_t *got)
{
	unsigned char *to = bytes;
	long ret;

	*got = 0;
	if (offset > INT64_MAX || len > INT64_MAX - offset)
		return EINVAL;
	while (*got < len) {
		ret = call(SYS_pread64, fd, (long)(to + *got), (long)next_call(len, *got),
			   (long)(offset + *got));
		if (!ret)
			break;
		if (ret > 0)
			*got += (size_t)ret;
		else if (ret != -EINTR)
			return (int)-ret;
	}
	return 0;
}

int ptx_io_open(const char *path, int flags, int *fd)
{
	long ret;

	do
		ret = call(SYS_openat, AT_FDCWD, (long)path, flags | O_CLOEXEC, 0);
	while (ret == -EINTR);
	if (ret < 0)
		return (int)-ret;
	*fd = (int)ret;
	return 0;
}

int ptx_io_truncate(int fd, uint64_t bytes)
{
	int saved = errno, err;

	do
		err = ftruncate(fd, (off_t)bytes) ? errno : 0;
	while (err == EINTR);
	errno = saved;
	return err;
}

void ptx_io_close(int fd)
{
	call(SYS_close, fd, 0, 0, 0);
}

uint64_t ptx_io_next_data(int fd, uint64_t offset)
{
	long position = call(SYS_lseek, fd, 0, SEEK_CUR, 0), data;

	if (position < 0 || offset > INT64_MAX)
		return offset;
	data = call(SYS_lseek, fd, (long)offset, SEEK_DATA, 0);
	call(SYS_lseek, fd, position, SEEK_SET, 0);
	if (data == -ENXIO)
		return UINT64_MAX;
	return data < (long)offset ? offset : (uint64_t)data;
}

int ptx_io_read_file(const char *path, char *text, size_t room)
{
	size_t got = 0;
	int fd, err = ptx_io_open(path, O_RDONLY, &fd);

	if (!err) {
		/*
		 * Files of /proc are made anew at each read from the start: one call gives one
		 * state.
		 */
		err = ptx_io_read_at(fd, text, room - 1, 0, &got);
		ptx_io_close(fd);
	}
	text[err ? 0 : got] = '\0';
	return err;
}

size_t ptx_io_read_text(const char *path, char *text, size_t room)
{
	return ptx_io_read_file(path, text, room) ? 0 : strlen(text);
}

static int list_some(const char *entries, long bytes, int folder,
		     int (*take)(void *arg, int folder, const char *name), void *arg)
{
	int answer = 0;

	for (long at = 0; at < bytes && !answer;) {
		const struct dirent *entry = (const void *)(entries + at);
		const char *name = entry->d_name;

		if (name[0] != '.' || (name[1] && (name[1] != '.' || name[2])))
			answer = take(arg, folder, name);
		at += entry->d_reclen;
	}
	return answer;
}

int ptx_io_list(const char *path, int (*take)(void *arg, int folder, const char *name), void *arg)
{
	_Alignas(struct dirent) char entries[4096];
	int folder, answer = ptx_io_open(path, O_RDONLY | O_DIRECTORY, &folder);

	if (answer)
		return answer;
	for (;;) {
		long bytes = call(SYS_getdents64, folder, (long)entries, sizeof entries, 0);

		if (bytes <= 0)
			answer = (int)-bytes;
		else
			answer = list_some(entries, bytes, folder, take, arg);
		if (bytes <= 0 || answer)
			break;
	}
	ptx_io_close(folder);
	return answer;
}

const char *ptx_io_digits(uint64_t number, char digits[PTX_IO_DIGITS])
{
	char *at = digits + PTX_IO_DIGITS - 1;

	*at = '\0';
	do {
		*--at = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	return at;
}

int ptx_io_move_up(int fd, int min)
{
	int high;

	if (fd < 0)
		return fd;
	high = (int)call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, min, 0);
	if (high < 0)
		return fd;
	ptx_io_close(fd);
	return high;
}
