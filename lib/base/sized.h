/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/sized.h - copies structures between this library and a program that was compiled with
 * another version of its headers. trace_sized_np(3) has the rules.
 *
 * A structure only grows at its end. The program passes the size that it was compiled with. If the
 * program passes a smaller size than the structure had in the first version of the library, the
 * library returns EINVAL. PTX_THROUGH() computes this limit from the last member of the first
 * version.
 *
 * Threads  no state. Async-signal-safe.
 */
#ifndef PTX_BASE_SIZED_H
#define PTX_BASE_SIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/compiler.h"

/* The bytes of a structure up to and including a member. */
#define PTX_THROUGH(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

/*
 * Stores the library's structure, which has `own` bytes, in the program's structure, which has
 * `size` bytes. The members that both have are copied. The program's other members become 0.
 */
static inline void ptx_sized_store(void *to, size_t size, const void *from, size_t own)
{
	memcpy(to, from, size < own ? size : own);
	if (size > own)
		memset((char *)to + own, 0, size - own);
}

/*
 * Loads the program's structure, which has `size` bytes, into the library's, which has `own` bytes.
 * Members that the program's structure lacks become 0. Returns false if the program's structure has
 * a member that is not 0 and that this version of the library does not have.
 */
static inline bool ptx_sized_load(void *to, size_t own, const void *from, size_t size)
{
	const unsigned char *byte = from;

	for (size_t i = own; i < size; i++)
		if (byte[i])
			return false;
	memcpy(to, from, size < own ? size : own);
	if (size < own)
		memset((char *)to + size, 0, own - size);
	return true;
}

#endif
