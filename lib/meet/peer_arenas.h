/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/peer_arenas.h - other processes' arenas that this process has open. Each is open only once.
 *
 * When this process closes any descriptor of a file, the kernel releases every lock that the
 * process has on that file. So an arena that is in use is never opened a second time. A path is
 * first opened with O_PATH, to determine the file to which it leads. Closing such a descriptor does
 * not release locks.
 *
 * Threads   any. An arena that was found between lock and unlock remains open after the unlock only
 *           if the caller has increased its member `users`.
 */
#ifndef PTX_MEET_PEER_ARENAS_H
#define PTX_MEET_PEER_ARENAS_H

#include "arena/arena.h"
#include "meet/openers.h"

/*
 * Returns the arena in the open file fd, or NULL if the file is no arena. The function owns fd in
 * both cases.
 */
struct ptx_arena *ptx_arena_open(int fd);

/* The lock protects the list of open arenas. Unlocking closes the arenas that no stream uses. */
void ptx_peer_arenas_lock(void);
void ptx_peer_arenas_unlock(void);

/*
 * Stores in *arena the arena to which `path` leads, or NULL if the file is no arena. Returns an
 * error number if the file could not be opened and may be an arena. EPROTONOSUPPORT: the arena is
 * of another version of this library, whose layout is unknown. The caller holds the lock.
 */
int ptx_peer_arenas_at(const char *path, struct ptx_arena **arena);

/*
 * Makes an arena for a process that has no arena. Returns NULL if there is no memory, or if no file
 * can be made. The caller holds the lock.
 */
struct ptx_arena *ptx_peer_arenas_make(uint32_t inner_pid);

/*
 * Calls `look` with the arena to which `path` leads. The arena is open during the call. If this
 * process has the arena open already, `look` gets the existing structure. Returns 0 if `look` was
 * called, EINVAL if the file is no arena, or the error number of open(), such as ENOENT if the
 * process has closed the file or has ended. If `wanted` is not null, the path must lead to the file
 * that this opener had. If it leads to another file, the result is ENOENT, too: the process has
 * closed the descriptor, whose number may belong to another arena by now. `look` may read the file
 * by pread() and test record locks. The function acquires the lock itself; errno is unchanged.
 */
int ptx_peer_arenas_peek(const char *path, const struct ptx_opener *wanted,
			 void (*look)(void *arg, const struct ptx_arena *arena), void *arg);

/* Called in a child, which has one thread: closes its copies of the parent's descriptors. */
void ptx_peer_arenas_after_fork(void);

#endif
