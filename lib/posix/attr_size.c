/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/attr_size.c - posix_trace_attr_getlogsize() and the other functions of its page: sizes in
 * bytes.
 */
#include <errno.h>

#include "base/export.h"
#include "posix/attr.h"

/*
 * Setters accept each value of size_t. posix_trace_create() checks whether the size is possible
 * (SIZE-02). Getters return the size that was set (SIZE-01). From the attributes of a stream they
 * return the size that the stream has (SIZE-04).
 */

/*
 * SIZE-15, SIZE-16: the size is in bytes of event records; a log of policy APPEND ignores it.
 * SIZE-18: the function also accepts the attributes of an opened log.
 */
PTX_EXPORT int posix_trace_attr_getlogsize(const trace_attr_t *restrict object,
					   size_t *restrict logsize)
{
	const struct ptx_attr *attr = ptx_posix_attr_const(object);

	if (!attr || !logsize)
		return EINVAL;
	/* The member and size_t both have 64 bits, so the copy keeps each value. */
	*logsize = attr->log_size;
	return 0;
}

/*
 * SIZE-02. LOOP and UNTIL_FULL need room for one event of maximum size and a STOP. The creation of
 * the log checks this (WITHLOG-11).
 */
PTX_EXPORT int posix_trace_attr_setlogsize(trace_attr_t *object, size_t logsize)
{
	struct ptx_attr *attr = ptx_posix_attr(object);

	if (!attr)
		return EINVAL;
	attr->log_size = logsize;
	return 0;
}

/* SIZE-13: this size limits the data of user events only. */
PTX_EXPORT int posix_trace_attr_getmaxdatasize(const trace_attr_t *restrict object,
					       size_t *restrict maxdatasize)
{
	const struct ptx_attr *attr = ptx_posix_attr_const(object);

	if (!attr || !maxdatasize)
		return EINVAL;
	*maxdatasize = attr->max_data_size;
	return 0;
}

/* SIZE-02. 0 is valid: user events then have no data (SIZE-14). */
PTX_EXPORT int posix_trace_attr_setmaxdatasize(trace_attr_t *object, size_t maxdatasize)
{
	struct ptx_attr *attr = ptx_posix_attr(object);

	if (!attr)
		return EINVAL;
	attr->max_data_size = maxdatasize;
	return 0;
}

/* SIZE-03, SIZE-04: the size counts memory for event records only. */
PTX_EXPORT int posix_trace_attr_getstreamsize(const trace_attr_t *restrict object,
					      size_t *restrict streamsize)
{
	const struct ptx_attr *attr = ptx_posix_attr_const(object);

	if (!attr || !streamsize)
		return EINVAL;
	*streamsize = attr->stream_size;
	return 0;
}

/*
 * SIZE-02. A size that is too small for a START and one event is enlarged at the creation
 * (CREATE-23).
 */
PTX_EXPORT int posix_trace_attr_setstreamsize(trace_attr_t *object, size_t streamsize)
{
	struct ptx_attr *attr = ptx_posix_attr(object);

	if (!attr)
		return EINVAL;
	attr->stream_size = streamsize;
	return 0;
}

/*
 * SIZE-05, SIZE-06. The size is the sum of a record's header, of two event sets, which are the data
 * of a FILTER event, and of an ident record.
 */
PTX_EXPORT int posix_trace_attr_getmaxsystemeventsize(const trace_attr_t *restrict object,
						      size_t *restrict eventsize)
{
	const struct ptx_attr *attr = ptx_posix_attr_const(object);

	if (!attr || !eventsize)
		return EINVAL;
	/* The size does not depend on the attributes, but the object must be valid (SIZE-17). */
	*eventsize = ptx_attr_system_event_size();
	return 0;
}

/*
 * SIZE-07 to SIZE-09. The length is truncated before the sum is computed, so that the sum does not
 * overflow.
 */
PTX_EXPORT int posix_trace_attr_getmaxusereventsize(const trace_attr_t *restrict object,
						    size_t data_len, size_t *restrict eventsize)
{
	const struct ptx_attr *attr = ptx_posix_attr_const(object);

	if (!attr || !eventsize)
		return EINVAL;
	/* data_len may be any number, also SIZE_MAX (SIZE-08). */
	*eventsize = ptx_attr_user_event_size(attr, data_len);
	return 0;
}
