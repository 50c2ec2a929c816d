/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/life.h - whether a process or thread is alive, and whether two ids mean one process.
 *
 * Each question has three answers. PTX_DEAD is given only on evidence: the kernel said ESRCH, a
 * pidfd reported the end of the process, or its stat file was read and showed that it has ended.
 * Whatever keeps the evidence from being read (no descriptor, no /proc, a /proc of another name
 * space, a refused system call) gives PTX_LIFE_UNKNOWN. A caller treats an unknown process as it
 * treats a living one where the other choice would take something away from it.
 *
 * Ids are those of this process's name space of process ids.
 *
 * Threads   all; nothing is kept.
 * Signals   async-signal-safe.
 * Errors    errno stays as it was.
 */
#ifndef PTX_BASE_LIFE_H
#define PTX_BASE_LIFE_H

#include <stdbool.h>
#include <stdint.h>

enum ptx_life { PTX_LIFE_UNKNOWN, PTX_ALIVE, PTX_DEAD };

/* A process; one that has ended and was not waited for is dead. Takes up to five system calls. */
enum ptx_life ptx_life_of(uint32_t pid);

/* The same by one system call, kill(2): a process that was not waited for is unknown. */
enum ptx_life ptx_life_by_kill(uint32_t pid);

/* A thread of process pid. */
enum ptx_life ptx_life_of_thread(uint32_t pid, uint32_t tid);

/*
 * Which process an id meant. The inode of its pidfd (Linux 6.9) is never given to another process.
 * The time it began has a resolution of 1/100 s, so an id that is used again within that time is
 * mistaken.
 */
struct ptx_identity {
	uint64_t inode; /* 0: not known */
	uint64_t start; /* clock ticks after boot, in the first time name space; 0: not known */
};

/* number is that of the process in /proc. Members that cannot be found out are 0. */
void ptx_identity_of(int pidfd, uint32_t number, struct ptx_identity *identity);

/* This process. Only the inode, where that is known: the time it began takes more system calls. */
void ptx_identity_self(struct ptx_identity *identity);

/* When the process began, as in struct ptx_identity; 0: not known. */
uint64_t ptx_identity_start(uint32_t number);

enum ptx_same { PTX_SAME_UNKNOWN, PTX_SAME, PTX_OTHER };

enum ptx_same ptx_identity_compare(const struct ptx_identity *a, const struct ptx_identity *b);

/* Whether the process that pid once meant is alive. */
enum ptx_life ptx_life_of_one(uint32_t pid, const struct ptx_identity *identity);

#endif
