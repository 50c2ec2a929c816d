/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/peer_arenas.h - the arenas of other processes that are open here, each once.
 *
 * When this process closes any descriptor of a file, the kernel releases every lock that the
 * process has on that file. So an arena that is in use is never opened a second time. A path is
 * first opened with O_PATH, to determine the file to which it leads. Such a descriptor does not
 * affect locks.
 *
 * Threads   all; an arena that is found between lock and unlock remains open after the unlock only
 *           if the caller has increased its `users`.
 */
#ifndef PTX_MEET_PEER_ARENAS_H
#define PTX_MEET_PEER_ARENAS_H

#include "arena/arena.h"

/*
 * Returns the arena in the open file fd; NULL: the file is no arena. The function owns fd from then
 * on.
 */
struct ptx_arena *ptx_arena_open(int fd);

/* Unlocking closes the arenas that no stream uses. */
void ptx_peer_arenas_lock(void);
void ptx_peer_arenas_unlock(void);

/*
 * Under lock. Stores the arena behind `path`; NULL: no arena is there. Returns an error number if
 * the file could not be opened and may be an arena. EPROTONOSUPPORT: the arena is one of another
 * version of this library, whose layout is unknown.
 */
int ptx_peer_arenas_at(const char *path, struct ptx_arena **arena);

/* Under lock. Makes an arena for a process that has none; NULL: no memory. */
struct ptx_arena *ptx_peer_arenas_make(uint32_t inner_pid);

/*
 * Calls `look` with the arena to which `path` leads. The arena is open during the call. If this
 * process has the arena open already, `look` gets the existing structure. Returns 0 if `look` was
 * called, EINVAL if the file is no arena, or the error number of open(): ENOENT if the process has
 * closed the file or has ended, EMFILE if nothing is known about the file. `look` may read the file
 * with pread() and ask for locks. The function acquires the lock itself; errno is unchanged.
 */
int ptx_peer_arenas_peek(const char *path, void (*look)(void *arg, const struct ptx_arena *arena),
			 void *arg);

/* Called in a child, which has one thread: closes its copies of the parent's descriptors. */
void ptx_peer_arenas_after_fork(void);

#endif
