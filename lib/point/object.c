/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "point/object.h"

#include <sys/mman.h>

#include "base/quiet.h"

#define OBJECT_BYTES ((sizeof(struct ptx_thread) + PTX_PAGE - 1) & ~(size_t)(PTX_PAGE - 1))
#define POOL_THREADS  64   /* reserved when the program starts */
#define QUIET_THREADS 2048 /* reserved before the process becomes quiet */
#define SLAB_THREADS  64   /* each time that those are used up */
#define POOL_FRAMES   8    /* objects of the pool that a child leaves to frames of its ancestors */
#define TAG_SHIFT     48   /* the address of a free object has so many bits */
#define POP_TRIES     64

static bool take(struct ptx_thread *thread)
{
	uint32_t no = 0;

	return atomic_load_explicit(&thread->taken, memory_order_relaxed) == 0 &&
	       atomic_compare_exchange_strong_explicit(&thread->taken, &no, 1,
						       memory_order_acquire, memory_order_relaxed);
}

static void link_thread(struct ptx_thread *thread)
{
	struct ptx_thread *first = atomic_load_explicit(&ptx_private.threads, memory_order_relaxed);

	atomic_store_explicit(&thread->is_listed, 1, memory_order_relaxed);
	do
		thread->next = first;
	while (!atomic_compare_exchange_weak_explicit(&ptx_private.threads, &first, thread,
						      memory_order_release, memory_order_relaxed));
}

/*
 * Address space that is there before it is needed, so that a new thread needs no system call: a
 * pool from the program's start and, before a seccomp filter, a larger one. Pages come with the
 * first touch. A child has the same addresses, zeroed, and begins behind the object of the thread
 * that forked, whose interrupted frames may go on with that one.
 */
static struct pool {
	_Atomic(unsigned char *) begin; /* NULL: none */
	unsigned count, first;
} pools[PTX_THREAD_POOLS] = { { .count = POOL_THREADS }, { .count = QUIET_THREADS } };

static unsigned char *map_objects(unsigned count)
{
	size_t bytes = count * OBJECT_BYTES;
	void *objects = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (objects == MAP_FAILED)
		return NULL;
	madvise(objects, bytes, MADV_WIPEONFORK);
	return objects;
}

static unsigned left_in(int i)
{
	uint32_t used = atomic_load_explicit(&ptx_private.pool_used[i], memory_order_relaxed);

	if (!atomic_load_explicit(&pools[i].begin, memory_order_acquire) ||
	    used >= pools[i].count - POOL_FRAMES)
		return 0;
	return pools[i].count - POOL_FRAMES - used;
}

/*
 * The object that this thread is about to make its own. When a handler forks, the child's pool
 * begins behind this object, so that only the interrupted call uses it there.
 */
static _Thread_local struct ptx_thread *in_making __attribute__((tls_model("initial-exec")));

static struct ptx_thread *take_from_pool(void)
{
	for (int i = 0; i < PTX_THREAD_POOLS; i++) {
		const struct pool *pool = &pools[i];

		while (left_in(i)) {
			uint32_t used = atomic_fetch_add_explicit(&ptx_private.pool_used[i], 1,
								  memory_order_relaxed);
			struct ptx_thread *thread;

			if (used >= pool->count - POOL_FRAMES)
				break;
			thread = (void *)(atomic_load_explicit(&pool->begin, memory_order_relaxed) +
					  (pool->first + used) % pool->count * OBJECT_BYTES);
			in_making = thread;
			atomic_signal_fence(memory_order_seq_cst);
			if (!take(thread))
				continue; /* a handler has it, or an emulator's fork */
			link_thread(thread);
			return thread;
		}
	}
	return NULL;
}

/*
 * Free objects, as a stack: tag 16 | address 48. An object is taken by its own word alone. So one
 * that is here and taken, or free and not here, does no harm, and a new thread looks at few objects
 * however many threads there are.
 */
static void push_free(struct ptx_thread *thread)
{
	uint64_t first = atomic_load_explicit(&ptx_private.free_threads, memory_order_relaxed),
		 mine;

	/* One that find_free() took is still here: twice it would be a circle. */
	if (atomic_exchange_explicit(&thread->is_stacked, 1, memory_order_acq_rel))
		return;
	do {
		uintptr_t below = (uintptr_t)(first & ((UINT64_C(1) << TAG_SHIFT) - 1));

		atomic_store_explicit(&thread->next_free, (struct ptx_thread *)below,
				      memory_order_relaxed);
		mine = ((first >> TAG_SHIFT) + 1) << TAG_SHIFT | (uint64_t)(uintptr_t)thread;
	} while (!atomic_compare_exchange_weak_explicit(&ptx_private.free_threads, &first, mine,
							memory_order_release,
							memory_order_relaxed));
}

