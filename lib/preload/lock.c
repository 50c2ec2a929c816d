/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/lock.c - families lock and lock-hold: mutexes, read-write locks, spin locks.
 *
 * Locks inside the C library, of its streams and of mtx_lock(), are not seen.
 */
#include <pthread.h>

#include "preload/lock.h"

#define HOLDS 16

static _Thread_local struct hold {
	const void *lock;
	uint64_t since;
	unsigned depth; /* a lock may be taken by its owner again */
} holds[HOLDS] __attribute__((tls_model("initial-exec")));

void shim_hold_begin(const void *lock)
{
	struct hold *free = NULL;

	for (int i = 0; i < HOLDS; i++) {
		if (holds[i].lock == lock) {
			holds[i].depth++;
			return;
		}
		if (!holds[i].lock && !free)
			free = &holds[i];
	}
	if (!free) {
		shim_lose_hold();
		return;
	}
	free->since = shim_now();
	free->depth = 1;
	atomic_signal_fence(memory_order_seq_cst);
	free->lock = lock;
}

void shim_hold_end(const void *lock, enum shim_type type, const void *caller)
{
	uint64_t data[2];

	for (int i = 0; i < HOLDS; i++) {
		if (holds[i].lock != lock)
			continue;
		if (--holds[i].depth)
			return;
		data[0] = shim_now() - holds[i].since;
		data[1] = (uint64_t)(uintptr_t)lock;
		holds[i].lock = NULL;
		shim_put(type, data, sizeof data, caller);
		return;
	}
}

bool shim_is_until(clockid_t clock, const struct timespec *until)
{
	return (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) &&
	       (!until || (until->tv_nsec >= 0 && until->tv_nsec < 1000000000));
}

SHIM_TRYLOCK(pthread_mutex_trylock, HOLD_MUTEX, (pthread_mutex_t *mutex), (mutex), mutex)
SHIM_UNLOCK(pthread_mutex_unlock, HOLD_MUTEX, (pthread_mutex_t *mutex), (mutex), mutex)

SHIM_LOCK(pthread_mutex_lock, LOCK_MUTEX, HOLD_MUTEX, (pthread_mutex_t *mutex), (mutex), mutex,
	  next(pthread_mutex_trylock)(mutex))
SHIM_LOCK(pthread_mutex_timedlock, LOCK_MUTEX, HOLD_MUTEX,
	  (pthread_mutex_t *mutex, const struct timespec *until), (mutex, until), mutex,
	  next(pthread_mutex_trylock)(mutex))
SHIM_LOCK(pthread_mutex_clocklock, LOCK_MUTEX, HOLD_MUTEX,
	  (pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until),
	  (mutex, clock, until), mutex,
	  shim_is_until(clock, NULL) ? next(pthread_mutex_trylock)(mutex) : EBUSY)

SHIM_TRYLOCK(pthread_rwlock_tryrdlock, HOLD_RWLOCK, (pthread_rwlock_t *lock), (lock), lock)
SHIM_TRYLOCK(pthread_rwlock_trywrlock, HOLD_RWLOCK, (pthread_rwlock_t *lock), (lock), lock)
SHIM_UNLOCK(pthread_rwlock_unlock, HOLD_RWLOCK, (pthread_rwlock_t *lock), (lock), lock)

SHIM_LOCK(pthread_rwlock_rdlock, LOCK_RDLOCK, HOLD_RWLOCK, (pthread_rwlock_t *lock), (lock), lock,
	  next(pthread_rwlock_tryrdlock)(lock))
SHIM_LOCK(pthread_rwlock_timedrdlock, LOCK_RDLOCK, HOLD_RWLOCK,
	  (pthread_rwlock_t *lock, const struct timespec *until), (lock, until), lock,
	  shim_is_until(CLOCK_REALTIME, until) ? next(pthread_rwlock_tryrdlock)(lock) : EBUSY)
SHIM_LOCK(pthread_rwlock_clockrdlock, LOCK_RDLOCK, HOLD_RWLOCK,
	  (pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until),
	  (lock, clock, until), lock,
	  shim_is_until(clock, until) ? next(pthread_rwlock_tryrdlock)(lock) : EBUSY)
SHIM_LOCK(pthread_rwlock_wrlock, LOCK_WRLOCK, HOLD_RWLOCK, (pthread_rwlock_t *lock), (lock), lock,
	  next(pthread_rwlock_trywrlock)(lock))
SHIM_LOCK(pthread_rwlock_timedwrlock, LOCK_WRLOCK, HOLD_RWLOCK,
	  (pthread_rwlock_t *lock, const struct timespec *until), (lock, until), lock,
	  shim_is_until(CLOCK_REALTIME, until) ? next(pthread_rwlock_trywrlock)(lock) : EBUSY)
SHIM_LOCK(pthread_rwlock_clockwrlock, LOCK_WRLOCK, HOLD_RWLOCK,
	  (pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until),
	  (lock, clock, until), lock,
	  shim_is_until(clock, until) ? next(pthread_rwlock_trywrlock)(lock) : EBUSY)

SHIM_NEXT(pthread_spin_trylock, shim_no_error);
SHIM_NEXT(pthread_spin_lock, shim_no_error);

SHIM_WRAPPER int pthread_spin_lock(pthread_spinlock_t *lock)
{
	struct lock_data data = { .lock = (uint64_t)(uintptr_t)lock };

	if (!shim_on(LOCK_SPIN))
		return next(pthread_spin_lock)(lock);
	if (next(pthread_spin_trylock)(lock) == 0)
		return 0;
	SHIM_CALL(LOCK_SPIN, data);
	call.len = LOCK_DATA_BYTES;
	data.error = next(pthread_spin_lock)(lock);
	return data.error;
}
