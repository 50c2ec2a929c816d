/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/process.h - how a process gets its arena: at its start, after execve(), and in a child.
 *
 * A program that starts takes an inherited arena or one that a controller made for it; otherwise
 * it makes its own. A child keeps its parent's arena if it inherits a stream of it.
 */
#ifndef PTX_MEET_PROCESS_H
#define PTX_MEET_PROCESS_H

#include <stdint.h>

/* From the library's constructor, or from the first call of all if that comes before it. */
void ptx_process_init(void);

/*
 * In a child: gives it an arena of its own with a copy of the event names. From the fork handler,
 * ptx_process_forked(), or from the first call that finds pid 0. Async-signal-safe.
 */
void ptx_process_child(void);

/* Returns the process's id, which it asked for when it began. */
uint32_t ptx_process_pid(void);

/*
 * The same as ptx_process_child(), for the fork handler in a child. It zeroes the block itself if
 * the advice was without effect: in an emulator that accepts it and does nothing, or with Linux
 * before 4.14.
 */
void ptx_process_forked(void);

/* Called by ptx_process_child() first. */
extern void (*ptx_process_before_child)(void);

/* Returns a child's own id, without a system call if possible. NULL: getpid() is called. */
extern uint32_t (*ptx_process_pid_of_child)(void);

#endif
