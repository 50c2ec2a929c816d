/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/msan.h - code that runs in a program with MemorySanitizer, without being compiled for it.
 *
 * The same as base/msan.h, for the shim, which uses public headers only.
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
