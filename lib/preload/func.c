/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/func.c - family func: functions of programs that were compiled with
 * -finstrument-functions.
 *
 * The compiled code calls the two functions below at the beginning and the end of every function.
 * The event's address is the place from which the function was called. The wrappers themselves must
 * not be instrumented, or they would call each other without end.
 */
#include "preload/shim.h"

/* The C library has definitions that do nothing, so there is no next function to call. */
#define CYG(name, type) \
	SHIM_WRAPPER __attribute__((no_instrument_function)) \
	void name(void *function, void *caller); \
	void name(void *function, void *caller) \
	{ \
		if (shim_on_alone(type)) { \
			const uint64_t data = (uint64_t)(uintptr_t)function; \
			shim_put(type, &data, sizeof data, caller); \
		} \
	}

CYG(__cyg_profile_func_enter, FUNC_ENTER)
CYG(__cyg_profile_func_exit, FUNC_LEAVE)
