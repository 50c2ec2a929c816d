/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/clock.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#if defined __x86_64__
#include <cpuid.h>
#endif

#include "base/timespace.h"

#define MEASURE_NS INT64_C(200000)
#define WIDE_TICKS 4000 /* about a microsecond: somebody came between */
#define MANY_TRIES 50

_Atomic bool ptx_clock_is_counter;
_Thread_local bool ptx_clock_is_forbidden __attribute__((tls_model("initial-exec")));
uint64_t ptx_clock_hz = PTX_NS_PER_S;

uint64_t ptx_clock_monotonic(void)
{
	struct timespec now;

	clock_gettime(ptx_clock_is_forbidden ? CLOCK_MONOTONIC_COARSE : CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * PTX_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Of CLOCK_MONOTONIC, by the time name space. A child starts with its parent's. */
static _Atomic int64_t ahead_ns;

/* Where it cannot be read it stays as it was. */
static void know_time_space(void)
{
	struct ptx_time_space space;

	if (ptx_time_space_read(&space) == 0)
		atomic_store_explicit(&ahead_ns, space.monotonic_ns, memory_order_relaxed);
}

uint64_t ptx_clock_shared(void)
{
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
/* The kernel watches the counters of all processors; it is the judge of whether they agree. */
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

static bool counter_is_usable(void)
{
	unsigned a, b, c, d;
	int mode = PR_TSC_ENABLE;

	if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & (1u << 8)))
		return false; /* not constant, or stops in sleep states */
	if (prctl(PR_GET_TSC, &mode, 0, 0, 0) == 0 && mode != PR_TSC_ENABLE)
		return false; /* reading it would raise SIGSEGV */
	return kernel_trusts_counter();
}

/* Two anchors a while apart; only intervals and nominal rates use the result. */
static uint64_t measure_hz(void)
{
	struct ptx_anchor from = ptx_clock_anchor(), to;
	int64_t span;

	do {
		to = ptx_clock_anchor();
		span = to.realtime_ns - from.realtime_ns;
		if (span <= 0 || span > 100 * MEASURE_NS)
			from = to; /* the clock was set, or we were kept from running */
	} while (span < MEASURE_NS || span > 100 * MEASURE_NS);
	return (uint64_t)((unsigned __int128)(to.ticks - from.ticks) * PTX_NS_PER_S /
			  (uint64_t)span);
}
#endif

static atomic_bool is_chosen;

bool ptx_clock_follow(bool counter)
{
	if (!counter)
		know_time_space();
	if (!atomic_load_explicit(&is_chosen, memory_order_acquire)) {
#if defined __x86_64__
		int mode = PR_TSC_ENABLE;

		if (counter && prctl(PR_GET_TSC, &mode, 0, 0, 0) == 0 && mode != PR_TSC_ENABLE)
			return false; /* reading it would raise SIGSEGV */
#endif
		atomic_store_explicit(&ptx_clock_is_counter, counter, memory_order_relaxed);
		atomic_store_explicit(&is_chosen, true, memory_order_release);
	}
	return ptx_clock_is_counter == counter;
}

void ptx_clock_init(void)
{
	const char *wish = secure_getenv("POSIXTRACE_CLOCK");
	bool counter = !wish || strcmp(wish, "monotonic") != 0;

#if defined __x86_64__
	counter = counter && counter_is_usable();
#elif !defined __aarch64__
	counter = false;
#endif
	ptx_clock_follow(counter); /* or as it was chosen before */
	if (!ptx_clock_is_counter)
		return;
#if defined __x86_64__
	ptx_clock_hz = measure_hz();
#elif defined __aarch64__
	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(ptx_clock_hz));
#endif
}

const char *ptx_clock_name(void)
{
#if defined __x86_64__
	return ptx_clock_is_counter ? "tsc" : "monotonic";
#else
	return ptx_clock_is_counter ? "cntvct" : "monotonic";
#endif
}

static uint64_t ordered(bool counter)
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

/* The tightest of a few readings: an interruption between the two clocks would bend the scale. */
static struct ptx_anchor anchor_of(bool counter)
{
	struct ptx_anchor best = { 0, 0 };
	uint64_t width = UINT64_MAX;

	for (int i = 0; i < 3 || (width > WIDE_TICKS && i < MANY_TRIES); i++) {
		uint64_t before = ordered(counter);
		int64_t ns = ptx_clock_realtime();
		uint64_t after = ordered(counter);

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

	if (counter && prctl(PR_GET_TSC, &mode, 0, 0, 0) == 0 && mode != PR_TSC_ENABLE)
		return false; /* reading it would raise SIGSEGV */
#elif !defined __aarch64__
	if (counter)
		return false;
#endif
	if (!counter)
		know_time_space();
	*anchor = anchor_of(counter);
	return true;
}
