/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_time.c - converts stamps to times, and computes CPU time between records. Products of stamps
 * need 128 bits. Floating point numbers would lose ticks.
 */
#include "convert/etw/etw.h"

#define NANOSECONDS 1000000000
#define MODE_PRIVATE (0x800u | 0x20000u)

static int64_t clamp_ns(__int128 ns)
{
	if (ns > INT64_MAX)
		return INT64_MAX;
	return ns < INT64_MIN ? INT64_MIN : (int64_t)ns;
}

/* FILETIME counts 100 ns since 1601. */
static __int128 filetime_ns(int64_t filetime)
{
	return ((__int128)filetime - ETW_FILETIME_EPOCH) * 100;
}

/*
 * Times of the years 1677 to 2262 fit into 64 bits. Any other time becomes the nearest time that
 * fits.
 */
int64_t etw_filetime_ns(int64_t filetime)
{
	return clamp_ns(filetime_ns(filetime));
}

/*
 * Divides and rounds down. The number is negative for a stamp before the log's start.
 */
static __int128 divide_down(__int128 number, int64_t by)
{
	__int128 result = number / by;

	return number % by < 0 ? result - 1 : result;
}

/*
 * Stamps of the performance counter and of cycles are ticks. The time is the log's start plus the
 * ticks since the stamp of the start. Stamps of the system clock are FILETIMEs.
 */
int64_t etw_time_ns(const struct etw_log *log, int64_t stamp)
{
	__int128 passed = (__int128)stamp - log->stamp0;

	switch (log->clock) {
	case ETW_CLOCK_PERFORMANCE:
		return clamp_ns(filetime_ns(log->start_time) +
				divide_down(passed * NANOSECONDS, log->frequency));
	case ETW_CLOCK_CPU:
		return clamp_ns(filetime_ns(log->start_time) +
				divide_down(passed * 1000, log->cpu_mhz));
	}
	return etw_filetime_ns(stamp);
}

/*
 * Adds the growth of a 32-bit counter, which may overflow. Returns false if the counter has
 * decreased without an overflow.
 */
static bool add_growth(uint32_t from, uint32_t to, uint64_t *by)
{
	*by += (uint32_t)(to - from);
	/*
	 * A decrease from a value in the lower half of the range is no overflow: the new value
	 * belongs to another thread.
	 */
	return to >= from || from > INT32_MAX;
}

/*
 * Both records must be of the same thread. Counters of 32 bits overflow after days, which is not an
 * error.
 */
bool etw_cpu_cost(const struct etw_log *log, const struct etw_record *from,
		  const struct etw_record *to, uint64_t *cost_ns)
{
	uint64_t units = 0;

	if (!from->has_cpu || !to->has_cpu || !to->tid || from->tid != to->tid ||
	    from->pid != to->pid)
		return false;
	/* A private session has one 64-bit number of cycles instead of two counters. */
	if (log->mode & MODE_PRIVATE) {
		uint64_t a = from->kernel | (uint64_t)from->user << 32;
		uint64_t b = to->kernel | (uint64_t)to->user << 32;

		if (b < a || !log->cpu_mhz)
			return false;
		*cost_ns = (uint64_t)(((unsigned __int128)b - a) * 1000 / log->cpu_mhz);
		return true;
	}
	if (!add_growth(from->kernel, to->kernel, &units) ||
	    !add_growth(from->user, to->user, &units))
		return false;
	*cost_ns = (uint64_t)clamp_ns((__int128)units * log->timer_resolution * 100);
	return true;
}
