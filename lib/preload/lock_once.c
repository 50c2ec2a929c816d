/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/lock_once.c - family lock: waits in pthread_once() for the initialiser that another
 * thread executes.
 *
 * The C library does not note which thread executes an initialiser. So the shim passes run_once()
 * to the real function. run_once() notes the thread and calls the initialiser of the program.
 *
 * Signals   pthread_once() is not async-signal-safe, but a handler may call it for another object
 *           than the code that it has interrupted.
 */
#include <pthread.h>

#include "preload/lock.h"

/* Bits of a pthread_once_t. Their values are a part of the ABI of glibc. */
#define ONCE_RUNS 1
#define ONCE_DONE 2

/*
 * The threads that have executed initialisers last, by a hash of the object. An entry may be of
 * another object with the same hash, so the owner of a wait may be unknown.
 */
#define RUNNERS 256
static struct runner {
	_Atomic uintptr_t once;
	_Atomic int32_t tid;
} runners[RUNNERS];

/* The call of pthread_once() that this thread executes. */
static _Thread_local struct {
	void (*run)(void);
	const void *once;
} present __attribute__((tls_model("initial-exec")));

static struct runner *runner_of(const void *once)
{
	return &runners[((uintptr_t)once >> 2) * UINT64_C(0x9e3779b97f4a7c15) >> 56];
}

SHIM_NEXT(pthread_once, shim_no_error);
SHIM_NEXT(pthread_mutex_trylock, shim_no_error);

/* Returns the id of this thread. The C library stores it in a mutex, without a system call. */
static int32_t own_tid(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	return next(pthread_mutex_trylock)(&mutex) ? 0 : shim_lock_owner(&mutex, HOLD_MUTEX);
}

static void run_once(void)
{
	struct runner *runner = runner_of(present.once);

	/* A reader that sees the object sees its thread or a later one, which it cannot use. */
	atomic_store_explicit(&runner->once, 0, memory_order_relaxed);
	atomic_store_explicit(&runner->tid, own_tid(), memory_order_release);
	atomic_store_explicit(&runner->once, (uintptr_t)present.once, memory_order_release);
	present.run();
}

/* Returns the thread that executes the initialiser, or 0 if it is unknown. */
static int32_t owner_of(const void *once)
{
	struct runner *runner = runner_of(once);
	int32_t tid = 0;

	if (atomic_load_explicit(&runner->once, memory_order_acquire) == (uintptr_t)once)
		tid = atomic_load_explicit(&runner->tid, memory_order_acquire);
	return atomic_load_explicit(&runner->once, memory_order_relaxed) == (uintptr_t)once ? tid :
											      0;
}

/* Calls the real function. An initialiser may call pthread_once() for another object. */
static int call_once_noted(pthread_once_t *once, void (*run)(void))
{
	__typeof__(present) before = present;
	int error;

	present.run = run;
	present.once = once;
	error = next(pthread_once)(once, run_once);
	present = before;
	return error;
}

/*
 * Only a thread that waits has an event. If two threads call the function at the same moment, the
 * thread that waits may have no event.
 */
SHIM_WRAPPER int pthread_once(pthread_once_t *once, void (*run)(void))
{
	struct lock_data data = { .lock = (uint64_t)(uintptr_t)once, .error = ECANCELED };
	int state;

	if (!shim_on(LOCK_ONCE))
		return next(pthread_once)(once, run);
	state = __atomic_load_n((const int *)once, __ATOMIC_ACQUIRE);
	if (state & ONCE_DONE)
		return next(pthread_once)(once, run);
	if (!(state & ONCE_RUNS) || !shim_records(LOCK_ONCE))
		return call_once_noted(once, run);
	data.owner = owner_of(once);
	SHIM_CALL(LOCK_ONCE, data);
	data.error = call_once_noted(once, run);
	return data.error;
}
