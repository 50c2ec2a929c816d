/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/unwind.c - the functions of the unwinder that the compiler's code and this library call.
 *
 * The wrappers have cleanups, which run if a call is left by an exception or by the cancellation of
 * its thread. The compiler's code for cleanups calls functions of libgcc_s, so the dynamic linker
 * would load libgcc_s into every program. This would cost as much as all of the shim's own start:
 * the constructor of libgcc_s executes CPUID a dozen times, and under a hypervisor each CPUID costs
 * microseconds. So this file defines the functions, which only this library sees, and passes the
 * calls on.
 *
 * The functions are called while a thread unwinds its stack. Usually the program's unwinder is a
 * library and is loaded already at that time. If the unwinder is part of the program itself,
 * libgcc_s is loaded now, as the C library does for a cancellation.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unwind.h>

#define LIBRARY "libgcc_s.so.1"

/*
 * Returns the function, or NULL if there is no unwinder. If the program was linked with an
 * unwinder, this unwinder is used, as if the dynamic linker had bound the name.
 */
static void *unwind_find(_Atomic(void *) *known, const char *name)
{
	void *function = atomic_load_explicit(known, memory_order_acquire), *library;
	int saved = errno;

	if (function)
		return function;
	function = dlsym(RTLD_DEFAULT, name);
	if (!function) {
		library = dlopen(LIBRARY, RTLD_NOW);
		function = library ? dlsym(library, name) : NULL;
	}
	atomic_store_explicit(known, function, memory_order_release);
	errno = saved;
	return function;
}

/*
 * Defines a function under the name of a function of the unwinder. The declarations of <unwind.h>
 * would make the name visible to the program.
 */
#define DEFINE(type, own_name, name, params) \
	__attribute__((visibility("hidden"), used)) type own_name params __asm__(name); \
	type own_name params

/* Finds the cleanup of a wrapper's frame. If there is no unwinder, the cleanup does not run. */
DEFINE(_Unwind_Reason_Code, shim_personality, "__gcc_personality_v0",
       (int version, _Unwind_Action actions, _Unwind_Exception_Class class,
	struct _Unwind_Exception *exception, struct _Unwind_Context *context))
{
	static _Atomic(void *) known;
	__typeof__(shim_personality) *function = unwind_find(&known, "__gcc_personality_v0");

	return function ? function(version, actions, class, exception, context) :
			  _URC_CONTINUE_UNWIND;
}

/*
 * Continues the unwinding after a cleanup. The unwinder begins at the frame of its caller, which is
 * this function, and passes this frame like any other. There is an unwinder, because a cleanup has
 * run.
 */
DEFINE(void, shim_resume, "_Unwind_Resume", (struct _Unwind_Exception *exception))
{
	static _Atomic(void *) known;
	__typeof__(shim_resume) *function = unwind_find(&known, "_Unwind_Resume");

	function(exception);
	__builtin_trap();
}

/*
 * shim_get_ip() and shim_get_cfa() are for patch_call.c. Only its callback of _Unwind_Backtrace()
 * calls them.
 */
DEFINE(_Unwind_Ptr, shim_get_ip, "_Unwind_GetIP", (struct _Unwind_Context *context))
{
	static _Atomic(void *) known;
	__typeof__(shim_get_ip) *function = unwind_find(&known, "_Unwind_GetIP");

	return function ? function(context) : 0;
}

DEFINE(_Unwind_Word, shim_get_cfa, "_Unwind_GetCFA", (struct _Unwind_Context *context))
{
	static _Atomic(void *) known;
	__typeof__(shim_get_cfa) *function = unwind_find(&known, "_Unwind_GetCFA");

	return function ? function(context) : 0;
}
