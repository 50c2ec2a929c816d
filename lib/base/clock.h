/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/clock.h - the clock that stamps events, in ticks, and its anchors to CLOCK_REALTIME.
 *
 * The time stamp counter where the kernel itself trusts it as its clock source: reading it costs
 * less than half of clock_gettime(). Else CLOCK_MONOTONIC as the first time name space has it
 * (timespace.h), one tick a nanosecond. The choice is made once in a process, by ptx_clock_init(),
 * before the first stream exists.
 *
 * Threads   all functions may run concurrently after ptx_clock_init().
 * Signals   ptx_clock_now(), ptx_clock_ordered() and ptx_clock_realtime() are async-signal-safe.
 * Units     ticks fit in 61 bits; ptx_clock_hz is nominal; CLOCK_REALTIME in nanoseconds.
 */
#ifndef PTX_BASE_CLOCK_H
#define PTX_BASE_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

#define PTX_NS_PER_S INT64_C(1000000000)

extern _Atomic bool ptx_clock_is_counter; /* false: CLOCK_MONOTONIC */
extern uint64_t ptx_clock_hz;

/*
 * The calling thread must not read the counter (PR_SET_TSC), not even through the C library: it
 * stamps no events, and other times come from the kernel's last tick.
 */
extern _Thread_local bool ptx_clock_is_forbidden __attribute__((tls_model("initial-exec")));

void ptx_clock_init(void);

/*
 * For a process whose events another one reads by its clock: false if this process cannot stamp
 * them so. Without effect after ptx_clock_init(), which it must agree with. Async-signal-safe.
 */
bool ptx_clock_follow(bool counter);

/* CLOCK_MONOTONIC as this process reads it: for spans and deadlines. */
uint64_t ptx_clock_monotonic(void);
/* The same for stamps that other processes read. */
uint64_t ptx_clock_shared(void);
int64_t ptx_clock_realtime(void);
const char *ptx_clock_name(void);

/* The counter itself; only where ptx_clock_is_counter. */
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

/* A stamp for an event. The processor may read the counter a little early. */
static inline uint64_t ptx_clock_now(void)
{
	return ptx_likely(atomic_load_explicit(&ptx_clock_is_counter, memory_order_relaxed))
		       ? ptx_clock_counter()
		       : ptx_clock_shared();
}

/* A stamp that is not earlier than anything before it nor later than anything after it. */
static inline uint64_t ptx_clock_ordered(void)
{
	uint64_t ticks;

#if defined __x86_64__
	__builtin_ia32_lfence();
	ticks = ptx_clock_now();
	__builtin_ia32_lfence();
#elif defined __aarch64__
	__asm__ volatile("isb" ::: "memory");
	ticks = ptx_clock_now();
	__asm__ volatile("isb" ::: "memory");
#else
	ticks = ptx_clock_now();
#endif
	return ticks;
}

/* Ticks in a span of nanoseconds, nominal. */
static inline uint64_t ptx_clock_ticks(uint64_t ns)
{
	return (uint64_t)((unsigned __int128)ns * ptx_clock_hz / (uint64_t)PTX_NS_PER_S);
}

/* One moment on both scales. */
struct ptx_anchor {
	uint64_t ticks;
	int64_t realtime_ns;
};

struct ptx_anchor ptx_clock_anchor(void);

/*
 * The same on the scale of another process's clock, whatever that of this one is; false if this
 * process cannot read it.
 */
bool ptx_clock_anchor_of(bool counter, struct ptx_anchor *anchor);

#endif
