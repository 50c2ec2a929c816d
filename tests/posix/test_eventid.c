/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_eventid_open(), posix_trace_trid_eventid_open(), names and equality. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/stream.h"

static trace_event_id_t numbered(int n)
{
	char name[32];

	snprintf(name, sizeof(name), "event %d", n);
	return type_of(name);
}

static trace_event_id_t trid_type_of(trace_id_t trid, const char *name)
{
	trace_event_id_t id;

	OK(posix_trace_trid_eventid_open(trid, name, &id));
	return id;
}

static void assert_name(trace_id_t trid, trace_event_id_t id, const char *expected)
{
	char name[TRACE_EVENT_NAME_MAX + 1];

	OK(posix_trace_eventid_get_name(trid, id, name));
	ck_assert_str_eq(name, expected);
}

static const struct {
	trace_event_id_t id;
	const char *name;
} predefined[] = {
	{ POSIX_TRACE_ERROR, "posix_trace_error" },
	{ POSIX_TRACE_START, "posix_trace_start" },
	{ POSIX_TRACE_STOP, "posix_trace_stop" },
	{ POSIX_TRACE_FILTER, "posix_trace_filter" },
	{ POSIX_TRACE_OVERFLOW, "posix_trace_overflow" },
	{ POSIX_TRACE_RESUME, "posix_trace_resume" },
	{ POSIX_TRACE_FLUSH_START, "posix_trace_flush_start" },
	{ POSIX_TRACE_FLUSH_STOP, "posix_trace_flush_stop" },
	{ POSIX_TRACE_UNNAMED_USEREVENT, "posix_trace_unnamed_userevent" },
};
#define PREDEFINED ((int)(sizeof(predefined) / sizeof(predefined[0])))

/* EVID-01, EVID-02, EVID-03 */
START_TEST(names_and_ids_are_one_to_one)
{
	trace_event_id_t id[200];

	for (int i = 0; i < 200; i++) {
		id[i] = numbered(i);
		for (int k = 0; k < i; k++)
			ck_assert_uint_ne(id[i], id[k]);
		for (int k = 0; k < PREDEFINED; k++)
			ck_assert_uint_ne(id[i], predefined[k].id);
	}
	for (int i = 0; i < 200; i++)
		ck_assert_uint_eq(numbered(i), id[i]);
}
END_TEST

static void *open_in_thread(void *arg)
{
	trace_event_id_t *id = arg;

	for (int i = 0; i < 200; i++)
		id[i] = numbered((i * 7) % 200);
	return NULL;
}

/* EVID-02, EVID-03: threads that open the same names at the same time */
START_TEST(threads_that_open_one_name_get_one_id)
{
	static trace_event_id_t id[6][200];
	pthread_t thread[6];

	for (int i = 0; i < 6; i++)
		thread[i] = spawn(open_in_thread, id[i]);
	for (int i = 0; i < 6; i++)
		join(thread[i]);
	for (int i = 0; i < 6; i++)
		ck_assert_mem_eq(id[i], id[0], sizeof(id[0]));
	for (int i = 0; i < 200; i++)
		for (int k = 0; k < i; k++)
			ck_assert_uint_ne(id[0][i], id[0][k]);
}
END_TEST

/* EVID-04, TRID-05 */
START_TEST(a_name_too_long_is_ENAMETOOLONG_and_registers_nothing)
{
	char name[TRACE_EVENT_NAME_MAX + 100];
	trace_event_id_t id = 0x5a5a;
	trace_id_t trid = STREAM();
	int before = 0, after = 0, end;

	while (!posix_trace_eventtypelist_getnext_id(trid, &id, &end) && !end)
		before++;
	id = 0x5a5a;
	memset(name, 'n', sizeof(name));
	for (size_t len = TRACE_EVENT_NAME_MAX + 1; len < sizeof(name); len += 9) {
		name[len] = '\0';
		FAILS(ENAMETOOLONG, posix_trace_eventid_open(name, &id));
		ck_assert_uint_eq(id, 0x5a5a);
		FAILS(ENAMETOOLONG, posix_trace_trid_eventid_open(trid, name, &id));
		ck_assert_uint_eq(id, 0x5a5a);
		name[len] = 'n';
	}
	OK(posix_trace_eventtypelist_rewind(trid));
	while (!posix_trace_eventtypelist_getnext_id(trid, &id, &end) && !end)
		after++;
	ck_assert_int_eq(after, before);
	shut(trid);
}
END_TEST

