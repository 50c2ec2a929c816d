/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_attr_getlogsize() and the rest of its page: sizes. */
#include <errno.h>

#include "base/export.h"
#include "posix/attr.h"

/* Setters take any value; whether it can be had is known only at creation (SIZE-02). */

PTX_EXPORT int posix_trace_attr_getlogsize(const trace_attr_t *restrict object,
					   size_t *restrict logsize)
{
	const struct ptx_attr *attr = ptx_posix_attr_const(object);

	if (!attr || !logsize)
		return EINVAL;
	*logsize = attr->log_size;
	return 0;
}

PTX_EXPORT int posix_trace_attr_setlogsize(trace_attr_t *object, size_t logsize)
{
	struct ptx_attr *attr = ptx_posix_attr(object);

	if (!attr)
		return EINVAL;
	attr->log_size = logsize;
	return 0;
}

PTX_EXPORT int posix_trace_attr_getmaxdatasize(const trace_attr_t *restrict object,
					       size_t *restrict maxdatasize)
{
	const struct ptx_attr *attr = ptx_posix_attr_const(object);

	if (!attr || !maxdatasize)
		return EINVAL;
	*maxdatasize = attr->max_data_size;
	return 0;
}

PTX_EXPORT int posix_trace_attr_setmaxdatasize(trace_attr_t *object, size_t maxdatasize)
{
	struct ptx_attr *attr = ptx_posix_attr(object);

	if (!attr)
		return EINVAL;
	attr->max_data_size = maxdatasize;
	return 0;
}

PTX_EXPORT int posix_trace_attr_getstreamsize(const trace_attr_t *restrict object,
					      size_t *restrict streamsize)
{
	const struct ptx_attr *attr = ptx_posix_attr_const(object);

	if (!attr || !streamsize)
		return EINVAL;
	*streamsize = attr->stream_size;
	return 0;
}

PTX_EXPORT int posix_trace_attr_setstreamsize(trace_attr_t *object, size_t streamsize)
{
	struct ptx_attr *attr = ptx_posix_attr(object);

	if (!attr)
		return EINVAL;
	attr->stream_size = streamsize;
	return 0;
}

PTX_EXPORT int posix_trace_attr_getmaxsystemeventsize(const trace_attr_t *restrict object,
						      size_t *restrict eventsize)
{
	const struct ptx_attr *attr = ptx_posix_attr_const(object);

	if (!attr || !eventsize)
		return EINVAL;
	*eventsize = ptx_attr_system_event_size();
	return 0;
}

PTX_EXPORT int posix_trace_attr_getmaxusereventsize(const trace_attr_t *restrict object,
						    size_t data_len, size_t *restrict eventsize)
{
	const struct ptx_attr *attr = ptx_posix_attr_const(object);

	if (!attr || !eventsize)
		return EINVAL;
	*eventsize = ptx_attr_user_event_size(attr, data_len);
	return 0;
}
