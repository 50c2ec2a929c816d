/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_attr_getinherited() and the rest of its page: inheritance and full policies. */
#include <errno.h>

#include "base/export.h"
#include "posix/attr.h"

PTX_EXPORT int posix_trace_attr_getinherited(const trace_attr_t *restrict object,
					     int *restrict inheritance)
{
	const struct ptx_attr *attr = ptx_posix_attr_const(object);

	if (!attr || !inheritance)
		return EINVAL;
	*inheritance = (int)attr->inheritance;
	return 0;
}

PTX_EXPORT int posix_trace_attr_setinherited(trace_attr_t *object, int inheritance)
{
	struct ptx_attr *attr = ptx_posix_attr(object);

	if (!attr)
		return EINVAL;
	switch (inheritance) {
	case POSIX_TRACE_CLOSE_FOR_CHILD:
	case POSIX_TRACE_INHERITED:
		attr->inheritance = (uint32_t)inheritance;
		return 0;
	default:
		return EINVAL;
	}
}

PTX_EXPORT int posix_trace_attr_getlogfullpolicy(const trace_attr_t *restrict object,
						 int *restrict policy)
{
	const struct ptx_attr *attr = ptx_posix_attr_const(object);

	if (!attr || !policy)
		return EINVAL;
	*policy = (int)attr->log_policy;
	return 0;
}

PTX_EXPORT int posix_trace_attr_setlogfullpolicy(trace_attr_t *object, int policy)
{
	struct ptx_attr *attr = ptx_posix_attr(object);

	if (!attr)
		return EINVAL;
	switch (policy) {
	case POSIX_TRACE_LOOP:
	case POSIX_TRACE_UNTIL_FULL:
	case POSIX_TRACE_APPEND:
		attr->log_policy = (uint32_t)policy;
		return 0;
	default:
		return EINVAL;
	}
}

PTX_EXPORT int posix_trace_attr_getstreamfullpolicy(const trace_attr_t *restrict object,
						    int *restrict policy)
{
	const struct ptx_attr *attr = ptx_posix_attr_const(object);

	if (!attr || !policy)
		return EINVAL;
	*policy = (int)attr->stream_policy;
	return 0;
}

PTX_EXPORT int posix_trace_attr_setstreamfullpolicy(trace_attr_t *object, int policy)
{
	struct ptx_attr *attr = ptx_posix_attr(object);

	if (!attr)
		return EINVAL;
	switch (policy) {
	case POSIX_TRACE_LOOP:
	case POSIX_TRACE_UNTIL_FULL:
	case POSIX_TRACE_FLUSH:
		attr->stream_policy = (uint32_t)policy;
		/* The default depends on whether the stream has a log (POLICY-04): LOOP that
		 * was asked for is not the LOOP of a fresh object. */
		attr->flags |= PTX_ATTR_POLICY_SET;
		return 0;
	default:
		return EINVAL;
	}
}
