/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/process.h - how a process gets its arena: at its start, after execve(), and in a child.
 *
 * A program that starts uses an inherited arena, or an arena that a controller made for it;
 * otherwise it makes its own arena. A child keeps its parent's arena if it inherits a stream there.
 */
#ifndef PTX_MEET_PROCESS_H
#define PTX_MEET_PROCESS_H

#include <stdint.h>

/*
 * The library's constructor calls this function, or the first call of a library function if that
 * comes before the constructor.
 */
void ptx_process_init(void);

/*
 * Sets up a child: it keeps its parent's arena if it inherits a stream. Otherwise, unless the
 * process is quiet, it gets an arena of its own with a copy of the event names. The fork handler
 * ptx_process_forked() calls it, or the first function that finds pid 0. Async-signal-safe.
 */
void ptx_process_child(void);

/* Returns the process's id, which the process stored when it was set up. */
uint32_t ptx_process_pid(void);

/*
 * Does the same as ptx_process_child(), for the fork handler in a child. It zeroes the process
 * block itself if MADV_WIPEONFORK had no effect: in an emulator that accepts this advice and does
 * nothing, or with Linux before 4.14.
 */
void ptx_process_forked(void);

/* ptx_process_child() calls this function first. */
extern void (*ptx_process_before_child)(void);

/* Returns a child's own id, without a system call if possible. NULL: getpid() is called. */
extern uint32_t (*ptx_process_pid_of_child)(void);

#endif
