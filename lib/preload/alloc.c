/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/alloc.c - family alloc: malloc() and related functions.
 *
 * The dynamic linker calls these functions before any constructor of the process has run, so their
 * wrappers never start the shim. A program that defines malloc() itself never calls the wrappers.
 * If an allocator library is loaded behind the shim, the wrappers call the functions of that
 * library.
 *
 * The wrappers must not allocate memory, and must not call a function that may allocate: a wrapper
 * would call itself without end. The wrappers call shim_put(), which allocates no memory.
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

/*
 * All functions of the family, which are looked up together. A function may be stored here before
 * the others: shim_find_begin() and shim_inject_begin() store one after the other, and so does
 * look_up_all() in another thread. No wrapper uses a function before are_known is true.
 */
static struct shim_next *const all[] = {
	&malloc_next, &calloc_next, &realloc_next, &free_next, &aligned_alloc_next, &memalign_next,
	&posix_memalign_next, &valloc_next, &pvalloc_next, &malloc_usable_size_next,
};

/*
 * True as soon as all functions are stored. It never becomes false again. A thread gets memory of
 * the real malloc() only after it has loaded the value true. If this thread or another thread later
 * passes the memory to free() or realloc(), it loads true, too: a later load cannot return the
 * older value. Memory of alloc_first.c is recognized by its address, also after are_known has
 * become true.
 */
static shim_start_data atomic_bool are_known;

/*
 * True while this thread looks up the real functions. dlsym() may then allocate memory, and gets it
 * from alloc_first.c. The variable has the model initial-exec, because with other models the first
 * access to the variable could allocate memory.
 */
static _Thread_local bool looking __attribute__((tls_model("initial-exec")));

/*
 * Looks up all functions of the family, at the first call of any of them. All functions are found
 * before any of them is used: memory of the real malloc() must be passed to the real free(), and
 * memory of alloc_first.c must not. Returns NULL if this thread is already looking the functions
 * up, and no other thread has found all of them. Several threads may look them up at the same time.
 * They find the same functions, except that functions which were stored already are kept: those of
 * shim_inject_begin() may differ from those that shim_look_up() finds.
 */
static __attribute__((noinline, cold)) void *look_up_all(struct shim_next *next)
{
	/* If `looking` is true, dlsym() has called a wrapper. */
	if (looking)
		return NULL;
	looking = true;
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (!atomic_load_explicit(&all[i]->function, memory_order_acquire))
			shim_find(all[i]);
	/* The release pairs with the acquire in real_of(). */
	atomic_store_explicit(&are_known, true, memory_order_release);
	looking = false;
	return atomic_load_explicit(&next->function, memory_order_relaxed);
}

/* Returns the real function. The acquire pairs with the release in look_up_all(). */
shim_inline void *real_of(struct shim_next *next)
{
	if (shim_unlikely(!atomic_load_explicit(&are_known, memory_order_acquire)))
		return look_up_all(next);
	return atomic_load_explicit(&next->function, memory_order_relaxed);
}

/* The real function, or NULL while it is being looked up. */
#define real(name_) ((name_##_function *)real_of(&name_##_next))

shim_inline uint64_t number_of(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

/*
 * malloc(3). If a call is not traced, the wrapper jumps to the real malloc(). The return address is
 * then the same as without the shim, in the program and not in the wrapper. LeakSanitizer
 * recognizes the dynamic linker's own memory by this return address.
 */
SHIM_WRAPPER void *malloc(size_t size)
{
	malloc_function *function = real(malloc);
	/*
	 * `wanted` is computed before the real call, so that a call that is not traced can be a
	 * jump.
	 */
	bool wanted = shim_on_alone(ALLOC_MALLOC);
	void *result;

	if (shim_likely(function && !wanted))
		return function(size);
	result = shim_likely(function) ? function(size) : shim_first_alloc(1, size);
	if (wanted) {
		const uint64_t data[] = { size, number_of(result) };

		shim_put(ALLOC_MALLOC, data, sizeof data, shim_caller());
	}
	return result;
}

/*
 * calloc(3). While the real calloc() is not known, the wrapper checks the product for overflow, as
 * the C library does.
 */
SHIM_WRAPPER void *calloc(size_t count, size_t size)
{
	calloc_function *function = real(calloc);
	bool wanted = shim_on_alone(ALLOC_CALLOC);
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
		const uint64_t data[] = { count, size, number_of(result) };

		shim_put(ALLOC_CALLOC, data, sizeof data, shim_caller());
	}
	return result;
}

/*
 * Does realloc() for memory of alloc_first.c, which the real realloc() cannot handle, and for calls
 * before the real realloc() is known. Allocates new memory and copies the content to it. The old
 * memory is not reused.
 */
