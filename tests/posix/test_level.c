/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_set_level_np(): a filter by the levels in the descriptions of types. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "support/log.h"

static trace_event_id_t described(const char *name, int level)
{
	trace_event_id_t id = type_of(name);
	char schema[40];

	snprintf(schema, sizeof(schema), "u32 n; @level %d", level);
	OK(posix_trace_eventid_describe_np(id, schema));
	return id;
}

static int is_filtered(trace_id_t trid, trace_event_id_t id)
{
	trace_event_set_t set;
	int member;

	OK(posix_trace_get_filter(trid, &set));
	OK(posix_trace_eventset_ismember(id, &set, &member));
	return !!member;
}

static void change(trace_id_t trid, trace_event_id_t id, int how)
{
	trace_event_set_t set;

	OK(posix_trace_eventset_empty(&set));
	if (id)
		OK(posix_trace_eventset_add(id, &set));
	OK(posix_trace_set_filter(trid, &set, how));
}

static int level_of(trace_id_t trid)
{
	int level = -1;

	OK(posix_trace_get_level_np(trid, &level));
	return level;
}

START_TEST(types_with_a_greater_level_are_filtered_out)
{
	trace_event_id_t error = described("error", 2), debug = described("debug", 5),
			 plain = type_of("plain");
	trace_id_t trid = STARTED();

	ck_assert_int_eq(level_of(trid), 0);
	OK(posix_trace_set_level_np(trid, 3));
	ck_assert_int_eq(level_of(trid), 3);
	trace_number(error, 1);
	trace_number(debug, 2);
	trace_number(plain, 3);
	OK(posix_trace_set_level_np(trid, 3)); /* no change, so no event */
	OK(posix_trace_set_level_np(trid, 1));
	trace_number(error, 4);
	OK(posix_trace_set_level_np(trid, 5));
	trace_number(debug, 5);
	OK(posix_trace_set_level_np(trid, 4));
	OK(posix_trace_set_level_np(trid, 0));
	trace_number(debug, 6);
	stop(trid);
	ck_assert_events(trid, "START FILTER{->debug} error=1 plain=3 FILTER{debug->error debug} "
			       "FILTER{error debug->} debug=5 FILTER{->debug} FILTER{debug->} "
			       "debug=6 STOP(0)");
	shut(trid);
}
END_TEST

START_TEST(a_type_is_treated_likewise_when_it_is_described_later)
{
	trace_event_id_t before = type_of("before"), debug, error;
	trace_id_t trid = STARTED();

	OK(posix_trace_set_level_np(trid, 3));
	trace_number(before, 1);
	OK(posix_trace_eventid_describe_np(before, "u32 n; @level 4"));
	trace_number(before, 2);
	debug = described("debug", 5);
	error = described("error", 3);
	trace_number(debug, 3);
	trace_number(error, 4);
	ck_assert(is_filtered(trid, before) && is_filtered(trid, debug) &&
		  !is_filtered(trid, error));
	stop(trid);
	ck_assert_events(trid, "START before=1 error=4 STOP(0)");
	shut(trid);
}
END_TEST

START_TEST(set_filter_replaces_it_or_makes_exceptions)
{
	trace_event_id_t debug = described("debug", 5), plain = type_of("plain"), later;
	trace_id_t trid = STREAM();

	OK(posix_trace_set_level_np(trid, 3));
	change(trid, debug, POSIX_TRACE_SUB_EVENTSET);
	ck_assert(!is_filtered(trid, debug));
	/* The stream does not report a level again that is already set. */
	OK(posix_trace_eventid_describe_np(debug, "u32 n; @level 5"));
	ck_assert(!is_filtered(trid, debug));
	change(trid, plain, POSIX_TRACE_ADD_EVENTSET);
	ck_assert_int_eq(level_of(trid), 3);
	later = described("later", 4);
	ck_assert(is_filtered(trid, later));
	OK(posix_trace_set_level_np(trid, 4));
	ck_assert(is_filtered(trid, plain) && is_filtered(trid, debug) &&
		  !is_filtered(trid, later));

	change(trid, 0, POSIX_TRACE_SET_EVENTSET);
	ck_assert_int_eq(level_of(trid), 0);
	ck_assert(!is_filtered(trid, debug));
	later = described("latest", 5);
	ck_assert(!is_filtered(trid, later));
	shut(trid);
}
END_TEST

