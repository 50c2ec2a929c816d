/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/filter.h - whether programs that are executed under the process's seccomp filters may
 * load the shim.
 *
 * A filter remains in force after execve(). The shim in an executed program makes system calls that
 * the program does not make itself. If a filter ends the process because of one of these calls, the
 * program must be executed without the shim.
 *
 * Threads   all functions may run concurrently.
 * Signals   async-signal-safe. No system call is made.
 */
#ifndef PTX_PRELOAD_FILTER_H
#define PTX_PRELOAD_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>

/*
 * Notes that the kernel has installed this filter. The kernel has checked the program, so the
 * memory is readable and each jump leads forward within the program. `is_of_child` is true if the
 * caller is a child that uses the memory of its parent, to which the filter does not apply.
 * shim_filter_child_ends() forgets the filters of such a child. shim_filter_own() is for a child
 * that has a copy of that memory: it makes these filters the child's own.
 */
void shim_filter_installed(const struct sock_fprog *program, bool is_of_child);
void shim_filter_child_ends(void);
void shim_filter_own(void);

/* Returns whether one of the filters ends a process that loads the shim. */
bool shim_filter_forbids_start(void);

#endif
