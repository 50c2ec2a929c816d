/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A clock whose ticks are so long that several calls have the same time, as with counters of arm64
 * and under emulators. In this program the library calls the clock_gettime() below, which rounds
 * down.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "support/stream.h"

#define TICK_NS 2000
#define ROUNDS  300

int clock_gettime(clockid_t id, struct timespec *now)
{
	int err = (int)syscall(SYS_clock_gettime, id, now);

	now->tv_nsec -= now->tv_nsec % TICK_NS;
	return err;
}

/* START-08: an event between posix_trace_start() and posix_trace_stop() belongs to the stream */
START_TEST(each_event_between_start_and_stop_is_recorded)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STREAM(.size = 1 << 20);
	struct history *history;

	for (int i = 0; i < ROUNDS; i++) {
		start(trid);
		trace_number(u, i);
		stop(trid);
		trace_number(u, -1);
	}
	history = read_all(trid);
	ck_assert_uint_eq(history->n, 3 * ROUNDS);
	for (int i = 0; i < ROUNDS; i++) {
		ck_assert_uint_eq(history->event[3 * i].info.posix_event_id, POSIX_TRACE_START);
		ck_assert_int_eq(number_of(&history->event[3 * i + 1]), i);
		ck_assert_uint_eq(history->event[3 * i + 2].info.posix_event_id, POSIX_TRACE_STOP);
	}
	history_free(history);
	shut(trid);
}
END_TEST

/* FILTER-09: an event before the new filter is recorded, even if both have the same tick */
START_TEST(each_event_before_a_filter_is_recorded)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.size = 1 << 20);
	trace_event_set_t none, only_u;
	struct history *history;

	OK(posix_trace_eventset_empty(&none));
	OK(posix_trace_eventset_empty(&only_u));
	OK(posix_trace_eventset_add(u, &only_u));
	for (int i = 0; i < ROUNDS; i++) {
		trace_number(u, i);
		OK(posix_trace_set_filter(trid, &only_u, POSIX_TRACE_SET_EVENTSET));
		trace_number(u, -1);
		OK(posix_trace_set_filter(trid, &none, POSIX_TRACE_SET_EVENTSET));
	}
	history = read_all(trid);
	ck_assert_uint_eq(history->n, 1 + 3 * ROUNDS);
	for (int i = 0; i < ROUNDS; i++)
		ck_assert_int_eq(number_of(&history->event[3 * i + 1]), i);
	history_free(history);
	shut(trid);
}
END_TEST

SUITE_NEEDS("exec");

static Suite *coarse_suite(void)
{
	TCase *tc;
	Suite *suite = support_suite("a coarse clock", &tc);

	tcase_add_test(tc, each_event_between_start_and_stop_is_recorded);
	tcase_add_test(tc, each_event_before_a_filter_is_recorded);
	return suite;
}

/* The library chooses the clock before main() begins. */
int main(int argc, char **argv)
{
	(void)argc;
	if (!getenv("POSIXTRACE_CLOCK")) {
		setenv("POSIXTRACE_CLOCK", "monotonic", 1);
		execv("/proc/self/exe", argv);
	}
	return support_run(coarse_suite());
}
