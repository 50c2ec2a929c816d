/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/barrier.h - a full memory barrier on every running thread that may record events.
 *
 * The caller passes ptx_barrier() at one point of its own execution. Each other thread passes a
 * full barrier at some point of its own execution during that call. Stores that such a thread made
 * before that point are visible to the caller after the call. Accesses that the thread makes after
 * that point happen after everything that the caller did before the call. Writers therefore need no
 * fence. Only the reader pays for the barrier, and it calls this function rarely.
 *
 * Threads   all functions may run concurrently.
 * Signals   async-signal-safe. errno is preserved.
 * Errors    false if neither the kernel nor the processor made a barrier: the order across threads
 *           is then unknown, and the caller must assume that any thread may still be between two of
 *           its accesses.
 */
#ifndef PTX_BASE_BARRIER_H
#define PTX_BASE_BARRIER_H

#include <stdbool.h>

/*
 * Registers the process for barriers. The library's constructor calls this function, because
 * registering is cheap while the process has one thread.
 */
void ptx_barrier_init(void);

/* Makes a barrier on all running threads of this process. Returns whether the barrier was made. */
bool ptx_barrier(void);

/*
 * Makes a barrier on all running threads of every process that has called ptx_barrier_init().
 * Returns whether the barrier was made.
 */
bool ptx_barrier_everywhere(void);

#endif
