/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/ids.h - the calling thread's id without a system call.
 *
 * glibc keeps a thread's id in the thread's descriptor and, in the child of fork(), replaces it before
 * fork() returns there. It writes the id into every mutex that the thread locks, at a place that is
 * part of its ABI; a mutex on the stack therefore reads it. A child of a raw clone() or vfork() still
 * finds its parent's id.
 *
 * Threads   every thread.
 * Signals   async-signal-safe: the mutex is not shared.
 * Errors    0 where the C library does not tell.
 */
#ifndef PTX_BASE_IDS_H
#define PTX_BASE_IDS_H

#include <pthread.h>
#include <stdint.h>

static inline uint32_t ptx_ids_thread(void)
{
#if defined __GLIBC__
	/* A checking mutex never uses lock elision, which would leave the owner out. */
	pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
	uint32_t id;

	if (pthread_mutex_lock(&mutex))
		return 0;
	id = (uint32_t)mutex.__data.__owner;
	pthread_mutex_unlock(&mutex);
	return id;
#else
	return 0;
#endif
}

#endif
