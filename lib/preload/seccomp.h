/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/seccomp.h - calls that forbid some system calls to a thread.
 *
 * Threads   all functions may run concurrently.
 * Signals   async-signal-safe.
 */
#ifndef PTX_PRELOAD_SECCOMP_H
#define PTX_PRELOAD_SECCOMP_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The effect of a call, for seccomp.c; `flags` are those of seccomp(2). `filter` is the address of
 * the filter, which may be invalid until the kernel has accepted it; 0: no filter. `is_of_child` is
 * true if the caller is a child that uses the memory of its parent, as after vfork().
 */
struct shim_change {
	int limit;
	bool is_of_child;
	uint32_t flags;
	uintptr_t filter;
};

/* Determines the effect of a system call that the program makes through syscall(). */
struct shim_change shim_change_of(long number, long a, long b, long c);

/*
 * A wrapper calls shim_before_change() before the real call, and shim_after_change() after it.
 * shim_before_change() sets change->is_of_child. `result` is -1 after an error. `caller` is the
 * return address of the wrapper.
 */
void shim_before_change(struct shim_change *change, const void *caller);
void shim_after_change(const struct shim_change *change, long result, const void *caller);

#endif
