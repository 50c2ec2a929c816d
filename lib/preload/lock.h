/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/lock.h - what the wrappers of locks share.
 *
 * A lock is first asked for without waiting. Who gets it makes no event; who does not asks again,
 * and waits, in the real call, which also says what is wrong.
 */
#ifndef PTX_PRELOAD_LOCK_H
#define PTX_PRELOAD_LOCK_H

#include "preload/shim.h"

struct lock_data {
	uint64_t time;
	uint64_t lock;
	int32_t error;
};

#define LOCK_DATA_BYTES (offsetof(struct lock_data, error) + 4)

/* The calling thread got the lock, and gives it back: how long did it have it? Up to 16 at a time;
 * holds beyond them are counted as lost. */
void shim_hold_begin(const void *lock);
void shim_hold_end(const void *lock, enum shim_type type, const void *caller);

shim_inline int shim_got(int error, const void *lock, enum shim_type held)
{
	if (shim_unlikely(*shim_switch[held]) && (error == 0 || error == EOWNERDEAD))
		shim_hold_begin(lock);
	return error;
}

/*
 * Whether the real call, which looks at its clock and its time first, can be expected to accept
 * them.
 */
bool shim_is_until(clockid_t clock, const struct timespec *until);

/* The wrapper of a function that waits for a lock; try_ asks without waiting. */
#define SHIM_LOCK(name, type, held, params, args, lock_, try_) \
	SHIM_NEXT(name, shim_no_error); \
	SHIM_WRAPPER int name params \
	{ \
		if (!shim_on(type)) \
			return next(name) args; \
		int error = (try_); \
		if (error != EBUSY) \
			return shim_got(error, lock_, held); \
		struct lock_data data = { \
			.lock = (uint64_t)(uintptr_t)(lock_), .error = ECANCELED \
		}; \
		SHIM_CALL(type, data); \
		call.len = LOCK_DATA_BYTES; \
		data.error = next(name) args; \
		return shim_got(data.error, lock_, held); \
	}

/* The wrapper of a function that asks without waiting, and of one that gives back. */
#define SHIM_TRYLOCK(name, held, params, args, lock_) \
	SHIM_NEXT(name, shim_no_error); \
	SHIM_WRAPPER int name params \
	{ \
		if (!shim_on(held)) \
			return next(name) args; \
		return shim_got(next(name) args, lock_, held); \
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
