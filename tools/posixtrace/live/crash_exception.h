/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* crash_exception.h - the C++ exception that nothing caught, in the memory of a stopped process. */
#ifndef POSIXTRACE_LIVE_CRASH_EXCEPTION_H
#define POSIXTRACE_LIVE_CRASH_EXCEPTION_H

#include "live/crash_stack.h"

/*
 * Writes the type of the exception and, if it is known, its text, such as "std::out_of_range: 7".
 * "memory" is a descriptor of the process's memory (inject/memory.h), and sp the stack pointer of
 * the thread. Returns false if no exception of the C++ library of gcc is found.
 */
bool crash_exception_read(const struct unwind *unwind, const struct crash_stack *stack, int memory,
			  uint64_t sp, char *text, size_t size);

#endif
