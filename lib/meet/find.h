/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/find.h - the arena of another process.
 *
 * The kernel decides who may: /proc/PID/fd opens its files to those who may trace the process
 * (PRIV-02). A process file descriptor held meanwhile proves that the id was not given to another,
 * and leads to the process's number in /proc, which is another than its id where /proc belongs to
 * another name space of process ids.
 *
 * Threads   all. Arenas that are in use are shared: closing a file would give up every lock that
 *           this process has on it.
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
	struct ptx_link_owner *link_owner; /* NULL: none was left */
	bool inherited;
	uint32_t pid;   /* as the target itself knows it */
	struct ptx_identity identity; /* of another process; 0 of this one */
	bool same_ids;  /* its name space of process ids is ours */
};

/*
 * The target that pid names, 0 is this process, for a stream that its children inherit or not.
 * ESRCH: there is no such process; EPERM, ENOMEM, EMFILE; ENOTSUP: it cannot be looked at, since
 * /proc does not show it or the kernel refuses a pidfd.
 */
int ptx_target_find(pid_t pid, bool inherited, struct ptx_target *target);
void ptx_target_release(struct ptx_target *target);

#endif
