/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_start(), posix_trace_stop(), and the data of their events. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/random.h"
#include "support/stream.h"

/* START-01, START-02, STOP-01, SYSEV-01 */
START_TEST(start_and_stop_record_themselves_and_set_the_status)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STREAM();

	start(trid);
	ck_assert_status(trid, RUNNING, NOT_FULL);
	posix_trace_event(u, NULL, 0);
	stop(trid);
	ck_assert_status(trid, SUSPENDED, NOT_FULL);
	ck_assert_events(trid, "START u STOP(0)");
	shut(trid);
}
END_TEST

/* START-02, HDR-08: the data can be used as a set at any address */
START_TEST(the_data_of_start_is_the_filter_in_force)
{
	trace_event_id_t a = type_of("a"), b = type_of("b");
	trace_event_set_t filter, got;
	trace_id_t trid = STREAM();
	struct seen seen;
	int member;

	OK(posix_trace_eventset_empty(&filter));
	OK(posix_trace_eventset_add(a, &filter));
	OK(posix_trace_set_filter(trid, &filter, POSIX_TRACE_SET_EVENTSET));
	start(trid);
	ck_assert_int_eq(read_one(trid, &seen), 1);
	ck_assert_uint_eq(seen.info.posix_event_id, POSIX_TRACE_START);
	ck_assert_uint_eq(seen.len, sizeof(got));
	ck_assert_int_eq(seen.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	memcpy(&got, seen.data, sizeof(got));
	free(seen.data);
	OK(posix_trace_eventset_ismember(a, &got, &member));
	ck_assert_int_ne(member, 0);
	OK(posix_trace_eventset_ismember(b, &got, &member));
	ck_assert_int_eq(member, 0);
	OK(posix_trace_eventset_ismember(POSIX_TRACE_STOP, &got, &member));
	ck_assert_int_eq(member, 0);
	shut(trid);
}
END_TEST

/* START-03, STOP-02 */
START_TEST(a_second_start_and_a_second_stop_record_nothing)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STREAM();

	stop(trid); /* never started */
	ck_assert_status(trid, SUSPENDED, NOT_FULL);
	start(trid);
	start(trid);
	ck_assert_status(trid, RUNNING, NOT_FULL);
	posix_trace_event(u, NULL, 0);
	start(trid);
	stop(trid);
	stop(trid);
	ck_assert_status(trid, SUSPENDED, NOT_FULL);
	ck_assert_events(trid, "START u STOP(0)");
	stop(trid);
	assert_empty(trid);
	shut(trid);
}
END_TEST

/* START-04, STOP-03 */
START_TEST(a_stream_that_stopped_because_it_was_full_ignores_start_and_stop)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL, .size = 4000);
	struct history *history;

	fill(trid, u, 64, 0);
	start(trid);
	ck_assert_status(trid, SUSPENDED, FULL);
	stop(trid);
	ck_assert_status(trid, SUSPENDED, FULL);
	start(trid);
	ck_assert_status(trid, SUSPENDED, FULL);
	history = read_all(trid);
	ck_assert_uint_eq(history_count(history, POSIX_TRACE_START), 1);
	ck_assert_uint_eq(history_count(history, POSIX_TRACE_STOP), 1);
	ck_assert_int_ne(int_of(&history->event[history->n - 1]), 0);
	history_free(history);
	shut(trid);
}
END_TEST

/* START-05, STOP-04: the STOP and START overwrite the oldest events */
START_TEST(a_full_loop_stream_stops_and_starts)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_LOOP, .size = 4000);
	struct history *history;
	struct seen *last;
	int n = fill(trid, u, 64, 0);

	ck_assert_status(trid, RUNNING, FULL);
	stop(trid);
	ck_assert_status(trid, SUSPENDED, FULL);
	start(trid);
	ck_assert_status(trid, RUNNING, FULL);
	trace_number(u, n);
	history = read_all(trid);
	last = &history->event[history->n - 1];
	ck_assert_uint_eq(last[0].info.posix_event_id, u);
	ck_assert_int_eq(number_of(&last[0]), n);
	ck_assert_uint_eq(last[-1].info.posix_event_id, POSIX_TRACE_START);
	ck_assert_uint_eq(last[-2].info.posix_event_id, POSIX_TRACE_STOP);
	ck_assert_int_eq(int_of(&last[-2]), 0);
	ck_assert_uint_eq(last[-3].info.posix_event_id, u);
	ck_assert_int_eq(number_of(&last[-3]), n - 1);
	history_free(history);
	ck_assert_status(trid, RUNNING, NOT_FULL);
	shut(trid);
}
END_TEST

