/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/find.h - the arena of another process.
 *
 * The kernel decides who may: /proc/PID/fd opens its files to those who may trace the process
 * (PRIV-02). A process is its id and the time it began; a process file descriptor held meanwhile
 * proves that the id was not given to another.
 *
 * Threads   all. Arenas that are in use are shared: closing a file would give up every lock that
 *           this process has on it.
 */
#ifndef PTX_ARENA_FIND_H
#define PTX_ARENA_FIND_H

#include <sys/types.h>

#include "arena/arena.h"

struct ptx_notice;

/* Whom a stream traces. */
struct ptx_target {
	struct ptx_arena *arena;
	struct ptx_notice *notice; /* NULL: none was left */
	bool inherited;
	uint32_t pid;   /* as the target itself knows it */
	uint64_t start; /* in clock ticks after boot */
	bool same_ids;  /* its name space of process ids is ours */
};

/*
 * The target that pid names, 0 is this process, for a stream that its children inherit or not. ESRCH:
 * no such process; EPERM, ENOMEM, EMFILE; ENXIO: it has no arena.
 */
int ptx_target_find(pid_t pid, bool inherited, struct ptx_target *target);
void ptx_target_release(struct ptx_target *target);

#endif
