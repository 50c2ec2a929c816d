/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/known.h - memory that is known to be mapped, without a system call.
 *
 * It consists of the calling thread's stack above its frame, the heap up to the break, and the
 * segments of objects that were loaded when the program started, which are never unmapped. All
 * other memory is unknown.
 *
 * Threads   shim_is_known() may be called by any thread.
 * Signals   shim_is_known() is async-signal-safe.
 */
#ifndef PTX_PRELOAD_KNOWN_H
#define PTX_PRELOAD_KNOWN_H

#include <stdbool.h>

/*
 * Determines the ranges. From the shim's constructor. is_running: the program has started long
 * ago and may have loaded libraries that it will unload; their segments are left out.
 */
void shim_know(bool is_running);

/* Returns whether the byte at address is known to be mapped. False: unknown. */
bool shim_is_known(const void *address);

#endif
