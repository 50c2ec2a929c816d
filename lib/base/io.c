/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/io.c - complete reads and writes by raw system calls.
 *
 * The C library's wrappers of these calls are cancellation points, and a cancelled thread would
 * leave half a block in a log. The functions therefore use syscall() for these calls. They save
 * errno, because many of them run inside calls that must not change errno.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/memory_file.h"

/*
 * The largest number of bytes of one call. Linux moves at most 2 GiB and returns a short count.
 */
#define CALL_MAX  ((size_t)1 << 30)
#define NS_PER_MS INT64_C(1000000)

/*
 * Returns the kernel's answer, or -errno. The arguments are whole registers on the 64-bit systems
 * that the library supports, so that pointers and offsets fit into a long.
 */
static long sys_call(long number, long a, long b, long c, long d)
{
	int saved = errno;
	long ret = syscall(number, a, b, c, d);

	if (ret < 0) {
		ret = -errno;
		errno = saved;
	}
	return ret;
}

/* How long a write may wait. */
struct patience {
	int wait_ms;   /* negative: without a limit */
	int64_t until; /* CLOCK_MONOTONIC in nanoseconds; 0: the wait has not begun */
};

/*
 * Waits until the kernel can accept bytes. This is needed because the program may have made the
 * descriptor non-blocking. Returns EAGAIN if the time is over, otherwise 0. An error, a hang-up or
 * a signal also ends the wait; the result is then 0, too, and the caller writes again.
 */
static int wait_writable(int fd, struct patience *patience)
{
	struct pollfd wait = { .fd = fd, .events = POLLOUT };
	struct timespec limit;
	int64_t left;

	if (patience->wait_ms < 0) {
		sys_call(SYS_ppoll, (long)&wait, 1, 0, 0);
		return 0;
	}
	if (!patience->until)
		patience->until = (int64_t)ptx_clock_monotonic() + patience->wait_ms * NS_PER_MS;
	left = patience->until - (int64_t)ptx_clock_monotonic();
	if (left <= 0)
		return EAGAIN;
	limit.tv_sec = left / PTX_NS_PER_S;
	limit.tv_nsec = left % PTX_NS_PER_S;
	sys_call(SYS_ppoll, (long)&wait, 1, (long)&limit, 0);
	return 0;
}

/*
 * Handles the result of one write, and adds the written bytes to *done. Returns 0 if the caller
 * must continue, otherwise an error number.
 */
static int account_write(long ret, int fd, size_t *done, struct patience *patience)
{
	if (ret > 0) {
		*done += (size_t)ret;
		patience->until = 0;
		return 0;
	}
	if (ret == -EAGAIN)
		return wait_writable(fd, patience);
	if (ret == -EINTR)
		return 0;
	/*
	 * If ret is 0, the device accepts nothing and reports no error. A loop that tries again
	 * would never end.
	 */
	return ret ? (int)-ret : EIO;
}

static size_t next_call(size_t len, size_t done)
{
	return len - done < CALL_MAX ? len - done : CALL_MAX;
}

int ptx_io_write(int fd, const void *bytes, size_t len, size_t *done, int wait_ms)
{
	const unsigned char *from = bytes;
	struct patience patience = { .wait_ms = wait_ms };
	int err = 0;

	while (!err && *done < len)
		err = account_write(sys_call(SYS_write, fd, (long)(from + *done),
				 (long)next_call(len, *done), 0), fd, done, &patience);
	return err;
}

int ptx_io_write_at(int fd, const void *bytes, size_t len, uint64_t offset, size_t *done)
{
	const unsigned char *from = bytes;
	struct patience patience = { .wait_ms = PTX_IO_NO_LIMIT };
	int err = 0;

	/* The sum offset + len must not overflow, and the kernel's offsets are signed. */
	if (offset > INT64_MAX || len > INT64_MAX - offset)
		return EFBIG;
	while (!err && *done < len)
		err = account_write(sys_call(SYS_pwrite64, fd, (long)(from + *done),
				 (long)next_call(len, *done), (long)(offset + *done)), fd, done,
				    &patience);
	return err;
}

/*
 * A short count is not the end of the file: a signal may end a read early. Only a count of 0 is
 * the end.
 */
