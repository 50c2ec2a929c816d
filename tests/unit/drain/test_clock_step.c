/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The system clock steps while events are recorded. A test cannot step the clock, so the linker
 * redirects the library's calls of clock_gettime() to this file.
 */
#include <stdlib.h>
#include <time.h>

#include "support/log.h"

int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);

static time_t step_s;

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	int err = __real_clock_gettime(clock, time);

	if (clock == CLOCK_REALTIME)
		time->tv_sec += step_s;
	return err;
}

enum { STEPS = 6, EVENTS = 100 };

/*
 * The clock steps back by an hour, forward by two, back by five and so on. Events are before,
 * between and after the steps.
 */
static void trace_over_steps(trace_event_id_t id)
{
	static const time_t steps[STEPS] = { 0, -3600, 3600, -14400, 86400, 0 };
	int n = 0;

	for (int step = 0; step < STEPS; step++) {
		step_s = steps[step];
		for (int i = 0; i < EVENTS; i++)
			trace_number(id, n++);
	}
}

/* CLOCK-03, CLOCK-04 */
START_TEST(events_are_read_as_they_were_recorded_over_steps_of_the_clock)
{
	trace_event_id_t id = type_of("n");
	trace_id_t trid = STARTED(.size = 1 << 20);
	struct history *history;

	trace_over_steps(id);
	history = read_all(trid);
	assert_numbers_from(history, id, 0, STEPS * EVENTS);
	for (size_t i = 0; i < history->n; i++) {
		ck_assert_int_ge(history->event[i].info.posix_timestamp.tv_nsec, 0);
		ck_assert_int_lt(history->event[i].info.posix_timestamp.tv_nsec, 1000000000);
	}
	history_free(history);
	shut(trid);
}
END_TEST

/* CLOCK-03: a reader that is fast enough finds the steps in the times, so there must be some */
START_TEST(a_reader_between_the_steps_sees_the_same_order)
{
	trace_event_id_t id = type_of("n");
	trace_id_t trid = STARTED(.size = 1 << 20);
	int64_t last = 0;
	int n = 0, backwards = 0;

	history_free(read_all(trid));
	for (int round = 0; round < 6; round++) {
		struct history *history;
		int64_t time;

		usleep(200000); /* the library may count steps that are close together as one */
		step_s = round % 2 ? -3600 : 3600;
		for (int i = 0; i < EVENTS; i++)
			trace_number(id, n + i);
		history = read_all(trid);
		assert_numbers_from(history, id, n, EVENTS);
		n += EVENTS;
		time = nanoseconds(&history->event[history->n - 1].info.posix_timestamp);
		backwards += time < last;
		last = time;
		history_free(history);
	}
	ck_assert_int_gt(backwards, 0);
	shut(trid);
}
END_TEST

/* CLOCK-03, LOG-13 */
START_TEST(a_log_keeps_the_order_over_steps_of_the_clock)
{
	int fd = log_file();
	trace_event_id_t id = type_of("n");
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
					 .log_policy = POSIX_TRACE_APPEND, .size = 1 << 20);

	trace_over_steps(id);
	OK(posix_trace_flush(trid));
	step_s = -7200;
	trace_number(id, STEPS * EVENTS);
	shut(trid);
	assert_log_numbers(fd, id, 0, STEPS * EVENTS + 1);
	assert_log_whole(fd);
	close(fd);
}
END_TEST

SUITE_MAIN("drain: steps of the clock",
	   events_are_read_as_they_were_recorded_over_steps_of_the_clock,
	   a_reader_between_the_steps_sees_the_same_order,
	   a_log_keeps_the_order_over_steps_of_the_clock)
