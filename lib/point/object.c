/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/object.c - allocates thread objects without locks.
 *
 * A thread owns an object if it has changed the object's word `taken` from 0 to 1. The stack of
 * free objects, the pools and the list of all objects only help to find a free object. After a
 * siglongjmp() or a fork they may disagree with `taken`, which does no harm.
 *
 * Objects are zeroed in a child (MADV_WIPEONFORK) and are never unmapped. Emulators and some
 * sandboxes ignore MADV_WIPEONFORK; then ptx_thread.pid shows that an object is a parent's.
 */
#include "point/object.h"

#include <sys/mman.h>

#include "base/quiet.h"

/* The size is that of whole pages, because the kernel wipes pages. */
#define OBJECT_BYTES ((sizeof(struct ptx_thread) + PTX_PAGE - 1) & ~(size_t)(PTX_PAGE - 1))
#define POOL_THREADS  64   /* objects that are reserved when the program starts */
#define POOL_LEAST    16   /* the same, if there is no memory for more */
#define QUIET_THREADS 2048 /* objects that are reserved before the process becomes quiet */
#define SLAB_THREADS  64   /* objects that are made together when no object is free */
/* number of objects at the end of a pool that no thread gets; left_in() has the reason */
#define POOL_FRAMES   8
#define TAG_SHIFT     48   /* user addresses have at most 48 bits; the tag is above them */
/* Limit of the attempts to pop an object, so that the time of a trace point is bounded. */
#define POP_TRIES     64

/*
 * Claims an object. The acquire pairs with the release in ptx_object_free(), so that this thread
 * sees all stores of the former owner. Most callers expect a free object. There is no load before
 * the exchange, because a load would make the kernel map a page of zeros for a new object, and the
 * exchange would make it replace that page.
 */
static bool take_object(struct ptx_thread *thread)
{
	uint32_t no = 0;

	return atomic_compare_exchange_strong_explicit(&thread->taken, &no, 1,
						       memory_order_acquire, memory_order_relaxed);
}

/* Adds an object to the list of all objects, from which it is never removed. */
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
 * Address space that is reserved before it is needed, so that a new thread needs no system call.
 * One pool is reserved at the program's start, and a larger pool before the process becomes quiet.
 * Memory is allocated at the first access to an object. In a child the kernel has zeroed the
 * objects. A frame that the fork interrupted may still use the object of the thread that forked. So
 * in the child the pool begins with the next object.
 */
static struct pool {
	_Atomic(unsigned char *) begin; /* NULL: not reserved */
	unsigned count, first;
} pools[PTX_THREAD_POOLS] = { { .count = POOL_THREADS }, { .count = QUIET_THREADS } };

/* Reserves address space for `count` objects. */
static unsigned char *map_objects(unsigned count)
{
	size_t bytes = count * OBJECT_BYTES;
	void *objects = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (objects == MAP_FAILED)
		return NULL;
	/*
	 * If the kernel refuses this call, the objects have the parent's content in a child, as
	 * under some emulators. ptx_thread.pid then shows that an object is the parent's.
	 */
	madvise(objects, bytes, MADV_WIPEONFORK);
	return objects;
}

/*
 * Returns how many objects of a pool threads can still get. No thread gets the last POOL_FRAMES
 * objects: the pool is circular, and in a child it begins behind the object of the interrupted
 * frame. So after several forks within trace points, the last objects of the pool belong to the
 * interrupted frames of the ancestors.
 */
static unsigned left_in(int i)
{
	uint32_t used = atomic_load_explicit(&ptx_private.pool_used[i], memory_order_relaxed);

	if (!atomic_load_explicit(&pools[i].begin, memory_order_acquire) ||
	    used >= pools[i].count - POOL_FRAMES)
		return 0;
	return pools[i].count - POOL_FRAMES - used;
}

/*
 * The object that this thread is about to make its own. If a handler forks meanwhile, the child's
 * pool begins behind this object, so that in the child only the interrupted call uses the object.
 */
static _Thread_local struct ptx_thread *in_making __attribute__((tls_model("initial-exec")));

/* Returns an object of a pool, claimed, or NULL. */
static struct ptx_thread *take_from_pool(void)
{
	for (int i = 0; i < PTX_THREAD_POOLS; i++) {
		const struct pool *pool = &pools[i];

		while (left_in(i)) {
			uint32_t used = atomic_fetch_add_explicit(&ptx_private.pool_used[i], 1,
								  memory_order_relaxed);
			struct ptx_thread *thread;

			/* Another thread has claimed the last object since left_in(). */
			if (used >= pool->count - POOL_FRAMES)
				break;
			thread = (void *)(atomic_load_explicit(&pool->begin, memory_order_relaxed) +
					  (pool->first + used) % pool->count * OBJECT_BYTES);
			/*
			 * in_making is stored before the claim, because a handler may fork between
			 * the two.
			 */
			in_making = thread;
			atomic_signal_fence(memory_order_seq_cst);
			/*
			 * A handler may have taken the object. Under an emulator, where a fork
			 * wipes nothing, the parent may have taken it.
			 */
			if (!take_object(thread))
				continue;
			link_thread(thread);
			return thread;
		}
	}
	return NULL;
}

