/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace_object_np.h - names for objects in the memory of traced processes. If a field of type ptr
 * has the address of an object, readers show the object's name. Included by <trace_np.h>.
 *
 * Threads  every function may be called from any thread at the same time.
 * Signals  posix_trace_object_np() and posix_trace_object_kind_name_np() are async-signal-safe.
 * Errors   a function of type int returns 0 or the error number, and leaves errno as it was.
 *          Functions that read return EINVAL if trid is not a stream of this process, or if a
 *          pointer is null.
 * Growth   structures grow at their end: trace_sized_np(3).
 *
 * Manual page: posix_trace_object_np(3).
 */
#ifndef _TRACE_OBJECT_NP_H
#define _TRACE_OBJECT_NP_H

#if defined __cplusplus && defined __GNUC__
#pragma GCC system_header
#endif

#include <stdint.h>
#include "trace.h"

#ifdef __cplusplus
extern "C" {
#endif

#define POSIX_TRACE_OBJECT_THREAD_NP    1
#define POSIX_TRACE_OBJECT_MUTEX_NP     2
#define POSIX_TRACE_OBJECT_RWLOCK_NP    3
#define POSIX_TRACE_OBJECT_COND_NP      4
#define POSIX_TRACE_OBJECT_SEMAPHORE_NP 5
#define POSIX_TRACE_OBJECT_BARRIER_NP   6
#define POSIX_TRACE_OBJECT_QUEUE_NP     7
#define POSIX_TRACE_OBJECT_FILE_NP      8
#define POSIX_TRACE_OBJECT_SOCKET_NP    9
#define POSIX_TRACE_OBJECT_BUFFER_NP    10
#define POSIX_TRACE_OBJECT_TIMER_NP     11
#define POSIX_TRACE_OBJECT_OTHER_NP     12

/*
 * Only readers receive this kind. The member `pointer` is the id of the process that forked the
 * process `pid`. The child has the objects of its parent.
 */
#define POSIX_TRACE_OBJECT_CHILD_NP     0x8000

#define POSIX_TRACE_OBJECT_NAME_MAX_NP  47 /* bytes; longer names are shortened */

/*
 * Names an object of the calling process from now on. A later call for the same pointer replaces
 * the name. A forked child has the names of its parent. The function may be called before main().
 *
 * kind     POSIX_TRACE_OBJECT_*_NP, but not CHILD
 * pointer  identifies the object; the library does not read the object
 * name     null or empty: the object has no name any more
 *
 * EINVAL: `kind` has another value. ENOSPC: the list of names is full. It has room for 4096 names;
 * processes that inherit a stream share the list of their parent. ENOMEM: the process has no memory
 * for names.
 */
int posix_trace_object_np(int kind, const void *pointer, const char *name);

/* A name of an object. */
struct posix_trace_object_np {
	int kind;        /* POSIX_TRACE_OBJECT_*_NP; later versions may have others */
	pid_t pid;       /* the process that has the object */
	uint64_t pointer;
	int64_t time_ns; /* the time from which the name is valid, CLOCK_REALTIME */
	char name[POSIX_TRACE_OBJECT_NAME_MAX_NP + 1]; /* empty: no name any more */
};

/*
 * Stores the next name that the processes of an active stream gave, or the next name in an opened
 * log. At the end, stores a non-zero value in *unavailable and returns 0; an active stream may have
 * more names later. EINVAL.
 */
int posix_trace_object_getnext_sized_np(trace_id_t trid, struct posix_trace_object_np *object,
					size_t size, int *unavailable);
static __inline int posix_trace_object_getnext_np(trace_id_t trid,
						  struct posix_trace_object_np *object,
						  int *unavailable)
{
	return posix_trace_object_getnext_sized_np(trid, object, sizeof(*object), unavailable);
}

/* Begins again with the first name. EINVAL. */
int posix_trace_object_rewind_np(trace_id_t trid);

/*
 * Stores the name that the object at `pointer` had in the process `pid` at the time `time_ns`
 * (CLOCK_REALTIME, nanoseconds). ENOENT: the object had no name. EINVAL. ENOMEM.
 */
int posix_trace_object_find_sized_np(trace_id_t trid, pid_t pid, uint64_t pointer, int64_t time_ns,
				     struct posix_trace_object_np *object, size_t size);
static __inline int posix_trace_object_find_np(trace_id_t trid, pid_t pid, uint64_t pointer,
					       int64_t time_ns,
					       struct posix_trace_object_np *object)
{
	return posix_trace_object_find_sized_np(trid, pid, pointer, time_ns, object,
						sizeof(*object));
}

/*
 * Returns the name of a kind, such as "mutex". Returns "object" for a kind that this version does
 * not know.
 */
const char *posix_trace_object_kind_name_np(int kind);

#ifdef __cplusplus
}
#endif

#endif
