/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/start.h - functions of families that run when the process begins, forks or ends.
 *
 * Threads   the constructor, the destructor, or the only thread of a child of fork().
 */
#ifndef PTX_PRELOAD_START_H
#define PTX_PRELOAD_START_H

/*
 * Called in a child of fork(), which has a copy of the parent's memory and only one of its threads.
 * shim_in_child() resets the turns of signal.c. shim_threads_in_child() releases the memory for
 * threads that were about to start.
 */
void shim_in_child(void);
void shim_threads_in_child(void);

/*
 * Called first in a child that has a copy of the memory. Forgets everything that belongs to the
 * parent or to its other threads: losses, locks, threads that were about to start. The fork handler
 * calls it; a wrapper calls it if no fork handler has run. It is async-signal-safe.
 */
void shim_after_copy(void);

/* Records the first and the last event of a program. */
void shim_process_begins(void);
void shim_process_ends(void);

#endif
