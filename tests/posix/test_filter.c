/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_get_filter() and posix_trace_set_filter(). */
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "support/random.h"
#include "support/stream.h"

/* A set of the ids before the terminating 0. */
static trace_event_set_t set_of(trace_event_id_t id, ...)
{
	trace_event_set_t set;
	va_list more;

	OK(posix_trace_eventset_empty(&set));
	va_start(more, id);
	for (; id; id = va_arg(more, trace_event_id_t))
		OK(posix_trace_eventset_add(id, &set));
	va_end(more);
	return set;
}

static void filter(trace_id_t trid, int how, trace_event_set_t set)
{
	OK(posix_trace_set_filter(trid, &set, how));
}

static int is_filtered(trace_id_t trid, trace_event_id_t id)
{
	trace_event_set_t set;
	int member;

	OK(posix_trace_get_filter(trid, &set));
	OK(posix_trace_eventset_ismember(id, &set, &member));
	return !!member;
}

/* FILTER-01, SET-01 */
START_TEST(a_new_stream_filters_nothing)
{
	trace_event_set_t set;
	trace_id_t trid = STREAM();
	int member;

	OK(posix_trace_get_filter(trid, &set));
	for (trace_event_id_t id = 1; id < 1024; id++) {
		OK(posix_trace_eventset_ismember(id, &set, &member));
		ck_assert_int_eq(member, 0);
	}
	shut(trid);
}
END_TEST

/*
 * FILTER-02, FILTER-03, FILTER-04, FILTER-15: compared with a model; suspended, running and stopped
 */
START_TEST(set_add_and_sub_do_their_operations)
{
	static const int how[] = { POSIX_TRACE_SET_EVENTSET, POSIX_TRACE_ADD_EVENTSET,
				   POSIX_TRACE_SUB_EVENTSET };
	trace_id_t trid = STREAM(.size = 1 << 20);
	char model[1024] = { 0 };
	uint64_t state = 3;

	for (int round = 0; round < 300; round++) {
		trace_event_set_t set, got;
		int op = random_next(&state) % 3;

		OK(posix_trace_eventset_empty(&set));
		if (random_next(&state) % 8 == 0)
			OK(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS));
		for (int i = 0; i < 200; i++)
			OK(posix_trace_eventset_add(random_between(&state, 1, 1023), &set));
		filter(trid, how[op], set);
		OK(posix_trace_get_filter(trid, &got));
		for (trace_event_id_t id = 1; id < 1024; id++) {
			int given, member;

			if (posix_trace_eventset_ismember(id, &set, &given) ||
			    posix_trace_eventset_ismember(id, &got, &member))
				ck_abort_msg("no member test of %u", id);
			model[id] = op == 0 ? !!given
				  : op == 1 ? model[id] || given : model[id] && !given;
			if (!!member != model[id])
				ck_abort_msg("id %u after operation %d of round %d", id, op, round);
		}
		if (round % 100 == 30)
			start(trid);
		if (round % 100 == 60)
			stop(trid);
	}
	shut(trid);
}
END_TEST

