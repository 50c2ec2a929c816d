/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/known.h - knows without a system call that certain memory is mapped.
 *
 * This memory is the calling thread's stack above its frame, the heap up to the break, and the
 * segments of objects that were loaded when the program started. These segments are never unmapped.
 * All other memory is unknown.
 *
 * Threads   shim_is_known() may be called by any thread.
 * Signals   shim_is_known() is async-signal-safe.
 */
#ifndef PTX_PRELOAD_KNOWN_H
#define PTX_PRELOAD_KNOWN_H

#include <stdbool.h>

/*
 * Determines the ranges. The shim's constructor calls it. is_running says that the program started
 * long before the shim was loaded. It may have loaded libraries that it will unload, so segments of
 * libraries are left out.
 */
void shim_know(bool is_running);

/* Returns whether the byte at address is known to be mapped. False: it is unknown. */
bool shim_is_known(const void *address);

#endif
