/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/time.c - the family "time" of event types: threads that sleep, and timers that send
 * signals.
 *
 * The field `asked` is in nanoseconds. For clock_nanosleep() with TIMER_ABSTIME it is the moment of
 * waking on the clock of the call. The struct with the time of a sleep is read after the call, when
 * it is known to be readable.
 */
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "preload/call.h"

/* The fields of time.sleep. The field `by` has the name of the function. */
struct sleep_data {
	uint64_t time;
	int64_t asked;
	int32_t error;
	char by[20];
};

/* The wrapper of a function that sleeps. error_ and asked_ are evaluated after the call. */
#define SLEEP(result_type, name, otherwise, params, args, asked_, error_) \
	SHIM_BY(result_type, name, TIME_SLEEP, otherwise, params, args, true, sleep_data, (void)0, \
		/* asked_ may use the error, so the error is stored first. */ \
		data.error = (error_); \
		data.asked = (asked_))

/*
 * Returns the requested time in nanoseconds, or -1. The kernel checks the clock before it reads the
 * time. So after an error the time may be unreadable.
 */
static int64_t requested_ns(const struct timespec *time, int error)
{
	if (!time || (error && !shim_can_read(time, sizeof *time)))
		return -1;
	return shim_span(time->tv_sec, time->tv_nsec);
}

/* If a signal handler has interrupted the sleep, the event has the error EINTR. */
SLEEP(int, nanosleep, shim_no_number, (const struct timespec *wanted, struct timespec *left),
      (wanted, left), requested_ns(wanted, data.error), result ? errno : 0)
SLEEP(int, clock_nanosleep, shim_no_error,
      (clockid_t clock, int flags, const struct timespec *wanted, struct timespec *left),
      (clock, flags, wanted, left), requested_ns(wanted, data.error), result)
SHIM_ALIAS(__nanosleep, nanosleep);
/*
 * thrd_sleep() returns -1 if a signal handler interrupted it, and another negative number after an
 * error.
 */
SLEEP(int, thrd_sleep, shim_no_number, (const struct timespec *wanted, struct timespec *left),
      (wanted, left), requested_ns(wanted, data.error),
      result == -1 ? EINTR : result ? EINVAL : 0)
/* Microseconds become nanoseconds; the type is unsigned, so that the product is positive. */
SLEEP(int, usleep, shim_no_number, (useconds_t wanted), (wanted), (int64_t)wanted * 1000,
      result ? errno : 0)
/* sleep() returns the seconds that are left, if a signal interrupted it. */
SLEEP(unsigned, sleep, shim_no_number, (unsigned wanted), (wanted), (int64_t)wanted * 1000000000,
      result ? EINTR : 0)

/* The fields of time.timer. The field `by` has the name of the function. */
struct timer_data {
	uint64_t time;
	int32_t error;
	uint32_t flags;
	int64_t asked, interval;
	char by[16];
};

/*
 * The wrapper of a function that sets a timer. wanted_ is true if the timer sends SIGALRM, or the
 * signal that the program has chosen. before_ runs before the call. asked_ and interval_ are
 * evaluated after the call.
 */
#define TIMER(result_type, name, otherwise, params, args, wanted_, flags_, before_, asked_, \
	      interval_, error_) \
	SHIM_BY(result_type, name, TIME_TIMER, otherwise, params, args, wanted_, timer_data, \
		before_, \
		data.error = (error_); \
		data.flags = (flags_); \
		data.asked = (asked_); \
		data.interval = (interval_))

/*
 * Copies the times before the call, because the timer may expire immediately, and a thread that
 * handles its signal may free them. The copy is 0 if the times cannot be read.
 */
#define COPY_TIMES(type_, from_) \
	struct type_ times = { 0 }; \
	shim_copy_input(&times, (from_), sizeof times)

/* One of the copied times in nanoseconds; 0 after an error. */
#define TIMER_TIME(member_, part_, unit_) \
	(result ? 0 : \
	 shim_span(times.member_.tv_sec, (int64_t)times.member_.part_ * (unit_)))

/* alarm() cannot fail. */
TIMER(unsigned, alarm, shim_no_number, (unsigned seconds), (seconds), true, 0, (void)0,
      (int64_t)seconds * 1000000000, 0, 0)
/* The other timers of setitimer() measure CPU time, so their signals end no wait. */
TIMER(int, setitimer, shim_no_number,
      (__itimer_which_t which, const struct itimerval *wanted, struct itimerval *old),
      (which, wanted, old), which == ITIMER_REAL, 0, COPY_TIMES(itimerval, wanted),
      TIMER_TIME(it_value, tv_usec, 1000), TIMER_TIME(it_interval, tv_usec, 1000),
      result ? errno : 0)
TIMER(int, timer_settime, shim_no_number,
      (timer_t timer, int flags, const struct itimerspec *wanted, struct itimerspec *old),
      (timer, flags, wanted, old), true, (uint32_t)flags, COPY_TIMES(itimerspec, wanted),
      TIMER_TIME(it_value, tv_nsec, 1), TIMER_TIME(it_interval, tv_nsec, 1), result ? errno : 0)
