/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/alloc_first.h - memory for allocations while the real malloc() is looked up.
 *
 * The dynamic linker may need memory to find malloc(). The real free() and realloc() never get this
 * memory, because the shim's free() and realloc() recognize it by its address.
 *
 * Threads   all functions may run concurrently, without a lock.
 * Signals   async-signal-safe.
 */
#ifndef PTX_PRELOAD_ALLOC_FIRST_H
#define PTX_PRELOAD_ALLOC_FIRST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHIM_FIRST_BYTES 65536

extern char shim_first_memory[SHIM_FIRST_BYTES];

/* Returns zeroed memory, or NULL with ENOMEM. `alignment` is a power of 2. */
void *shim_first_alloc(size_t alignment, size_t size);

/* Returns the size with which memory was requested. */
size_t shim_first_size(const void *memory);

/* Returns whether shim_first_alloc() returned this pointer. */
static inline bool shim_is_first(const void *memory)
{
	return (uintptr_t)memory - (uintptr_t)shim_first_memory < SHIM_FIRST_BYTES;
}

#endif
