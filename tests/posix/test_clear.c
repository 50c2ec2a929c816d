/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_clear() of streams without log. */
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "support/stream.h"

/* CLEAR-01, CLEAR-02 */
START_TEST(a_running_stream_loses_its_events_and_runs_on)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED();

	for (int i = 0; i < 100; i++)
		trace_number(u, i);
	OK(posix_trace_clear(trid));
	ck_assert_status(trid, RUNNING, NOT_FULL);
	assert_empty(trid);
	trace_number(u, 1);
	ck_assert_events(trid, "u=1"); /* no START was recorded */
	shut(trid);
}
END_TEST

/* CLEAR-01, CLEAR-02 */
START_TEST(a_suspended_stream_loses_its_events_and_stays_suspended)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STREAM();

	OK(posix_trace_clear(trid)); /* never started */
	ck_assert_status(trid, SUSPENDED, NOT_FULL);
	start(trid);
	trace_number(u, 1);
	stop(trid);
	OK(posix_trace_clear(trid));
	ck_assert_status(trid, SUSPENDED, NOT_FULL);
	assert_empty(trid);
	trace_number(u, 2);
	assert_empty(trid);
	start(trid);
	trace_number(u, 3);
	ck_assert_events(trid, "START u=3");
	shut(trid);
}
END_TEST

/* CLEAR-01, CLEAR-03, CLEAR-04: the call also clears the marks of the losses */
START_TEST(a_full_loop_stream_is_as_new)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_LOOP, .size = 4000);

	overrun(trid, u, 64, 0);
	for (int i = 0; i < 10000; i++)
		trace_number(u, i); /* a lost event, so the overrun is pending */
	OK(posix_trace_clear(trid));
	ck_assert_int_eq(status_of(trid).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	ck_assert_status(trid, RUNNING, NOT_FULL);
	trace_number(u, 1);
	ck_assert_events(trid, "u=1");
	shut(trid);
}
END_TEST

/* CLEAR-01, CLEAR-03, CLEAR-04, UFULL-14 */
START_TEST(a_full_until_full_stream_is_as_new)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL, .size = 4000);

	fill(trid, u, 64, 0);
	trace_number(u, -1);
	OK(posix_trace_clear(trid));
	ck_assert_int_eq(status_of(trid).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	ck_assert_status(trid, SUSPENDED, NOT_FULL);
	assert_empty(trid);
	shut(trid);
}
END_TEST

/* CLEAR-01, UFULL-04: when the stream is full again, it reports this as it did the first time */
START_TEST(a_stream_that_fills_up_again_after_a_clear_says_so)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL, .size = 4000);
	struct history *history;
	const struct seen *last;

	fill(trid, u, 64, 0);
	OK(posix_trace_clear(trid));
	start(trid);
	fill(trid, u, 64, 0);
	history = read_all(trid);
	last = &history->event[history->n - 1];
	ck_assert_uint_eq(history->event[0].info.posix_event_id, POSIX_TRACE_START);
	ck_assert_uint_eq(last->info.posix_event_id, POSIX_TRACE_STOP);
	ck_assert_int_eq(int_of(last), 1);
	ck_assert_uint_eq(history_count(history, POSIX_TRACE_STOP), 1);
	ck_assert_uint_eq(history_count(history, POSIX_TRACE_START), 1);
	history_free(history);
	shut(trid);
}
END_TEST

/* CLEAR-06, SIZE-10: the whole size is available again, in every round */
START_TEST(the_resources_are_used_again)
{
	trace_event_id_t u = type_of("u");
	char name[TRACE_NAME_MAX + 1];
	trace_attr_t attr, got;
	trace_id_t trid;
	size_t size;

	wish_attr(&attr, &(struct wish){ .policy = POSIX_TRACE_UNTIL_FULL, .name = "cleared" });
	OK(posix_trace_attr_setstreamsize(
		&attr, system_event_size(&attr) + 100 * user_event_size(&attr, 64)));
	OK(posix_trace_create(0, &attr, &trid));
	size = stream_size(trid);
	for (int round = 0; round < 50; round++) {
		struct history *history;
		char data[64] = "";

		start(trid);
		for (int i = 0; i < 100; i++)
			posix_trace_event(u, data, sizeof(data));
		ck_assert_int_eq(status_of(trid).posix_stream_overrun_status,
				 POSIX_TRACE_NO_OVERRUN);
		if (round % 2) {
			history = read_all(trid);
			ck_assert_uint_eq(history_count(history, u), 100);
			history_free(history);
		}
		stop(trid);
		OK(posix_trace_clear(trid));
	}
	ck_assert_uint_eq(stream_size(trid), size);
	OK(posix_trace_get_attr(trid, &got));
	OK(posix_trace_attr_getname(&got, name));
	ck_assert_str_eq(name, "cleared");
	shut(trid);
}
END_TEST

/* CLEAR-04: the filter is emptied, the creation time stays */
START_TEST(the_filter_is_emptied_and_the_creation_time_stays)
{
	struct timespec before, after;
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED();
	trace_event_set_t all;
	trace_attr_t attr;
	int member;

	OK(posix_trace_get_attr(trid, &attr));
	OK(posix_trace_attr_getcreatetime(&attr, &before));
	OK(posix_trace_eventset_fill(&all, POSIX_TRACE_ALL_EVENTS));
	OK(posix_trace_set_filter(trid, &all, POSIX_TRACE_SET_EVENTSET));
	OK(posix_trace_clear(trid));
	OK(posix_trace_get_filter(trid, &all));
	OK(posix_trace_eventset_ismember(u, &all, &member));
	ck_assert_int_eq(member, 0);
	trace_number(u, 1);
	ck_assert_events(trid, "u=1"); /* and no FILTER event */
	OK(posix_trace_get_attr(trid, &attr));
	OK(posix_trace_attr_getcreatetime(&attr, &after));
	ck_assert_int_eq(nanoseconds(&before), nanoseconds(&after));
	shut(trid);
}
END_TEST

