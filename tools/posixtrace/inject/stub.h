/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stub.h - the code that a thread of the process executes on a stack of its own.
 *
 * It loads the library, calls one of its functions, and then restores all registers of the thread
 * by rt_sigreturn(2) from a frame that was prepared before. So the thread returns to its former
 * place even if the tracer has ended meanwhile.
 */
#ifndef POSIXTRACE_INJECT_STUB_H
#define POSIXTRACE_INJECT_STUB_H

#include <stddef.h>
#include <stdint.h>

/*
 * The block in the memory of the process, to which r12 points. The stub finds its data at the
 * offsets of these members.
 */
struct stub_block {
	uint64_t errno_location, set_cancel_state, dlopen, dlsym, dlerror; /* functions */
	uint64_t path, symbol, argument;                                  /* strings or 0 */
	uint64_t flags;                                                   /* flags for dlopen() */
	uint64_t frame;        /* the stack pointer for rt_sigreturn() */
	uint64_t handle;       /* results from here on; "handle", "function": 0 after a failure */
	uint64_t function;
	uint64_t result;
	uint64_t message;      /* message of dlerror(); 0: none */
	uint64_t is_done;
};

extern const unsigned char stub_code[], stub_code_end[];
/* The place after the instruction that enters rt_sigreturn(). */
extern const unsigned char stub_return[];

#endif
