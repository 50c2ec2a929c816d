/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/object.h - allocates thread objects (thread.h).
 *
 * A thread claims an object by the object's word `taken` alone. The memory of objects is zeroed in
 * a child and never unmapped. So a thread that still reads an object after the object got another
 * owner reads valid memory.
 *
 * Threads   all functions may run concurrently.
 * Signals   all functions are async-signal-safe.
 * Errors    errno may change; ptx_thread_make() restores it.
 */
#ifndef PTX_POINT_OBJECT_H
#define PTX_POINT_OBJECT_H

#include "point/thread.h"

/* Reserves the first objects. The library's constructor calls this function. */
void ptx_objects_init(void);

/* Claims a free object without a system call. Returns NULL if there is none. */
struct ptx_thread *ptx_object_take(void);

/* Returns an object in new memory, or finds one by a long search; NULL if there is none. */
struct ptx_thread *ptx_object_make(void);

/* Releases the object. Its thread must not use it any more. */
void ptx_object_free(struct ptx_thread *thread);

/*
 * Ends the making of an object. Called when the thread has made the object its own, or has released
 * it.
 */
void ptx_object_end_making(void);

/*
 * Called in a child. If the thread that forked was making an object its own, the frames that the
 * fork interrupted keep that object; otherwise they keep the thread's object. The child's pools
 * begin behind the object that is kept.
 */
void ptx_objects_leave(const struct ptx_thread *self);

#endif
