/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/alloc_map.c - family alloc: memory from the kernel.
 *
 * Calls of mmap() inside malloc() and the dynamic linker do not use the dynamic symbol table, so
 * the shim does not see them.
 */
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "preload/known.h"
#include "preload/lock.h"
#include "preload/shim.h"

/*
 * mmap() and mmap64() are the same function on 64-bit systems, but programs may refer to either.
 * The struct has the fields of the schema alloc.mmap in their order.
 */
#define MMAP(name) \
	SHIM_NEXT(name, shim_no_map); \
	SHIM_WRAPPER void *name(void *address, size_t size, int protection, int flags, int fd, \
				off_t offset) \
	{ \
		/* Shared memory may have semaphores, but the library's own streams have none. */ \
		if ((flags & MAP_SHARED) && (protection & PROT_WRITE) && \
		    !shim_is_own(shim_caller())) \
			shim_shares_memory(); \
		shim_forget_by_call(SYS_mmap, (long)address, (long)size, protection, flags, 0); \
		/* This check precedes the data, so that an untraced call costs little. */ \
		if (!shim_on_alone(ALLOC_MMAP)) \
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
		/* The duration includes the work of MAP_POPULATE. */ \
		SHIM_CALL(ALLOC_MMAP, data); \
		void *result = next(name)(address, size, protection, flags, fd, offset); \
		data.error = result == MAP_FAILED ? errno : 0; \
		data.result = (uint64_t)(uintptr_t)result; \
		return result; \
	}

MMAP(mmap)
MMAP(mmap64)

/*
 * mremap(2) is not in POSIX. realloc() of a large block calls it inside the C library; such calls
 * are not seen.
 */
SHIM_NEXT(mremap, shim_no_map);

/* mremap(2) has a fifth argument only with MREMAP_FIXED, and it is read only in this case. */
SHIM_WRAPPER void *mremap(void *old, size_t old_size, size_t size, int flags, ...)
{
	/* The fields of alloc.mremap, in the order of its schema. */
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
	shim_forget_by_call(SYS_mremap, (long)old, (long)old_size, (long)size, flags,
			    (long)address);
	/*
	 * The address is passed on even if the flags do not use it: the real function ignores it
	 * then.
	 */
	if (!shim_on_alone(ALLOC_MREMAP))
		return next(mremap)(old, old_size, size, flags, address);
	SHIM_CALL(ALLOC_MREMAP, data);
	result = next(mremap)(old, old_size, size, flags, address);
	data.error = result == MAP_FAILED ? errno : 0;
	data.result = (uint64_t)(uintptr_t)result;
	return result;
}

SHIM_NEXT(munmap, shim_no_number);

/* munmap(2). The struct has four bytes of padding at its end, which are not part of the event. */
SHIM_WRAPPER int munmap(void *old, size_t size)
{
	/*
	 * The fields of alloc.munmap. The result is not stored, because the field `error` shows
	 * whether the call has failed.
	 */
	struct munmap_data {
		uint64_t time;
		uint64_t old, size;
		int32_t error;
	} data = { .old = (uint64_t)(uintptr_t)old, .size = size };
	int result;

	shim_forget_by_call(SYS_munmap, (long)old, (long)size, 0, 0, 0);
	if (!shim_on_alone(ALLOC_MUNMAP))
		return next(munmap)(old, size);
	SHIM_CALL(ALLOC_MUNMAP, data);
	call.len = offsetof(struct munmap_data, error) + 4;
	result = next(munmap)(old, size);
	data.error = result ? errno : 0;
	return result;
}
