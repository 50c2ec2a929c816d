/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/file.h - whether a descriptor number still leads to the file that the library opened.
 *
 * A descriptor that the library keeps is a number in the program's table of descriptors. The
 * program may close the descriptor, as daemons close all descriptors, and may then get a file of
 * its own under this number. The library therefore remembers which file it opened, and checks
 * before each use. If the number now leads to another file, the library does not use it.
 *
 * There is no other system call between the check and the use. If another thread gets the number
 * at just that moment, the library does not notice. It therefore keeps its descriptors at high
 * numbers. The kernel assigns such a number only if a program asks for it.
 *
 * Threads   all functions may run concurrently.
 * Signals   async-signal-safe; errno is preserved.
 */
#ifndef PTX_BASE_FILE_H
#define PTX_BASE_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* The lowest number of a descriptor that the library keeps. */
#define PTX_FILE_FD_MIN 208

/* The identity of a file. ptx_file_identify() fills it; the members do not change afterwards. */
struct ptx_file {
	uint64_t device;
	uint64_t inode;
	int64_t born_ns; /* 0: not known */
}; /* device and inode are always known */

/* Records the identity of fd in *file. Returns false if fd is not open. */
bool ptx_file_identify(int fd, struct ptx_file *file);

/* Returns whether fd is open and leads to the file that *file identifies. */
bool ptx_file_is(int fd, const struct ptx_file *file);

/*
 * Returns EBADF if ptx_file_is() is false, and EIO if the file has become shorter than `bytes`.
 * Otherwise returns 0. A shorter file with another time of birth is a later file that got the inode
 * number of a deleted one, so the result is then EBADF.
 */
int ptx_file_check(int fd, const struct ptx_file *file, uint64_t bytes);

/* Closes fd if it leads to the file that *file identifies. No error is reported. */
void ptx_file_close(int fd, const struct ptx_file *file);

/*
 * Makes a duplicate with FD_CLOEXEC, at a number from PTX_FILE_FD_MIN on if one is free. Returns 0
 * or an error number.
 */
int ptx_file_duplicate(int fd, int *duplicate);

#endif
