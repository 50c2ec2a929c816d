/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/io.h - reading and writing with patience: all of it, or an error number.
 *
 * An interrupted or short call goes on; a descriptor in non-blocking mode is waited for. None of
 * these is a cancellation point (the C library's would be): a thread never leaves a half-written
 * file behind.
 *
 * Errors    0 or an error number; errno stays as it was.
 * Signals   SIGPIPE and SIGXFSZ are the caller's to block.
 */
#ifndef PTX_BASE_IO_H
#define PTX_BASE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes bytes[*done .. len). *done grows by what was written, also when the call fails. */
int ptx_io_write(int fd, const void *bytes, size_t len, size_t *done);

/* The same at a place of the file: bytes[i] goes to offset + i. */
int ptx_io_write_at(int fd, const void *bytes, size_t len, uint64_t offset, size_t *done);

/* Reads up to len bytes at offset; fewer only at the end of the file. */
int ptx_io_read_at(int fd, void *bytes, size_t len, uint64_t offset, size_t *got);

/*
 * The first place from offset on that is not in a hole of the file; offset itself where the file
 * system does not tell, UINT64_MAX where only a hole follows. The descriptor's position is moved
 * and put back: a read() of another thread in between would go wrong.
 */
uint64_t ptx_io_next_data(int fd, uint64_t offset);

/* A small file as text with a closing NUL, cut to fit. */
int ptx_io_read_file(const char *path, char *text, size_t room);

/* The same, and how long it is; 0 when it cannot be read. */
size_t ptx_io_read_text(const char *path, char *text, size_t room);

/*
 * Hands the names in a folder, without "." and "..", to take, and the folder's descriptor, until
 * one is not answered with 0: that answer, or an error number.
 */
int ptx_io_list(const char *path, int (*take)(void *arg, int folder, const char *name), void *arg);

/* A number in decimal digits, without stdio. */
#define PTX_IO_DIGITS 21
const char *ptx_io_digits(uint64_t number, char digits[PTX_IO_DIGITS]);

/*
 * A descriptor from min on instead of fd, which is closed, out of the way of programs that count on
 * low numbers; fd itself if there is none. Closing fd gives up record locks on its file.
 */
int ptx_io_move_up(int fd, int min);

/* ftruncate(), which a signal does not interrupt; the error. */
int ptx_io_truncate(int fd, uint64_t bytes);

/* open() with O_CLOEXEC and close(). */
int ptx_io_open(const char *path, int flags, int *fd);
void ptx_io_close(int fd);

#endif
