/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/alloc_map.c - family alloc: memory from the kernel. What malloc() and the dynamic linker
 * map for themselves is not seen.
 */
#include <stdarg.h>
#include <sys/mman.h>

#include "preload/shim.h"

static void *no_map(void)
{
	errno = ENOSYS;
	return MAP_FAILED;
}

#define MMAP(name) \
	SHIM_NEXT(name, no_map); \
	SHIM_WRAPPER void *name(void *address, size_t size, int protection, int flags, int fd, \
				off_t offset) \
	{ \
		if (!shim_on(ALLOC_MMAP)) \
			return next(name)(address, size, protection, flags, fd, offset); \
		struct { \
			uint64_t time; \
			uint64_t size; \
			uint32_t protection, flags; \
			int32_t fd, error; \
			int64_t offset; \
			uint64_t result; \
		} data = { \
			.size = size, .protection = (uint32_t)protection, \
			.flags = (uint32_t)flags, .fd = fd, .offset = offset \
		}; \
		SHIM_CALL(ALLOC_MMAP, data); \
		void *result = next(name)(address, size, protection, flags, fd, offset); \
		data.error = result == MAP_FAILED ? errno : 0; \
		data.result = (uint64_t)(uintptr_t)result; \
		return result; \
	}

MMAP(mmap)
MMAP(mmap64)

SHIM_NEXT(mremap, no_map);

SHIM_WRAPPER void *mremap(void *old, size_t old_size, size_t size, int flags, ...)
{
	struct {
		uint64_t time;
		uint64_t old, old_size, size;
		uint32_t flags;
		int32_t error;
		uint64_t result;
	} data = {
		.old = (uint64_t)(uintptr_t)old, .old_size = old_size, .size = size,
		.flags = (uint32_t)flags
	};
	void *address = NULL, *result;
	va_list list;

	if (flags & MREMAP_FIXED) {
		va_start(list, flags);
		address = va_arg(list, void *);
		va_end(list);
	}
	if (!shim_on(ALLOC_MREMAP))
		return next(mremap)(old, old_size, size, flags, address);
	SHIM_CALL(ALLOC_MREMAP, data);
	result = next(mremap)(old, old_size, size, flags, address);
	data.error = result == MAP_FAILED ? errno : 0;
	data.result = (uint64_t)(uintptr_t)result;
	return result;
}

SHIM_NEXT(munmap, shim_no_number);

SHIM_WRAPPER int munmap(void *old, size_t size)
{
	struct munmap_data {
		uint64_t time;
		uint64_t old, size;
		int32_t error;
	} data = { .old = (uint64_t)(uintptr_t)old, .size = size };
	int result;

	if (!shim_on(ALLOC_MUNMAP))
		return next(munmap)(old, size);
	SHIM_CALL(ALLOC_MUNMAP, data);
	call.len = offsetof(struct munmap_data, error) + 4;
	result = next(munmap)(old, size);
	data.error = result ? errno : 0;
	return result;
}