static struct ptx_thread *pop_free(void)
{
	uint64_t first = atomic_load_explicit(&ptx_private.free_threads, memory_order_acquire);

	for (int i = 0; i < POP_TRIES; i++) {
		uintptr_t at = (uintptr_t)(first & ((UINT64_C(1) << TAG_SHIFT) - 1));
		struct ptx_thread *thread = (struct ptx_thread *)at;
		uint64_t below;

		if (!thread)
			return NULL;
		below = (uint64_t)(uintptr_t)atomic_load_explicit(&thread->next_free,
								  memory_order_relaxed);
		below |= ((first >> TAG_SHIFT) + 1) << TAG_SHIFT;
		if (atomic_compare_exchange_weak_explicit(&ptx_private.free_threads, &first, below,
							  memory_order_acquire,
							  memory_order_acquire)) {
			atomic_store_explicit(&thread->is_stacked, 0, memory_order_release);
			in_making = thread;
			atomic_signal_fence(memory_order_seq_cst);
			if (take(thread)) {
				/* A child's interrupted frame may have put it here, wiped. */
				if (!atomic_load_explicit(&thread->is_listed, memory_order_relaxed))
					link_thread(thread);
				return thread;
			}
			first = atomic_load_explicit(&ptx_private.free_threads,
						     memory_order_acquire);
		}
	}
	return NULL;
}

void ptx_object_free(struct ptx_thread *thread)
{
	atomic_store_explicit(&thread->taken, 0, memory_order_release);
	push_free(thread);
}

/* Returns one of the slab's objects, taken; the others are there for whoever comes next. */
static struct ptx_thread *make_slab(unsigned count)
{
	unsigned char *slab = ptx_is_quiet() ? NULL : map_objects(count);

	if (!slab)
		return NULL;
	for (unsigned i = 0; i < count; i++) {
		struct ptx_thread *thread = (void *)(slab + i * OBJECT_BYTES);

		if (i == 0)
			atomic_store_explicit(&thread->taken, 1, memory_order_relaxed);
		link_thread(thread);
		if (i != 0)
			push_free(thread);
	}
	return (void *)slab;
}

/*
 * Where the stack has none and there is no memory for more: one that a jump has kept from the
 * stack.
 */
static struct ptx_thread *find_free(void)
{
	struct ptx_thread *thread = atomic_load_explicit(&ptx_private.threads,
							 memory_order_acquire);

	for (; thread; thread = thread->next) {
		in_making = thread;
		atomic_signal_fence(memory_order_seq_cst);
		if (take(thread))
			break;
	}
	return thread;
}

void ptx_threads_prepare(unsigned count)
{
	struct ptx_thread *thread;
	unsigned have = 0;

	for (int i = 0; i < PTX_THREAD_POOLS; i++)
		have += left_in(i);
	for (thread = atomic_load_explicit(&ptx_private.threads, memory_order_acquire); thread;
	     thread = thread->next)
		have += atomic_load_explicit(&thread->taken, memory_order_relaxed) == 0;
	if (have >= count)
		return;
	thread = make_slab(count - have);
	if (thread)
		ptx_object_free(thread);
}

void ptx_threads_reserve(void)
{
	unsigned char *none = NULL, *objects;

	if (atomic_load_explicit(&pools[1].begin, memory_order_acquire))
		return;
	objects = map_objects(QUIET_THREADS);
	if (objects && !atomic_compare_exchange_strong_explicit(&pools[1].begin, &none, objects,
								memory_order_release,
								memory_order_relaxed))
		munmap(objects, QUIET_THREADS * OBJECT_BYTES);
}

struct ptx_thread *ptx_object_take(void)
{
	struct ptx_thread *thread = pop_free();

	return thread ? thread : take_from_pool();
}

struct ptx_thread *ptx_object_make(void)
{
	struct ptx_thread *thread = make_slab(SLAB_THREADS);

	return thread ? thread : find_free();
}

void ptx_object_is_made(void)
{
	in_making = NULL;
}

void ptx_objects_leave(const struct ptx_thread *self)
{
	const struct ptx_thread *thread = in_making ? in_making : self;

	for (int i = 0; i < PTX_THREAD_POOLS; i++) {
		struct pool *pool = &pools[i];
		uintptr_t begin =
			(uintptr_t)atomic_load_explicit(&pool->begin, memory_order_relaxed);
		uintptr_t at = (uintptr_t)thread - begin;

		if (begin && at < pool->count * OBJECT_BYTES)
			pool->first = (unsigned)(at / OBJECT_BYTES + 1) % pool->count;
	}
}

void ptx_objects_init(void)
{
	atomic_store_explicit(&pools[0].begin, map_objects(POOL_THREADS), memory_order_release);
}
