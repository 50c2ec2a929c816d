/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/known.h - tests without a system call whether memory is certainly mapped.
 *
 * Three kinds of memory are certainly mapped: the calling thread's stack above its frame, the heap
 * up to the break, and the segments of objects that were loaded when the program started. The
 * dynamic linker never unmaps these segments. If the program itself unmaps a part of the heap or of
 * a segment, or makes it unreadable, the whole heap or segment is no longer known. Whether other
 * memory is mapped is unknown.
 *
 * Threads   all functions but shim_find_known() may be called by any thread.
 * Signals   these functions are async-signal-safe.
 */
#ifndef PTX_PRELOAD_KNOWN_H
#define PTX_PRELOAD_KNOWN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Determines the ranges. The shim's constructor calls it. is_running is true if the program started
 * long before the shim was loaded. The program may then have loaded libraries that it will unload,
 * so this function ignores the segments of libraries.
 */
void shim_find_known(bool is_running);

/* Returns true if the byte at `address` is known to be mapped, and false if that is unknown. */
bool shim_is_known(const void *address);

/*
 * Like shim_is_known(), but false for the heap. Another thread may call free(), and the C library
 * may then lower the break, so the heap is mapped only while no thread may free the memory.
 */
bool shim_is_lasting(const void *address);

/*
 * Called by wrappers before a system call with this number and these arguments, and before a
 * function that makes this system call. If the call may unmap a part of the heap or of a segment,
 * or make it unreadable, the whole heap or segment is unknown from then on.
 */
void shim_forget_by_call(long number, long a, long b, long c, long d, long e);

#endif
