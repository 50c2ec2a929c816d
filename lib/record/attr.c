/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <time.h>

#include <trace.h>

#include "record/attr.h"

/* TRACE_NAME_MAX - 1 bytes and the NUL, so that a buffer of TRACE_NAME_MAX bytes holds it. */
static const char generation[] = PACKAGE_NAME " " PACKAGE_VERSION;

_Static_assert(sizeof(generation) <= PTX_NAME_BYTES - 1, "generation-version too long");

static int64_t clock_resolution_ns(void)
{
	struct timespec res;

	/* The call cannot fail for this clock; 1 ns is what every kernel of today answers. */
	if (clock_getres(CLOCK_REALTIME, &res))
		return 1;
	return (int64_t)res.tv_sec * 1000000000 + res.tv_nsec;
}

void ptx_attr_init(struct ptx_attr *attr)
{
	/* Padding and spare are zero too: the object goes into the log as it is. */
	memset(attr, 0, sizeof(*attr));
	attr->magic = PTX_ATTR_MAGIC;
	attr->version = PTX_ATTR_VERSION;
	attr->stream_size = PTX_ATTR_STREAM_SIZE;
	attr->max_data_size = PTX_ATTR_MAX_DATA_SIZE;
	attr->log_size = PTX_ATTR_LOG_SIZE;
	attr->inheritance = POSIX_TRACE_CLOSE_FOR_CHILD;
	attr->stream_policy = POSIX_TRACE_LOOP;
	attr->log_policy = POSIX_TRACE_LOOP;
	attr->clock_resolution_ns = clock_resolution_ns();
	memcpy(attr->generation, generation, sizeof(generation));
}
