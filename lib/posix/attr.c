/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_attr_init(), _destroy() and the identity of a stream: names and times. */
#include <errno.h>
#include <string.h>

#include "base/export.h"
#include "posix/attr.h"

PTX_EXPORT int posix_trace_attr_init(trace_attr_t *object)
{
	if (!object)
		return EINVAL;
	/* The room for growth too, or a later version would find garbage in it. */
	memset(object, 0, sizeof(*object));
	ptx_attr_init((struct ptx_attr *)object);
	return 0;
}

PTX_EXPORT int posix_trace_attr_destroy(trace_attr_t *object)
{
	struct ptx_attr *attr = ptx_posix_attr(object);

	if (!attr)
		return EINVAL;
	attr->magic = 0;
	return 0;
}

static struct timespec timespec_of(int64_t ns)
{
	struct timespec time = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	if (time.tv_nsec < 0) {
		time.tv_sec--;
		time.tv_nsec += 1000000000;
	}
	return time;
}

/* The strings may come from a log: they end within their field or are cut there. */
static void copy_string(char *to, const char from[PTX_NAME_BYTES])
{
	size_t len = strnlen(from, PTX_NAME_BYTES - 1);

	memcpy(to, from, len);
	to[len] = '\0';
}

PTX_EXPORT int posix_trace_attr_getclockres(const trace_attr_t *object, struct timespec *resolution)
{
	const struct ptx_attr *attr = ptx_posix_attr_const(object);

	if (!attr || !resolution)
		return EINVAL;
	*resolution = timespec_of(attr->clock_resolution_ns);
	return 0;
}

PTX_EXPORT int posix_trace_attr_getcreatetime(const trace_attr_t *object,
					      struct timespec *createtime)
{
	const struct ptx_attr *attr = ptx_posix_attr_const(object);

	if (!attr || !createtime || !(attr->flags & PTX_ATTR_FROM_STREAM))
		return EINVAL;
	*createtime = timespec_of(attr->creation_ns);
	return 0;
}

PTX_EXPORT int posix_trace_attr_getgenversion(const trace_attr_t *object, char *genversion)
{
	const struct ptx_attr *attr = ptx_posix_attr_const(object);

	if (!attr || !genversion)
		return EINVAL;
	copy_string(genversion, attr->generation);
	return 0;
}

PTX_EXPORT int posix_trace_attr_getname(const trace_attr_t *object, char *tracename)
{
	const struct ptx_attr *attr = ptx_posix_attr_const(object);

	if (!attr || !tracename)
		return EINVAL;
	copy_string(tracename, attr->name);
	return 0;
}

PTX_EXPORT int posix_trace_attr_setname(trace_attr_t *object, const char *tracename)
{
	struct ptx_attr *attr = ptx_posix_attr(object);
	size_t len;

	if (!attr || !tracename)
		return EINVAL;
	len = strnlen(tracename, TRACE_NAME_MAX + 1);
	/* The page cuts to one byte less than the limit, so that a buffer of the limit's size,
	 * as in the standard's own example, holds what became of a long name. */
	if (len > TRACE_NAME_MAX)
		len = TRACE_NAME_MAX - 1;
	memset(attr->name, 0, sizeof(attr->name));
	memcpy(attr->name, tracename, len);
	return 0;
}
