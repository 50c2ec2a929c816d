/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/alloc_first.h - memory for those who ask while the real malloc() is still being looked
 * up.
 *
 * That is the dynamic linker, which may need some to find it. What it gets is never given back; the
 * shim's free() and realloc() know it by its address.
 *
 * Threads   all, without a lock.
 */
#ifndef PTX_PRELOAD_ALLOC_FIRST_H
#define PTX_PRELOAD_ALLOC_FIRST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHIM_FIRST_BYTES 65536

extern char shim_first_memory[SHIM_FIRST_BYTES];

/* Zeroed; NULL where there is no more. alignment is a power of 2. */
void *shim_first_alloc(size_t alignment, size_t size);

/* How large it was asked for. */
size_t shim_first_size(const void *memory);

static inline bool shim_is_first(const void *memory)
{
	return (uintptr_t)memory - (uintptr_t)shim_first_memory < SHIM_FIRST_BYTES;
}

#endif
