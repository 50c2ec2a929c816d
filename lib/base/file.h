/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/file.h - whether a descriptor number still is the file that the library opened.
 *
 * A descriptor that the library keeps has a number of the program's. The program may close it, as
 * daemons do, and may then have a file of its own under the number. So the library remembers which
 * file it opened, and looks before each use. It leaves another file alone.
 * Between the look and the use there is no other system call; a thread that takes the number at
 * just that moment is not noticed. The library therefore keeps its descriptors at high numbers,
 * which the kernel gives to nobody who does not ask for them.
 *
 * Signals   async-signal-safe; errno is preserved.
 */
#ifndef PTX_BASE_FILE_H
#define PTX_BASE_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* Descriptors that are kept are at this number or above. */
#define PTX_FILE_FD_MIN 208

struct ptx_file {
	uint64_t device;
	uint64_t inode;
	int64_t born_ns; /* 0: not known */
};

/* Remembers what fd is. False: it is not open. */
bool ptx_file_know(int fd, struct ptx_file *file);

/*
 * fd is open, and is that file. The file once had so many bytes. If it has fewer, it may be a later
 * file that got the inode number of one that was deleted: then their times of birth must be equal.
 */
bool ptx_file_is(int fd, const struct ptx_file *file, uint64_t bytes);

/* Closes fd if it is that file. */
void ptx_file_close(int fd, const struct ptx_file *file);

/* A duplicate with O_CLOEXEC, at a high number if one is free: 0 or an error number. */
int ptx_file_duplicate(int fd, int *duplicate);

#endif
