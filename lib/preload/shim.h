/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/shim.h - what every wrapper does.
 *
 *	is anybody tracing, and was this event type chosen?   one load, one branch
 *	is the call the program's, and not the library's own? two comparisons
 *	the real call
 *	one event, with what the call was given, what it returned and how long it took
 *
 * There is no guard that a thread would set and clear around its own calls: a signal handler may
 * leave any function by siglongjmp(), and a guard that is still set then would blind the thread.
 * What must not be traced are calls that the library makes itself, which their return address
 * tells. An event in a handler that interrupted an event is what posix_trace_event() is made for.
 *
 * Nothing that belongs to the shim is held during the real call, so it may return twice (vfork),
 * never (exec, exit), or unwind (cancellation, exceptions); then the event is made by a cleanup.
 *
 * Threads   everything here may be called by any thread at any time.
 * Signals   everything here is async-signal-safe where the wrapped function is.
 * Errors    errno is as the real call left it.
 */
#ifndef PTX_PRELOAD_SHIM_H
#define PTX_PRELOAD_SHIM_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <trace_np.h>

#include "preload/self.h"
#include "preload/types.h"

#define shim_likely(x)   __builtin_expect(!!(x), 1)
#define shim_unlikely(x) __builtin_expect(!!(x), 0)
#define shim_inline      static inline __attribute__((always_inline))

/* At the definition of a wrapper. */
#define SHIM_WRAPPER __attribute__((visibility("default")))

/* What a type's switch points to is not 0 while its events may be wanted: that byte of the
 * library's; before the shim has begun one that is 1, and for what was not chosen one that is 0. */
extern const volatile unsigned char *shim_switch[SHIM_TYPE_COUNT];
extern trace_event_id_t shim_id[SHIM_TYPE_COUNT];

/* The code of libposixtrace and of the shim. */
struct shim_range {
	uintptr_t begin;
	size_t bytes;
};
extern struct shim_range shim_own[2];

/* What a wrapper must look at before it traces. */
enum shim_readiness {
	SHIM_NOT_READY,
	SHIM_READY,
	SHIM_SOME_ARE_BLIND /* ready; but there may be a thread that makes no events */
};
extern _Atomic int shim_is_ready;
void shim_some_are_blind(void);

/*
 * Otherwise than SHIM_READY: whether the call is to be traced. Before the shim has begun: begins,
 * or counts a loss and returns false. In a blind thread: has the loss counted and returns false.
 */
bool shim_unusual_call(enum shim_type type, const void *caller);

#define shim_caller() \
	((const void *)__builtin_extract_return_addr(__builtin_return_address(0)))

shim_inline bool shim_is_own(const void *caller)
{
	return (uintptr_t)caller - shim_own[0].begin < shim_own[0].bytes ||
	       (uintptr_t)caller - shim_own[1].begin < shim_own[1].bytes;
}

/* Whether a call from caller is to be traced. */
shim_inline bool shim_is_wanted(enum shim_type type, const void *caller)
{
	if (shim_unlikely(atomic_load_explicit(&shim_is_ready, memory_order_acquire) !=
			  SHIM_READY) &&
	    !shim_unusual_call(type, caller))
		return false;
	return !shim_is_own(caller);
}

#define shim_on(type) \
	(shim_unlikely(*shim_switch[type]) && shim_is_wanted((type), shim_caller()))

/* Losses that no event has told of yet. */
extern _Atomic unsigned shim_untold;
void shim_tell_lost(void);
void shim_lose_unnamed(void);
void shim_lose_hold(void);

shim_inline void shim_put(enum shim_type type, const void *data, size_t len, const void *caller)
{
	if (shim_unlikely(atomic_load_explicit(&shim_untold, memory_order_relaxed)))
		shim_tell_lost();
	if (shim_likely(shim_id[type]))
		posix_trace_event_at_np(shim_id[type], data, len, caller);
	else if (*shim_switch[type])
		/* not one that was looked up while the shim began, and is not wanted */
		shim_lose_unnamed();
}

/* A time that the program gave: any numbers. What is too long for the event is INT64_MAX. */
shim_inline int64_t shim_span(int64_t seconds, int64_t ns)
{
	int64_t span;

	if (!__builtin_mul_overflow(seconds, INT64_C(1000000000), &span) &&
	    !__builtin_add_overflow(span, ns, &span))
		return span;
	return seconds < 0 ? INT64_MIN : INT64_MAX;
}

shim_inline uint64_t shim_now(void)
{
	struct timespec now;

	if (shim_unlikely(shim_is_blind))
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/*
 * A call that is timed: data begins with the time. The event is made when this goes out of scope.
 */
struct shim_call {
	void *data;
	size_t len;
	const void *caller;
	enum shim_type type;
};

shim_inline void shim_call_end(struct shim_call *call)
{
	uint64_t *time = call->data;

	*time = shim_now() - *time;
	shim_put(call->type, call->data, call->len, call->caller);
}

#define SHIM_CALL(type_, data_) \
	struct shim_call call __attribute__((cleanup(shim_call_end), unused)) = { \
		.data = &(data_), .len = sizeof(data_), .caller = shim_caller(), .type = (type_) \
	}; \
	(data_).time = shim_now()

/*
 * The next definition of a function behind the shim's own, found once.
 *
 *	SHIM_NEXT(read, shim_no_number);	next(read)(fd, buffer, size)
 *
 * Where there is none, the function named in its place answers with ENOSYS.
 */
struct shim_next {
	_Atomic(void *) function;
	const char *name;
	void *otherwise;
};

void *shim_look_up(const struct shim_next *next);
void *shim_find(struct shim_next *next); /* and keeps it */
void shim_find_all(void);
void shim_syscall_begin(void);

long shim_no_number(void);  /* -1 and ENOSYS */
void *shim_no_pointer(void); /* NULL and ENOSYS */
int shim_no_error(void);    /* ENOSYS */
void shim_no_return(void);  /* ends the process */

#define SHIM_NEXT(name_, otherwise_) \
	typedef __typeof__(name_) name_##_function; \
	static struct shim_next name_##_next = { \
		.name = #name_, .otherwise = (void *)(otherwise_) \
	}; \
	static struct shim_next *const name_##_at __attribute__((section("shim_nexts"), used)) = \
		&name_##_next

shim_inline void *shim_next_of(struct shim_next *next)
{
	void *function = atomic_load_explicit(&next->function, memory_order_acquire);

	return shim_likely(function) ? function : shim_find(next);
}

#define next(name_) ((name_##_function *)shim_next_of(&name_##_next))

#endif
