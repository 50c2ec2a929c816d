/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/attr_backing.c - posix_trace_attr_setbacking_np(): the memory of a stream in a file.
 *
 * The path is in the part of trace_attr_t that POSIX attributes do not need. This part is not
 * written to logs, and posix_trace_get_attr() does not return it.
 */
#include <errno.h>

#include <trace_np.h>

#include "base/export.h"
#include "posix/attr.h"

_Static_assert(sizeof(((struct ptx_posix_attr_more *)0)->backing) == POSIX_TRACE_BACKING_MAX_NP + 1,
	       "a path has room for its NUL");

/*
 * Sets the path of a file that posix_trace_create() will make. NULL or "" means that there is no
 * file. The path is copied here and is checked only at the creation.
 */
PTX_EXPORT int posix_trace_attr_setbacking_np(trace_attr_t *object, const char *path)
{
	struct ptx_posix_attr_more *more = (struct ptx_posix_attr_more *)object;
	size_t len;

	if (!ptx_posix_attr(object))
		return EINVAL;
	/*
	 * If no byte of the room is a NUL, strnlen() returns the size of the room: the path is too
	 * long.
	 */
	len = path ? strnlen(path, sizeof(more->backing)) : 0;
	if (len == sizeof(more->backing))
		return ENAMETOOLONG;
	memset(more->backing, 0, sizeof(more->backing));
	memcpy(more->backing, path ? path : "", len);
	return 0;
}

/* Stores the path with its NUL; the buffer has POSIX_TRACE_BACKING_MAX_NP + 1 bytes. */
PTX_EXPORT int posix_trace_attr_getbacking_np(const trace_attr_t *object, char *path)
{
	const char *backing;

	if (!ptx_posix_attr_const(object) || !path)
		return EINVAL;
	backing = ptx_posix_backing(object);
	strcpy(path, backing ? backing : "");
	return 0;
}
