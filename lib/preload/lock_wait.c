/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/lock_wait.c - family lock: condition variables, barriers, semaphores.
 *
 * A wait on a condition variable always records an event, because the thread always blocks. The
 * wrapper of sem_wait() first tries to acquire the semaphore, as the wrapper of a lock does. The
 * wrappers of sem_post(), pthread_cond_signal() and pthread_cond_broadcast() record an event only
 * if a thread may wait. An object for which no thread ever waits therefore has no such events.
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>

#include "preload/call.h"
#include "preload/lock.h"
#include "preload/sem_taker.h"

/*
 * The numbers of threads of this process that wait for a semaphore or a condition variable in a
 * wrapper, by the address of the object. Several addresses share a number. The number stays too
 * great if a handler leaves the wait by siglongjmp(). It is also too great in a child that was
 * forked while other threads waited. sem_post() and pthread_cond_signal() then record more events,
 * and nothing else changes.
 */
#define WAITER_NUMBERS 64
static _Atomic int waiter_numbers[WAITER_NUMBERS];

/*
 * Returns the address of the number of threads that wait for an object. Semaphores that follow each
 * other in an array have different numbers.
 */
static _Atomic int *waiters_of(const void *object)
{
	return &waiter_numbers[(uintptr_t)object / sizeof(sem_t) % WAITER_NUMBERS];
}

static void wait_is_over(_Atomic int *const *waiters)
{
	atomic_fetch_sub_explicit(*waiters, 1, memory_order_relaxed);
}

/* The fields of lock.cond; the padding at its end is not part of the event. */
struct cond_data {
	uint64_t time;
	uint64_t lock, mutex;
	int32_t error;
};

/*
 * The number of recorded bytes: the data ends with the member `error`, and the padding behind it is
 * not recorded.
 */
#define COND_DATA_BYTES (offsetof(struct cond_data, error) + 4)

/*
 * Restores the hold of a mutex. A wait on a condition variable releases the mutex and acquires it
 * again before the call ends, whatever its result is, also if the thread is cancelled. The cleanup
 * runs in all of these cases.
 */
struct meanwhile {
	const void *mutex, *caller;
};

static void hold_again(struct meanwhile *meanwhile)
{
	if (*shim_switch[HOLD_MUTEX])
		shim_hold_begin(meanwhile->mutex, HOLD_MUTEX, meanwhile->caller);
}

/*
 * The hold ends before the wait and begins after it, so that lock-hold does not count the wait.
 * The event of the wait is recorded by the inner cleanup, before the hold begins again.
 */
#define COND(name, error_of, params, args) \
	SHIM_NEXT(name, shim_no_error); \
	SHIM_WRAPPER int name params \
	{ \
		if (!shim_on(LOCK_COND)) \
			return next(name) args; \
		/* \
		 * A reader of the log finds the holds (family lock-hold) around the wait by the \
		 * mutex. \
		 */ \
		struct cond_data data = { \
			.lock = (uint64_t)(uintptr_t)cond, .mutex = (uint64_t)(uintptr_t)mutex, \
			.error = ECANCELED \
		}; \
		/* \
		 * The number is increased before the mutex is released, so that a thread that \
		 * changes the condition sees the increased number. \
		 */ \
		_Atomic int *const waiters __attribute__((cleanup(wait_is_over))) = \
			waiters_of(cond); \
		atomic_fetch_add_explicit(waiters, 1, memory_order_relaxed); \
		if (*shim_switch[HOLD_MUTEX]) \
			shim_hold_end(mutex, HOLD_MUTEX, shim_caller()); \
		struct meanwhile meanwhile \
			__attribute__((cleanup(hold_again), unused)) = { mutex, shim_caller() }; \
		SHIM_CALL(LOCK_COND, data); \
		call.len = COND_DATA_BYTES; \
		int result = next(name) args; \
		data.error = error_of(result); \
		return result; \
	}

/* All of these functions return with the mutex acquired, also after a time-out. */
COND(pthread_cond_wait, shim_posix_error, (pthread_cond_t *cond, pthread_mutex_t *mutex),
     (cond, mutex))
COND(pthread_cond_timedwait, shim_posix_error,
     (pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until),
     (cond, mutex, until))
COND(pthread_cond_clockwait, shim_posix_error,
     (pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until),
     (cond, mutex, clock, until))
COND(cnd_wait, shim_c11_error, (cnd_t *cond, mtx_t *mutex), (cond, mutex))
COND(cnd_timedwait, shim_c11_error,
     (cnd_t *restrict cond, mtx_t *restrict mutex, const struct timespec *restrict until),
     (cond, mutex, until))

/*
 * The functions that wake threads from a condition variable. They have an event only if a thread of
 * the process may wait. A woken thread may free the memory of the variable, so nothing in this
 * memory is read after the call.
 */