/* EVID-05, EVID-17, NAMEOF-01, NAMEOF-05: names of every length are kept byte by byte */
START_TEST(a_name_of_any_legal_length_comes_back_whole)
{
	trace_id_t trid = STREAM();

	for (size_t len = 0; len <= TRACE_EVENT_NAME_MAX; len++) {
		char name[TRACE_EVENT_NAME_MAX + 1], got[TRACE_EVENT_NAME_MAX + 2];
		trace_event_id_t id;

		for (size_t i = 0; i < len; i++)
			name[i] = (char)(0xff - 3 * i - len % 2); /* any byte but NUL */
		name[len] = '\0';
		ck_assert_uint_eq(strlen(name), len);
		id = type_of(name);
		memset(got, 0x5a, sizeof(got));
		OK(posix_trace_eventid_get_name(trid, id, got));
		ck_assert_str_eq(got, name);
		ck_assert_int_eq(got[TRACE_EVENT_NAME_MAX + 1], 0x5a);
	}
	shut(trid);
}
END_TEST

/* EVID-17 */
START_TEST(names_differ_by_any_byte)
{
	trace_event_id_t lower = type_of("name"), upper = type_of("NAME");
	trace_event_id_t longer = type_of("name "), shorter = type_of("nam");

	ck_assert_uint_ne(lower, upper);
	ck_assert_uint_ne(lower, longer);
	ck_assert_uint_ne(lower, shorter);
	ck_assert_uint_ne(longer, shorter);
}
END_TEST

/* EVID-06, EVID-07, EVID-16 */
START_TEST(a_name_is_known_in_all_streams_of_before_and_after)
{
	trace_id_t before = STARTED(), after;
	trace_event_id_t u;

	shut(STREAM());
	u = type_of("u");
	after = STARTED();
	ck_assert_uint_eq(type_of("u"), u);
	trace_number(u, 1);
	assert_name(before, u, "u");
	assert_name(after, u, "u");
	ck_assert_events(before, "START u=1");
	ck_assert_events(after, "START u=1");
	shut(before);
	shut(after);
	ck_assert_uint_eq(type_of("u"), u);
}
END_TEST

/* EVID-08, EVID-09, EVID-10, EVID-11, EVID-13, EVID-16 */
START_TEST(past_the_limit_a_new_name_is_the_unnamed_event)
{
	static trace_event_id_t id[TRACE_USER_EVENT_MAX - 1];
	char too_long[TRACE_EVENT_NAME_MAX + 2];
	trace_id_t trid = STARTED();
	trace_event_id_t other;

	ck_assert_int_ge(TRACE_USER_EVENT_MAX - 1, 31);
	for (int i = 0; i < TRACE_USER_EVENT_MAX - 1; i++) {
		id[i] = numbered(i);
		ck_assert_uint_ne(id[i], POSIX_TRACE_UNNAMED_USEREVENT);
	}
	for (int i = 0; i < 50; i++)
		ck_assert_uint_eq(numbered(100000 + i), POSIX_TRACE_UNNAMED_USEREVENT);
	for (int i = 0; i < TRACE_USER_EVENT_MAX - 1; i++)
		ck_assert_uint_eq(numbered(i), id[i]);
	for (int i = 0; i < PREDEFINED; i++)
		ck_assert_uint_eq(type_of(predefined[i].name), predefined[i].id);
	memset(too_long, 'n', sizeof(too_long));
	too_long[sizeof(too_long) - 1] = '\0';
	FAILS(ENAMETOOLONG, posix_trace_eventid_open(too_long, &other));

	/* TRID-04 */
	ck_assert_uint_eq(trid_type_of(trid, "one more"), POSIX_TRACE_UNNAMED_USEREVENT);
	ck_assert_uint_eq(trid_type_of(trid, "event 0"), id[0]);

	trace_number(numbered(100000), 5);
	trace_number(id[TRACE_USER_EVENT_MAX - 2], 6);
	other = id[TRACE_USER_EVENT_MAX - 2];
	ck_assert_uint_ne(other, 0);
	{
		struct history *history = read_all(trid);

		ck_assert_uint_eq(history->n, 3);
		ck_assert_uint_eq(history->event[1].info.posix_event_id,
				  POSIX_TRACE_UNNAMED_USEREVENT);
		ck_assert_uint_eq(history->event[2].info.posix_event_id, other);
		history_free(history);
	}
	shut(trid);
}
END_TEST

