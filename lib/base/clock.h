/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/clock.h - the clock that stamps events, in ticks, and its anchors to CLOCK_REALTIME.
 *
 * On x86-64 the clock is the time stamp counter if the kernel itself uses the counter as clock
 * source and lets this process read it: a reading costs less than half of a call of
 * clock_gettime(). On aarch64 the clock is the virtual counter. Otherwise, or if POSIXTRACE_CLOCK
 * is "monotonic", the clock is CLOCK_MONOTONIC as the initial time namespace has it (timespace.h),
 * one tick a nanosecond. A process chooses once, in ptx_clock_init() or ptx_clock_follow(), before
 * it has a stream.
 *
 * Threads   all functions may run concurrently after ptx_clock_init().
 * Signals   all functions but ptx_clock_init() are async-signal-safe. ptx_clock_init(),
 *           ptx_clock_follow() and ptx_clock_anchor_of() may change errno.
 * Units     ticks fit in 61 bits; ptx_clock_hz is nominal; CLOCK_REALTIME in nanoseconds.
 */
#ifndef PTX_BASE_CLOCK_H
#define PTX_BASE_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/compiler.h"

#define PTX_NS_PER_S INT64_C(1000000000)

/* Converts nanoseconds. tv_nsec is not negative, also before the Epoch (CLOCK-04). */
static inline struct timespec ptx_timespec(int64_t ns)
{
	/*
	 * Nearly all times are after the Epoch. For these the division is unsigned, which needs
	 * fewer steps.
	 */
	if (ptx_likely(ns >= 0))
		return (struct timespec){ .tv_sec = (time_t)((uint64_t)ns / 1000000000u),
					  .tv_nsec = (long)((uint64_t)ns % 1000000000u) };
	return (struct timespec){ .tv_sec = ns / PTX_NS_PER_S - (ns % PTX_NS_PER_S < 0),
				  .tv_nsec = (ns % PTX_NS_PER_S + PTX_NS_PER_S) % PTX_NS_PER_S };
}

extern _Atomic bool ptx_clock_is_counter; /* false: CLOCK_MONOTONIC */
extern uint64_t ptx_clock_hz; /* ticks per second, nominal */

/*
 * True if the calling thread must not read the counter (PR_SET_TSC), not even through the C
 * library. Such a thread stamps no events. Other times that it reads have the resolution of the
 * kernel's tick.
 */
extern _Thread_local bool ptx_clock_is_forbidden __attribute__((tls_model("initial-exec")));

/* Chooses the clock of this process and measures its rate. The library's constructor calls it. */
void ptx_clock_init(void);

/*
 * Makes the counter (`counter` is true) or CLOCK_MONOTONIC the clock of this process, unless this
 * process has a clock already. The first controller of an arena determines the clock of all
 * processes that record into the arena. Returns false if this process cannot stamp events with the
 * requested clock, or already uses the other one.
 */
bool ptx_clock_follow(bool counter);

/* Returns CLOCK_MONOTONIC of this process in ns, for spans and deadlines within the process. */
uint64_t ptx_clock_monotonic(void);
/*
 * Returns CLOCK_MONOTONIC as the initial time namespace has it, in nanoseconds: for stamps that
 * other processes read.
 */
uint64_t ptx_clock_shared(void);
/* Returns CLOCK_REALTIME in nanoseconds since the Epoch. */
int64_t ptx_clock_realtime(void);
/* Returns "tsc", "cntvct" or "monotonic". The text is a constant. */
const char *ptx_clock_name(void);

/*
 * Returns the counter itself. Call it only if the machine has a counter and the thread may read it.
 */
static inline uint64_t ptx_clock_counter(void)
{
#if defined __x86_64__
	return __builtin_ia32_rdtsc();
#elif defined __aarch64__
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	return ptx_clock_shared();
#endif
}

/*
 * Returns a stamp for an event. The processor may read the counter before earlier instructions
 * finish.
 */
static inline uint64_t ptx_clock_now(void)
{
	return ptx_likely(atomic_load_explicit(&ptx_clock_is_counter, memory_order_relaxed))
		       ? ptx_clock_counter()
		       : ptx_clock_shared();
}

/*
 * Separates readings of the clock: earlier readings of this thread happen before this call, and
 * later readings happen after it. The processor completes the earlier instructions first, except
 * that stores may not be visible yet.
 */
static inline void ptx_clock_fence(void)
{
#if defined __x86_64__
	__builtin_ia32_lfence();
#elif defined __aarch64__
	__asm__ volatile("isb" ::: "memory");
#endif
}

/*
 * Returns a stamp that is earlier than everything after it, in the order of this thread's
 * instructions. The processor may read the counter before earlier instructions finish, but not
 * before an earlier ptx_clock_fence().
 */
static inline uint64_t ptx_clock_begin(void)
{
	uint64_t ticks = ptx_clock_now();

	ptx_clock_fence();
	return ticks;
}

/*
 * Returns a stamp that is later than everything before it and earlier than everything after it, in
 * the order of this thread's instructions.
 */
static inline uint64_t ptx_clock_ordered(void)
{
	ptx_clock_fence();
	return ptx_clock_begin();
}

/*
 * ptx_clock_slope is nanoseconds per tick, with 32 bits of fraction. ptx_clock_short is the longest
 * duration in ticks, about a millisecond, that this slope converts without a correction. Both are 0
 * until the rate is known.
 */
extern _Atomic uint64_t ptx_clock_slope, ptx_clock_short;

/*
 * Determines the rate for conversions of durations. If the rate is not known yet, the measurement
 * takes 0.2 ms.
 */
void ptx_clock_measure(void);

/*
 * Converts a long duration to nanoseconds. The function measures the rate again, over the time
 * since ptx_clock_measure(), because the error of a conversion by the nominal rate grows with the
 * duration. The result is 0 if `ticks` is negative as a signed number.
 */
uint64_t ptx_clock_long_span(uint64_t ticks);

/* Converts the difference of two stamps of this process to nanoseconds. */
static inline uint64_t ptx_clock_span(uint64_t ticks)
{
	if (ptx_unlikely(ticks > atomic_load_explicit(&ptx_clock_short, memory_order_relaxed)))
		return ptx_clock_long_span(ticks);
	return (ticks * atomic_load_explicit(&ptx_clock_slope, memory_order_relaxed)) >> 32;
}

/* Converts a duration in nanoseconds to ticks by the nominal rate. */
static inline uint64_t ptx_clock_ticks(uint64_t ns)
{
	return (uint64_t)((unsigned __int128)ns * ptx_clock_hz / (uint64_t)PTX_NS_PER_S);
}

/* One moment on both time scales. */
struct ptx_anchor {
	uint64_t ticks;
	int64_t realtime_ns;
};

/* Returns the present moment by the clock of this process. Makes up to fifty attempts. */
struct ptx_anchor ptx_clock_anchor(void);

/*
 * Stores the present moment on the scale of another process's clock, which need not be the clock of
 * this process. `counter` is true if that clock is the counter. Returns false if this process
 * cannot read that clock; *anchor is then unchanged.
 */
bool ptx_clock_anchor_of(bool counter, struct ptx_anchor *anchor);

#endif
