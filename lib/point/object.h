/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/object.h - where threads get their objects from (thread.h), and who has which.
 *
 * An object is taken by its word `taken` alone. It is memory of the process that is zeroed in a
 * child and never given back, so a late reader of an object that has another owner by now reads
 * memory that is there.
 *
 * Threads   all. Signals: all functions are async-signal-safe.
 */
#ifndef PTX_POINT_OBJECT_H
#define PTX_POINT_OBJECT_H

#include "point/thread.h"

/* Reserves the first objects; from the library's constructor. */
void ptx_objects_init(void);

/* A free object, taken, without a system call; NULL if none is at hand. */
struct ptx_thread *ptx_object_take(void);

/* One from new memory, or after a long search; NULL: there is none. */
struct ptx_thread *ptx_object_make(void);

/* Nobody uses the object any longer. */
void ptx_object_free(struct ptx_thread *thread);

/* The thread has made the object that it took its own, or given it back. */
void ptx_object_is_made(void);

/*
 * In a child: the object of the thread that forked, or that it was making its own, is left to the
 * frames that the fork interrupted.
 */
void ptx_objects_leave(const struct ptx_thread *self);

#endif
