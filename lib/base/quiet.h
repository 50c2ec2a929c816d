/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/quiet.h - whether this process may make system calls that the program did not request.
 *
 * If a program has installed a seccomp filter, any call that the filter does not admit may kill the
 * program or make its signal handler run. Once the flag is set, writers of events make no system
 * calls. A sleeping reader wakes by itself after a while, and an event that would need memory from
 * the kernel is lost and counted.
 *
 * A child of vfork() that installs a filter uses its parent's memory, and the parent has no filter.
 * Such a child sets only the flag of its thread. The parent's thread clears the flag when it
 * continues. Meanwhile the other threads of the parent are not quiet.
 *
 * Threads   any thread may set the flag of the process. This flag is never cleared, because a
 *           filter cannot be removed.
 * Signals   async-signal-safe.
 * Fork      a child inherits the filter and both flags.
 */
#ifndef PTX_BASE_QUIET_H
#define PTX_BASE_QUIET_H

#include <stdatomic.h>
#include <stdbool.h>

/* The flags of the process and of the thread. Read them by ptx_is_quiet(). */
extern atomic_bool ptx_quiet;
extern _Thread_local bool ptx_quiet_lent __attribute__((tls_model("initial-exec")));

static inline bool ptx_is_quiet(void)
{
	return atomic_load_explicit(&ptx_quiet, memory_order_relaxed) || ptx_quiet_lent;
}

#endif
