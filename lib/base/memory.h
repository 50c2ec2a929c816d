/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/memory.h - how much memory this process may still use.
 *
 * Linux may grant memory that it does not have, and later kill a process. Two limits decide: the
 * memory of the machine, and the memory limit of the process's control groups, as in a container.
 *
 * Threads   all functions may run concurrently; no state is kept.
 * Errors    none: a limit that cannot be read does not count. errno is preserved.
 */
#ifndef PTX_BASE_MEMORY_H
#define PTX_BASE_MEMORY_H

#include <stdint.h>

/*
 * Returns the memory that is available on the machine, in bytes; UINT64_MAX: unknown. The call
 * costs four system calls.
 */
uint64_t ptx_memory_of_machine(void);

/*
 * Returns the memory that the control groups of this process leave to it, in bytes; UINT64_MAX: no
 * limit is known. The call costs up to twelve system calls for each group from the process's own to
 * the root.
 */
uint64_t ptx_memory_of_groups(void);

/*
 * Like ptx_memory_of_groups(), for the groups in the text `groups`, the content of a file
 * /proc/PID/cgroup. The folder `mount` has the file systems of the groups. Both versions of groups
 * are known. ptx_memory_of_groups() and tests call this function.
 */
uint64_t ptx_memory_of_groups_in(const char *groups, const char *mount);

#endif
