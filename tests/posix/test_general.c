/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules for all functions: null pointers, errno, threads, independent streams. */
#include <stdatomic.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/stream.h"

/* GEN-05, GEN-02 */
START_TEST(null_for_a_needed_pointer_is_EINVAL_in_calls_on_streams)
{
	struct timespec past = { 0, 0 };
	struct posix_trace_event_info info;
	trace_id_t trid = STARTED();
	trace_event_set_t set;
	trace_event_id_t id;
	int flag;
	size_t len;
	char data[8];

	OK(posix_trace_eventset_empty(&set));
	posix_trace_event(type_of("u"), NULL, 0);
	FAILS(EINVAL, posix_trace_create(0, NULL, NULL));
	FAILS(EINVAL, posix_trace_create_withlog(0, NULL, 1, NULL));
	FAILS(EINVAL, posix_trace_open(0, NULL));
	FAILS(EINVAL, posix_trace_get_attr(trid, NULL));
	FAILS(EINVAL, posix_trace_get_status(trid, NULL));
	FAILS(EINVAL, posix_trace_get_filter(trid, NULL));
	FAILS(EINVAL, posix_trace_set_filter(trid, NULL, POSIX_TRACE_SET_EVENTSET));
	FAILS(EINVAL, posix_trace_eventid_open(NULL, &id));
	FAILS(EINVAL, posix_trace_eventid_open("x", NULL));
	FAILS(EINVAL, posix_trace_trid_eventid_open(trid, NULL, &id));
	FAILS(EINVAL, posix_trace_trid_eventid_open(trid, "x", NULL));
	FAILS(EINVAL, posix_trace_eventid_get_name(trid, POSIX_TRACE_START, NULL));
	FAILS(EINVAL, posix_trace_eventtypelist_getnext_id(trid, NULL, &flag));
	FAILS(EINVAL, posix_trace_eventtypelist_getnext_id(trid, &id, NULL));
	FAILS(EINVAL, posix_trace_getnext_event(trid, NULL, data, 8, &len, &flag));
	FAILS(EINVAL, posix_trace_getnext_event(trid, &info, NULL, 8, &len, &flag));
	FAILS(EINVAL, posix_trace_getnext_event(trid, &info, data, 8, NULL, &flag));
	FAILS(EINVAL, posix_trace_getnext_event(trid, &info, data, 8, &len, NULL));
	FAILS(EINVAL, posix_trace_trygetnext_event(trid, NULL, data, 8, &len, &flag));
	FAILS(EINVAL, posix_trace_trygetnext_event(trid, &info, NULL, 8, &len, &flag));
	FAILS(EINVAL, posix_trace_trygetnext_event(trid, &info, data, 8, NULL, &flag));
	FAILS(EINVAL, posix_trace_trygetnext_event(trid, &info, data, 8, &len, NULL));
	FAILS(EINVAL, posix_trace_timedgetnext_event(trid, NULL, data, 8, &len, &flag, &past));
	FAILS(EINVAL, posix_trace_timedgetnext_event(trid, &info, NULL, 8, &len, &flag, &past));
	FAILS(EINVAL, posix_trace_timedgetnext_event(trid, &info, data, 8, NULL, &flag, &past));
	FAILS(EINVAL, posix_trace_timedgetnext_event(trid, &info, data, 8, &len, NULL, &past));
	FAILS(EINVAL, posix_trace_timedgetnext_event(trid, &info, data, 8, &len, &flag, NULL));
	ck_assert_events(trid, "START u"); /* none of them consumed an event */
	shut(trid);
}
END_TEST

