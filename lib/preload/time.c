/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/time.c - the family "time" of event types: threads that sleep.
 *
 * The field `asked` is in nanoseconds. For clock_nanosleep() with TIMER_ABSTIME it is the moment of
 * waking on the clock of the call. The struct with the time is read after the call, when it is
 * known to be readable.
 */
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "preload/shim.h"
#include "preload/text.h"

/* The fields of time.sleep. The field `by` has the name of the function. */
struct sleep_data {
	uint64_t time;
	int64_t asked;
	int32_t error;
	char by[20];
};

/* The wrapper of a function that sleeps. error_ and asked_ are evaluated after the call. */
#define SLEEP(result_type, name, otherwise, params, args, asked_, error_) \
	SHIM_NEXT(name, otherwise); \
	/* The result type differs: sleep() returns unsigned. */ \
	SHIM_WRAPPER result_type name params \
	{ \
		if (!shim_on_alone(TIME_SLEEP)) \
			return next(name) args; \
		/* The field `by` begins with the name; the rest of the array is 0. */ \
		struct sleep_data data = { .error = ECANCELED, .by = #name }; \
		SHIM_CALL(TIME_SLEEP, data); \
		call.len = offsetof(struct sleep_data, by) + sizeof #name; \
		result_type result = next(name) args; \
		data.error = (error_); \
		data.asked = (asked_); \
		return result; \
	}

/*
 * The kernel checks the clock before it reads the time. So after an error the time may still be
 * unreadable.
 */
static int64_t asked_of(const struct timespec *time, int error)
{
	if (!time || (error && !shim_can_read(time, sizeof *time)))
		return -1;
	return shim_span(time->tv_sec, time->tv_nsec);
}

/* If a signal handler has interrupted the sleep, the event has the error EINTR. */
SLEEP(int, nanosleep, shim_no_number, (const struct timespec *wanted, struct timespec *left),
      (wanted, left), asked_of(wanted, data.error), result ? errno : 0)
SLEEP(int, clock_nanosleep, shim_no_error,
      (clockid_t clock, int flags, const struct timespec *wanted, struct timespec *left),
      (clock, flags, wanted, left), asked_of(wanted, data.error), result)
SHIM_ALIAS(__nanosleep, nanosleep);
/*
 * thrd_sleep() returns -1 if a signal handler interrupted it, and another negative number after an
 * error.
 */
SLEEP(int, thrd_sleep, shim_no_number, (const struct timespec *wanted, struct timespec *left),
      (wanted, left), asked_of(wanted, data.error),
      result == -1 ? EINTR : result ? EINVAL : 0)
/* Microseconds become nanoseconds; the type is unsigned, so that the product is positive. */
SLEEP(int, usleep, shim_no_number, (useconds_t wanted), (wanted), (int64_t)wanted * 1000,
      result ? errno : 0)
/* sleep() returns the seconds that are left, if a signal interrupted it. */
SLEEP(unsigned, sleep, shim_no_number, (unsigned wanted), (wanted), (int64_t)wanted * 1000000000,
      result ? EINTR : 0)
