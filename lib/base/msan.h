/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/msan.h - code that runs in a program with MemorySanitizer, without being compiled for it.
 *
 * MemorySanitizer defines strlen(), write() and the like, and ends the program when they are given
 * memory that no instrumented code has initialized. It knows nothing of what this library stores,
 * so memory from malloc(), or a stack that instrumented functions have used before, is not
 * initialized for it. Between ptx_msan_pause() and ptx_msan_resume() these functions check nothing
 * in this thread. The calls may nest.
 *
 * Both cost a load and a branch in a program without MemorySanitizer. A trace point does not need
 * them: it calls no function that checks.
 */
#ifndef PTX_BASE_MSAN_H
#define PTX_BASE_MSAN_H

#define PTX_MSAN __attribute__((weak, visibility("default")))
extern PTX_MSAN void __msan_scoped_disable_interceptor_checks(void);
extern PTX_MSAN void __msan_scoped_enable_interceptor_checks(void);

static inline void ptx_msan_pause(void)
{
	if (__msan_scoped_disable_interceptor_checks)
		__msan_scoped_disable_interceptor_checks();
}

static inline void ptx_msan_resume(void)
{
	if (__msan_scoped_enable_interceptor_checks)
		__msan_scoped_enable_interceptor_checks();
}

#endif