/* GEN-05, GEN-02 */
START_TEST(null_for_a_needed_pointer_is_EINVAL_in_calls_on_attributes_and_sets)
{
	char name[TRACE_NAME_MAX + 1];
	struct timespec time;
	trace_event_set_t set;
	trace_attr_t attr;
	size_t size;
	int value;

	OK(posix_trace_attr_init(&attr));
	OK(posix_trace_eventset_empty(&set));
	FAILS(EINVAL, posix_trace_attr_init(NULL));
	FAILS(EINVAL, posix_trace_attr_destroy(NULL));
	FAILS(EINVAL, posix_trace_attr_getclockres(NULL, &time));
	FAILS(EINVAL, posix_trace_attr_getclockres(&attr, NULL));
	FAILS(EINVAL, posix_trace_attr_getcreatetime(NULL, &time));
	FAILS(EINVAL, posix_trace_attr_getcreatetime(&attr, NULL));
	FAILS(EINVAL, posix_trace_attr_getgenversion(NULL, name));
	FAILS(EINVAL, posix_trace_attr_getgenversion(&attr, NULL));
	FAILS(EINVAL, posix_trace_attr_getname(NULL, name));
	FAILS(EINVAL, posix_trace_attr_getname(&attr, NULL));
	FAILS(EINVAL, posix_trace_attr_setname(NULL, "x"));
	FAILS(EINVAL, posix_trace_attr_setname(&attr, NULL));
	FAILS(EINVAL, posix_trace_attr_getinherited(NULL, &value));
	FAILS(EINVAL, posix_trace_attr_getinherited(&attr, NULL));
	FAILS(EINVAL, posix_trace_attr_setinherited(NULL, POSIX_TRACE_INHERITED));
	FAILS(EINVAL, posix_trace_attr_getlogfullpolicy(NULL, &value));
	FAILS(EINVAL, posix_trace_attr_getlogfullpolicy(&attr, NULL));
	FAILS(EINVAL, posix_trace_attr_setlogfullpolicy(NULL, POSIX_TRACE_LOOP));
	FAILS(EINVAL, posix_trace_attr_getstreamfullpolicy(NULL, &value));
	FAILS(EINVAL, posix_trace_attr_getstreamfullpolicy(&attr, NULL));
	FAILS(EINVAL, posix_trace_attr_setstreamfullpolicy(NULL, POSIX_TRACE_LOOP));
	FAILS(EINVAL, posix_trace_attr_getlogsize(NULL, &size));
	FAILS(EINVAL, posix_trace_attr_getlogsize(&attr, NULL));
	FAILS(EINVAL, posix_trace_attr_setlogsize(NULL, 1));
	FAILS(EINVAL, posix_trace_attr_getmaxdatasize(NULL, &size));
	FAILS(EINVAL, posix_trace_attr_getmaxdatasize(&attr, NULL));
	FAILS(EINVAL, posix_trace_attr_setmaxdatasize(NULL, 1));
	FAILS(EINVAL, posix_trace_attr_getstreamsize(NULL, &size));
	FAILS(EINVAL, posix_trace_attr_getstreamsize(&attr, NULL));
	FAILS(EINVAL, posix_trace_attr_setstreamsize(NULL, 1));
	FAILS(EINVAL, posix_trace_attr_getmaxsystemeventsize(NULL, &size));
	FAILS(EINVAL, posix_trace_attr_getmaxsystemeventsize(&attr, NULL));
	FAILS(EINVAL, posix_trace_attr_getmaxusereventsize(NULL, 1, &size));
	FAILS(EINVAL, posix_trace_attr_getmaxusereventsize(&attr, 1, NULL));
	FAILS(EINVAL, posix_trace_eventset_add(POSIX_TRACE_START, NULL));
	FAILS(EINVAL, posix_trace_eventset_del(POSIX_TRACE_START, NULL));
	FAILS(EINVAL, posix_trace_eventset_empty(NULL));
	FAILS(EINVAL, posix_trace_eventset_fill(NULL, POSIX_TRACE_ALL_EVENTS));
	FAILS(EINVAL, posix_trace_eventset_ismember(POSIX_TRACE_START, NULL, &value));
	FAILS(EINVAL, posix_trace_eventset_ismember(POSIX_TRACE_START, &set, NULL));
}
END_TEST

/* GEN-03, GEN-06, EVENT-17 */
START_TEST(an_event_with_null_data_is_an_event_without_data)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.max_data = 100);
	struct seen seen;
	static const size_t len[] = { 0, 1, 50, 100, 101, SIZE_MAX };

	ck_assert_int_eq(read_one(trid, &seen), 1); /* START */
	free(seen.data);
	for (int i = 0; i < 6; i++) {
		errno = 4711;
		posix_trace_event(u, NULL, len[i]);
		ck_assert_int_eq(errno, 4711);
		ck_assert_int_eq(read_one(trid, &seen), 1);
		ck_assert_uint_eq(seen.info.posix_event_id, u);
		ck_assert_uint_eq(seen.len, 0);
		ck_assert_int_eq(seen.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
		free(seen.data);
	}
	shut(trid);
}
END_TEST

