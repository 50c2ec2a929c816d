/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "preload/alloc_first.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

_Alignas(64) char shim_first_memory[SHIM_FIRST_BYTES];
static _Atomic size_t used;

#define HEADER sizeof(size_t) /* the size, before the memory */

void *shim_first_alloc(size_t alignment, size_t size)
{
	size_t begin = atomic_load_explicit(&used, memory_order_relaxed), at;

	if (alignment < 16)
		alignment = 16;
	do {
		at = (begin + HEADER + alignment - 1) & ~(alignment - 1);
		if (alignment > 64 || at > SHIM_FIRST_BYTES || size > SHIM_FIRST_BYTES - at) {
			errno = ENOMEM;
			return NULL;
		}
	} while (!atomic_compare_exchange_weak_explicit(
		&used, &begin, at + size, memory_order_relaxed, memory_order_relaxed));
	memcpy(shim_first_memory + at - HEADER, &size, HEADER);
	return shim_first_memory + at;
}

size_t shim_first_size(const void *memory)
{
	size_t size;

	memcpy(&size, (const char *)memory - HEADER, HEADER);
	return size;
}
