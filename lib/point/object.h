/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/object.h - allocates thread objects (thread.h).
 *
 * An object is claimed by its word `taken` alone. It is memory of the process that is zeroed in a
 * child and never unmapped. A thread that reads an object late, when that has another owner,
 * therefore reads valid memory.
 *
 * Threads   all functions may run concurrently.
 * Signals   all functions are async-signal-safe.
 * Errors    errno may change; ptx_thread_make() restores it.
 */
#ifndef PTX_POINT_OBJECT_H
#define PTX_POINT_OBJECT_H

#include "point/thread.h"

/* Reserves the first objects. From the library's constructor. */
void ptx_objects_init(void);

/* Returns a free object, claimed, without a system call; NULL if there is none. */
struct ptx_thread *ptx_object_take(void);

/* Returns an object of new memory, or after a long search; NULL if there is none. */
struct ptx_thread *ptx_object_make(void);

/* Releases the object. Its thread must not use it any more. */
void ptx_object_free(struct ptx_thread *thread);

/* The calling thread owns the object that it took, or has released it: no object is in making. */
void ptx_object_is_made(void);

/*
 * In a child: leaves the object of the thread that forked, or the one that it was making its own,
 * to the frames that the fork interrupted.
 */
void ptx_objects_leave(const struct ptx_thread *self);

#endif
