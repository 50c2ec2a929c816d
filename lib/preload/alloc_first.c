/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/alloc_first.c - a heap for the calls before the real malloc() is known.
 *
 * The heap is a fixed array in the shim's own data, because no other memory is available while the
 * dynamic linker looks up malloc(). Memory is never reused.
 */
#include "preload/alloc_first.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

/* The memory is zero when the shim is loaded, so calloc() needs no memset(). */
_Alignas(64) char shim_first_memory[SHIM_FIRST_BYTES];
/* The number of bytes, from the beginning of the array, that are in use. */
static _Atomic size_t used;

#define HEADER sizeof(size_t) /* the size is stored before the memory */

void *shim_first_alloc(size_t alignment, size_t size)
{
	size_t begin = atomic_load_explicit(&used, memory_order_relaxed), at;

	/* The least alignment is that of malloc() on 64-bit systems. */
	if (alignment < 16)
		alignment = 16;
	do {
		/* Room for the header is kept before the aligned memory. */
		at = (begin + HEADER + alignment - 1) & ~(alignment - 1);
		/*
		 * The array itself is aligned to 64 bytes, so no larger alignment can be given.
		 * The comparisons avoid an overflow of `at + size`.
		 */
		if (alignment > 64 || at > SHIM_FIRST_BYTES || size > SHIM_FIRST_BYTES - at) {
			errno = ENOMEM;
			return NULL;
		}
	} while (!atomic_compare_exchange_weak_explicit(
		&used, &begin, at + size, memory_order_relaxed, memory_order_relaxed));
	/* memcpy() is used, because the header need not be aligned. */
	memcpy(shim_first_memory + at - HEADER, &size, HEADER);
	return shim_first_memory + at;
}

size_t shim_first_size(const void *memory)
{
	size_t size;

	memcpy(&size, (const char *)memory - HEADER, HEADER);
	return size;
}
