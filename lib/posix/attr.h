/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/attr.h - the program's trace_attr_t as a struct ptx_attr.
 *
 * Threads   an object has one caller at a time; several may read it.
 * Signals   async-signal-safe.
 * Errors    NULL for a null pointer and for an object that is not initialized or was destroyed.
 */
#ifndef PTX_POSIX_ATTR_H
#define PTX_POSIX_ATTR_H

#include <string.h>
#include <trace.h>

#include "record/attr.h"

_Static_assert(sizeof(struct ptx_attr) <= sizeof(trace_attr_t), "our attributes fit");
_Static_assert(_Alignof(struct ptx_attr) <= _Alignof(trace_attr_t), "our attributes are aligned");
_Static_assert(PTX_NAME_BYTES == TRACE_NAME_MAX + 1, "a name has room for its NUL");

/* Returns the attributes in the program's object, to change them. */
static inline struct ptx_attr *ptx_posix_attr(trace_attr_t *object)
{
	struct ptx_attr *attr = (struct ptx_attr *)object;

	return ptx_attr_is_valid(attr) ? attr : NULL;
}

/* Returns the same attributes, for reading only. */
static inline const struct ptx_attr *ptx_posix_attr_const(const trace_attr_t *object)
{
	const struct ptx_attr *attr = (const struct ptx_attr *)object;

	return ptx_attr_is_valid(attr) ? attr : NULL;
}

/*
 * The program's object with the path of a backing file. The path is in a part of the object that is
 * not written to logs. If the path is empty, the stream's memory is in the arena, as usual.
 */
struct ptx_posix_attr_more {
	struct ptx_attr attr;
	char backing[sizeof(trace_attr_t) - sizeof(struct ptx_attr)];
} __attribute__((may_alias));

/*
 * Returns the path of the backing file. NULL: there is none, the path has no NUL, or the object is
 * not valid.
 */
static inline const char *ptx_posix_backing(const trace_attr_t *object)
{
	const struct ptx_posix_attr_more *more = (const struct ptx_posix_attr_more *)object;

	return ptx_posix_attr_const(object) && more->backing[0] &&
	       memchr(more->backing, 0, sizeof(more->backing)) ? more->backing : NULL;
}

#endif
