/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/content.h - the first bytes that a call has moved, if the user asked for them.
 *
 * The bytes are the last field of the event, "bytes data". The field is absent if the bytes were
 * not requested or cannot be read. Only memory that the kernel has filled or read in this call is
 * recorded.
 *
 * Threads   everything here may be called by any thread at any time.
 * Signals   async-signal-safe. An event needs as many more bytes of the stack as were requested.
 * Errors    errno is preserved.
 */
#ifndef PTX_PRELOAD_CONTENT_H
#define PTX_PRELOAD_CONTENT_H

#include <stdatomic.h>

#include "preload/shim.h"

/*
 * How many bytes of a call are recorded: 0 (the default) to SHIM_CONTENT_MAX. The tool posixtrace
 * reads this variable in the memory of the process, to warn a user who requests another number.
 */
SHIM_WRAPPER extern _Atomic unsigned posixtrace_shim_content;

/*
 * Called at the program's start. From then on, the first `bytes` bytes of each call are recorded.
 * The shim records no bytes if the process has inherited a seccomp filter, which may forbid the
 * system call that copies the bytes. seccomp.c sees the filters that the program itself installs.
 */
void shim_content_begin(unsigned bytes);

/*
 * A wrapper uses this macro after a call that moved result_ bytes. The macro notes that the bytes
 * are in the memory at_ of the form form_; a vector has count_ elements. The memory is read only
 * when the event is recorded. After an error this macro does nothing.
 */
#define SHIM_MOVED(form_, at_, count_, result_) \
	do { \
		if (shim_unlikely(atomic_load_explicit(&posixtrace_shim_content, \
						       memory_order_relaxed)) && \
		    (int64_t)(result_) > 0) { \
			call.moved = (at_); \
			call.form = (form_); \
			call.parts = (size_t)(count_); \
			call.bytes = (uint64_t)(result_); \
		} \
	} while (0)

#endif
