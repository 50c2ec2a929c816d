/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/find.h - the arena of another process.
 *
 * The kernel decides about the permission: only a process that may trace another process can open
 * the other process's files by /proc/PID/fd (PRIV-02). A pidfd that is open meanwhile makes sure
 * that the id has not been given to another process. The pidfd also leads to the process's number
 * in /proc. This number differs from the process's id if /proc belongs to another name space of
 * process ids.
 *
 * Threads   all. They share the arenas that are in use. If an arena's file had a second descriptor,
 *           closing it would release every lock that this process has on the file.
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
	uint32_t pid;   /* the id of the target in its own name space */
	struct ptx_identity identity; /* of another process; 0 for this one */
	uint32_t space; /* inode of its name space of process ids; 0: not known */
	bool same_ids;  /* its name space of process ids is that of this process */
};

/*
 * Finds the target that pid names; 0 is this process. If `inherited` is true, children of the
 * target inherit the stream. ESRCH: there is no such process; EPERM, ENOMEM, EMFILE; ENOTSUP: the
 * process cannot be examined, since /proc does not show it or the kernel refuses a pidfd. The call
 * may sleep for about a second.
 */
int ptx_target_find(pid_t pid, bool inherited, struct ptx_target *target);
void ptx_target_release(struct ptx_target *target);

#endif
