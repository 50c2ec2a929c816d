/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/alloc.c - family alloc: malloc() and its like.
 *
 * They are called before anything else of the process has begun, by the dynamic linker, so they
 * never begin the shim. A program that has a malloc() of its own never calls these; an allocator
 * that is loaded behind the shim is called by them.
 */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "preload/alloc_first.h"
#include "preload/shim.h"

SHIM_NEXT(malloc, shim_no_pointer);
SHIM_NEXT(calloc, shim_no_pointer);
SHIM_NEXT(realloc, shim_no_pointer);
SHIM_NEXT(free, shim_no_number);
SHIM_NEXT(aligned_alloc, shim_no_pointer);
SHIM_NEXT(memalign, shim_no_pointer);
SHIM_NEXT(posix_memalign, shim_no_error);
SHIM_NEXT(valloc, shim_no_pointer);
SHIM_NEXT(pvalloc, shim_no_pointer);
SHIM_NEXT(malloc_usable_size, shim_no_pointer);

static struct shim_next *const all[] = {
	&malloc_next, &calloc_next, &realloc_next, &free_next, &aligned_alloc_next, &memalign_next,
	&posix_memalign_next, &valloc_next, &pvalloc_next, &malloc_usable_size_next,
};

/* This thread is looking for the real functions: whoever wants memory for that gets the first. */
static _Thread_local bool looking __attribute__((tls_model("initial-exec")));

/*
 * The very first call of any of these. All are looked up before one is used: what comes from the
 * real malloc() goes to the real free(), what came before to ours.
 */
static __attribute__((noinline, cold)) void *look_for(struct shim_next *next)
{
	void *function[sizeof all / sizeof all[0]];

	if (looking)
		return NULL;
	looking = true;
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		function[i] = shim_look_up(all[i]);
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		atomic_store_explicit(&all[i]->function, function[i], memory_order_release);
	looking = false;
	return atomic_load_explicit(&next->function, memory_order_relaxed);
}

shim_inline void *found(struct shim_next *next)
{
	void *function = atomic_load_explicit(&next->function, memory_order_acquire);

	return shim_likely(function) ? function : look_for(next);
}

/* The real function, NULL while it is looked for. */
#define real(name_) ((name_##_function *)found(&name_##_next))

shim_inline uint64_t number(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

/*
 * A call that is not traced is passed on by a jump: the allocator finds its caller's address where
 * it would be without the shim. LeakSanitizer recognizes the dynamic linker's own memory by that
 * address.
 */
SHIM_WRAPPER void *malloc(size_t size)
{
	malloc_function *function = real(malloc);
	bool wanted = shim_on(ALLOC_MALLOC);
	void *result;

	if (shim_likely(function && !wanted))
		return function(size);
	result = shim_likely(function) ? function(size) : shim_first_alloc(1, size);
	if (wanted) {
		const uint64_t data[] = { size, number(result) };

		shim_put(ALLOC_MALLOC, data, sizeof data, shim_caller());
	}
	return result;
}

SHIM_WRAPPER void *calloc(size_t count, size_t size)
{
	calloc_function *function = real(calloc);
	bool wanted = shim_on(ALLOC_CALLOC);
	size_t bytes;
	void *result;

	if (shim_likely(function && !wanted))
		return function(count, size);
	if (shim_likely(function))
		result = function(count, size);
	else
		result = __builtin_mul_overflow(count, size, &bytes) ? NULL :
								       shim_first_alloc(1, bytes);
	if (wanted) {
		const uint64_t data[] = { count, size, number(result) };

		shim_put(ALLOC_CALLOC, data, sizeof data, shim_caller());
	}
	return result;
}

/* What the dynamic linker got first, and what it gets while we look, is moved by copying. */
static __attribute__((noinline, cold)) void *move_first(void *old, size_t size)
{
	void *result = malloc(size);
	size_t old_size = old ? shim_first_size(old) : 0;

	if (result && old)
		memcpy(result, old, old_size < size ? old_size : size);
	return result;
}

SHIM_WRAPPER void *realloc(void *old, size_t size)
{
	realloc_function *function = real(realloc);
	bool wanted = shim_on(ALLOC_REALLOC);
	void *result;

	if (shim_unlikely(!function) || shim_unlikely(shim_is_first(old)))
		return move_first(old, size);
	if (!wanted)
		return function(old, size);
	result = function(old, size);
	const uint64_t data[] = { number(old), size, number(result) };
	shim_put(ALLOC_REALLOC, data, sizeof data, shim_caller());
	return result;
}

SHIM_WRAPPER void free(void *old)
{
	free_function *function = real(free);

	if (shim_unlikely(shim_is_first(old)) || shim_unlikely(!function))
		return;
	if (old && shim_on(ALLOC_FREE)) {
		const uint64_t data = number(old);

		shim_put(ALLOC_FREE, &data, sizeof data, shim_caller());
	}
	function(old);
}

/* caller is the wrapper's: this is part of it. */
shim_inline void aligned(size_t alignment, size_t size, const void *result, const void *caller)
{
	const uint64_t data[] = { alignment, size, number(result) };

	shim_put(ALLOC_ALIGNED, data, sizeof data, caller);
}

#define ALIGNED(name) \
	SHIM_WRAPPER void *name(size_t alignment, size_t size) \
	{ \
		name##_function *function = real(name); \
		bool wanted = shim_on(ALLOC_ALIGNED); \
		void *result; \
		if (shim_likely(function && !wanted)) \
			return function(alignment, size); \
		result = shim_likely(function) ? function(alignment, size) : \
						 shim_first_alloc(alignment, size); \
		if (wanted) \
			aligned(alignment, size, result, shim_caller()); \
		return result; \
	}

ALIGNED(aligned_alloc)
ALIGNED(memalign)

SHIM_WRAPPER int posix_memalign(void **result, size_t alignment, size_t size)
{
	posix_memalign_function *function = real(posix_memalign);
	bool wanted = shim_on(ALLOC_ALIGNED);
	int error = 0;

	if (shim_likely(function && !wanted))
		return function(result, alignment, size);
	if (shim_likely(function))
		error = function(result, alignment, size);
	else if (!(*result = shim_first_alloc(alignment, size)))
		error = ENOMEM;

	if (wanted)
		aligned(alignment, size, error ? NULL : *result, shim_caller());
	return error;
}

#define PAGE_ALIGNED(name) \
	SHIM_WRAPPER void *name(size_t size) \
	{ \
		name##_function *function = real(name); \
		void *result = shim_likely(function) ? function(size) : NULL; \
		if (shim_on(ALLOC_ALIGNED)) \
			aligned(4096, size, result, shim_caller()); \
		return result; \
	}

PAGE_ALIGNED(valloc)
PAGE_ALIGNED(pvalloc)

SHIM_WRAPPER size_t malloc_usable_size(void *memory)
{
	malloc_usable_size_function *function = real(malloc_usable_size);

	if (shim_is_first(memory) || !function)
		return memory ? shim_first_size(memory) : 0;
	return function(memory);
}
