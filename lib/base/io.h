/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/io.h - reads and writes that transfer all bytes, or return an error number.
 *
 * The functions repeat an interrupted or short call. Those that write also wait for a descriptor in
 * non-blocking mode. None is a cancellation point, unlike the functions of the C library. So a
 * cancelled thread never leaves a half-written file behind.
 *
 * Threads   all functions may run concurrently; the caller must prevent concurrent uses of one
 *           descriptor that do harm.
 * Errors    the result is 0 or an error number where the function's comment does not say otherwise;
 *           errno is preserved.
 * Signals   async-signal-safe. The caller blocks SIGPIPE and SIGXFSZ (shield.h) if necessary.
 */
#ifndef PTX_BASE_IO_H
#define PTX_BASE_IO_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PTX_IO_NO_LIMIT (-1)

/*
 * Writes bytes[*done .. len). *done grows by the number of bytes written, also if the call fails.
 * If a descriptor in non-blocking mode accepts no byte for wait_ms milliseconds, the function
 * returns EAGAIN. With PTX_IO_NO_LIMIT it waits without a limit.
 */
int ptx_io_write(int fd, const void *bytes, size_t len, size_t *done, int wait_ms);

/*
 * Writes at a position of the file: bytes[i] goes to offset + i. EFBIG: a file cannot be that
 * long.
 */
int ptx_io_write_at(int fd, const void *bytes, size_t len, uint64_t offset, size_t *done);

/*
 * Reads up to len bytes at `offset`. *got becomes the number of bytes read, which is less than len
 * only at the end of the file or after an error.
 */
int ptx_io_read_at(int fd, void *bytes, size_t len, uint64_t offset, size_t *got);

/*
 * Returns the first position from `offset` on that is not in a hole of the file: `offset` itself if
 * the file system does not report holes, UINT64_MAX if only a hole follows. The function moves the
 * descriptor's position and then restores it. In between, a read() of another thread would read at
 * the wrong position.
 */
uint64_t ptx_io_next_data(int fd, uint64_t offset);

/*
 * Reads a small file as text with a closing NUL, truncated to `room` bytes. If the file cannot be
 * read, the text is empty and the function returns the error.
 */
int ptx_io_read_file(const char *path, char *text, size_t room);

/* Like ptx_io_read_file(), but returns the length of the text, and 0 if the file cannot be read. */
size_t ptx_io_read_text(const char *path, char *text, size_t room);

/*
 * Calls `visit` with the folder's descriptor and each name in the folder but "." and "..", in no
 * order, until `visit` returns a value other than 0. Returns that value, 0, or an error number.
 */
int ptx_io_list(const char *path, int (*visit)(void *arg, int folder, const char *name), void *arg);

/*
 * Converts a number to decimal digits without stdio. Returns the first digit, which is inside the
 * array `digits`.
 */
#define PTX_IO_DIGITS 21
const char *ptx_io_digits(uint64_t number, char digits[PTX_IO_DIGITS]);

/*
 * Moves a descriptor to a number from min on, out of the way of programs that rely on low numbers,
 * and closes fd. Returns the new number, or fd itself if no such number is free. Closing fd
 * releases the record locks that the process has on this file.
 */
int ptx_io_move_up(int fd, int min);

/* Like ftruncate(), but a signal does not interrupt it. Returns 0 or an error number. */
int ptx_io_truncate(int fd, uint64_t bytes);

/*
 * Makes an empty file in memory, to which seals can be added, and stores its descriptor. The
 * descriptor is close-on-exec. Since Linux 6.3 the file cannot be executed.
 */
int ptx_io_memory_file(const char *name, int *fd);

/*
 * Like open() with O_CLOEXEC, and like close(), but as system calls. `flags` must not make a file.
 */
int ptx_io_open(const char *path, int flags, int *fd);
void ptx_io_close(int fd);

/*
 * Returns whether the error number is about this process, which lacks descriptors or memory. Such
 * an error says nothing about the file or process that was to be examined.
 */
static inline bool ptx_io_is_own(int err)
{
	return err == EMFILE || err == ENFILE || err == ENOMEM;
}

#endif