/*
 * STOP-05: after a stop the stream does not restart automatically, and ignored events are not
 * counted as lost
 */
START_TEST(stop_cancels_the_restart_of_a_full_stream)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL, .size = 4000);

	fill(trid, u, 64, 0);
	stop(trid);
	history_free(read_all(trid));
	ck_assert_status(trid, SUSPENDED, NOT_FULL);
	trace_number(u, -1);
	ck_assert_int_eq(status_of(trid).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	assert_empty(trid);
	start(trid);
	trace_number(u, -2);
	ck_assert_events(trid, "START u=-2");
	shut(trid);
}
END_TEST

/* STOP-05 */
START_TEST(start_allows_the_restart_again)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL, .size = 4000);

	fill(trid, u, 64, 0);
	stop(trid);
	start(trid);
	ck_assert_status(trid, SUSPENDED, FULL);
	history_free(read_all(trid));
	ck_assert_status(trid, RUNNING, NOT_FULL);
	trace_number(u, -2);
	ck_assert_events(trid, "START u=-2");
	shut(trid);
}
END_TEST

/* STOP-07, STOP-09 */
START_TEST(a_restart_continues_the_stream)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED();

	trace_number(u, 1);
	stop(trid);
	trace_number(u, 2);
	start(trid);
	trace_number(u, 3);
	stop(trid);
	start(trid);
	stop(trid);
	ck_assert_events(trid, "START u=1 STOP(0) START u=3 STOP(0) START STOP(0)");
	shut(trid);
}
END_TEST

struct tracer {
	trace_event_id_t id;
	_Atomic int *bell; /* an odd value stops the threads */
};

/* Traces the value that the bell has before each call, until this value is odd. */
static void *trace_the_bell(void *arg)
{
	struct tracer *tracer = arg;
	int now;

	do {
		now = *tracer->bell;
		trace_number(tracer->id, now);
	} while (!(now & 1));
	return NULL;
}

/* STOP-08, START-08, EVENT-05: calls that begin after stop has returned are not recorded */
START_TEST(nothing_is_recorded_after_stop_has_returned)
{
	trace_id_t trid = STREAM(.size = 1 << 20);
	_Atomic int bell;
	struct tracer tracer = { type_of("u"), &bell };

	for (int round = 0; round < 50; round++) {
		struct history *history;
		pthread_t thread[2];
		size_t i;

		bell = 0;
		start(trid);
		thread[0] = spawn(trace_the_bell, &tracer);
		thread[1] = spawn(trace_the_bell, &tracer);
		sched_yield();
		stop(trid);
		bell = 2; /* a later call began after stop() returned */
		sched_yield();
		bell = 3;
		join(thread[0]);
		join(thread[1]);
		history = read_all(trid);
		for (i = 0; i < history->n; i++) {
			struct seen *seen = &history->event[i];

			if (seen->info.posix_event_id == tracer.id && number_of(seen) != 0)
				ck_abort_msg("an event after stop was recorded");
		}
		ck_assert_uint_eq(history->event[i - 1].info.posix_event_id, POSIX_TRACE_STOP);
		history_free(history);
	}
	shut(trid);
}
END_TEST

/* START-08, STOP-09: any sequence of starts, stops and events */
START_TEST(every_user_event_lies_between_a_start_and_the_next_stop)
{
	trace_event_id_t u = type_of("u");
	uint64_t state = 7;

	for (int round = 0; round < 100; round++) {
		char expected[4000] = "";
		int running = 0, at = 0;
		trace_id_t trid = STREAM();

		for (int i = 0; i < 60; i++) {
			const char *space = at ? " " : "";

			switch (random_next(&state) % 4) {
			case 0:
				start(trid);
				if (!running)
					at += sprintf(expected + at, "%sSTART", space);
				running = 1;
				break;
			case 1:
				stop(trid);
				if (running)
					at += sprintf(expected + at, "%sSTOP(0)", space);
				running = 0;
				break;
			default:
				trace_number(u, i);
				if (running)
					at += sprintf(expected + at, "%su=%d", space, i);
			}
		}
		ck_assert_events(trid, expected);
		shut(trid);
	}
}
END_TEST

/* The linker defines the bounds of a section if its name is an identifier of C. */
extern char __start_control_text[], __stop_control_text[];

__attribute__((noinline, section("control_text"))) static int control_calls(trace_id_t trid)
{
	trace_event_set_t none;
	int err = posix_trace_start(trid);

	posix_trace_eventset_empty(&none);
	err |= posix_trace_set_filter(trid, &none, POSIX_TRACE_SET_EVENTSET);
	err |= posix_trace_stop(trid);
	return err;
}

