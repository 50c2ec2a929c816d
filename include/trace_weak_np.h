/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace_weak_np.h - trace points in one line for programs that run also without the library.
 * <trace_point_np.h> includes it if POSIX_TRACE_WEAK_NP is defined.
 *
 * Each source file has one table of the functions that its lines call. The first line that runs
 * fills the table by dlsym(), which finds a library that was linked or preloaded. A weak symbol
 * would not be enough: if a program has a constant address (-no-pie), the linker binds the symbol
 * when it builds the program. Such a program would never find a preloaded library.
 *
 * Threads  several threads may fill the table at the same time, because they store equal values.
 * Signals  the first line of a source file is not async-signal-safe, because dlsym() is not.
 */
#ifndef _TRACE_WEAK_NP_H
#define _TRACE_WEAK_NP_H

#if defined __cplusplus && defined __GNUC__
#pragma GCC system_header
#endif

#include "trace.h"

#if defined POSIX_TRACE_WEAK_NP && defined __GNUC__ && \
	(defined __cplusplus ? __cplusplus >= 201103L : __STDC_VERSION__ >= 201112L)

#ifdef __cplusplus
extern "C" {
#endif

/*
 * dlsym() is declared as in <dlfcn.h>. Its first argument below is RTLD_DEFAULT, a null pointer,
 * which <dlfcn.h> defines only with _GNU_SOURCE.
 */
#ifdef __GLIBC__
extern void *dlsym(void *__restrict, const char *__restrict) __attribute__((nothrow));
#else
extern void *dlsym(void *__restrict, const char *__restrict);
#endif

struct _posix_trace_weak_np {
	const volatile unsigned char *active; /* the library's byte, or a 0 without a library */
	void (*posix_trace_event)(trace_event_id_t, const void *, size_t);
	trace_event_id_t (*posix_trace_site_open_np)(struct posix_trace_site_np *);
	void (*posix_trace_log_np)(struct posix_trace_site_np *, const char *, ...)
		__attribute__((format(printf, 2, 3)));
};

static const unsigned char _posix_trace_weak_state_np[2] = { 0, 1 };

/*
 * At first, the member active points to a constant 1, so that the first line that runs searches for
 * the library.
 */
static struct _posix_trace_weak_np _posix_trace_weak_np __attribute__((unused)) = {
	&_posix_trace_weak_state_np[1], NULL, NULL, NULL
};

/*
 * Stores the address of a function at `to`, and returns whether dlsym() found the function. The
 * address is copied, because dlsym() returns a pointer to data, and C has no conversion from a
 * pointer to data to a pointer to a function.
 */
static __inline __attribute__((unused)) int _posix_trace_weak_find_np(void *to, const char *name)
{
	void *found = dlsym(NULL, name);

	if (found)
		__builtin_memcpy(to, &found, sizeof(found));
	return found != NULL;
}

/* Returns whether the process is traced. A line calls this function only if *active is not 0. */
static __attribute__((unused, noinline)) int _posix_trace_weak_on_np(void)
{
	struct _posix_trace_weak_np *weak = &_posix_trace_weak_np;
	const volatile unsigned char *active =
		__atomic_load_n(&weak->active, __ATOMIC_ACQUIRE);
	struct _posix_trace_weak_np found;
	const volatile unsigned char *const *pointer = NULL;

	if (active != &_posix_trace_weak_state_np[1])
		return *active;
	found.active = &_posix_trace_weak_state_np[0];
	/* If a library of an older version lacks one of the functions, it is not used. */
	if (_posix_trace_weak_find_np(&pointer, "posix_trace_active_np") &&
	    _posix_trace_weak_find_np(&found.posix_trace_event, "posix_trace_event") &&
	    _posix_trace_weak_find_np(&found.posix_trace_site_open_np,
				      "posix_trace_site_open_np") &&
	    _posix_trace_weak_find_np(&found.posix_trace_log_np, "posix_trace_log_np")) {
		found.active = *pointer;
		__atomic_store_n(&weak->posix_trace_event, found.posix_trace_event,
				 __ATOMIC_RELAXED);
		__atomic_store_n(&weak->posix_trace_site_open_np, found.posix_trace_site_open_np,
				 __ATOMIC_RELAXED);
		__atomic_store_n(&weak->posix_trace_log_np, found.posix_trace_log_np,
				 __ATOMIC_RELAXED);
	}
	/*
	 * The pointer to the byte is stored last. So a thread that finds the library's byte also
	 * finds the functions.
	 */
	__atomic_store_n(&weak->active, found.active, __ATOMIC_RELEASE);
	return *found.active;
}

/*
 * While the process is not traced, the test costs one load and one branch, as without
 * POSIX_TRACE_WEAK_NP.
 */
#define POSIX_TRACE_IS_ON_() \
	(__builtin_expect(*__atomic_load_n(&_posix_trace_weak_np.active, __ATOMIC_RELAXED), 0) && \
	 _posix_trace_weak_on_np())
#define POSIX_TRACE_CALL_(function) (*_posix_trace_weak_np.function)

#ifdef __cplusplus
}
#endif

#endif

#endif
