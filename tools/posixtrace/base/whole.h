/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * whole.h - reads and writes all bytes of a buffer, in as many system calls as necessary. A system
 * call that a signal handler interrupts is repeated.
 *
 * Each function returns 0 or an error number; after an error, a part of the bytes may have been
 * transferred. Any thread may call these functions. They block as long as the system calls block.
 */
#ifndef POSIXTRACE_BASE_WHOLE_H
#define POSIXTRACE_BASE_WHOLE_H

#include <stddef.h>
#include <stdint.h>

/* Writes at the offset of the descriptor. */
int whole_write(int fd, const void *bytes, size_t len);

/*
 * These functions write and read at the offset "at" of a file or memory. whole_pread() returns EIO
 * if the file or memory ends before all bytes were read. "at" has 64 bits, because it may be an
 * address in /proc/PID/mem.
 */
int whole_pwrite(int fd, const void *bytes, size_t len, uint64_t at);
int whole_pread(int fd, void *bytes, size_t len, uint64_t at);

#endif
