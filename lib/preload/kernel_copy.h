/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/kernel_copy.h - copies memory that another thread may unmap at the same time.
 *
 * A test of the memory and a load after it would end the program if another thread unmapped the
 * memory in between. process_vm_readv(2) tests and copies in one step: if the memory is not mapped,
 * the call returns an error. The shim needs such a copy for memory that it reads after a call by
 * which another thread may have learned that it may free the memory.
 *
 * Threads   everything here may be called by any thread at any time.
 * Signals   async-signal-safe.
 * Errors    errno may change.
 */
#ifndef PTX_PRELOAD_KERNEL_COPY_H
#define PTX_PRELOAD_KERNEL_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

/*
 * Returns whether the process may make the system call. A seccomp filter may forbid the call and
 * even end the process. The first call of this function looks for a filter that the process has
 * inherited. seccomp.c sees the filters that the program itself installs.
 */
bool shim_may_copy(void);

/*
 * Copies the parts one after the other. Returns the number of bytes, 0 after an error. The kernel
 * copies up to the first page that it cannot read. Called only if shim_may_copy() is true.
 */
size_t shim_kernel_copy(void *to, size_t bytes, const struct iovec *part, size_t parts);

/* Does the same for one part. Returns whether all bytes were copied. */
bool shim_kernel_copy_all(void *to, size_t bytes, const void *from);

#endif