/* CLEAR-05, LIST-05: the list begins again */
START_TEST(names_and_ids_stay)
{
	trace_event_id_t u = type_of("u"), first, again;
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_id_t trid = STARTED();
	int end;

	OK(posix_trace_eventtypelist_getnext_id(trid, &first, &end));
	OK(posix_trace_eventtypelist_getnext_id(trid, &again, &end));
	OK(posix_trace_clear(trid));
	ck_assert_uint_eq(type_of("u"), u);
	OK(posix_trace_eventid_get_name(trid, u, name));
	ck_assert_str_eq(name, "u");
	OK(posix_trace_eventtypelist_getnext_id(trid, &again, &end));
	ck_assert_uint_eq(again, first);
	shut(trid);
}
END_TEST

static trace_id_t stream;
static _Atomic int over;
static _Atomic pid_t waiter;
static trace_event_id_t noise;

static void *wait_for_one(void *unused)
{
	struct posix_trace_event_info info;
	int unavailable;
	size_t len;

	(void)unused;
	waiter = thread_id();
	if (posix_trace_getnext_event(stream, &info, NULL, 0, &len, &unavailable))
		ck_abort_msg("getnext failed");
	over = 1;
	return (void *)(uintptr_t)info.posix_event_id;
}

/* CLEAR-12 */
START_TEST(a_waiting_reader_stays_waiting)
{
	pthread_t thread;

	stream = STREAM();
	thread = spawn(wait_for_one, NULL);
	while (!waiter)
		sched_yield();
	for (int i = 0; i < 20; i++) {
		spin_until_asleep(waiter);
		OK(posix_trace_clear(stream));
		ck_assert_int_eq(over, 0);
	}
	start(stream);
	ck_assert_uint_eq((uintptr_t)join(thread), POSIX_TRACE_START);
	shut(stream);
}
END_TEST

static _Atomic int begun; /* number of the last call of make_noise() that has returned */

static void *make_noise(void *unused)
{
	(void)unused;
	for (int n = 0; !over; n++) {
		begun = n;
		trace_number(noise, n);
	}
	return NULL;
}

/*
 * Checks one event that was read after a clear that followed number n. Returns the number of the
 * event, or -1 for a mark. A call that had begun before the clear may count as before or after it.
 * Calls that had returned count as before it.
 */
static int check_noise(const struct seen *seen, int n, int begun_before)
{
	if (seen->info.posix_event_id == POSIX_TRACE_OVERFLOW ||
	    seen->info.posix_event_id == POSIX_TRACE_RESUME)
		return -1;
	ck_assert_uint_eq(seen->info.posix_event_id, noise);
	if (n >= 0 && number_of(seen) != n + 1)
		ck_abort_msg("a gap without marks after a clear");
	if (number_of(seen) < begun_before)
		ck_abort_msg(
			"event %d, whose call had returned before the clear, when %d had begun",
			number_of(seen), begun_before);
	return number_of(seen);
}

/*
 * CLEAR-11, CLEAR-01, CLEAR-02: threads trace during the call. The events that are read afterwards
 * are in order, and none of them was recorded before the call.
 */
START_TEST(a_clear_while_threads_trace_cuts_cleanly)
{
	pthread_t thread;
	int64_t last_before = 0;

	noise = type_of("noise");
	stream = STARTED(.policy = POSIX_TRACE_LOOP, .size = 20000);
	thread = spawn(make_noise, NULL);
	for (int round = 0; round < 300; round++) {
		int n = -1, before = begun;

		OK(posix_trace_clear(stream));
		/*
		 * Does not read until the stream is empty, because the writer may be faster than
		 * the reader.
		 */
		for (int events = 0; events < 500; events++) {
			struct seen seen;

			if (!read_one(stream, &seen))
				break;
			n = check_noise(&seen, n, before);
			free(seen.data);
		}
		if (n >= 0 && n <= last_before)
			ck_abort_msg("an event came twice");
		if (n >= 0)
			last_before = n;
	}
	over = 1;
	join(thread);
	shut(stream);
}
END_TEST

/* CLEAR-10 */
START_TEST(only_an_active_stream_is_cleared)
{
	trace_id_t trid = STREAM();

	shut(trid);
	FAILS(EINVAL, posix_trace_clear(trid));
	FAILS(EINVAL, posix_trace_clear(0));
}
END_TEST

SUITE_MAIN("posix_trace_clear",
	   a_running_stream_loses_its_events_and_runs_on,
	   a_suspended_stream_loses_its_events_and_stays_suspended,
	   a_full_loop_stream_is_as_new,
	   a_full_until_full_stream_is_as_new,
	   a_stream_that_fills_up_again_after_a_clear_says_so,
	   the_resources_are_used_again,
	   the_filter_is_emptied_and_the_creation_time_stays,
	   names_and_ids_stay,
	   a_waiting_reader_stays_waiting,
	   a_clear_while_threads_trace_cuts_cleanly,
	   only_an_active_stream_is_cleared)
