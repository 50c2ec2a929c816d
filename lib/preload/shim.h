/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/shim.h - the parts of every wrapper.
 *
 * 	is the process traced, and was this event type chosen?      two loads, one branch
 * 	is it a call of the program, and not of the library?       two comparisons
 * 	the real call
 * 	one event: the arguments, the result, and the duration of the call
 *
 * A wrapper sets no flag that shows that the thread is in a wrapper. A signal handler may leave any
 * function by siglongjmp(), and a flag that remains set would stop all tracing of the thread. The
 * shim does not trace the library's own calls, which it recognizes by their return address. A
 * signal handler may call posix_trace_event() while it interrupts posix_trace_event().
 *
 * Before the real call, a wrapper copies the arguments that it records. After the call another
 * thread may have unmapped them, although the call succeeded. DESIGN has the rule and its
 * exceptions.
 *
 * A real call may return twice (vfork), never (exec, exit), or unwind the stack (cancellation,
 * exceptions). During such a call a wrapper holds no lock and no resource. If a timed call unwinds
 * the stack, a cleanup function that the compiler calls records the event.
 *
 * Threads   everything here may be called by any thread at any time.
 * Signals   everything here is async-signal-safe if the wrapped function is.
 * Errors    a wrapper leaves errno as the real call has set it.
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

/* Marks the definition of a wrapper: all other functions of the shim are hidden. */
#define SHIM_WRAPPER __attribute__((visibility("default")))

#ifdef __clang__ /* clang does not have this warning */
# define SHIM_UNLIKE_ATTRIBUTES
#else
# define SHIM_UNLIKE_ATTRIBUTES _Pragma("GCC diagnostic ignored \"-Wmissing-attributes\"")
#endif

/*
 * Defines another name of a wrapper in the same file. The C library exports some functions under
 * two names.
 */
