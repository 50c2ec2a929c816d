/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/clock.c - chooses the clock of this process, reads it, and ties it to CLOCK_REALTIME.
 *
 * Two clocks are possible. The time stamp counter (x86-64) or the virtual counter (aarch64) is
 * read by one instruction. CLOCK_MONOTONIC is read through the vDSO, and the offset of the time
 * namespace is subtracted, so that stamps of processes in different namespaces can be compared.
 *
 * All streams of an arena have one clock. The first controller of the arena determines this clock,
 * and every process that records into the arena follows (ptx_clock_follow()) or records nothing.
 */
#include "base/clock.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#if defined __x86_64__
#ifdef __GLIBC__
#include <sys/platform/x86.h>
#else
#include <cpuid.h>
#endif
#endif

#include "base/compiler.h"
#include "base/timespace.h"

/*
 * Least duration of a measurement of the counter's rate, in nanoseconds. ptx_clock_init() measures
 * at the start of every program, so a longer measurement would delay every program. A shorter
 * measurement would make ptx_clock_hz, the nominal rate, less exact.
 */
#define MEASURE_NS INT64_C(200000)
/*
 * In ticks: one or a few microseconds on x86-64. If reading both clocks took longer, the thread was
 * interrupted.
 */
#define WIDE_TICKS 4000
/*
 * Limit of the attempts to read both clocks without an interruption. A thread on an overloaded
 * virtual machine might never succeed.
 */
#define MANY_TRIES 50

/*
 * True if events are stamped with the counter. Relaxed accesses are enough because the choice is
 * made before the first stream of the process exists, and the release store of is_chosen publishes
 * it.
 */
ptx_start_data _Atomic bool ptx_clock_is_counter;
/*
 * True while the thread must not read the counter (clock.h). The TLS model is initial-exec, because
 * a trace point in a signal handler reads the variable. In a signal handler, the dynamic linker
 * must not allocate memory for a variable.
 */
_Thread_local bool ptx_clock_is_forbidden __attribute__((tls_model("initial-exec")));
uint64_t ptx_clock_hz = PTX_NS_PER_S;

