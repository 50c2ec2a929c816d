/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/lock_once.c - family lock: waits in pthread_once() and call_once() for the initialiser
 * that another thread executes.
 *
 * The C library does not note which thread executes an initialiser. So the shim passes run_once()
 * to the real function. run_once() notes the thread and calls the initialiser of the program.
 *
 * Signals   the functions are not async-signal-safe, but a handler may call them for another object
 *           than the code that it has interrupted.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "preload/lock.h"

/* Bits of a pthread_once_t or once_flag. Their values are a part of the ABI of glibc. */
#define ONCE_RUNS 1
#define ONCE_DONE 2

/*
 * The threads that have executed initialisers last, at the place that a hash of the object gives.
 * An element has the upper bits of the hash and the id of the thread, so that a reader never sees
 * the thread of another object. Another object may have overwritten an element, so the owner of a
 * wait may be unknown.
 */
#define RUNNERS  256
#define TID_MASK ((UINT64_C(1) << 22) - 1) /* the kernel has no greater ids of threads */
static _Atomic uint64_t runners[RUNNERS];

/* The call of pthread_once() or call_once() that this thread executes. */
static _Thread_local struct {
	void (*run)(void);
	const void *once;
	bool has_run; /* the initialiser, in this thread */
} present __attribute__((tls_model("initial-exec")));

static uint64_t hash_once(const void *once)
{
	return ((uintptr_t)once >> 2) * UINT64_C(0x9e3779b97f4a7c15);
}

SHIM_NEXT(pthread_once, shim_no_error);
SHIM_NEXT(call_once, shim_no_return);
SHIM_NEXT(pthread_mutex_trylock, shim_no_error);

/* Returns the id of this thread. The C library stores it in a mutex, without a system call. */
static int32_t own_tid(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	return next(pthread_mutex_trylock)(&mutex) ? 0 : shim_lock_owner(&mutex, HOLD_MUTEX);
}

static void run_once(void)
{
	const uint64_t hash = hash_once(present.once);

	atomic_store(&runners[hash >> 56], (hash & ~TID_MASK) | ((uint32_t)own_tid() & TID_MASK));
	present.has_run = true;
	present.run();
}

/* Returns the thread that executes the initialiser, or 0 if it is unknown. */
static int32_t owner_of(const void *once)
{
	const uint64_t hash = hash_once(once), runner = atomic_load(&runners[hash >> 56]);

	return (runner & ~TID_MASK) == (hash & ~TID_MASK) ? (int32_t)(runner & TID_MASK) : 0;
}

/* An object of one of the two kinds. call_once() returns no result, and cannot fail. */
struct once {
	void *object;
	bool is_c11;
};

static int call_real(struct once once, void (*run)(void))
{
	if (!once.is_c11)
		return next(pthread_once)(once.object, run);
	next(call_once)(once.object, run);
	return 0;
}

/*
 * Calls the real function, returns its error number, and stores whether this thread has executed
 * the initialiser. An initialiser may call pthread_once() for another object.
 */
static int call_noted(struct once once, void (*run)(void), bool *has_run)
{
	__typeof__(present) before = present;
	int error;

	present.run = run;
	present.once = once.object;
	present.has_run = false;
	error = call_real(once, run_once);
	*has_run = present.has_run;
	present = before;
	return error;
}

/*
 * Only a thread that waits has an event. If two threads call the function at the same moment, the
 * thread that waits may have no event. A thread that has executed the initialiser itself has none
 * either: after fork(), the child executes an initialiser that a thread of its parent had begun,
 * and does not wait. The same applies if an initialiser ends by cancellation or an exception. So a
 * call that ends in this way needs no event, and SHIM_CALL() is not necessary.
 */
shim_inline int trace_once(struct once once, void (*run)(void))
{
	struct lock_data data = { .lock = (uint64_t)(uintptr_t)once.object };
	uint64_t from;
	bool has_run;
	int state;

	if (!shim_on(LOCK_ONCE))
		return call_real(once, run);
	state = __atomic_load_n((const int *)once.object, __ATOMIC_ACQUIRE);
	if (state & ONCE_DONE)
		return call_real(once, run);
	if (!(state & ONCE_RUNS) || !shim_records(LOCK_ONCE))
		return call_noted(once, run, &has_run);
	data.owner = owner_of(once.object);
	from = shim_now();
	data.error = call_noted(once, run, &has_run);
	data.time = shim_now() - from;
	if (!has_run)
		shim_put(LOCK_ONCE, &data, sizeof data, shim_caller());
	return data.error;
}

SHIM_WRAPPER int pthread_once(pthread_once_t *once, void (*run)(void))
{
	return trace_once((struct once){ once, false }, run);
}

SHIM_WRAPPER void call_once(once_flag *once, void (*run)(void))
{
	trace_once((struct once){ once, true }, run);
}
