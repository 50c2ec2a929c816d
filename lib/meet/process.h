/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/process.h - how a process gets its arena: at its start, after execve(), and in a child.
 *
 * When a program starts, it uses an arena that it has inherited, or an arena that a controller has
 * made for it. Otherwise the program makes its own arena. A child of fork() keeps its parent's
 * arena if it inherits a stream in this arena.
 *
 * Threads   ptx_process_init() runs before other threads exist. The functions that set up a child
 *           usually run in its only thread, or in a signal handler of this thread. If the fork
 *           handler has not run, the child may have other threads by then. Any thread may call
 *           ptx_process_pid().
 */
#ifndef PTX_MEET_PROCESS_H
#define PTX_MEET_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Sets up the process at its start. Called by the library's constructor, or by the first library
 * function if the program calls it before the constructor runs.
 */
void ptx_process_init(void);

/*
 * Sets up a child. A child that inherits a stream keeps its parent's arena. Any other child gets an
 * arena of its own with a copy of the event names, except in a quiet process. Called by the fork
 * handler ptx_process_forked(), or by the first function that finds that the child is not set up.
 * Async-signal-safe.
 */
void ptx_process_child(void);

/* Returns the process id, which was stored when the process was set up. */
uint32_t ptx_process_pid(void);

/*
 * The fork handler in a child: does the same as ptx_process_child(). If the kernel has not zeroed
 * the process block, the function zeroes it. This is necessary on Linux before 4.14, and in an
 * emulator that accepts MADV_WIPEONFORK without effect.
 */
void ptx_process_forked(void);

/*
 * Defined beside the constructor and the fork handlers. No function calls the constructor or the
 * handlers, so the linker takes their file from the static library only if another file refers to
 * it. So the files that each traced program and each controller has refer to this constant.
 */
extern const bool ptx_process_has_handlers;

/* A function that ptx_process_child() calls first, or NULL. */
extern void (*ptx_process_before_child)(void);

/*
 * A function that returns a child's own process id, if possible without a system call. If it is
 * NULL, ptx_process_child() calls ptx_proc_own().
 */
extern uint32_t (*ptx_process_pid_of_child)(void);

#endif
