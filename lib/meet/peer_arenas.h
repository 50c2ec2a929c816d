/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/peer_arenas.h - the arenas of other processes that are open here, each once.
 *
 * Closing a file would give up every lock that this process has on it: so an arena that is in use
 * is never opened a second time, and one that path leads to is held fast by a descriptor that has
 * no part in locks until it is known which one it is.
 *
 * Threads   all; what is found between lock and unlock stays there from then on only if its users
 *           were counted up.
 */
#ifndef PTX_MEET_PEER_ARENAS_H
#define PTX_MEET_PEER_ARENAS_H

#include "arena/arena.h"

/* The arena in an open file that was handed over, or NULL: it is none. */
struct ptx_arena *ptx_arena_open(int fd);

/* Unlocking closes those that nobody uses. */
void ptx_peer_arenas_lock(void);
void ptx_peer_arenas_unlock(void);

/*
 * Under lock. The arena behind path; NULL: no arena is there. Or an error number: what is there
 * could not be opened, and may be an arena.
 */
int ptx_peer_arenas_at(const char *path, struct ptx_arena **arena);

/* Under lock. One for a process that has none; NULL: no memory. */
struct ptx_arena *ptx_peer_arenas_make(uint32_t inner_pid);

/*
 * Calls look with the arena that path leads to, which is open meanwhile, and is this process's own
 * if it has it. False: it is none. look may read it with pread() and ask for locks. Takes the lock;
 * errno stays.
 */
bool ptx_peer_arenas_peek(const char *path, void (*look)(void *arg, const struct ptx_arena *arena),
			  void *arg);

/* In a child, with one thread: closes its parent's files. */
void ptx_peer_arenas_after_fork(void);

#endif
