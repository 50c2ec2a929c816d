/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/attr_policy.c - posix_trace_attr_getinherited() and the other functions of its page:
 * inheritance and full policies.
 *
 * The setters check the value against the list of the standard. If the value is not in the list,
 * they leave the object as it was (POLICY-06, POLICY-08). posix_trace_create() checks whether a
 * policy suits the stream (POLICY-07).
 */
#include <errno.h>

#include "base/export.h"
#include "posix/attr.h"

/* POLICY-01. POSIX_TRACE_CLOSE_FOR_CHILD or POSIX_TRACE_INHERITED. */
PTX_EXPORT int posix_trace_attr_getinherited(const trace_attr_t *restrict object,
					     int *restrict inheritance)
{
	const struct ptx_attr *attr = ptx_posix_attr_const(object);

	/* The result is stored only on success (GEN-09), here and in the functions below. */
	if (!attr || !inheritance)
		return EINVAL;
	*inheritance = (int)attr->inheritance;
	return 0;
}

/* POLICY-01. CLOSE_FOR_CHILD is the default (record/attr.c). */
PTX_EXPORT int posix_trace_attr_setinherited(trace_attr_t *object, int inheritance)
{
	struct ptx_attr *attr = ptx_posix_attr(object);

	if (!attr)
		return EINVAL;
	/*
	 * Only the two values of the standard are accepted. Other values are for later versions and
	 * must not be stored.
	 */
	switch (inheritance) {
	case POSIX_TRACE_CLOSE_FOR_CHILD:
	case POSIX_TRACE_INHERITED:
		attr->inheritance = (uint32_t)inheritance;
		return 0;
	default:
		return EINVAL;
	}
}

/*
 * POLICY-02. From the attributes of a log the caller gets the policy with which the log was
 * written. The default of an object is LOOP; a composed log without attributes has APPEND.
 */
PTX_EXPORT int posix_trace_attr_getlogfullpolicy(const trace_attr_t *restrict object,
						 int *restrict policy)
{
	const struct ptx_attr *attr = ptx_posix_attr_const(object);

	if (!attr || !policy)
		return EINVAL;
	*policy = (int)attr->log_policy;
	return 0;
}

/* POLICY-02. The type of the log's file decides which policies are allowed (WITHLOG-04). */
PTX_EXPORT int posix_trace_attr_setlogfullpolicy(trace_attr_t *object, int policy)
{
	struct ptx_attr *attr = ptx_posix_attr(object);

	if (!attr)
		return EINVAL;
	/* The three values for logs. FLUSH is a policy of streams only. */
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

/* POLICY-03, POLICY-05. The result is LOOP for an object whose policy was not set. */
PTX_EXPORT int posix_trace_attr_getstreamfullpolicy(const trace_attr_t *restrict object,
						    int *restrict policy)
{
	const struct ptx_attr *attr = ptx_posix_attr_const(object);

	if (!attr || !policy)
		return EINVAL;
	*policy = (int)attr->stream_policy;
	return 0;
}

/*
 * POLICY-03, POLICY-06. FLUSH is always accepted here. posix_trace_create() refuses it, because the
 * stream has no log (POLICY-07).
 */
PTX_EXPORT int posix_trace_attr_setstreamfullpolicy(trace_attr_t *object, int policy)
{
	struct ptx_attr *attr = ptx_posix_attr(object);

	if (!attr)
		return EINVAL;
	/* The three values for streams. APPEND is a policy of logs only. */
	switch (policy) {
	case POSIX_TRACE_LOOP:
	case POSIX_TRACE_UNTIL_FULL:
	case POSIX_TRACE_FLUSH:
		attr->stream_policy = (uint32_t)policy;
		/*
		 * This flag distinguishes a LOOP that the program has set from the LOOP of a new
		 * object (POLICY-05). Without it, the policy of a stream depends on whether the
		 * stream has a log (POLICY-04).
		 */
		attr->flags |= PTX_ATTR_POLICY_SET;
		return 0;
	default:
		return EINVAL;
	}
}