static __attribute__((noinline, cold)) void *move_first(void *old, size_t size)
{
	void *result = malloc(size);
	size_t old_size = old ? shim_first_size(old) : 0;

	if (result && old)
		memcpy(result, old, old_size < size ? old_size : size);
	return result;
}

/*
 * realloc(3). The event follows the call, because the event has the result. Before the event is
 * recorded, another thread may have got the old address from its own call.
 */
SHIM_WRAPPER void *realloc(void *old, size_t size)
{
	realloc_function *function = real(realloc);
	void *result;

	if (shim_unlikely(!function) || shim_unlikely(shim_is_first(old)))
		return move_first(old, size);
	if (!shim_on_alone(ALLOC_REALLOC))
		return function(old, size);
	result = function(old, size);
	const uint64_t data[] = { number_of(old), size, number_of(result) };
	shim_put(ALLOC_REALLOC, data, sizeof data, shim_caller());
	return result;
}

/*
 * free(3). The event is recorded before the call: immediately after the call, another thread may
 * get the same address, and the event of that thread would precede this event.
 *
 * The functions free_sized() and free_aligned_sized() of glibc 2.43 jump to the program's free().
 * So a call of them has this event, with the address of their caller. Wrappers of their own would
 * have to find out whether the memory is that of the C library or of an allocator of the program.
 */
SHIM_WRAPPER void free(void *old)
{
	free_function *function = real(free);

	/*
	 * Memory of alloc_first.c is never freed. If the real free() is not known yet, nothing can
	 * be freed.
	 */
	if (shim_unlikely(shim_is_first(old)) || shim_unlikely(!function))
		return;
	if (old && shim_on_alone(ALLOC_FREE)) {
		const uint64_t data = number_of(old);

		shim_put(ALLOC_FREE, &data, sizeof data, shim_caller());
	}
	function(old);
}

/*
 * Records an aligned allocation. `caller` is the caller of the wrapper in which this function is
 * inlined.
 */
shim_inline void put_aligned(size_t alignment, size_t size, const void *result, const void *caller)
{
	const uint64_t data[] = { alignment, size, number_of(result) };

	shim_put(ALLOC_ALIGNED, data, sizeof data, caller);
}

/*
 * A function that returns aligned memory: aligned_alloc() and memalign() take the same arguments.
 */
#define ALIGNED(name) \
	SHIM_WRAPPER void *name(size_t alignment, size_t size) \
	{ \
		name##_function *function = real(name); \
		bool wanted = shim_on_alone(ALLOC_ALIGNED); \
		void *result; \
		if (shim_likely(function && !wanted)) \
			return function(alignment, size); \
		result = shim_likely(function) ? function(alignment, size) : \
						 shim_first_alloc(alignment, size); \
		if (wanted) \
			put_aligned(alignment, size, result, shim_caller()); \
		return result; \
	}

ALIGNED(aligned_alloc)
ALIGNED(memalign)

/* posix_memalign(3) reports errors by its result and does not change errno. */
SHIM_WRAPPER int posix_memalign(void **result, size_t alignment, size_t size)
{
	posix_memalign_function *function = real(posix_memalign);
	bool wanted = shim_on_alone(ALLOC_ALIGNED);
	int error = 0;

	if (shim_likely(function && !wanted))
		return function(result, alignment, size);
	if (shim_likely(function))
		error = function(result, alignment, size);
	/* The dynamic linker never passes a null pointer here. */
	else if (!(*result = shim_first_alloc(alignment, size)))
		error = ENOMEM;

	if (wanted)
		put_aligned(alignment, size, error ? NULL : *result, shim_caller());
	return error;
}

/*
 * valloc() and pvalloc() return memory that is aligned to a page. alloc_first.c does not replace
 * them, because the dynamic linker does not call them.
 */
#define PAGE_ALIGNED(name) \
	SHIM_WRAPPER void *name(size_t size) \
	{ \
		name##_function *function = real(name); \
		void *result = shim_likely(function) ? function(size) : NULL; \
		if (shim_on_alone(ALLOC_ALIGNED)) \
			put_aligned(4096, size, result, shim_caller()); \
		return result; \
	}

PAGE_ALIGNED(valloc)
PAGE_ALIGNED(pvalloc)

/*
 * malloc_usable_size(3) is not traced. It is wrapped because the real function cannot handle memory
 * of alloc_first.c.
 */
SHIM_WRAPPER size_t malloc_usable_size(void *memory)
{
	malloc_usable_size_function *function = real(malloc_usable_size);

	if (shim_is_first(memory) || !function)
		return memory ? shim_first_size(memory) : 0;
	return function(memory);
}
