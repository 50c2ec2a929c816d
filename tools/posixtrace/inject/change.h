/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * change.h - changes the code of a process while all its threads are stopped.
 */
#ifndef POSIXTRACE_INJECT_CHANGE_H
#define POSIXTRACE_INJECT_CHANGE_H

#include "inject/target.h"

/*
 * If "writes" is true, writes the jumps that the preload library (the shim) has prepared and that
 * are wanted; it is an error if no jump is wanted. If "writes" is false, restores the original
 * bytes at all written jumps, unless another tracer wants jumps. Returns NULL, or the reason why no
 * jump was written, or why not all of the code was restored. The caller must be a process that
 * exists only for this purpose, because the kernel releases the threads when this process ends.
 * *is_stuck becomes true if a thread did not stop. The caller must then end, so that the kernel
 * releases the thread and another process may try again.
 */
const char *change_code(const struct target *target, bool writes, bool *is_stuck);

#endif
