/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/quiet.h - whether this process may make system calls that the program did not ask for.
 *
 * A program that has installed a seccomp filter may be killed, or its handler run, by any call that
 * the filter does not admit. From then on writers of events make none: a reader that sleeps looks
 * again by itself, and what would need memory from the kernel is lost and counted.
 *
 * Threads   any thread may set it; nobody takes it back, since no filter can be removed.
 * Fork      a child inherits it with the filter.
 */
#ifndef PTX_BASE_QUIET_H
#define PTX_BASE_QUIET_H

#include <stdatomic.h>
#include <stdbool.h>

extern atomic_bool ptx_quiet;

static inline bool ptx_is_quiet(void)
{
	return atomic_load_explicit(&ptx_quiet, memory_order_relaxed);
}

#endif
