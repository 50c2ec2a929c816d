/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/ids.h - the calling thread's id without a system call.
 *
 * glibc keeps a thread's id in the thread's descriptor. In the child of fork() it replaces the id
 * before fork() returns. When a thread locks a mutex, glibc writes the thread's id into the mutex,
 * at an offset that is part of its ABI. A mutex on the stack therefore shows the id. A child of a
 * raw clone() or of vfork() still finds its parent's id.
 *
 * The mutex is a C11 mutex, and glibc locks it like any other mutex. ThreadSanitizer replaces the
 * functions of POSIX mutexes by its own, and its functions call the wrappers of the shim. The shim
 * would record such a call as a call of the program. It would need the thread's id for that event,
 * and would recurse without end. ThreadSanitizer does not replace mtx_lock().
 *
 * Threads   all threads may call it concurrently.
 * Signals   async-signal-safe: the mutex is not shared.
 * Errors    the result is 0 if the C library does not show the id.
 */
#ifndef PTX_BASE_IDS_H
#define PTX_BASE_IDS_H

#include <pthread.h>
#include <stdint.h>
#include <threads.h>

static inline uint32_t ptx_ids_thread(void)
{
#if defined __GLIBC__
	union {
		mtx_t c11;
		pthread_mutex_t posix;
	} mutex;
	uint32_t id;

	/*
	 * A recursive mutex never uses lock elision. With lock elision the owner would not be in
	 * the mutex.
	 */
	if (mtx_init(&mutex.c11, mtx_plain | mtx_recursive) != thrd_success ||
	    mtx_lock(&mutex.c11) != thrd_success)
		return 0;
	id = (uint32_t)mutex.posix.__data.__owner;
	mtx_unlock(&mutex.c11);
	return id;
#else
	return 0;
#endif
}

#endif
