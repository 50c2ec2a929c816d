/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/msan.h - lets the library run in a program with MemorySanitizer without being compiled for
 * it.
 *
 * MemorySanitizer replaces strlen(), write() and similar functions, and ends the program if they
 * receive memory that no instrumented code has initialized. MemorySanitizer does not see the stores
 * of this library. So it considers memory from malloc(), or a stack that instrumented functions
 * have used before, uninitialized. Between ptx_msan_pause() and ptx_msan_resume() these functions
 * check nothing in this thread. The calls may nest.
 *
 * In a program without MemorySanitizer, each of the two calls costs a load and a branch. A trace
 * point does not need them: it calls no function that checks.
 *
 * Threads   any thread; the calls concern only the calling thread.
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
