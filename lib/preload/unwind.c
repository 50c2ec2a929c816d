/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/unwind.c - the functions of the unwinder that the compiler's code and this library call.
 *
 * The wrappers have cleanups, which run if a call is left by an exception or by the cancellation of
 * its thread. The compiler's code for that refers to libgcc_s, so that the library would be loaded
 * into every program. Loading it costs as much as all of the shim's own start: its constructor
 * executes CPUID a dozen times, and under a hypervisor each one costs microseconds. So these
 * definitions, which only this library sees, pass the calls on.
 *
 * The functions are called while a thread unwinds its stack. The program's unwinder is then loaded
 * already, except if it is part of the program. Then libgcc_s is loaded now, as the C library does
 * for a cancellation.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unwind.h>

#define LIBRARY "libgcc_s.so.1"

/*
 * Returns the function, NULL if there is no unwinder. An unwinder that the program was linked with
 * comes first, as it would if the dynamic linker had bound the name.
 */
static void *find(_Atomic(void *) *known, const char *name)
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
 * Defines a function under the name of the unwinder's. The declarations of <unwind.h> would make
 * the name visible to the program.
 */
#define DEFINE(type, own_name, name, params) \
	__attribute__((visibility("hidden"), used)) type own_name params __asm__(name); \
	type own_name params

/* Finds the cleanup of a wrapper's frame. Without an unwinder the frame is left without it. */
DEFINE(_Unwind_Reason_Code, shim_personality, "__gcc_personality_v0",
       (int version, _Unwind_Action actions, _Unwind_Exception_Class class,
	struct _Unwind_Exception *exception, struct _Unwind_Context *context))
{
	static _Atomic(void *) known;
	__typeof__(shim_personality) *function = find(&known, "__gcc_personality_v0");

	return function ? function(version, actions, class, exception, context) :
			  _URC_CONTINUE_UNWIND;
}

/*
 * Goes on behind a cleanup. The unwinder begins at its caller, so that this frame is passed like
 * any other. A cleanup has run, so there is an unwinder.
 */
DEFINE(void, shim_resume, "_Unwind_Resume", (struct _Unwind_Exception *exception))
{
	static _Atomic(void *) known;
	__typeof__(shim_resume) *function = find(&known, "_Unwind_Resume");

	function(exception);
	__builtin_trap();
}

/* For patch_call.c. Only its callback of _Unwind_Backtrace() calls these two. */
DEFINE(_Unwind_Ptr, shim_get_ip, "_Unwind_GetIP", (struct _Unwind_Context *context))
{
	static _Atomic(void *) known;
	__typeof__(shim_get_ip) *function = find(&known, "_Unwind_GetIP");

	return function ? function(context) : 0;
}

DEFINE(_Unwind_Word, shim_get_cfa, "_Unwind_GetCFA", (struct _Unwind_Context *context))
{
	static _Atomic(void *) known;
	__typeof__(shim_get_cfa) *function = find(&known, "_Unwind_GetCFA");

	return function ? function(context) : 0;
}