/* FILTER-05, FILTER-08 */
START_TEST(a_change_while_running_is_an_event_with_old_and_new_filter)
{
	trace_event_id_t a = type_of("a"), b = type_of("b"), c = type_of("c");
	trace_id_t trid = STARTED();

	filter(trid, POSIX_TRACE_SET_EVENTSET, set_of(a, 0));
	trace_number(a, 1);
	trace_number(b, 2);
	filter(trid, POSIX_TRACE_ADD_EVENTSET, set_of(b, c, 0));
	trace_number(b, 3);
	trace_number(c, 4);
	filter(trid, POSIX_TRACE_SUB_EVENTSET, set_of(a, b, 0));
	trace_number(a, 5);
	trace_number(c, 6);
	ck_assert_events(trid, "START FILTER{->a} b=2 FILTER{a->a b c} FILTER{a b c->c} a=5");
	ck_assert_int_eq(status_of(trid).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	shut(trid);
}
END_TEST

/* FILTER-06 */
START_TEST(a_change_to_the_same_filter_is_an_event_too)
{
	trace_event_id_t a = type_of("a");
	trace_id_t trid = STARTED();

	filter(trid, POSIX_TRACE_SUB_EVENTSET, set_of(a, 0));
	filter(trid, POSIX_TRACE_SET_EVENTSET, set_of(a, 0));
	filter(trid, POSIX_TRACE_ADD_EVENTSET, set_of(a, 0));
	ck_assert_events(trid, "START FILTER{->} FILTER{->a} FILTER{a->a}");
	shut(trid);
}
END_TEST

/* FILTER-04, FILTER-07 */
START_TEST(a_change_while_suspended_is_no_event)
{
	trace_event_id_t a = type_of("a"), b = type_of("b");
	trace_id_t trid = STREAM();

	filter(trid, POSIX_TRACE_SET_EVENTSET, set_of(a, 0));
	start(trid);
	trace_number(a, 1);
	trace_number(b, 2);
	stop(trid);
	filter(trid, POSIX_TRACE_SET_EVENTSET, set_of(b, 0));
	ck_assert_int_eq(is_filtered(trid, a), 0);
	ck_assert_int_eq(is_filtered(trid, b), 1);
	start(trid);
	trace_number(a, 3);
	trace_number(b, 4);
	ck_assert_events(trid, "START{a} b=2 STOP(0) START{b} a=3");
	shut(trid);
}
END_TEST

/* FILTER-08: also while the stream is full */
START_TEST(a_filtered_event_is_never_counted_as_lost)
{
	trace_event_id_t a = type_of("a"), b = type_of("b");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL, .size = 4000);

	filter(trid, POSIX_TRACE_SET_EVENTSET, set_of(b, 0));
	fill(trid, a, 64, 0);
	status_of(trid);
	for (int i = 0; i < 100; i++)
		trace_number(b, i);
	ck_assert_int_eq(status_of(trid).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	trace_number(a, 1);
	ck_assert_int_eq(status_of(trid).posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
	shut(trid);
}
END_TEST

/* FILTER-10 */
START_TEST(each_stream_has_its_own_filter)
{
	trace_event_id_t a = type_of("a"), b = type_of("b");
	trace_id_t first = STREAM(), second = STREAM();

	filter(first, POSIX_TRACE_SET_EVENTSET, set_of(a, 0));
	filter(second, POSIX_TRACE_SET_EVENTSET, set_of(b, 0));
	start(first);
	start(second);
	trace_number(a, 1);
	trace_number(b, 2);
	ck_assert_events(first, "START{a} b=2");
	ck_assert_events(second, "START{b} a=1");
	shut(first);
	shut(second);
}
END_TEST

/* FILTER-11, STATUS-02 */
START_TEST(system_events_are_filtered_and_still_happen)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STREAM();
	trace_event_set_t system;

	OK(posix_trace_eventset_fill(&system, POSIX_TRACE_SYSTEM_EVENTS));
	filter(trid, POSIX_TRACE_SET_EVENTSET, system);
	start(trid);
	ck_assert_status(trid, RUNNING, NOT_FULL);
	trace_number(u, 1);
	stop(trid);
	ck_assert_status(trid, SUSPENDED, NOT_FULL);
	trace_number(u, 2);
	start(trid);
	trace_number(u, 3);
	filter(trid, POSIX_TRACE_SUB_EVENTSET, set_of(POSIX_TRACE_STOP, 0)); /* FILTER-12 */
	stop(trid);
	ck_assert_events(trid, "u=1 u=3 STOP(0)");
	shut(trid);
}
END_TEST

/* FILTER-11, UFULL-01: the filter applies to automatic events too */
START_TEST(an_automatic_stop_and_start_are_filtered_and_still_happen)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STREAM(.policy = POSIX_TRACE_UNTIL_FULL, .size = 4000);
	struct history *history;
	trace_event_set_t system;

	OK(posix_trace_eventset_fill(&system, POSIX_TRACE_SYSTEM_EVENTS));
	filter(trid, POSIX_TRACE_SET_EVENTSET, system);
	start(trid);
	fill(trid, u, 64, 0);
	ck_assert_status(trid, SUSPENDED, FULL);
	history = read_all(trid);
	ck_assert_uint_eq(history_count(history, u), history->n);
	history_free(history);
	ck_assert_status(trid, RUNNING, NOT_FULL);
	trace_number(u, 1);
	ck_assert_events(trid, "u=1");
	shut(trid);
}
END_TEST

/* FILTER-11, SLOOP-05 */
START_TEST(overflow_and_resume_are_filtered_each_for_itself)
{
	static const trace_event_id_t mark[] = { POSIX_TRACE_OVERFLOW, POSIX_TRACE_RESUME };
	trace_event_id_t u = type_of("u");

	for (int i = 0; i < 2; i++) {
		trace_id_t trid = STREAM(.policy = POSIX_TRACE_LOOP, .size = 4000);
		struct history *history;

		filter(trid, POSIX_TRACE_SET_EVENTSET, set_of(mark[i], 0));
		start(trid);
		overrun(trid, u, 64, 0);
		history = read_all(trid);
		ck_assert_uint_eq(history->event[0].info.posix_event_id, mark[1 - i]);
		ck_assert_uint_eq(history_count(history, mark[1 - i]), 1);
		ck_assert_uint_eq(history_count(history, mark[i]), 0);
		history_free(history);
		shut(trid);
	}
}
END_TEST

/* FILTER-12 */
START_TEST(a_filter_event_is_suppressed_only_between_two_filters_that_have_it)
{
	trace_event_id_t a = type_of("a");
	trace_id_t trid = STARTED();

	filter(trid, POSIX_TRACE_ADD_EVENTSET, set_of(POSIX_TRACE_FILTER, 0));
	filter(trid, POSIX_TRACE_ADD_EVENTSET, set_of(a, 0));
	filter(trid, POSIX_TRACE_SUB_EVENTSET, set_of(POSIX_TRACE_FILTER, 0));
	ck_assert_events(trid, "START FILTER{->posix_trace_filter} "
			       "FILTER{posix_trace_filter a->a}");
	shut(trid);
}
END_TEST

