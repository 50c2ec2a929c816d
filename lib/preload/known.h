/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/known.h - memory that is known to be mapped, without a system call.
 *
 * The calling thread's stack above its frame, the heap up to the break, and what was mapped of
 * objects that were there when the program started, which are never unmapped. All else is unknown.
 *
 * Signals   shim_is_known() is async-signal-safe.
 */
#ifndef PTX_PRELOAD_KNOWN_H
#define PTX_PRELOAD_KNOWN_H

#include <stdbool.h>

/* When the program starts. */
void shim_know(void);

bool shim_is_known(const void *address);

#endif