uint64_t ptx_clock_monotonic(void)
{
	struct timespec now;

	/*
	 * The coarse clock is the kernel's last tick, which the vDSO reads from memory. The fine
	 * clock (CLOCK_MONOTONIC) reads the counter, which raises SIGSEGV in a thread that has set
	 * PR_TSC_SIGSEGV by PR_SET_TSC.
	 */
	clock_gettime(ptx_clock_is_forbidden ? CLOCK_MONOTONIC_COARSE : CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * PTX_NS_PER_S + (uint64_t)now.tv_nsec;
}

/*
 * Nanoseconds by which CLOCK_MONOTONIC in this process's time namespace is ahead of CLOCK_MONOTONIC
 * in the initial time namespace. A child of fork() starts with its parent's value, and reads the
 * offset anew before it records (point/adopt.c).
 */
static ptx_start_data _Atomic int64_t ahead_ns;

/*
 * Reads the offset of the time namespace. If the offset cannot be read, the last known value
 * remains. That value is the parent's, or 0, which is right in the initial namespace.
 */
static void read_time_space(void)
{
	struct ptx_time_space space;

	if (ptx_time_space_read(&space) == 0)
		atomic_store_explicit(&ahead_ns, space.monotonic_ns, memory_order_relaxed);
}

uint64_t ptx_clock_shared(void)
{
	/* The arithmetic is unsigned, so the difference is right for a negative offset, too. */
	return ptx_clock_monotonic() -
	       (uint64_t)atomic_load_explicit(&ahead_ns, memory_order_relaxed);
}

int64_t ptx_clock_realtime(void)
{
	struct timespec now;

	clock_gettime(ptx_clock_is_forbidden ? CLOCK_REALTIME_COARSE : CLOCK_REALTIME, &now);
	return now.tv_sec * PTX_NS_PER_S + now.tv_nsec;
}

#if defined __x86_64__
/*
 * Returns whether the kernel uses the counter as its clock source. The kernel compares the counters
 * of all processors while it runs, and changes to another source if they disagree. The library has
 * no better way to determine whether the counters agree.
 */
static bool kernel_trusts_counter(void)
{
	char name[16] = "";
	int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
		      O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (read(fd, name, sizeof name - 1) < 0)
		name[0] = '\0';
	close(fd);
	return strncmp(name, "tsc", 3) == 0;
}

/*
 * Returns whether the processor reports that its counter has a constant rate in all states. glibc
 * has executed CPUID already, so the function uses glibc's result. Under a hypervisor each
 * execution costs microseconds, and this function runs at the start of every program.
 */
static bool has_invariant_counter(void)
{
#ifdef __GLIBC__
	return CPU_FEATURE_PRESENT(INVARIANT_TSC);
#else
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && d >> 8 & 1;
#endif
}

/*
 * Returns whether all processors count alike at a constant rate, and this thread may read the
 * counter.
 */
static bool counter_is_usable(void)
{
	int mode = PR_TSC_ENABLE;

	/* If the counter is not invariant, its rate may change, or it may stop in sleep states. */
	if (!has_invariant_counter())
		return false;
	if (prctl(PR_GET_TSC, &mode, 0, 0, 0) == 0 && mode != PR_TSC_ENABLE)
		return false; /* reading it would raise SIGSEGV */
	return kernel_trusts_counter();
}

/*
 * Returns ticks per second, from two anchors that are at least MEASURE_NS apart. The result is used
 * only for lengths of intervals and as the nominal rate. Times of events come from the anchors of
 * the stream (timescale.h), so an error here cannot accumulate.
 */
static uint64_t measure_hz(void)
{
	struct ptx_anchor from = ptx_clock_anchor(), to;
	int64_t span;

	do {
		to = ptx_clock_anchor();
		span = to.realtime_ns - from.realtime_ns;
		if (span <= 0 || span > 100 * MEASURE_NS)
			from = to; /* another process set the clock, or the thread did not run */
	} while (span < MEASURE_NS || span > 100 * MEASURE_NS);
	return (uint64_t)((unsigned __int128)(to.ticks - from.ticks) * PTX_NS_PER_S /
			  (uint64_t)span);
}
#endif

/*
 * True once the clock of this process is fixed. Its release store publishes ptx_clock_is_counter.
 */
static ptx_start_data atomic_bool is_chosen;

bool ptx_clock_follow(bool counter)
{
	/*
	 * Each caller reads the offset anew, even after the choice: a child may be in another
	 * time namespace than its parent.
	 */
	if (!counter)
		read_time_space();
	if (!atomic_load_explicit(&is_chosen, memory_order_acquire)) {
#if defined __x86_64__
		int mode = PR_TSC_ENABLE;

		/*
		 * A parent or a debugger may have forbidden the counter to this process, although
		 * the controller uses the counter. SIGSEGV would kill this process if it read the
		 * counter, so this process does not record.
		 */
		if (counter && prctl(PR_GET_TSC, &mode, 0, 0, 0) == 0 && mode != PR_TSC_ENABLE)
			return false; /* reading it would raise SIGSEGV */
#endif
		/*
		 * Two threads may execute these stores at the same time. Both have got the clock
		 * from the same arena or from ptx_clock_init(), so they store the same value.
		 */
		atomic_store_explicit(&ptx_clock_is_counter, counter, memory_order_relaxed);
		atomic_store_explicit(&is_chosen, true, memory_order_release);
	}
	return ptx_clock_is_counter == counter;
}

/* Returns the rate of the counter in ticks a second. */
static uint64_t counter_hz(void)
{
	uint64_t hz = PTX_NS_PER_S;

#if defined __x86_64__
	hz = measure_hz();
#elif defined __aarch64__
	/* The firmware stores the rate in this register, so there is nothing to measure. */
	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
#endif
	return hz;
}

ptx_start_data _Atomic uint64_t ptx_clock_slope, ptx_clock_short;
/*
 * The slope of the first measurement, and the moment at which the second measurement, by
 * ptx_clock_long_span(), begins. Two threads may store this moment at the same time.
 * ptx_clock_long_span() does not use a wrong rate that results from a mixture of their values.
 */
static ptx_start_data _Atomic uint64_t nominal_slope;
static ptx_start_data _Atomic uint64_t span_from_ticks;
static ptx_start_data _Atomic int64_t span_from_ns;

#define SPAN_NS    (10 * 1000 * 1000) /* an error of 100 ns is 10 ppm of this time */
#define ONE_SECOND ((uint64_t)PTX_NS_PER_S << 32)

/*
 * A process that follows the clock of another process may not have measured the rate before. Two
 * threads may measure the rate at the same time: both results are right.
 */
void ptx_clock_measure(void)
{
	uint64_t hz = PTX_NS_PER_S, slope;
	struct ptx_anchor from;

	if (atomic_load_explicit(&ptx_clock_is_counter, memory_order_relaxed)) {
		/* ptx_clock_hz has the rate if ptx_clock_init() has measured it. */
		hz = ptx_clock_hz != PTX_NS_PER_S ? ptx_clock_hz : counter_hz();
		from = ptx_clock_anchor();
		atomic_store_explicit(&span_from_ticks, from.ticks, memory_order_relaxed);
		atomic_store_explicit(&span_from_ns, from.realtime_ns, memory_order_relaxed);
	}
	slope = ONE_SECOND / (hz ? hz : 1);
	atomic_store_explicit(&nominal_slope, slope, memory_order_relaxed);
	atomic_store_explicit(&ptx_clock_short, hz / 1000, memory_order_relaxed);
	atomic_store_explicit(&ptx_clock_slope, slope, memory_order_release);
}

/*
 * Another process may set CLOCK_REALTIME during the measurement. The function therefore rejects a
 * rate that differs from the first rate by more than a thousandth. Several threads may store the
 * slope; each value is right.
 */
uint64_t ptx_clock_long_span(uint64_t ticks)
{
	uint64_t slope = atomic_load_explicit(&ptx_clock_slope, memory_order_acquire);
	uint64_t measured, nominal, ticks_since;
	struct ptx_anchor now;
	int64_t ns_since;

	if ((int64_t)ticks < 0)
		return 0;
	if (!atomic_load_explicit(&ptx_clock_is_counter, memory_order_relaxed) || !slope)
		return ticks; /* one tick is a nanosecond */
	now = ptx_clock_anchor();
	nominal = atomic_load_explicit(&nominal_slope, memory_order_relaxed);
	ticks_since = now.ticks - atomic_load_explicit(&span_from_ticks, memory_order_relaxed);
	ns_since = now.realtime_ns - atomic_load_explicit(&span_from_ns, memory_order_relaxed);
	if (ns_since > SPAN_NS && (int64_t)ticks_since > 0) {
		measured = (uint64_t)(((unsigned __int128)ns_since << 32) / ticks_since);
		if (measured - nominal + nominal / 1000 < nominal / 500) {
			slope = measured;
			atomic_store_explicit(&ptx_clock_slope, slope, memory_order_relaxed);
		}
	}
	return (uint64_t)(((unsigned __int128)ticks * slope) >> 32);
}

/*
 * Runs in the library's constructor. POSIXTRACE_CLOCK=monotonic avoids the counter, for machines on
 * which the kernel trusts the counter without reason; secure_getenv() hides the variable from
 * set-user-ID programs.
 */
void ptx_clock_init(void)
{
	const char *wish = secure_getenv("POSIXTRACE_CLOCK");
	bool counter = !wish || strcmp(wish, "monotonic") != 0;

/*
 * On aarch64 the architecture guarantees that the rate is constant and that the counters of all
 * processors agree.
 */
#if defined __x86_64__
	counter = counter && counter_is_usable();
#elif !defined __aarch64__
	counter = false;
#endif
	ptx_clock_follow(counter); /* an earlier call may have chosen a clock, which remains */
	if (!ptx_clock_is_counter)
		return;
	ptx_clock_hz = counter_hz();
}

/*
 * The name appears in a region's stream info and in logs, for readers that show the source of time
 * stamps.
 */
const char *ptx_clock_name(void)
{
#if defined __x86_64__
	return ptx_clock_is_counter ? "tsc" : "monotonic";
#else
	return ptx_clock_is_counter ? "cntvct" : "monotonic";
#endif
}

/*
 * Returns the ticks of the given clock, whatever the clock of this process is. The counter of
 * x86-64 or aarch64 is read after all earlier instructions and before all later ones. Without the
 * fences, rdtsc and mrs may execute early or late.
 */
static uint64_t read_ordered(bool counter)
{
	uint64_t ticks;

	if (!counter)
		return ptx_clock_shared();
#if defined __x86_64__
	__builtin_ia32_lfence();
	ticks = ptx_clock_counter();
	__builtin_ia32_lfence();
#elif defined __aarch64__
	__asm__ volatile("isb" ::: "memory");
	ticks = ptx_clock_counter();
	__asm__ volatile("isb" ::: "memory");
#else
	ticks = ptx_clock_counter();
#endif
	return ticks;
}

/*
 * Returns the readings of both clocks as of one moment, as exactly as possible. CLOCK_REALTIME is
 * read between two readings of the ticks, and the moment is the middle of these two readings. An
 * interruption between these readings would make the anchor inexact. So the function reads three
 * times and uses the result whose two readings of the ticks are nearest to each other. If even
 * these two readings are far apart, the function tries again, up to MANY_TRIES times in all.
 */
static struct ptx_anchor anchor_of(bool counter)
{
	struct ptx_anchor best = { 0, 0 };
	uint64_t width = UINT64_MAX;

	for (int i = 0; i < 3 || (width > WIDE_TICKS && i < MANY_TRIES); i++) {
		uint64_t before = read_ordered(counter);
		int64_t ns = ptx_clock_realtime();
		uint64_t after = read_ordered(counter);

		if (after - before >= width)
			continue;
		width = after - before;
		best.ticks = before + width / 2;
		best.realtime_ns = ns;
	}
	return best;
}

struct ptx_anchor ptx_clock_anchor(void)
{
	return anchor_of(ptx_clock_is_counter);
}

bool ptx_clock_anchor_of(bool counter, struct ptx_anchor *anchor)
{
#if defined __x86_64__
	int mode = PR_TSC_ENABLE;

	/*
	 * The caller may need the clock of another process's stream, which this process does not
	 * use itself. So ptx_clock_init() may not have checked whether this process may read the
	 * counter.
	 */
	if (counter && prctl(PR_GET_TSC, &mode, 0, 0, 0) == 0 && mode != PR_TSC_ENABLE)
		return false; /* reading it would raise SIGSEGV */
#elif !defined __aarch64__
	if (counter)
		return false;
#endif
	/* The controller and the traced process may be in different time namespaces. */
	if (!counter)
		read_time_space();
	*anchor = anchor_of(counter);
	return true;
}