int ptx_io_read_at(int fd, void *bytes, size_t len, uint64_t offset, size_t *got)
{
	unsigned char *to = bytes;
	long ret;

	*got = 0;
	if (offset > INT64_MAX || len > INT64_MAX - offset)
		return EINVAL;
	while (*got < len) {
		ret = sys_call(SYS_pread64, fd, (long)(to + *got), (long)next_call(len, *got),
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
		ret = sys_call(SYS_openat, AT_FDCWD, (long)path, flags | O_CLOEXEC, 0);
	while (ret == -EINTR);
	if (ret < 0)
		return (int)-ret;
	*fd = (int)ret;
	return 0;
}

/*
 * A signal may interrupt ftruncate() on network file systems, which would leave the file with its
 * old size.
 */
int ptx_io_truncate(int fd, uint64_t bytes)
{
	int saved = errno, err;

	do
		err = ftruncate(fd, (off_t)bytes) ? errno : 0;
	while (err == EINTR);
	errno = saved;
	return err;
}

int ptx_io_memory_file(const char *name, int *fd)
{
	int saved = errno, err;

	*fd = ptx_memory_file(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	err = *fd < 0 ? errno : 0;
	errno = saved;
	return err;
}

void ptx_io_close(int fd)
{
	sys_call(SYS_close, fd, 0, 0, 0);
}

/*
 * SEEK_DATA on this descriptor moves its position. The position is restored because the program
 * may have inherited or duplicated the descriptor.
 */
uint64_t ptx_io_next_data(int fd, uint64_t offset)
{
	long position = sys_call(SYS_lseek, fd, 0, SEEK_CUR, 0), data;

	if (position < 0 || offset > INT64_MAX) /* a pipe or a terminal has no holes */
		return offset;
	data = sys_call(SYS_lseek, fd, (long)offset, SEEK_DATA, 0);
	sys_call(SYS_lseek, fd, position, SEEK_SET, 0);
	if (data == -ENXIO) /* only a hole follows */
		return UINT64_MAX;
	/* After an error, `offset` is the safe answer. EINVAL: the file system lacks SEEK_DATA. */
	return data < (long)offset ? offset : (uint64_t)data;
}

int ptx_io_read_file(const char *path, char *text, size_t room)
{
	size_t got = 0;
	int fd, err = ptx_io_open(path, O_RDONLY, &fd);

	if (!err) {
		/*
		 * The kernel makes the content of a file of /proc anew for each read from its
		 * start. A text that one read() returns is therefore of one moment.
		 */
		err = ptx_io_read_at(fd, text, room - 1, 0, &got);
		ptx_io_close(fd);
	}
	/*
	 * The text always ends with a NUL, after an error, too, so that a caller may search in
	 * it.
	 */
	text[err ? 0 : got] = '\0';
	return err;
}

/* For the callers, a file that cannot be read is the same as an empty one. */
size_t ptx_io_read_text(const char *path, char *text, size_t room)
{
	return ptx_io_read_file(path, text, room) ? 0 : strlen(text);
}

/*
 * Passes to visit() the entries that one call of getdents64() returned. Returns the first answer
 * other than 0.
 */
static int list_some(const char *entries, long bytes, int folder,
		     int (*visit)(void *arg, int folder, const char *name), void *arg)
{
	int answer = 0;

	for (long at = 0; at < bytes && !answer;) {
		const struct dirent *entry = (const void *)(entries + at);
		const char *name = entry->d_name;

		/* This is true for every name except "." and "..". */
		if (name[0] != '.' || (name[1] && (name[1] != '.' || name[2])))
			answer = visit(arg, folder, name);
		at += entry->d_reclen;
	}
	return answer;
}

/*
 * opendir() would allocate memory, which a signal handler must not. The buffer on the stack holds
 * about a hundred entries.
 */
int ptx_io_list(const char *path, int (*visit)(void *arg, int folder, const char *name), void *arg)
{
	_Alignas(struct dirent) char entries[4096];
	int folder, answer = ptx_io_open(path, O_RDONLY | O_DIRECTORY, &folder);

	if (answer)
		return answer;
	for (;;) {
		/*
		 * The result 0 means the end of the folder. The kernel's struct linux_dirent64 has
		 * the layout of the C library's struct dirent on 64-bit systems.
		 */
		long bytes = sys_call(SYS_getdents64, folder, (long)entries, sizeof entries, 0);

		if (bytes <= 0)
			answer = (int)-bytes;
		else
			answer = list_some(entries, bytes, folder, visit, arg);
		if (bytes <= 0 || answer)
			break;
	}
	ptx_io_close(folder);
	return answer;
}

/*
 * The function writes the digits from the last to the first, because their number is not known
 * before.
 */
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

/*
 * F_DUPFD_CLOEXEC returns the lowest free number from min on. If there is none (EMFILE, EINVAL),
 * the descriptor keeps its low number, and the library still works.
 */
int ptx_io_move_up(int fd, int min)
{
	int high;

	if (fd < 0)
		return fd;
	high = (int)sys_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, min, 0);
	if (high < 0)
		return fd;
	ptx_io_close(fd);
	return high;
}
