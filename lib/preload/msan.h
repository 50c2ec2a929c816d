/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/msan.h - lets the shim run in a program with MemorySanitizer.
 *
 * This header does the same as base/msan.h. The shim has a header of its own, because it may use
 * only the public headers of the library. Only programs with MemorySanitizer define these
 * functions. In all other programs the weak references to them are NULL.
 *
 * Threads   any thread; the calls concern only the calling thread.
 */
#ifndef PTX_PRELOAD_MSAN_H
#define PTX_PRELOAD_MSAN_H

#define SHIM_MSAN __attribute__((weak, visibility("default")))
extern SHIM_MSAN void __msan_init(void);
extern SHIM_MSAN void __msan_scoped_disable_interceptor_checks(void);
extern SHIM_MSAN void __msan_scoped_enable_interceptor_checks(void);

static inline void shim_msan_pause(void)
{
	if (__msan_scoped_disable_interceptor_checks)
		__msan_scoped_disable_interceptor_checks();
}

static inline void shim_msan_resume(void)
{
	if (__msan_scoped_enable_interceptor_checks)
		__msan_scoped_enable_interceptor_checks();
}

#endif