/*
 * The stack of free objects is one word: a tag of 16 bits above the address of the first object.
 * The tag changes with each push and pop, so that a compare-and-swap fails if the stack has changed
 * since the load of the word (the ABA problem).
 *
 * An object is claimed by its own word alone. So it does no harm if an object on the stack is
 * claimed already, or if a free object is not on the stack. The stack only makes sure that a new
 * thread looks at few objects, however many threads there are.
 */
static void push_free(struct ptx_thread *thread)
{
	uint64_t first = atomic_load_explicit(&ptx_private.free_threads, memory_order_relaxed),
		 mine;

	/*
	 * find_free() may have claimed an object that is still on the stack. Pushing that object a
	 * second time would make a circle.
	 */
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

/*
 * Removes objects from the stack until one can be claimed. Returns NULL if the stack is empty or
 * changes too often.
 */
static struct ptx_thread *pop_free(void)
{
	uint64_t first = atomic_load_explicit(&ptx_private.free_threads, memory_order_acquire);

	for (int i = 0; i < POP_TRIES; i++) {
		uintptr_t at = (uintptr_t)(first & ((UINT64_C(1) << TAG_SHIFT) - 1));
		struct ptx_thread *thread = (struct ptx_thread *)at;
		uint64_t below;

		if (!thread)
			return NULL;
		/*
		 * Another thread may have popped the object meanwhile. Its memory is never
		 * unmapped, so the load is safe. If next_free is not the right object any more, the
		 * tag has changed, and the exchange fails.
		 */
		below = (uint64_t)(uintptr_t)atomic_load_explicit(&thread->next_free,
								  memory_order_relaxed);
		below |= ((first >> TAG_SHIFT) + 1) << TAG_SHIFT;
		if (atomic_compare_exchange_weak_explicit(&ptx_private.free_threads, &first, below,
							  memory_order_acquire,
							  memory_order_acquire)) {
			atomic_store_explicit(&thread->is_stacked, 0, memory_order_release);
			in_making = thread;
			atomic_signal_fence(memory_order_seq_cst);
			if (take_object(thread)) {
				/*
				 * In a child, an interrupted frame may have pushed this object
				 * after the fork wiped its entry in the list of all objects.
				 */
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

/* release: the next owner of the object sees all stores of this owner. */
void ptx_object_free(struct ptx_thread *thread)
{
	atomic_store_explicit(&thread->taken, 0, memory_order_release);
	push_free(thread);
}

/*
 * Maps `count` new objects. Returns one of them, claimed, and pushes the others for later threads.
 * Returns NULL if there is no memory, or if the process is quiet.
 */
static struct ptx_thread *make_slab(unsigned count)
{
	unsigned char *slab = ptx_is_quiet() ? NULL : map_objects(count);

	if (!slab)
		return NULL;
	for (unsigned i = 0; i < count; i++) {
		struct ptx_thread *thread = (void *)(slab + i * OBJECT_BYTES);

		/* Only this thread can find the new objects, so a store claims an object. */
		if (i == 0)
			atomic_store_explicit(&thread->taken, 1, memory_order_relaxed);
		link_thread(thread);
		if (i != 0)
			push_free(thread);
	}
	return (void *)slab;
}

/*
 * Searches all objects for a free object. A thread uses this search if the stack is empty and no
 * more objects can be made. A free object may be missing on the stack, because a handler left
 * push_free() by siglongjmp().
 */
static struct ptx_thread *find_free(void)
{
	struct ptx_thread *thread = atomic_load_explicit(&ptx_private.threads,
							 memory_order_acquire);

	for (; thread; thread = thread->next) {
		if (atomic_load_explicit(&thread->taken, memory_order_relaxed) != 0)
			continue;
		in_making = thread;
		atomic_signal_fence(memory_order_seq_cst);
		if (take_object(thread))
			break;
	}
	return thread;
}

/*
 * Called at the creation of a stream, outside of trace points. Reading `taken` of other threads
 * gives an estimate, which is enough: a thread that finds no object makes some.
 */
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

/* If two threads reserve a pool at the same time, one of them unmaps its memory again. */
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

/* The stack is tried first, because objects that were used are in memory already. */
struct ptx_thread *ptx_object_take(void)
{
	struct ptx_thread *thread = pop_free();

	return thread ? thread : take_from_pool();
}

struct ptx_thread *ptx_object_make(void)
{
	struct ptx_thread *thread = make_slab(SLAB_THREADS);

	/* A limit of the program (RLIMIT_DATA, RLIMIT_AS) may leave room for few objects only. */
	if (!thread)
		thread = make_slab(1);
	return thread ? thread : find_free();
}

void ptx_object_end_making(void)
{
	in_making = NULL;
}

/*
 * Called in the child, in which this is the only thread. A handler that forked may have interrupted
 * ptx_thread_make(). So if there is an object in in_making, the pool begins behind it and not
 * behind the thread's own object.
 */
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

/*
 * With a low limit of memory the pool is small. If there is no memory, `begin` is NULL, and
 * left_in() returns 0.
 */
void ptx_objects_init(void)
{
	unsigned char *objects = map_objects(POOL_THREADS);

	if (!objects) {
		pools[0].count = POOL_LEAST;
		objects = map_objects(POOL_LEAST);
	}
	atomic_store_explicit(&pools[0].begin, objects, memory_order_release);
}