/* EVID-12, TRID-01, TRID-04 */
START_TEST(names_given_by_the_controller_count_too)
{
	trace_id_t trid = STREAM();
	char name[32];
	int own = 0;

	for (int i = 0; i < TRACE_USER_EVENT_MAX + 20; i++) {
		trace_event_id_t id;

		snprintf(name, sizeof(name), "event %d", i);
		id = i % 2 ? trid_type_of(trid, name) : type_of(name);
		own += id != POSIX_TRACE_UNNAMED_USEREVENT;
	}
	ck_assert_int_eq(own, TRACE_USER_EVENT_MAX - 1);
	shut(trid);
}
END_TEST

/* EVID-13, TRID-08, NAMEOF-03 */
START_TEST(a_predefined_name_is_its_predefined_id)
{
	trace_id_t trid = STREAM();

	for (int i = 0; i < PREDEFINED; i++) {
		ck_assert_uint_eq(type_of(predefined[i].name), predefined[i].id);
		ck_assert_uint_eq(trid_type_of(trid, predefined[i].name), predefined[i].id);
		assert_name(trid, predefined[i].id, predefined[i].name);
	}
	shut(trid);
}
END_TEST

/* EVID-14 */
START_TEST(the_empty_string_is_a_name)
{
	trace_event_id_t empty = type_of("");
	trace_id_t trid = STREAM();

	ck_assert_uint_ge(empty, 64);
	ck_assert_uint_eq(type_of(""), empty);
	ck_assert_uint_ne(type_of("x"), empty);
	assert_name(trid, empty, "");
	shut(trid);
}
END_TEST

/* TRID-01, TRID-02, TRID-03, EVENT-12: either side opens the name first */
START_TEST(controller_and_program_agree_on_ids)
{
	trace_id_t first = STARTED(), second = STARTED();
	trace_event_id_t mine = type_of("mine"), theirs = trid_type_of(first, "theirs");

	ck_assert_uint_eq(trid_type_of(first, "mine"), mine);
	ck_assert_uint_eq(trid_type_of(second, "mine"), mine);
	ck_assert_uint_eq(trid_type_of(second, "theirs"), theirs);
	ck_assert_uint_eq(type_of("theirs"), theirs);
	ck_assert_uint_ne(mine, theirs);
	trace_number(mine, 1);
	trace_number(theirs, 2);
	ck_assert_events(first, "START mine=1 theirs=2");
	ck_assert_events(second, "START mine=1 theirs=2");
	shut(first);
	shut(second);
}
END_TEST

/* TRID-07, FILTER-15 */
START_TEST(a_type_can_be_filtered_before_the_program_knows_it)
{
	trace_id_t trid = STREAM();
	trace_event_set_t noise;

	OK(posix_trace_eventset_empty(&noise));
	OK(posix_trace_eventset_add(trid_type_of(trid, "noise"), &noise));
	OK(posix_trace_set_filter(trid, &noise, POSIX_TRACE_SET_EVENTSET));
	start(trid);
	trace_number(type_of("noise"), 1);
	trace_number(type_of("signal"), 2);
	ck_assert_events(trid, "START{noise} signal=2");
	shut(trid);
}
END_TEST

