/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/lock.h - the common parts of the wrappers of locks.
 *
 * A wrapper first tries the lock without waiting. A thread that gets the lock in this way records
 * no event of a wait. If the lock is in use, the thread calls the real function, which waits, and
 * records the wait. The real function also reports errors.
 *
 * Threads   all functions may be called by any thread; the holds are thread-local.
 * Signals   async-signal-safe if the wrapped function is.
 */
#ifndef PTX_PRELOAD_LOCK_H
#define PTX_PRELOAD_LOCK_H

#include "preload/c11.h"
#include "preload/shim.h"

/* The fields of the lock events. Only waits for mutexes and read-write locks have the owner. */
struct lock_data {
	uint64_t time;
	uint64_t lock;
	int32_t error;
	/* the thread that held the lock when the wait began; 0: unknown; -N: N readers */
	int32_t owner;
};

#define LOCK_DATA_BYTES (offsetof(struct lock_data, error) + 4)

/*
 * shim_hold_begin() notes that the calling thread has acquired the lock. shim_hold_end() is called
 * before the thread releases the lock, and records how long the lock was held. A thread can have 16
 * such notes at a time; further holds are counted as lost.
 */
void shim_hold_begin(const void *lock, enum shim_type type, const void *caller);
void shim_hold_end(const void *lock, enum shim_type type, const void *caller);
/*
 * Records that the calling thread will wait for a lock, once for each of the thread's holds that
 * are noted. If threads wait for each other, none of their calls returns, and only the events of
 * this function show the wait.
 */
void shim_hold_wait(const void *lock, enum shim_type type, const void *caller);

/*
 * Returns the thread that holds a lock. If N readers hold a read-write lock, the result is -N. The
 * result is 0 if the holder is unknown. `held` is the event type of the lock's holds, which shows
 * the kind of the lock. Another thread may release the lock meanwhile.
 */
int32_t shim_lock_owner(const void *lock, enum shim_type held);

/*
 * Notes a hold after a call that acquired the lock. A call that returns EOWNERDEAD has acquired the
 * lock, too. No function of <threads.h> returns the number EOWNERDEAD, so the numbers of both kinds
 * of functions need no distinction: thrd_success is 0.
 */
shim_inline int shim_got(int result, const void *lock, enum shim_type held, const void *caller)
{
	if (shim_unlikely(*shim_switch[held]) && (result == 0 || result == EOWNERDEAD))
		shim_hold_begin(lock, held, caller);
	return result;
}

/*
 * Returns whether the real function will probably accept this clock and this time. The real
 * function checks both before it looks at the lock.
 */
bool shim_is_until(clockid_t clock, const struct timespec *until);

/*
 * Notes that the process shares memory with other processes. The memory may contain a semaphore, so
 * sem_post() may wake a thread of another process.
 */
void shim_shares_memory(void);

/*
 * SHIM_LOCK() wraps a function that waits for a lock, and SHIM_LOCK_TIMED() a function that waits
 * with a time limit. try_ is an expression that tries to acquire the lock without waiting; its
 * value is EBUSY if the lock is in use. A wait with a time limit ends in any case, so it has no
 * event lock.waiting, which serves to find deadlocks. SHIM_LOCK_LIMIT() is for functions of
 * <threads.h>, too: error_of is the function that converts the results of the calls, including that
 * of try_, to error numbers.
 */
#define SHIM_LOCK(name, type, held, params, args, lock_, try_) \
	SHIM_LOCK_LIMIT(name, type, held, params, args, lock_, try_, false, shim_posix_error)
#define SHIM_LOCK_TIMED(name, type, held, params, args, lock_, try_) \
	SHIM_LOCK_LIMIT(name, type, held, params, args, lock_, try_, true, shim_posix_error)
#define SHIM_LOCK_LIMIT(name, type, held, params, args, lock_, try_, has_limit, error_of) \
	SHIM_NEXT(name, shim_no_error); \
	SHIM_WRAPPER int name params \
	{ \
		if (!shim_on(type)) \
			return next(name) args; \
		int result = (try_); \
		if (error_of(result) != EBUSY) \
			return shim_got(result, lock_, held, shim_caller()); \
		if (!(has_limit) && shim_unlikely(*shim_switch[LOCK_WAITING])) \
			shim_hold_wait(lock_, held, shim_caller()); \
		/* Only a call that waits has an event, so a skipped event is counted here. */ \
		if (!shim_records(type)) \
			return shim_got(next(name) args, lock_, held, shim_caller()); \
		struct lock_data data = { \
			.lock = (uint64_t)(uintptr_t)(lock_), .error = ECANCELED, \
			.owner = shim_lock_owner(lock_, held) \
		}; \
		SHIM_CALL(type, data); \
		result = next(name) args; \
		data.error = error_of(result); \
		return shim_got(result, lock_, held, shim_caller()); \
	}

/*
 * SHIM_TRYLOCK() wraps a function that does not wait, and SHIM_UNLOCK() wraps a function that
 * releases the lock. The hold ends before the lock is released, because another thread may acquire
 * the lock immediately.
 */
#define SHIM_TRYLOCK(name, held, params, args, lock_) \
	SHIM_NEXT(name, shim_no_error); \
	SHIM_WRAPPER int name params \
	{ \
		if (!shim_on(held)) \
			return next(name) args; \
		return shim_got(next(name) args, lock_, held, shim_caller()); \
	}

#define SHIM_UNLOCK(name, held, params, args, lock_) \
	SHIM_NEXT(name, shim_no_error); \
	SHIM_WRAPPER int name params \
	{ \
		if (shim_on(held)) \
			shim_hold_end(lock_, held, shim_caller()); \
		return next(name) args; \
	}

#endif
