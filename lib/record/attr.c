/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/attr.c - the default attributes of a stream.
 *
 * posix_trace_attr_init() calls ptx_attr_init() for an object of the program. The reader of a log
 * fills the same struct from the log's header.
 */
#include <string.h>
#include <time.h>

#include <trace.h>

#include "record/attr.h"

/*
 * The value of posix_trace_attr_getgenversion(). With its NUL it has at most TRACE_NAME_MAX bytes,
 * because older programs have buffers of that size.
 */
static const char generation[] = PACKAGE_NAME " " PACKAGE_VERSION;

_Static_assert(sizeof(generation) <= PTX_NAME_BYTES - 1, "generation-version too long");

/* Returns the resolution of CLOCK_REALTIME, in which a program gets the times of events. */
static int64_t clock_resolution_ns(void)
{
	struct timespec res;

	/* The call cannot fail for this clock. All present kernels return 1 ns. */
	if (clock_getres(CLOCK_REALTIME, &res))
		return 1;
	return (int64_t)res.tv_sec * 1000000000 + res.tv_nsec;
}

void ptx_attr_init(struct ptx_attr *attr)
{
	/*
	 * Padding and the unused bytes of texts are zero, too. The object goes into a log as it is,
	 * and a log must not contain old bytes of the stack.
	 */
	memset(attr, 0, sizeof(*attr));
	/* The magic word and the version make the object valid (ptx_attr_is_valid()). */
	attr->magic = PTX_ATTR_MAGIC;
	attr->version = PTX_ATTR_VERSION;
	/*
	 * The standard leaves these defaults to the implementation (CH-07 to CH-09). They are small
	 * enough for programs with many streams.
	 */
	attr->stream_size = PTX_ATTR_STREAM_SIZE;
	attr->max_data_size = PTX_ATTR_MAX_DATA_SIZE;
	attr->log_size = PTX_ATTR_LOG_SIZE;
	/*
	 * The standard requires these defaults: a child is not traced, a stream without log
	 * overwrites its oldest events, and a log overwrites its oldest events.
	 */
	attr->inheritance = POSIX_TRACE_CLOSE_FOR_CHILD;
	attr->stream_policy = POSIX_TRACE_LOOP;
	attr->log_policy = POSIX_TRACE_LOOP;
	attr->clock_resolution_ns = clock_resolution_ns();
	memcpy(attr->generation, generation, sizeof(generation));
}
