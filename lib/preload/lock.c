/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/lock.c - families lock and lock-hold: mutexes, read-write locks, spin locks.
 *
 * The C library locks the streams of <stdio.h> by internal calls, which the shim does not see.
 */
#include <pthread.h>

#include "preload/lock.h"

/*
 * The number of locks of a thread for which lock-hold can note a hold at the same time. The array
 * is searched linearly.
 */
#define HOLDS 16

/* The locks that this thread holds. Only the thread and its signal handlers use the array. */
static _Thread_local struct hold {
	const void *lock;
	uint64_t since;
	/* number of holds: a thread may acquire a recursive lock or a read lock again */
	unsigned depth;
	const void *caller; /* of the call that acquired it */
} holds[HOLDS] __attribute__((tls_model("initial-exec")));

#define UNTIMED UINT64_MAX /* a hold that began while its type was not recorded */

/* Returns true if exactly one stream is attached and does not record the type now. */
static bool is_silent(enum shim_type type)
{
	return posix_trace_silent_np[shim_id[type]] && *posix_trace_active_np == 1;
}

/*
 * Counts a hold whose beginning was not timed. If the type is recorded again by now, the hold
 * counts as skipped, because its duration is unknown.
 */
static void skip_hold(enum shim_type type)
{
	if (shim_records(type))
		posix_trace_skip_np(shim_id[type]);
}

/*
 * A signal handler may acquire another lock while this function runs. The handler may use the same
 * free entry, because the member `lock`, which marks an entry as in use, is stored last. Usually
 * the handler releases its locks before it returns, so the entry is free again when this function
 * stores the member `lock`. If the type is not recorded now, this function does not read the clock.
 * The hold is counted at its end, like any other hold.
 */
void shim_hold_begin(const void *lock, enum shim_type type, const void *caller)
{
	struct hold *free = NULL;

	/* A lock has at most one entry; `depth` counts how often the thread holds it. */
	for (int i = 0; i < HOLDS; i++) {
		if (holds[i].lock == lock) {
			holds[i].depth++;
			return;
		}
		if (!holds[i].lock && !free)
			free = &holds[i];
	}
	/* No entry is free. The hold is counted as lost. */
	if (!free) {
		shim_lose_hold();
		return;
	}
	free->since = is_silent(type) ? UNTIMED : shim_now();
	free->depth = 1;
	free->caller = caller;
	atomic_signal_fence(memory_order_seq_cst);
	free->lock = lock;
}

/*
 * If the lock is not in the array, the hold has no event: the lock was acquired before tracing
 * began or by another thread, or the hold was counted as lost.
 */
void shim_hold_end(const void *lock, enum shim_type type, const void *caller)
{
	uint64_t data[2];

	for (int i = 0; i < HOLDS; i++) {
		if (holds[i].lock != lock)
			continue;
		if (--holds[i].depth)
			return;
		if (holds[i].since == UNTIMED) {
			holds[i].lock = NULL;
			skip_hold(type);
			return;
		}
		data[0] = shim_now() - holds[i].since;
		data[1] = (uint64_t)(uintptr_t)lock;
		/*
		 * The entry is freed before the event is recorded, because a signal handler may run
		 * while the event is recorded.
		 */
		holds[i].lock = NULL;
		shim_put(type, data, sizeof data, caller);
		return;
	}
}

/* The parts of the member __readers of a read-write lock of glibc. */
#define WRITE_PHASE  1
#define READER_SHIFT 3

/*
 * A member of the lock has the id of the thread that holds the mutex or the write lock. Another
 * member of a read-write lock counts the readers that hold it, unless a writer holds it. The places
 * of these members are a part of the ABI of glibc. Another thread may change the members meanwhile.
 */
int32_t shim_lock_owner(const void *lock, enum shim_type held)
{
	const pthread_rwlock_t *rwlock = lock;
	int32_t owner;
	unsigned readers;

	if (held == HOLD_MUTEX)
		return __atomic_load_n(&((const pthread_mutex_t *)lock)->__data.__owner,
				       __ATOMIC_RELAXED);
	owner = __atomic_load_n(&rwlock->__data.__cur_writer, __ATOMIC_RELAXED);
	readers = __atomic_load_n(&rwlock->__data.__readers, __ATOMIC_RELAXED);
	return owner || readers & WRITE_PHASE ? owner : -(int32_t)(readers >> READER_SHIFT);
}

void shim_hold_wait(const void *lock, enum shim_type type, const void *caller)
{
	/* The fields of lock.waiting, without gaps. */
	struct {
		uint64_t lock, held, taken;
		int32_t owner, is_rwlock;
	} data = { .lock = (uint64_t)(uintptr_t)lock, .is_rwlock = type == HOLD_RWLOCK };

	for (int i = 0; i < HOLDS; i++) {
		if (!holds[i].lock || !shim_records(LOCK_WAITING))
			continue;
		data.held = (uint64_t)(uintptr_t)holds[i].lock;
		data.taken = (uint64_t)(uintptr_t)holds[i].caller;
		data.owner = shim_lock_owner(lock, type);
		data.owner = data.owner > 0 ? data.owner : 0;
		shim_put(LOCK_WAITING, &data, sizeof(data), caller);
	}
}

/*
 * The try functions do not check the clock and the time. If the real call would fail with EINVAL,
 * the wrapper must not use the try function: the call would then succeed with the shim and fail
 * without it.
 */
bool shim_is_until(clockid_t clock, const struct timespec *until)
{
	return (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) &&
	       (!until || (until->tv_nsec >= 0 && until->tv_nsec < 1000000000));
}