/* GEN-08, FILTER-10, EVENT-04 */
START_TEST(streams_do_not_touch_each_other)
{
	trace_event_id_t u = type_of("u"), v = type_of("v");
	trace_id_t plain = STARTED(.size = 1 << 24), filtered = STARTED(.size = 1 << 24);
	trace_id_t full = STARTED(.policy = POSIX_TRACE_UNTIL_FULL, .size = 2000);
	trace_id_t loop = STARTED(.policy = POSIX_TRACE_LOOP, .size = 2000);
	trace_id_t cut = STARTED(.max_data = 2, .size = 1 << 24);
	trace_id_t stopped = STREAM();
	trace_event_set_t only_u;
	struct history *history;
	int calls;

	OK(posix_trace_eventset_empty(&only_u));
	OK(posix_trace_eventset_add(u, &only_u));
	OK(posix_trace_set_filter(filtered, &only_u, POSIX_TRACE_SET_EVENTSET));
	for (calls = 0; calls < 100; calls++)
		trace_number(u, calls);
	trace_number(v, 7);

	calls += fill(full, u, 32, calls);
	calls += fill(loop, u, 32, calls);
	ck_assert_status(full, SUSPENDED, FULL);
	ck_assert_status(loop, RUNNING, FULL);
	ck_assert_status(plain, RUNNING, NOT_FULL);
	ck_assert_int_eq(status_of(plain).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	ck_assert_status(filtered, RUNNING, NOT_FULL);
	ck_assert_status(stopped, SUSPENDED, NOT_FULL);
	ck_assert_events(filtered, "START FILTER{->u} v=7");
	assert_empty(stopped);
	history = read_all(plain);
	ck_assert_uint_eq(history_count(history, u), calls);
	ck_assert_uint_eq(history_count(history, v), 1);
	for (size_t i = 1; i < history->n; i++)
		ck_assert_int_eq(history->event[i].info.posix_truncation_status,
				 POSIX_TRACE_NOT_TRUNCATED);
	history_free(history);
	history = read_all(cut);
	ck_assert_uint_eq(history_count(history, u), calls);
	for (size_t i = 1; i < history->n; i++)
		ck_assert_int_eq(history->event[i].info.posix_truncation_status,
				 POSIX_TRACE_TRUNCATED_RECORD);
	history_free(history);
	shut(plain);
	shut(filtered);
	shut(full);
	shut(loop);
	shut(cut);
	shut(stopped);
}
END_TEST

#define ROUNDS 1500

static trace_id_t shared;
static atomic_int working;

static void *control(void *unused)
{
	struct posix_trace_status_info status;
	trace_event_set_t set;
	trace_attr_t attr;

	(void)unused;
	posix_trace_eventset_empty(&set);
	posix_trace_eventset_add(type_of("other"), &set);
	for (int i = 0; i < ROUNDS; i++) {
		if (posix_trace_stop(shared) || posix_trace_start(shared) ||
		    posix_trace_set_filter(shared, &set, POSIX_TRACE_ADD_EVENTSET) ||
		    posix_trace_get_filter(shared, &set) ||
		    posix_trace_get_status(shared, &status) ||
		    posix_trace_get_attr(shared, &attr) ||
		    (i % 100 == 0 && posix_trace_clear(shared)))
			ck_abort_msg("control failed in round %d", i);
	}
	atomic_fetch_sub(&working, 1);
	return NULL;
}

static void *create_and_shut(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS / 10; i++) {
		trace_id_t trid;

		if (posix_trace_create(0, NULL, &trid) || posix_trace_start(trid) ||
		    posix_trace_shutdown(trid) || posix_trace_start(trid) != EINVAL)
			ck_abort_msg("a stream failed in round %d", i);
	}
	atomic_fetch_sub(&working, 1);
	return NULL;
}

static void *name_types(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		char name[32], got[TRACE_EVENT_NAME_MAX + 1];
		trace_event_id_t id, again;
		int end;

		snprintf(name, sizeof(name), "type %d", i % 100);
		if (posix_trace_eventid_open(name, &id) ||
		    posix_trace_trid_eventid_open(shared, name, &again) || id != again ||
		    posix_trace_eventid_get_name(shared, id, got) || strcmp(name, got) ||
		    !posix_trace_eventid_equal(shared, id, again) ||
		    posix_trace_eventtypelist_getnext_id(shared, &id, &end) ||
		    (end && posix_trace_eventtypelist_rewind(shared)))
			ck_abort_msg("naming failed in round %d", i);
	}
	atomic_fetch_sub(&working, 1);
	return NULL;
}

static void *trace_on(void *unused)
{
	trace_event_id_t u = type_of("u");

	(void)unused;
	while (atomic_load(&working)) {
		trace_number(u, 1);
		sched_yield();
	}
	return NULL;
}

static void *read_on(void *unused)
{
	struct posix_trace_event_info info;
	char data[300];
	int unavailable;
	size_t len;

	(void)unused;
	while (atomic_load(&working)) {
		if (posix_trace_trygetnext_event(shared, &info, data, sizeof(data), &len,
						 &unavailable))
			ck_abort_msg("reading failed");
		if (unavailable)
			sched_yield();
	}
	return NULL;
}

/* GEN-07 */
START_TEST(any_thread_calls_any_function_at_any_time)
{
	void *(*body[])(void *) = { control, control, create_and_shut, create_and_shut,
				    name_types, name_types, trace_on, trace_on, read_on, read_on };
	pthread_t thread[10];

	shared = STARTED();
	working = 6;
	for (int i = 0; i < 10; i++)
		thread[i] = spawn(body[i], NULL);
	for (int i = 0; i < 10; i++)
		join(thread[i]);
	OK(posix_trace_clear(shared));
	stop(shared);
	OK(posix_trace_clear(shared));
	start(shared);
	trace_number(type_of("u"), 5);
	ck_assert_events(shared, "START u=5");
	shut(shared);
}
END_TEST

SUITE_MAIN("all functions",
	   null_for_a_needed_pointer_is_EINVAL_in_calls_on_streams,
	   null_for_a_needed_pointer_is_EINVAL_in_calls_on_attributes_and_sets,
	   an_event_with_null_data_is_an_event_without_data,
	   streams_do_not_touch_each_other,
	   any_thread_calls_any_function_at_any_time)
