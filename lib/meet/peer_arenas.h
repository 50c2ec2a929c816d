/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/peer_arenas.h - the arenas of other processes that are open here, each once.
 *
 * To close a file releases every lock that this process has on it. So an arena that is in use is
 * never opened a second time. A file that path leads to is first opened by a descriptor that does
 * not affect locks, until it is known which file it is.
 *
 * Threads   all; an arena that is found between lock and unlock remains open behind the unlock only
 *           if its users were counted up.
 */
#ifndef PTX_MEET_PEER_ARENAS_H
#define PTX_MEET_PEER_ARENAS_H

#include "arena/arena.h"

/* Returns the arena in an open file, which the function owns from then on; NULL: it is none. */
struct ptx_arena *ptx_arena_open(int fd);

/* Unlocking closes the arenas that no stream uses. */
void ptx_peer_arenas_lock(void);
void ptx_peer_arenas_unlock(void);

/*
 * Under lock. Stores the arena behind path; NULL: no arena is there. Returns an error number if the
 * file could not be opened and may be an arena.
 */
int ptx_peer_arenas_at(const char *path, struct ptx_arena **arena);

/* Under lock. Makes an arena for a process that has none; NULL: no memory. */
struct ptx_arena *ptx_peer_arenas_make(uint32_t inner_pid);

/*
 * Calls look with the arena that path leads to. It is open meanwhile, and is this process's own
 * structure if it has the arena open. Returns false if it is none. look may read it with pread()
 * and ask for locks. Acquires the lock; errno stays.
 */
bool ptx_peer_arenas_peek(const char *path, void (*look)(void *arg, const struct ptx_arena *arena),
			  void *arg);

/* In a child, with one thread: closes its parent's files. */
void ptx_peer_arenas_after_fork(void);

#endif