/* FILTER-13 */
START_TEST(a_bad_set_and_a_bad_operation_are_EINVAL_and_change_nothing)
{
	static const int bad_how[] = { 0, -1, 1, POSIX_TRACE_LOOP, POSIX_TRACE_ALL_EVENTS,
				       POSIX_TRACE_SET_EVENTSET - 1, POSIX_TRACE_SUB_EVENTSET + 1 };
	trace_event_id_t a = type_of("a"), b = type_of("b");
	trace_id_t trid = STARTED();
	trace_event_set_t set, bad;

	filter(trid, POSIX_TRACE_SET_EVENTSET, set_of(a, 0));
	set = set_of(b, 0);
	for (size_t i = 0; i < sizeof(bad_how) / sizeof(bad_how[0]); i++)
		FAILS(EINVAL, posix_trace_set_filter(trid, &set, bad_how[i]));
	memset(&bad, 0, sizeof(bad));
	FAILS(EINVAL, posix_trace_set_filter(trid, &bad, POSIX_TRACE_SET_EVENTSET));
	memset(&bad, 0xff, sizeof(bad));
	FAILS(EINVAL, posix_trace_set_filter(trid, &bad, POSIX_TRACE_ADD_EVENTSET));
	trace_number(a, 1);
	trace_number(b, 2);
	ck_assert_events(trid, "START FILTER{->a} b=2");
	shut(trid);
}
END_TEST

enum { TRACERS = 4 };

static trace_event_id_t noise;
static _Atomic int bell;
static _Atomic int64_t called_at[5];
enum { BEFORE, FILTERED, CHANGING, ADMITTED, OVER }; /* the bell's values */

/*
 * Traces the value of the bell as it was before each call, until the value is OVER. The number of
 * events with one value is limited, so that the stream cannot become full even if the bell does not
 * change for a long time.
 */
static void *trace_the_bell(void *unused)
{
	(void)unused;
	for (;;) {
		int now = bell;

		if (now == OVER)
			return NULL;
		if (called_at[now] >= 5000) {
			sched_yield();
			continue;
		}
		trace_number(noise, now);
		called_at[now]++;
	}
}

/* Waits until the threads have made a sufficient number of calls at this value of the bell. */
static void let_them_trace(int now)
{
	bell = now;
	while (called_at[now] < 200)
		sched_yield();
}

/*
 * FILTER-09, EVENT-05: threads trace all the time. No call is recorded that began after the type
 * was filtered. Every call is recorded that began after the type was admitted again.
 */
START_TEST(a_filter_holds_for_all_threads_when_the_call_has_returned)
{
	for (int round = 0; round < 10; round++) {
		trace_id_t trid = STREAM(.size = 1 << 22, .policy = POSIX_TRACE_UNTIL_FULL);
		int64_t recorded[5] = { 0 };
		pthread_t thread[TRACERS];
		struct history *history;

		noise = type_of("noise");
		bell = BEFORE;
		memset((void *)called_at, 0, sizeof(called_at));
		start(trid);
		for (int i = 0; i < TRACERS; i++)
			thread[i] = spawn(trace_the_bell, NULL);
		let_them_trace(BEFORE);
		filter(trid, POSIX_TRACE_ADD_EVENTSET, set_of(noise, 0));
		let_them_trace(FILTERED);
		bell = CHANGING;
		filter(trid, POSIX_TRACE_SUB_EVENTSET, set_of(noise, 0));
		let_them_trace(ADMITTED);
		bell = OVER;
		for (int i = 0; i < TRACERS; i++)
			join(thread[i]);
		history = read_all(trid);
		for (size_t i = 0; i < history->n; i++)
			if (history->event[i].info.posix_event_id == noise)
				recorded[number_of(&history->event[i])]++;
		/*
		 * A thread that read FILTERED may have been suspended before its call until after
		 * the change.
		 */
		ck_assert_int_le(recorded[FILTERED], TRACERS);
		ck_assert_int_eq(recorded[ADMITTED], called_at[ADMITTED]);
		ck_assert_int_eq(history_count(history, POSIX_TRACE_STOP), 0);
		history_free(history);
		shut(trid);
	}
}
END_TEST

SUITE_MAIN("posix_trace_set_filter",
	   a_new_stream_filters_nothing,
	   set_add_and_sub_do_their_operations,
	   a_change_while_running_is_an_event_with_old_and_new_filter,
	   a_change_to_the_same_filter_is_an_event_too,
	   a_change_while_suspended_is_no_event,
	   a_filtered_event_is_never_counted_as_lost,
	   each_stream_has_its_own_filter,
	   system_events_are_filtered_and_still_happen,
	   an_automatic_stop_and_start_are_filtered_and_still_happen,
	   overflow_and_resume_are_filtered_each_for_itself,
	   a_filter_event_is_suppressed_only_between_two_filters_that_have_it,
	   a_bad_set_and_a_bad_operation_are_EINVAL_and_change_nothing,
	   a_filter_holds_for_all_threads_when_the_call_has_returned)