#define COND_WAKE(name, cond_type, error_of, is_all) \
	SHIM_NEXT(name, shim_no_error); \
	SHIM_WRAPPER int name(cond_type *cond) \
	{ \
		if (!shim_on(LOCK_COND_SIGNAL) || \
		    !atomic_load_explicit(waiters_of(cond), memory_order_relaxed) || \
		    !shim_records(LOCK_COND_SIGNAL)) \
			return next(name)(cond); \
		struct { \
			uint64_t time, lock; \
			int32_t error, all; \
		} data = { .lock = (uint64_t)(uintptr_t)cond, .all = (is_all) }; \
		SHIM_CALL(LOCK_COND_SIGNAL, data); \
		int result = next(name)(cond); \
		data.error = error_of(result); \
		return result; \
	}

COND_WAKE(pthread_cond_signal, pthread_cond_t, shim_posix_error, 0)
COND_WAKE(pthread_cond_broadcast, pthread_cond_t, shim_posix_error, 1)
COND_WAKE(cnd_signal, cnd_t, shim_c11_error, 0)
COND_WAKE(cnd_broadcast, cnd_t, shim_c11_error, 1)

SHIM_NEXT(pthread_barrier_wait, shim_no_error);

/*
 * pthread_barrier_wait(3) returns a special value in one thread, which is no error. It is no
 * cancellation point, so it is never left by a cancellation.
 */
SHIM_WRAPPER int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	/* The fields of lock.barrier. `last` is 1 in the thread that arrived last. */
	struct {
		uint64_t time;
		uint64_t lock;
		int32_t error, last;
	} data = { .lock = (uint64_t)(uintptr_t)barrier };
	int result;

	if (!shim_on_alone(LOCK_BARRIER))
		return next(pthread_barrier_wait)(barrier);
	SHIM_CALL(LOCK_BARRIER, data);
	result = next(pthread_barrier_wait)(barrier);
	data.last = result == PTHREAD_BARRIER_SERIAL_THREAD;
	data.error = data.last ? 0 : result;
	return result;
}

/* True if the process may have a semaphore for which threads of other processes wait. */
static _Atomic bool has_shared_sem;

/*
 * The flag is written only once. Otherwise the threads of a process that often maps shared memory
 * would compete for its cache line.
 */
void shim_shares_memory(void)
{
	if (!atomic_load_explicit(&has_shared_sem, memory_order_relaxed))
		atomic_store_explicit(&has_shared_sem, true, memory_order_relaxed);
}

/* The recorder reads this variable in the memory of the process. */
extern SHIM_WRAPPER struct shim_taker posixtrace_shim_takers[SHIM_TAKERS];
_Alignas(64) struct shim_taker posixtrace_shim_takers[SHIM_TAKERS];

static _Thread_local uint64_t taker_number __attribute__((tls_model("initial-exec")));

/* Stores a member of a note, which other threads may write at the same time. */
static void note_member(uint64_t *member, uint64_t value)
{
	__atomic_store_n(member, value, __ATOMIC_RELAXED);
}

static struct shim_taker *note_of(const sem_t *semaphore)
{
	return &posixtrace_shim_takers[shim_taker_index((uintptr_t)semaphore)];
}

static bool is_note_of(struct shim_taker *note, const sem_t *semaphore)
{
	return __atomic_load_n(&note->semaphore, __ATOMIC_RELAXED) == (uintptr_t)semaphore;
}

/* Notes that this thread has taken a semaphore. */
static void note_taker(const sem_t *semaphore, const void *caller)
{
	static _Atomic uint64_t numbers;
	struct shim_taker *note = note_of(semaphore);
	struct shim_taker taker;

	if (shim_unlikely(!taker_number))
		taker_number = 1 + atomic_fetch_add_explicit(&numbers, 1, memory_order_relaxed);
	taker = (struct shim_taker){
		.semaphore = (uintptr_t)semaphore, .thread = (uintptr_t)pthread_self(),
		.mark = (uintptr_t)&taker_number, .number = taker_number,
		.caller = (uintptr_t)caller,
	};
	note_member(&note->semaphore, taker.semaphore);
	note_member(&note->thread, taker.thread);
	note_member(&note->mark, taker.mark);
	note_member(&note->number, taker.number);
	note_member(&note->caller, taker.caller);
	note_member(&note->sum, shim_taker_sum(&taker));
}

/* Called before this thread posts a semaphore: frees the note if this thread is the last taker. */
static void forget_taker(const sem_t *semaphore)
{
	struct shim_taker *note = note_of(semaphore);

	if (is_note_of(note, semaphore) &&
	    __atomic_load_n(&note->mark, __ATOMIC_RELAXED) == (uintptr_t)&taker_number &&
	    __atomic_load_n(&note->number, __ATOMIC_RELAXED) == taker_number)
		note_member(&note->semaphore, 0);
}

SHIM_NEXT(sem_trywait, shim_no_number);

/* sem_trywait(3) has no event. The wrapper notes the taker. */
SHIM_WRAPPER int sem_trywait(sem_t *semaphore)
{
	const int result = next(sem_trywait)(semaphore);

	if (!result && shim_on(LOCK_SEM))
		note_taker(semaphore, shim_caller());
	return result;
}

/*
 * Tries to acquire the semaphore, and returns whether it was acquired. sem_wait() is a cancellation
 * point even if it need not wait, so this function first checks for a request for cancellation. A
 * failed try must not change the program's errno.
 */
