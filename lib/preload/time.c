/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/time.c - family time: threads that sleep. asked is in nanoseconds; of clock_nanosleep()
 * with TIMER_ABSTIME it is when to wake up, by that clock.
 */
#include <time.h>
#include <unistd.h>

#include "preload/shim.h"
#include "preload/text.h"

struct sleep_data {
	uint64_t time;
	int64_t asked;
	int32_t error;
	char by[20];
};

#define SLEEP(result_type, name, otherwise, params, args, asked_, error_) \
	SHIM_NEXT(name, otherwise); \
	SHIM_WRAPPER result_type name params \
	{ \
		if (!shim_on(TIME_SLEEP)) \
			return next(name) args; \
		struct sleep_data data = { .error = ECANCELED, .by = #name }; \
		SHIM_CALL(TIME_SLEEP, data); \
		call.len = offsetof(struct sleep_data, by) + sizeof #name; \
		result_type result = next(name) args; \
		data.error = (error_); \
		data.asked = (asked_); \
		return result; \
	}

static int64_t of(const struct timespec *time, int error)
{
	return error == EFAULT || !time ? -1 : shim_span(time->tv_sec, time->tv_nsec);
}

SLEEP(int, nanosleep, shim_no_number, (const struct timespec *wanted, struct timespec *left),
      (wanted, left), of(wanted, data.error), result ? errno : 0)
SLEEP(int, clock_nanosleep, shim_no_error,
      (clockid_t clock, int flags, const struct timespec *wanted, struct timespec *left),
      (clock, flags, wanted, left), of(wanted, data.error), result)
SLEEP(int, usleep, shim_no_number, (useconds_t wanted), (wanted), (int64_t)wanted * 1000,
      result ? errno : 0)
/* How much is left says that it was interrupted. */
SLEEP(unsigned, sleep, shim_no_number, (unsigned wanted), (wanted), (int64_t)wanted * 1000000000,
      result ? EINTR : 0)
