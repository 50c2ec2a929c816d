/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/attr.c - posix_trace_attr_init(), _destroy() and the identity of a stream: names and
 * times.
 *
 * An attributes object is plain memory of the program. If an object is not initialized or was
 * destroyed, its magic word is wrong, and the function returns EINVAL (ATTR-05). The functions keep
 * no state and make no call that could change errno.
 */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/export.h"
#include "posix/attr.h"

/* ATTR-01, ATTR-03, ATTR-06. An object may be initialized again, because it owns no memory. */
PTX_EXPORT int posix_trace_attr_init(trace_attr_t *object)
{
	if (!object)
		return EINVAL;
	/*
	 * The whole object is cleared, also the part that this version does not use. Otherwise a
	 * later version of the library would find garbage there.
	 */
	memset(object, 0, sizeof(*object));
	ptx_attr_init((struct ptx_attr *)object);
	return 0;
}

/*
 * ATTR-04. Only the magic word changes, so that a second call recognizes the object as destroyed.
 */
PTX_EXPORT int posix_trace_attr_destroy(trace_attr_t *object)
{
	struct ptx_attr *attr = ptx_posix_attr(object);

	if (!attr)
		return EINVAL;
	attr->magic = 0;
	return 0;
}

/*
 * Copies a string of the attributes. The attributes may come from a hostile log: if the string does
 * not end within its field, it is truncated there. The buffer has TRACE_NAME_MAX + 1 bytes
 * (ATTR-22).
 */
static void copy_string(char *to, const char from[PTX_NAME_BYTES])
{
	size_t len = strnlen(from, PTX_NAME_BYTES - 1);

	memcpy(to, from, len);
	to[len] = '\0';
}

/* ATTR-11, ATTR-21. The clock is CLOCK_REALTIME: the program gets the times of events by it. */
PTX_EXPORT int posix_trace_attr_getclockres(const trace_attr_t *object, struct timespec *resolution)
{
	const struct ptx_attr *attr = ptx_posix_attr_const(object);

	if (!attr || !resolution)
		return EINVAL;
	*resolution = ptx_timespec(attr->clock_resolution_ns);
	return 0;
}

/* ATTR-12, ATTR-13. Only the attributes of a stream or log have a creation time. */
PTX_EXPORT int posix_trace_attr_getcreatetime(const trace_attr_t *object,
					      struct timespec *createtime)
{
	const struct ptx_attr *attr = ptx_posix_attr_const(object);

	if (!attr || !createtime || !(attr->flags & PTX_ATTR_FROM_STREAM))
		return EINVAL;
	*createtime = ptx_timespec(attr->creation_ns);
	return 0;
}

/*
 * ATTR-14, ATTR-15, ATTR-16. For a log, the result is the version of the library that recorded the
 * log. For a composed log, it is the system that the composing program named.
 */
PTX_EXPORT int posix_trace_attr_getgenversion(const trace_attr_t *object, char *genversion)
{
	const struct ptx_attr *attr = ptx_posix_attr_const(object);

	if (!attr || !genversion)
		return EINVAL;
	copy_string(genversion, attr->generation);
	return 0;
}

/* ATTR-17, ATTR-18. */
PTX_EXPORT int posix_trace_attr_getname(const trace_attr_t *object, char *tracename)
{
	const struct ptx_attr *attr = ptx_posix_attr_const(object);

	if (!attr || !tracename)
		return EINVAL;
	copy_string(tracename, attr->name);
	return 0;
}

/*
 * ATTR-18 to ATTR-20. The name is copied. The bytes behind it become 0, because the object is also
 * written to logs.
 */
PTX_EXPORT int posix_trace_attr_setname(trace_attr_t *object, const char *tracename)
{
	struct ptx_attr *attr = ptx_posix_attr(object);
	size_t len;

	if (!attr || !tracename)
		return EINVAL;
	len = strnlen(tracename, TRACE_NAME_MAX + 1);
	/*
	 * The standard truncates a name that is too long to TRACE_NAME_MAX - 1 bytes (ATTR-19). A
	 * buffer of TRACE_NAME_MAX bytes, as in the standard's own example, then holds the result.
	 */
	if (len > TRACE_NAME_MAX)
		len = TRACE_NAME_MAX - 1;
	memset(attr->name, 0, sizeof(attr->name));
	memcpy(attr->name, tracename, len);
	return 0;
}