static bool sem_is_ours(sem_t *semaphore)
{
	int saved = errno;
	bool is_ours;

	/*
	 * Like the real function, pthread_testcancel() acts on a request before the semaphore is
	 * changed.
	 */
	pthread_testcancel();
	is_ours = next(sem_trywait)(semaphore) == 0;
	errno = saved;
	return is_ours;
}

/*
 * A function that waits for a semaphore. may_try_ is false if the real call would fail because its
 * clock or its time is invalid.
 */
#define SEM(name, params, args, may_try_) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPER int name params \
	{ \
		if (!shim_on(LOCK_SEM)) \
			return next(name) args; \
		if ((may_try_) && sem_is_ours(semaphore)) { \
			note_taker(semaphore, shim_caller()); \
			return 0; \
		} \
		_Atomic int *const waiters __attribute__((cleanup(wait_is_over))) = \
			waiters_of(semaphore); \
		atomic_fetch_add_explicit(waiters, 1, memory_order_relaxed); \
		if (!shim_records(LOCK_SEM)) { \
			int unrecorded = next(name) args; \
			if (!unrecorded) \
				note_taker(semaphore, shim_caller()); \
			return unrecorded; \
		} \
		/* \
		 * A cancelled call does not return, and the thread records the event with the \
		 * error that is stored here. \
		 */ \
		struct lock_data data = { \
			.lock = (uint64_t)(uintptr_t)semaphore, .error = ECANCELED \
		}; \
		SHIM_CALL(LOCK_SEM, data); \
		call.len = LOCK_DATA_BYTES; \
		int result = next(name) args; \
		data.error = result ? errno : 0; \
		if (!result) \
			note_taker(semaphore, shim_caller()); \
		return result; \
	}

SEM(sem_wait, (sem_t *semaphore), (semaphore), true)
SEM(sem_timedwait, (sem_t *semaphore, const struct timespec *until), (semaphore, until),
    shim_is_until(CLOCK_REALTIME, until))
SEM(sem_clockwait, (sem_t *semaphore, clockid_t clock, const struct timespec *until),
    (semaphore, clock, until), shim_is_until(clock, until))

SHIM_NEXT(sem_post, shim_no_number);

/*
 * Returns whether a thread may wait for the semaphore. A thread of this process has increased the
 * number before it blocked; a thread of another process has not. If the process may have a shared
 * semaphore, a thread may therefore also wait if the value is 0.
 */
static bool sem_may_wake(sem_t *semaphore)
{
	int value;

	if (atomic_load_explicit(waiters_of(semaphore), memory_order_relaxed))
		return true;
	return atomic_load_explicit(&has_shared_sem, memory_order_relaxed) &&
	       sem_getvalue(semaphore, &value) == 0 && value <= 0;
}

/*
 * The thread that sem_post() wakes may free the memory of the semaphore. So nothing in this memory
 * is read after the call.
 */
SHIM_WRAPPER int sem_post(sem_t *semaphore)
{
	struct lock_data data = { .lock = (uint64_t)(uintptr_t)semaphore };
	int result;

	forget_taker(semaphore);
	if (!shim_on(LOCK_SEM_POST) || !sem_may_wake(semaphore) || !shim_records(LOCK_SEM_POST))
		return next(sem_post)(semaphore);
	SHIM_CALL(LOCK_SEM_POST, data);
	call.len = LOCK_DATA_BYTES;
	result = next(sem_post)(semaphore);
	data.error = result ? errno : 0;
	return result;
}

SHIM_NEXT(sem_init, shim_no_number);

/*
 * sem_init(3) has no event. The wrapper notes whether the semaphore is shared, also before a tracer
 * attaches. A semaphore that was at this address before had another taker.
 */
SHIM_WRAPPER int sem_init(sem_t *semaphore, int is_shared, unsigned value)
{
	struct shim_taker *note = note_of(semaphore);

	if (is_note_of(note, semaphore))
		note_member(&note->semaphore, 0);
	if (is_shared)
		shim_shares_memory();
	return next(sem_init)(semaphore, is_shared, value);
}

SHIM_NEXT(sem_open, shim_no_pointer);

/* sem_open(3). The two last arguments exist only with O_CREAT. */
SHIM_WRAPPER sem_t *sem_open(const char *name, int flags, ...)
{
	mode_t mode = 0;
	unsigned value = 0;

	if (flags & O_CREAT) {
		va_list list;

		va_start(list, flags);
		mode = va_arg(list, mode_t);
		value = va_arg(list, unsigned);
		va_end(list);
	}
	shim_shares_memory();
	if (!shim_on_alone(LOCK_SEM_OPEN))
		return next(sem_open)(name, flags, mode, value);
	SHIM_TRACE(sem_t *, LOCK_SEM_OPEN, next(sem_open)(name, flags, mode, value),
		   result == SEM_FAILED ? errno : 0, (flags, (int32_t)mode),
		   ((int64_t)(uintptr_t)result), (SHIM_IN(name)));
}