/* SYSEV-04, SYSEV-05, SYSEV-07, FILTER-05 */
START_TEST(events_of_control_calls_have_the_caller)
{
	struct timespec before, after;
	struct history *history;
	trace_id_t trid = STREAM();
	int64_t last = 0;

	clock_gettime(CLOCK_REALTIME, &before);
	ck_assert_int_eq(control_calls(trid), 0);
	clock_gettime(CLOCK_REALTIME, &after);
	history = read_all(trid);
	ck_assert_uint_eq(history->n, 3);
	ck_assert_uint_eq(history->event[1].info.posix_event_id, POSIX_TRACE_FILTER);
	for (int i = 0; i < 3; i++) {
		struct posix_trace_event_info *info = &history->event[i].info;

		ck_assert_int_eq(info->posix_pid, getpid());
		ck_assert(pthread_equal(info->posix_thread_id, pthread_self()));
		ck_assert((char *)info->posix_prog_address > __start_control_text);
		ck_assert((char *)info->posix_prog_address <= __stop_control_text);
		ck_assert_int_lt(info->posix_timestamp.tv_nsec, 1000000000);
		ck_assert_int_ge(info->posix_timestamp.tv_nsec, 0);
		/* The tolerance for the conversion between the clocks is a millisecond. */
		ck_assert_int_ge(nanoseconds(&info->posix_timestamp),
				 nanoseconds(&before) - 1000000);
		ck_assert_int_le(nanoseconds(&info->posix_timestamp),
				 nanoseconds(&after) + 1000000);
		ck_assert_int_ge(nanoseconds(&info->posix_timestamp), last);
		last = nanoseconds(&info->posix_timestamp);
	}
	history_free(history);
	shut(trid);
}
END_TEST

static void assert_automatic(const struct seen *seen)
{
	ck_assert_int_eq(seen->info.posix_pid, 0);
	ck_assert(pthread_equal(seen->info.posix_thread_id, (pthread_t)0));
	ck_assert_ptr_null(seen->info.posix_prog_address);
	ck_assert_int_eq(seen->info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	ck_assert_int_gt(seen->info.posix_timestamp.tv_sec, 0);
}

/* SYSEV-01, SYSEV-06 */
START_TEST(an_automatic_stop_and_start_have_no_author)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL, .size = 4000);
	struct history *history;

	fill(trid, u, 64, 0);
	history = read_all(trid);
	ck_assert_uint_eq(history->event[history->n - 1].info.posix_event_id, POSIX_TRACE_STOP);
	ck_assert_int_eq(int_of(&history->event[history->n - 1]), 1); /* see SYSEV-01 */
	assert_automatic(&history->event[history->n - 1]);
	history_free(history);
	trace_number(u, 1);
	history = read_all(trid);
	ck_assert_uint_eq(history->n, 2);
	ck_assert_uint_eq(history->event[0].info.posix_event_id, POSIX_TRACE_START);
	assert_automatic(&history->event[0]);
	history_free(history);
	shut(trid);
}
END_TEST

/* SYSEV-03, SYSEV-06 */
START_TEST(overflow_and_resume_have_no_data_and_no_author)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_LOOP, .size = 4000);
	struct history *history;

	overrun(trid, u, 64, 0);
	history = read_all(trid);
	ck_assert_uint_eq(history->event[0].info.posix_event_id, POSIX_TRACE_OVERFLOW);
	ck_assert_uint_eq(history->event[1].info.posix_event_id, POSIX_TRACE_RESUME);
	for (int i = 0; i < 2; i++) {
		assert_automatic(&history->event[i]);
		ck_assert_uint_eq(history->event[i].len, 0);
	}
	history_free(history);
	shut(trid);
}
END_TEST

SUITE_MAIN("posix_trace_start",
	   start_and_stop_record_themselves_and_set_the_status,
	   the_data_of_start_is_the_filter_in_force,
	   a_second_start_and_a_second_stop_record_nothing,
	   a_stream_that_stopped_because_it_was_full_ignores_start_and_stop,
	   a_full_loop_stream_stops_and_starts,
	   stop_cancels_the_restart_of_a_full_stream,
	   start_allows_the_restart_again,
	   a_restart_continues_the_stream,
	   nothing_is_recorded_after_stop_has_returned,
	   every_user_event_lies_between_a_start_and_the_next_stop,
	   events_of_control_calls_have_the_caller,
	   an_automatic_stop_and_start_have_no_author,
	   overflow_and_resume_have_no_data_and_no_author)