#define SHIM_ALIAS(name_, of_) \
	_Pragma("GCC diagnostic push") \
	SHIM_UNLIKE_ATTRIBUTES \
	SHIM_WRAPPER extern __typeof__(of_) name_ __attribute__((alias(#of_))); \
	_Pragma("GCC diagnostic pop") \
	extern int name_##_is_an_alias

/*
 * shim_switch[type] points to a byte that is not 0 while the type may be traced. Before the shim
 * has started, this byte is a constant 1. Afterwards it is *posix_trace_active_np if the type was
 * chosen, and else a constant 0.
 */
extern const volatile unsigned char *shim_switch[SHIM_TYPE_COUNT];
/*
 * The id that the library has given to each type of the shim; 0: the type was not opened. If the
 * events of a type have a stack, only the second array has the id.
 */
extern trace_event_id_t shim_id[SHIM_TYPE_COUNT], shim_stack_id[SHIM_TYPE_COUNT];

/* The executable segment of libposixtrace (0) and of the shim (1). */
struct shim_range {
	uintptr_t begin;
	size_t bytes;
};
extern struct shim_range shim_own[2];

/* The state that a wrapper checks before it traces. */
enum shim_readiness {
	SHIM_NOT_READY,
	SHIM_READY,
	SHIM_SOME_ARE_BLIND /* ready, but there may be a thread that must not record events */
};
extern _Atomic int shim_is_ready;
void shim_some_are_blind(void);

/*
 * Returns whether to trace the call. A wrapper calls this function in all states but SHIM_READY.
 * Before the shim has started, the function starts it, or counts the call as lost. In a thread that
 * must not read the clock, and in a guest (self.h), it returns false, and the library counts the
 * call as lost.
 */
bool shim_unusual_call(enum shim_type type, const void *caller);

/* The return address of the wrapper, without authentication bits. */
#define shim_caller() \
	((const void *)__builtin_extract_return_addr(__builtin_return_address(0)))

/* Returns whether the call is the library's or the shim's own. */
shim_inline bool shim_is_own(const void *caller)
{
	return (uintptr_t)caller - shim_own[0].begin < shim_own[0].bytes ||
	       (uintptr_t)caller - shim_own[1].begin < shim_own[1].bytes;
}

/* Returns whether to trace a call from `caller`. Called only if the switch of the type is not 0. */
shim_inline bool shim_is_wanted(enum shim_type type, const void *caller)
{
	if (shim_unlikely(atomic_load_explicit(&shim_is_ready, memory_order_acquire) !=
			  SHIM_READY) &&
	    !shim_unusual_call(type, caller))
		return false;
	return !shim_is_own(caller);
}

/*
 * The check by which a wrapper decides whether to trace its call. It costs two loads and a branch
 * if the type is not traced.
 */
#define shim_on(type) \
	(shim_unlikely(*shim_switch[type]) && shim_is_wanted((type), shim_caller()))

/* Like shim_records() below, for an event type that is not in types.h. */
shim_inline bool shim_records_id(trace_event_id_t id)
{
	return shim_likely(!posix_trace_silent_np[id]) || posix_trace_is_wanted_np(id);
}

/*
 * Returns whether an event of the type may be recorded now. If the type is skipped, the function
 * counts the event. So a wrapper calls the function once for each event, and makes only the real
 * call if the result is false. The usual case costs two loads and a branch. The id is 0 if the type
 * has no id or if its events have stacks; the id 0 is never silent.
 */
shim_inline bool shim_records(enum shim_type type)
{
	return shim_records_id(__atomic_load_n(&shim_id[type], __ATOMIC_RELAXED));
}

/*
 * Does the same as shim_on(), for a wrapper whose only work is one event of this type. The wrapper
 * then reads no clock if the type is filtered out or skipped. A wrapper that also records events of
 * other types, or does other work, uses shim_on(); the library then omits an event of a type that
 * is filtered out or skipped.
 */
#define shim_on_alone(type) (shim_on(type) && shim_records(type))

/*
 * shim_unreported is 1 if there are losses that no event has reported yet. shim_report_lost()
 * reports the losses. Each call of shim_lose_unnamed() or shim_lose_hold() adds one loss.
 */
extern _Atomic unsigned shim_unreported;
void shim_report_lost(void);
void shim_lose_unnamed(void);
void shim_lose_hold(void);

/*
 * Handles an event of a type that has no id in shim_id: records the event with its stack if the
 * type has an id in shim_stack_id, and else counts the event as lost.
 */
void shim_put_unusual(enum shim_type type, const void *data, size_t len, const void *caller);

/*
 * Records an event of the shim, and reports losses before it. `data` has the fields of the type's
 * schema in their order, without gaps.
 */
shim_inline void shim_put(enum shim_type type, const void *data, size_t len, const void *caller)
{
	if (shim_unlikely(atomic_load_explicit(&shim_unreported, memory_order_relaxed)))
		shim_report_lost();
	/*
	 * The id is loaded only once. A tracer that chooses the type for stacks may set it to 0 at
	 * the same time.
	 */
	const trace_event_id_t id = __atomic_load_n(&shim_id[type], __ATOMIC_RELAXED);

	if (shim_likely(id))
		posix_trace_event_at_np(id, data, len, caller);
	else if (*shim_switch[type])
		/*
		 * The event counts as lost only if its type was chosen. If the shim had not started
		 * when the wrapper began, the switch of each type was on, even of a type that is
		 * not chosen.
		 */
		shim_put_unusual(type, data, len, caller);
}

/*
 * Converts a duration, which the program passed, to nanoseconds. Any numbers are possible. If the
 * duration is too long for the event, the result is INT64_MAX, or INT64_MIN if it is negative.
 */
shim_inline int64_t shim_span(int64_t seconds, int64_t ns)
{
	int64_t span;

	if (!__builtin_mul_overflow(seconds, INT64_C(1000000000), &span) &&
	    !__builtin_add_overflow(span, ns, &span))
		return span;
	return seconds < 0 ? INT64_MIN : INT64_MAX;
}

/* Returns CLOCK_MONOTONIC in nanoseconds, or 0 in a thread that must not read the clock. */
shim_inline uint64_t shim_now(void)
{
	struct timespec now;

	if (shim_unlikely(shim_is_blind))
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/*
 * A call that is timed. `data` begins with the member `time`. The event is recorded when this
 * struct goes out of scope, also by cancellation or an exception.
 */
struct shim_call {
	void *data;
	size_t len;
	const void *caller;
	enum shim_type type;
	/* The memory that the call has filled or read, if its bytes are recorded: content.h. */
	enum shim_form {
		SHIM_FLAT,    /* an array of `bytes` bytes */
		SHIM_VECTOR,  /* an array of struct iovec with `parts` elements */
		SHIM_MESSAGE, /* a struct msghdr */
		SHIM_MESSAGES /* an array of struct mmsghdr */
	} form;
	const void *moved;
	size_t parts;
	uint64_t bytes;       /* 0: the event has no bytes of that memory */
};

/*
 * Records the event with the bytes that the call has moved. The member `time` of `data` must
 * already have the duration.
 */
void shim_put_moved(const struct shim_call *call);

/* The cleanup of SHIM_CALL(). It replaces the time of the beginning by the duration of the call. */
shim_inline void shim_call_end(struct shim_call *call)
{
	uint64_t *time = call->data;

	*time = shim_now() - *time;
	if (shim_unlikely(call->bytes))
		shim_put_moved(call);
	else
		shim_put(call->type, call->data, call->len, call->caller);
}

/*
 * Begins a timed call. The wrapper stores the results of the call into data_ before the scope ends.
 * It sets call.len if the data is shorter than the struct.
 */
#define SHIM_CALL(type_, data_) \
	struct shim_call call __attribute__((cleanup(shim_call_end), unused)) = { \
		.data = &(data_), .len = sizeof(data_), .caller = shim_caller(), .type = (type_) \
	}; \
	(data_).time = shim_now()

/*
 * The definition of a function that the dynamic linker finds next, behind the shim's definition.
 * The shim looks it up once.
 *
 * 	SHIM_NEXT(read, shim_no_number);	next(read)(fd, buffer, size)
 *
 * If there is no other definition, the function that is the second argument is called instead. It
 * fails with ENOSYS; shim_no_return() ends the process.
 *
 * The struct has the characters of the name, and a number instead of that function's address. So it
 * needs no relocation: at the start of a program, the dynamic linker does not write to the pages of
 * these structs, and a page is copied when the program calls the first function of the page.
 */
struct shim_next {
	_Atomic(void *) function;
	char name[31];
	unsigned char otherwise; /* enum shim_otherwise */
};

enum shim_otherwise {
	SHIM_OTHERWISE_shim_no_number,
	SHIM_OTHERWISE_shim_no_pointer,
	SHIM_OTHERWISE_shim_no_map,
	SHIM_OTHERWISE_shim_no_error,
	SHIM_OTHERWISE_shim_no_return
};

/*
 * shim_look_up() returns the next definition. shim_find() also stores this definition in *next.
 * After shim_find_begin() both are async-signal-safe for functions of the C library.
 * shim_syscall_begin() stores the next definition of syscall(), whose wrapper is assembly.
 */
void *shim_look_up(const struct shim_next *next);
void *shim_find(struct shim_next *next);
void *shim_otherwise(const struct shim_next *next); /* the second argument of SHIM_NEXT() */
void shim_find_begin(void);
void shim_syscall_begin(void);

long shim_no_number(void);  /* -1 and ENOSYS */
void *shim_no_pointer(void); /* NULL and ENOSYS */
void *shim_no_map(void);    /* MAP_FAILED and ENOSYS */
int shim_no_error(void);    /* ENOSYS */
void shim_no_return(void);  /* ends the process */

/*
 * All of these structs are in one section, where next.c and inject.c find them as an array. The
 * attribute of the alignment keeps the compiler from aligning them more, which would leave gaps.
 */
#define SHIM_NEXT(name_, otherwise_) \
	typedef __typeof__(name_) name_##_function; \
	static struct shim_next name_##_next \
		__attribute__((section("shim_nexts"), used, aligned(8))) = { \
		.name = #name_, .otherwise = SHIM_OTHERWISE_##otherwise_ \
	}; \
	_Static_assert(sizeof(#name_) <= sizeof(name_##_next.name), "the name has room for its NUL")

/*
 * The load is an acquire, because the thread that looked up the function may have initialized the
 * library of this function.
 */
shim_inline void *shim_next_of(struct shim_next *next)
{
	void *function = atomic_load_explicit(&next->function, memory_order_acquire);

	return shim_likely(function) ? function : shim_find(next);
}

#define next(name_) ((name_##_function *)shim_next_of(&name_##_next))

#endif
