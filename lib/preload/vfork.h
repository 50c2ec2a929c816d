/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/vfork.h - children of vfork(), which use their parent's memory.
 *
 * Threads   any thread; the count is thread-local.
 */
#ifndef PTX_PRELOAD_VFORK_H
#define PTX_PRELOAD_VFORK_H

#include <stdbool.h>

/*
 * The number of calls of vfork() that have returned in a child in this thread's memory and not in
 * the parent yet. It is more than 1 if such a child calls vfork() itself. The parent sees stores of
 * its child. But if the child changes its state in the kernel, the parent's state does not change.
 */
extern _Thread_local unsigned shim_vfork_depth __attribute__((tls_model("initial-exec")));

static inline bool shim_is_vfork_child(void)
{
	return shim_vfork_depth > 0;
}

#endif