/* The functions that try or unlock do not wait, so they are wrapped only for lock-hold. */
SHIM_TRYLOCK(pthread_mutex_trylock, HOLD_MUTEX, (pthread_mutex_t *mutex), (mutex), mutex)
SHIM_UNLOCK(pthread_mutex_unlock, HOLD_MUTEX, (pthread_mutex_t *mutex), (mutex), mutex)

/*
 * trylock reports the errors of a mutex, such as EOWNERDEAD, in the same way as lock. Only EDEADLK
 * differs: trylock returns EBUSY instead. The wrapper then makes the real call, which returns
 * EDEADLK.
 */
SHIM_LOCK(pthread_mutex_lock, LOCK_MUTEX, HOLD_MUTEX, (pthread_mutex_t *mutex), (mutex), mutex,
	  next(pthread_mutex_trylock)(mutex))
SHIM_LOCK_TIMED(pthread_mutex_timedlock, LOCK_MUTEX, HOLD_MUTEX,
		(pthread_mutex_t *mutex, const struct timespec *until), (mutex, until), mutex,
		next(pthread_mutex_trylock)(mutex))
/* The real function handles the clock. The shim only checks whether the clock is valid. */
SHIM_LOCK_TIMED(pthread_mutex_clocklock, LOCK_MUTEX, HOLD_MUTEX,
		(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until),
		(mutex, clock, until), mutex,
		shim_is_until(clock, NULL) ? next(pthread_mutex_trylock)(mutex) : EBUSY)

/*
 * The mutexes of <threads.h>. They are never robust, so their functions return no EOWNERDEAD. If
 * the thread has the mutex already, trylock returns thrd_busy or acquires it again, as lock does.
 */
SHIM_TRYLOCK(mtx_trylock, HOLD_MUTEX, (mtx_t *mutex), (mutex), mutex)
SHIM_UNLOCK(mtx_unlock, HOLD_MUTEX, (mtx_t *mutex), (mutex), mutex)
SHIM_LOCK_LIMIT(mtx_lock, LOCK_MUTEX, HOLD_MUTEX, (mtx_t *mutex), (mutex), mutex,
		next(mtx_trylock)(mutex), false, shim_c11_error)
SHIM_LOCK_LIMIT(mtx_timedlock, LOCK_MUTEX, HOLD_MUTEX,
		(mtx_t *mutex, const struct timespec *until), (mutex, until), mutex,
		next(mtx_trylock)(mutex), true, shim_c11_error)

/*
 * Read locks and write locks have one event type for their holds, because pthread_rwlock_unlock()
 * releases both.
 */
SHIM_TRYLOCK(pthread_rwlock_tryrdlock, HOLD_RWLOCK, (pthread_rwlock_t *lock), (lock), lock)
SHIM_TRYLOCK(pthread_rwlock_trywrlock, HOLD_RWLOCK, (pthread_rwlock_t *lock), (lock), lock)
SHIM_UNLOCK(pthread_rwlock_unlock, HOLD_RWLOCK, (pthread_rwlock_t *lock), (lock), lock)

/*
 * If the time of a timed call for a read-write lock is invalid, the call fails even if the lock is
 * free. So the wrapper checks the time before it tries to acquire the lock.
 */
SHIM_LOCK(pthread_rwlock_rdlock, LOCK_RDLOCK, HOLD_RWLOCK, (pthread_rwlock_t *lock), (lock), lock,
	  next(pthread_rwlock_tryrdlock)(lock))
SHIM_LOCK_TIMED(pthread_rwlock_timedrdlock, LOCK_RDLOCK, HOLD_RWLOCK,
		(pthread_rwlock_t *lock, const struct timespec *until), (lock, until), lock,
		shim_is_until(CLOCK_REALTIME, until) ? next(pthread_rwlock_tryrdlock)(lock) : EBUSY)
SHIM_LOCK_TIMED(pthread_rwlock_clockrdlock, LOCK_RDLOCK, HOLD_RWLOCK,
		(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until),
		(lock, clock, until), lock,
		shim_is_until(clock, until) ? next(pthread_rwlock_tryrdlock)(lock) : EBUSY)
SHIM_LOCK(pthread_rwlock_wrlock, LOCK_WRLOCK, HOLD_RWLOCK, (pthread_rwlock_t *lock), (lock), lock,
	  next(pthread_rwlock_trywrlock)(lock))
SHIM_LOCK_TIMED(pthread_rwlock_timedwrlock, LOCK_WRLOCK, HOLD_RWLOCK,
		(pthread_rwlock_t *lock, const struct timespec *until), (lock, until), lock,
		shim_is_until(CLOCK_REALTIME, until) ? next(pthread_rwlock_trywrlock)(lock) : EBUSY)
SHIM_LOCK_TIMED(pthread_rwlock_clockwrlock, LOCK_WRLOCK, HOLD_RWLOCK,
		(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until),
		(lock, clock, until), lock,
		shim_is_until(clock, until) ? next(pthread_rwlock_trywrlock)(lock) : EBUSY)

/*
 * Holds of spin locks are not recorded. They are so short that recording an event would take longer
 * than the hold.
 */
SHIM_NEXT(pthread_spin_trylock, shim_no_error);
SHIM_NEXT(pthread_spin_lock, shim_no_error);

SHIM_WRAPPER int pthread_spin_lock(pthread_spinlock_t *lock)
{
	struct lock_data data = { .lock = (uint64_t)(uintptr_t)lock };

	if (!shim_on(LOCK_SPIN))
		return next(pthread_spin_lock)(lock);
	/* If the lock is free, there is no event. */
	if (next(pthread_spin_trylock)(lock) == 0)
		return 0;
	if (!shim_records(LOCK_SPIN))
		return next(pthread_spin_lock)(lock);
	SHIM_CALL(LOCK_SPIN, data);
	call.len = LOCK_DATA_BYTES;
	data.error = next(pthread_spin_lock)(lock);
	return data.error;
}