/* NAMEOF-01, NAMEOF-02 */
START_TEST(the_name_is_the_same_every_time)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STREAM();

	for (int i = 0; i < 3; i++) {
		assert_name(trid, u, "u");
		assert_name(trid, POSIX_TRACE_STOP, "posix_trace_stop");
	}
	start(trid);
	assert_name(trid, u, "u");
	shut(trid);
}
END_TEST

/* NAMEOF-04, GEN-09 */
START_TEST(an_id_without_a_name_is_EINVAL)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STREAM();
	char name[TRACE_EVENT_NAME_MAX + 1] = "untouched";

	FAILS(EINVAL, posix_trace_eventid_get_name(trid, 0, name));
	FAILS(EINVAL, posix_trace_eventid_get_name(trid, 9, name));
	FAILS(EINVAL, posix_trace_eventid_get_name(trid, 62, name));
	FAILS(EINVAL, posix_trace_eventid_get_name(trid, u + 1, name));
	FAILS(EINVAL, posix_trace_eventid_get_name(trid, 1023, name));
	FAILS(EINVAL, posix_trace_eventid_get_name(trid, 1024, name));
	FAILS(EINVAL, posix_trace_eventid_get_name(trid, 1u << 31 | u, name));
	FAILS(EINVAL, posix_trace_eventid_get_name(trid, (trace_event_id_t)-1, name));
	ck_assert_str_eq(name, "untouched");
	shut(trid);
}
END_TEST

/* EQUAL-01, EQUAL-02 */
START_TEST(ids_are_equal_to_themselves_only)
{
	trace_event_id_t u = type_of("u"), v = type_of("v");
	trace_id_t trid = STREAM();

	ck_assert_int_ne(KEEPS_ERRNO(posix_trace_eventid_equal(trid, u, u)), 0);
	ck_assert_int_ne(posix_trace_eventid_equal(trid, u, type_of("u")), 0);
	ck_assert_int_eq(posix_trace_eventid_equal(trid, u, v), 0);
	ck_assert_int_eq(posix_trace_eventid_equal(trid, v, u), 0);
	for (int i = 0; i < PREDEFINED; i++)
		for (int k = 0; k < PREDEFINED; k++)
			ck_assert_int_eq(!!posix_trace_eventid_equal(trid, predefined[i].id,
								     predefined[k].id), i == k);
	ck_assert_int_eq(posix_trace_eventid_equal(trid, 0, 0), 0);
	ck_assert_int_eq(posix_trace_eventid_equal(trid, v + 1, v + 1), 0);
	ck_assert_int_eq(posix_trace_eventid_equal(trid, -1u, -1u), 0);
	ck_assert_int_eq(KEEPS_ERRNO(posix_trace_eventid_equal(0, u, u)), 0);
	shut(trid);
	ck_assert_int_eq(posix_trace_eventid_equal(trid, u, u), 0);
}
END_TEST

SUITE_MAIN("posix_trace_eventid",
	   names_and_ids_are_one_to_one,
	   threads_that_open_one_name_get_one_id,
	   a_name_too_long_is_ENAMETOOLONG_and_registers_nothing,
	   a_name_of_any_legal_length_comes_back_whole,
	   names_differ_by_any_byte,
	   a_name_is_known_in_all_streams_of_before_and_after,
	   past_the_limit_a_new_name_is_the_unnamed_event,
	   names_given_by_the_controller_count_too,
	   a_predefined_name_is_its_predefined_id,
	   the_empty_string_is_a_name,
	   controller_and_program_agree_on_ids,
	   a_type_can_be_filtered_before_the_program_knows_it,
	   the_name_is_the_same_every_time,
	   an_id_without_a_name_is_EINVAL,
	   ids_are_equal_to_themselves_only)
