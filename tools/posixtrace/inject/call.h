/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* call.h - makes a stopped thread of another process load a library and call a function of it. */
#ifndef POSIXTRACE_INJECT_CALL_H
#define POSIXTRACE_INJECT_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "inject/memory.h"
#include "inject/stop.h"

/* Addresses in the process, all of them in its C library. */
struct call_place {
	uint64_t system_call; /* the instructions "syscall; ret" */
	uint64_t restorer;    /* the function that calls rt_sigreturn() */
	uint64_t errno_location, set_cancel_state, dlopen, dlsym, dlerror;
};

struct call_request {
	const char *path, *symbol, *argument; /* "argument" may be NULL */
	int flags;                            /* the flags for dlopen() */
};

enum call_outcome {
	CALL_DONE,    /* result.value is the value that the function returned */
	CALL_FAILED,  /* dlopen() or dlsym() failed; result.message has the reason */
	CALL_REFUSED, /* the process could get no memory and is unchanged; result.value is -errno */
	/* the kernel refuses to write the code (result.value: -errno); the thread is unchanged */
	CALL_UNWRITABLE,
	/*
	 * the stack has no room for a signal frame (result.value: 0), or cannot be written
	 * (result.value: -errno); the thread is unchanged
	 */
	CALL_NO_ROOM,
	/* the call raised a signal such as SIGSEGV (result.value), which was suppressed */
	CALL_CRASHED,
	CALL_LATE,    /* the call did not end in time; it continues without this process */
	CALL_ENDED,   /* the process has ended meanwhile */
};

#define CALL_MESSAGE_BYTES 512

struct call_result {
	int64_t value;
	char message[CALL_MESSAGE_BYTES];
};

#if defined __x86_64__

/*
 * Makes the call. Afterwards the thread continues as stop_end() describes. If the outcome is
 * CALL_LATE, the thread remains traced until this process ends. "stack" is the mapping of the
 * thread's stack.
 */
enum call_outcome call_run(struct stopped *thread, int memory, const struct call_place *place,
			   const struct mapping *stack, const struct call_request *request,
			   struct call_result *result);

#endif

#endif
