/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/content.h - the first bytes that a call has moved, if the user asked for them.
 *
 * The bytes are the last field of the event, "bytes data", and absent if they were not requested or
 * cannot be read. Only memory that the kernel has filled or read in this call is recorded.
 *
 * Threads   everything here may be called by any thread at any time.
 * Signals   async-signal-safe. An event needs as many more bytes of the stack as were requested.
 * Errors    errno is preserved.
 */
#ifndef PTX_PRELOAD_CONTENT_H
#define PTX_PRELOAD_CONTENT_H

#include "preload/shim.h"

/* How many bytes of a call are recorded; 0: none, the default. At most SHIM_CONTENT_MAX. */
extern unsigned shim_content_bytes;

/*
 * After a call that moved result bytes: they are at at, which is memory of the given form, and of
 * count elements in a vector. Nothing is read before the event is recorded. Does nothing after an
 * error.
 */
#define SHIM_MOVED(form_, at_, count_, result_) \
	do { \
		if (shim_unlikely(shim_content_bytes) && (int64_t)(result_) > 0) { \
			call.moved = (at_); \
			call.form = (form_); \
			call.parts = (size_t)(count_); \
			call.bytes = (uint64_t)(result_); \
		} \
	} while (0)

#endif