/* CLEAR-04: the stream is as it was when created */
START_TEST(a_cleared_stream_has_no_level)
{
	trace_event_id_t debug;
	trace_id_t trid = STARTED();

	OK(posix_trace_set_level_np(trid, 3));
	OK(posix_trace_clear(trid));
	ck_assert_int_eq(level_of(trid), 0);
	debug = described("debug", 5);
	ck_assert(!is_filtered(trid, debug));
	trace_number(debug, 1);
	stop(trid);
	ck_assert_events(trid, "debug=1 STOP(0)");
	shut(trid);
}
END_TEST

START_TEST(streams_have_levels_of_their_own)
{
	trace_id_t a = STREAM(), b = STREAM(), c = STREAM();
	trace_event_id_t id;

	OK(posix_trace_set_level_np(a, 1));
	OK(posix_trace_set_level_np(b, 5));
	id = described("warning", 3);
	ck_assert(is_filtered(a, id) && !is_filtered(b, id) && !is_filtered(c, id));
	shut(a);
	a = STREAM();
	ck_assert_int_eq(level_of(a), 0);
	ck_assert(!is_filtered(a, id));
	shut(a);
	shut(b);
	shut(c);
}
END_TEST

START_TEST(invalid_levels_and_streams_are_refused)
{
	int fd = log_of(1), level;
	trace_id_t trid = STREAM(), log = log_open(fd);

	FAILS(EINVAL, posix_trace_set_level_np(trid, -1));
	FAILS(EINVAL, posix_trace_set_level_np(trid, 6));
	FAILS(EINVAL, posix_trace_set_level_np(log, 3));
	FAILS(EINVAL, posix_trace_set_level_np(4711, 3));
	FAILS(EINVAL, posix_trace_get_level_np(trid, NULL));
	FAILS(EINVAL, posix_trace_get_level_np(log, &level));
	log_close(log);
	close(fd);
	shut(trid);
}
END_TEST

START_TEST(another_process_obeys_when_it_describes_a_type)
{
	int in[2];
	trace_event_id_t id;
	trace_attr_t attr;
	trace_id_t trid;
	pid_t child;
	char byte = 0;

	ck_assert_int_eq(pipe(in), 0);
	child = fork();
	if (child == 0) {
		if (read(in[0], &byte, 1) != 1)
			_exit(1);
		id = type_of("theirs");
		trace_number(id, 1);
		described("theirs", 5);
		trace_number(id, 2);
		trace_number(described("error", 1), 3);
		_exit(0);
	}
	wish_attr(&attr, &(struct wish){ 0 });
	OK(posix_trace_create(child, &attr, &trid));
	OK(posix_trace_attr_destroy(&attr));
	OK(posix_trace_set_level_np(trid, 2));
	start(trid);
	ck_assert_int_eq(write(in[1], &byte, 1), 1);
	close(in[0]);
	close(in[1]);
	wait_well(child);
	stop(trid);
	ck_assert_events(trid, "START theirs=1 error=3 STOP(0)");
	shut(trid);
}
END_TEST

#define TYPES 300

static void *describe_many(void *arg)
{
	char name[20];

	for (unsigned i = 0; i < TYPES; i++) {
		snprintf(name, sizeof(name), "type %u", i);
		described(name, 1 + (int)(i % 5));
	}
	return arg;
}

/* The calls race. At the end, every type is filtered as its level requires. */
START_TEST(levels_and_descriptions_that_race_agree)
{
	trace_id_t trid = STREAM();
	pthread_t thread = spawn(describe_many, NULL);
	char name[20];

	for (int i = 0; i < 60; i++)
		OK(posix_trace_set_level_np(trid, 1 + i % 4));
	OK(posix_trace_set_level_np(trid, 3));
	join(thread);
	for (unsigned i = 0; i < TYPES; i++) {
		snprintf(name, sizeof(name), "type %u", i);
		ck_assert_int_eq(is_filtered(trid, type_of(name)), i % 5 >= 3);
	}
	shut(trid);
}
END_TEST

SUITE_NEEDS("stat pidfd");

SUITE_MAIN("level", types_with_a_greater_level_are_filtered_out,
	   a_type_is_treated_likewise_when_it_is_described_later,
	   set_filter_replaces_it_or_makes_exceptions, a_cleared_stream_has_no_level,
	   streams_have_levels_of_their_own,
	   invalid_levels_and_streams_are_refused, another_process_obeys_when_it_describes_a_type,
	   levels_and_descriptions_that_race_agree)
