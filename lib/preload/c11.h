/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/c11.h - the results of functions of <threads.h>.
 *
 * glibc implements the objects of <threads.h> as those of <pthread.h>: an mtx_t begins with a
 * pthread_mutex_t, and a thrd_t is a pthread_t. But its functions call each other inside the C
 * library, so the shim has wrappers for both. The events of both are the same.
 *
 * Threads   any.
 * Signals   async-signal-safe.
 */
#ifndef PTX_PRELOAD_C11_H
#define PTX_PRELOAD_C11_H

#include <threads.h>

#include "preload/shim.h"

/*
 * Returns the error number for a result of a function of <threads.h>, or 0. The result thrd_error
 * has no reason, so its error number is EINVAL.
 */
shim_inline int shim_c11_error(int result)
{
	switch (result) {
	case thrd_success:
		return 0;
	case thrd_busy:
		return EBUSY;
	case thrd_nomem:
		return ENOMEM;
	case thrd_timedout:
		return ETIMEDOUT;
	default:
		return EINVAL;
	}
}

/*
 * Functions of <pthread.h> return the error number itself. This function exists so that one macro
 * can serve the functions of both headers.
 */
shim_inline int shim_posix_error(int result)
{
	return result;
}

#endif
