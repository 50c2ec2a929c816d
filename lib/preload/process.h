/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* preload/process.h - children of this process, for the wrappers that make them. */
#ifndef PTX_PRELOAD_PROCESS_H
#define PTX_PRELOAD_PROCESS_H

#include <sched.h>
#include <stdbool.h>

/* Records process.child. A child calls it, before any other event. */
void shim_child_begins(const void *caller);

/*
 * With one of these flags of clone(2), no C function of the shim runs in the child: the child
 * shares the memory, or has other thread-local memory, in which errno and the stack protector's
 * value are.
 */
#define SHIM_NO_COPY (CLONE_VM | CLONE_SETTLS)

/*
 * Returns whether a system call makes a child with a copy of the memory and of the stack, as fork()
 * does.
 */
bool shim_forks(long number, long flags, long stack);

typedef long shim_syscall_function(long number, ...);

/*
 * Makes such a call by the function `call` with six arguments, and records it in the parent and in
 * the child. It returns in both processes. errno is that of the call.
 */
long shim_fork_call(shim_syscall_function *call, long number, const long *a, const void *caller);

#endif
