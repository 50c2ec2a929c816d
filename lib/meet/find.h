/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/find.h - finds the process that a stream traces (the target), and its arena.
 *
 * The kernel checks the permission: a process can open the files of another process by /proc/PID/fd
 * only if it may trace that process (PRIV-02). A pidfd is open meanwhile, so it can be checked at
 * the end that the process id still means the same process. The pidfd also shows the number of the
 * process in /proc, which differs from the id if /proc belongs to another pid namespace.
 *
 * Threads   any. All threads share the open arenas. An arena's file is never opened twice, because
 *           closing the second descriptor would release every lock that this process has on the
 *           file.
 */
#ifndef PTX_MEET_FIND_H
#define PTX_MEET_FIND_H

#include <sys/types.h>

#include "arena/arena.h"
#include "base/life.h"

struct ptx_link_owner;

/* The process that a stream traces. */
struct ptx_target {
	struct ptx_arena *arena;
	struct ptx_link_owner *link_owner; /* NULL: no link was left */
	bool inherited;
	uint32_t pid;   /* process id of the target in its own pid namespace */
	uint32_t number; /* of the target in /proc; for this process, its id */
	struct ptx_identity identity; /* identity of another process; 0 for this process */
	uint32_t space; /* inode of the target's pid namespace; 0: not known */
	bool same_ids;  /* the target and this process have the same pid namespace */
};

/*
 * Finds the target with the process id `pid`; 0 means this process. If `inherited` is true,
 * children of the target inherit the stream. Returns 0, ESRCH if there is no such process, EPERM,
 * ENOMEM, EMFILE, ENFILE, EPROTONOSUPPORT if the process has an arena of another version, or
 * ENOTSUP if the process cannot be examined. For example, /proc does not show the process, or the
 * kernel refuses a pidfd. The call may sleep for about a second.
 */
int ptx_target_find(pid_t pid, bool inherited, struct ptx_target *target);
void ptx_target_release(struct ptx_target *target);

#endif
