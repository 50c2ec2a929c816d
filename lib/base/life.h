/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/life.h - whether a process or thread is alive, and whether two ids mean one process.
 *
 * Each question has three answers. PTX_DEAD is given only on evidence: kill(2) returned ESRCH, a
 * pidfd reported the end of the process, or the stat file of the process or thread showed its end.
 * Two further facts are evidence: another process has the id now, or /proc shows the process
 * without this thread. If the evidence cannot be read (no descriptor, no /proc, a /proc of another
 * namespace, a refused system call), the answer is PTX_LIFE_UNKNOWN. A caller that frees resources
 * of dead processes keeps the resources of a process whose state is unknown.
 *
 * Ids are ids in this process's namespace of process ids.
 *
 * Threads   all functions may run concurrently; no state is kept.
 * Signals   async-signal-safe.
 * Errors    errno is preserved.
 */
#ifndef PTX_BASE_LIFE_H
#define PTX_BASE_LIFE_H

#include <stdbool.h>
#include <stdint.h>

enum ptx_life { PTX_LIFE_UNKNOWN, PTX_ALIVE, PTX_DEAD };

/*
 * Returns whether a process lives. A process that has ended is dead even if its parent has not
 * waited for it. The answer costs three system calls, or about ten if the kernel gives no pidfd.
 */
enum ptx_life ptx_life_of(uint32_t pid);

/*
 * Like ptx_life_of(), but makes only one system call, kill(2). The result is PTX_DEAD or
 * PTX_LIFE_UNKNOWN. It is PTX_LIFE_UNKNOWN for a living process, and for a zombie (a process that
 * has ended, but whose parent has not waited for it).
 */
enum ptx_life ptx_life_by_kill(uint32_t pid);

/*
 * Returns whether a thread of the process pid lives. The answer costs one system call for a living
 * thread and two for a dead one. If another process has the id, or if a filter refuses tgkill(2),
 * the answer costs about ten.
 */
enum ptx_life ptx_life_of_thread(uint32_t pid, uint32_t tid);

/*
 * Identifies a process even if the kernel gives its id to a later process. The inode of a process's
 * pidfd (Linux 6.9) is never given to another process. The start time has a resolution of 1/100 s.
 * If only the start time is known, an id that is reused within that time is mistaken for the former
 * process.
 */
struct ptx_identity {
	uint64_t inode; /* 0: not known */
	uint64_t start; /* clock ticks after boot, in the initial time namespace; 0: not known */
};

/*
 * Fills in the identity of the process of pidfd; `number` is its number in /proc. Members that
 * cannot be determined are 0.
 */
void ptx_identity_of(int pidfd, uint32_t number, struct ptx_identity *identity);

/*
 * Fills in the identity of this process, whose id is `pid`: only the inode if that is known,
 * because the start time needs more system calls. The caller may also be a child of vfork() in the
 * memory of the process `pid`. This child gets no start time. Returns false if nothing is known
 * because there was no free descriptor: a later call may succeed.
 */
bool ptx_identity_self(uint32_t pid, struct ptx_identity *identity);

/* Returns the start time of a process as in struct ptx_identity; 0: unknown. */
uint64_t ptx_identity_start(uint32_t number);

struct ptx_proc;

/* Like ptx_identity_start(), for a process whose stat file the caller has read already. */
uint64_t ptx_identity_start_in(const struct ptx_proc *proc);

enum ptx_same { PTX_SAME_UNKNOWN, PTX_SAME, PTX_OTHER };

/* Returns whether both identify one process. PTX_SAME_UNKNOWN: no member is known in both. */
enum ptx_same ptx_identity_compare(const struct ptx_identity *a, const struct ptx_identity *b);

/*
 * Returns whether the process that had this id and identity still lives. Returns PTX_DEAD also if
 * another process has the id now.
 */
enum ptx_life ptx_life_of_one(uint32_t pid, const struct ptx_identity *identity);

/*
 * Waits until the process with this id and identity has ended, at most `ns` nanoseconds. Returns
 * true if it has ended: it then has no file open any more.
 */
bool ptx_life_ends(uint32_t pid, const struct ptx_identity *identity, int64_t ns);

/*
 * Sends SIGKILL to the process with this id and identity. Does nothing if the kernel has no pidfds,
 * or if it is uncertain that the process is the same: another process never gets the signal.
 */
void ptx_life_kill(uint32_t pid, const struct ptx_identity *identity);

#endif
