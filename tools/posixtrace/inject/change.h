/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * change.h - changes the code of a process while all its threads are stopped.
 */
#ifndef POSIXTRACE_INJECT_CHANGE_H
#define POSIXTRACE_INJECT_CHANGE_H

#include "inject/target.h"

/*
 * Writes the jumps that the shim has prepared and that are wanted. If writes is false, restores the
 * original bytes at all jumps that are written, unless another tracer wants jumps. Returns NULL, or
 * the reason why nothing was changed. It is an error to write if no jump is wanted. The function
 * must be called in a process of its own, because if that process is killed, the kernel releases
 * the threads. *is_stuck becomes true if a thread did not stop. The process must then end, so that
 * the kernel releases the thread and another process may try again.
 */
const char *change_code(const struct target *target, bool writes, bool *is_stuck);

#endif
