/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/quiet.h - whether this process may make system calls that the program did not request.
 *
 * If a program has installed a seccomp filter, any call that the filter does not admit may kill the
 * program or make its signal handler run. Once the flag is set, writers of events make no system
 * calls. A sleeping reader wakes by itself after a while, and an event that would need memory from
 * the kernel is lost and counted.
 *
 * Threads   any thread may set the flag. It is never cleared, because a filter cannot be removed.
 * Signals   async-signal-safe.
 * Fork      a child inherits both the filter and the flag.
 */
#ifndef PTX_BASE_QUIET_H
#define PTX_BASE_QUIET_H

#include <stdatomic.h>
#include <stdbool.h>

/* Read it by ptx_is_quiet(). */
extern atomic_bool ptx_quiet;

static inline bool ptx_is_quiet(void)
{
	return atomic_load_explicit(&ptx_quiet, memory_order_relaxed);
}

#endif
