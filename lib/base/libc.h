/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/libc.h - the functions of glibc that other C libraries, such as musl, lack.
 *
 * Threads   all functions may run concurrently.
 */
#ifndef PTX_BASE_LIBC_H
#define PTX_BASE_LIBC_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __GLIBC__
#include <sys/single_threaded.h>

extern void *__libc_stack_end;
extern int __clone(int (*function)(void *), void *stack, int flags, void *argument, ...);

/*
 * The C library's clone() by a name that no sanitizer replaces. If the child shares the memory of
 * this process, the replacement of ThreadSanitizer would stop the detection of races in this
 * process.
 */
#define ptx_libc_clone __clone

/* Returns true if the process certainly has one thread. */
static inline bool ptx_libc_has_one_thread(void)
{
	return __libc_single_threaded;
}

/* Returns the end of the main thread's stack: an address above all its frames. */
static inline uintptr_t ptx_libc_main_stack_end(void)
{
	return (uintptr_t)__libc_stack_end;
}

/* Return the name of an error, such as ENOENT, and its description. NULL: unknown. */
static inline const char *ptx_libc_error_name(int err)
{
	return strerrorname_np(err);
}

static inline const char *ptx_libc_error_text(int err)
{
	return strerrordesc_np(err);
}

/* The name of a signal without SIG, such as HUP. NULL: unknown. */
static inline const char *ptx_libc_signal_name(int number)
{
	return sigabbrev_np(number);
}

#else
#include <sched.h>
#include <sys/auxv.h>

#define ptx_libc_clone clone

/*
 * Returns the address of the program's random bytes, which the kernel stores above the first frame.
 */
static inline uintptr_t ptx_libc_main_stack_end(void)
{
	return (uintptr_t)getauxval(AT_RANDOM);
}

static inline bool ptx_libc_has_one_thread(void)
{
	return false;
}

/*
 * ptx_libc_error_name() returns the name of an error number, such as ENOENT, and
 * ptx_libc_error_text() its text. ptx_libc_signal_name() returns the name of a signal without SIG,
 * such as INT. All three return NULL if there is none. The strings are constant.
 */
const char *ptx_libc_error_name(int err);
const char *ptx_libc_error_text(int err);
const char *ptx_libc_signal_name(int number);

#endif

#endif
