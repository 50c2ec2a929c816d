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

/* Whom a stream traces. */
struct ptx_notice;

struct ptx_target {
	struct ptx_arena *arena;
	struct ptx_notice *notice; /* NULL: none was left */
	bool inherited;
	uint32_t pid;   /* as the target itself knows it */
	uint64_t start; /* in clock ticks after boot */
	bool same_ids;  /* its name space of process ids is ours */
};

/*
 * The target that pid names, 0 is this process, for a stream that its children inherit or not. ESRCH no such process, EPERM, ENOMEM, EMFILE; ENXIO:
 * it has no arena.
 */
int ptx_target_find(pid_t pid, bool inherited, struct ptx_target *target);
void ptx_target_release(struct ptx_target *target);

/* The arena in an open file that was handed over, or NULL: it is none. */
struct ptx_arena *ptx_arena_open(int fd);

/*
 * Calls look with the arena that path leads to, which is open meanwhile, and is this process's own if
 * it has it. False: it is none. look may read it with pread() and ask for locks.
 */
bool ptx_target_peek(const char *path, void (*look)(void *arg, const struct ptx_arena *arena),
		     void *arg);

/* In a child, with one thread: closes its parent's files. */
void ptx_target_after_fork(void);

#endif
