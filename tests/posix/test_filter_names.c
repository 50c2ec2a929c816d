/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_set_filter_names_np(): a filter by names, patterns and levels. */
#include <stdio.h>
#include <string.h>

#include "support/log.h"

static const char *const names[] = { "io.read", "io.write", "net.read", "plain" };

static trace_event_id_t described(const char *name, int level)
{
	trace_event_id_t id = type_of(name);
	char schema[40];

	snprintf(schema, sizeof(schema), "u32 n; @level %d", level);
	OK(posix_trace_eventid_describe_np(id, schema));
	return id;
}

static trace_id_t stream_with_names(void)
{
	trace_id_t trid = STREAM();

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		type_of(names[i]);
	described("error", 2);
	described("debug", 5);
	return trid;
}

/* Returns the filtered types of the program, in the order of their creation. */
static const char *filtered(trace_id_t trid)
{
	static char text[200];
	trace_event_set_t set;
	trace_event_id_t id;
	int end, member;

	*text = '\0';
	OK(posix_trace_get_filter(trid, &set));
	OK(posix_trace_eventtypelist_rewind(trid));
	for (;;) {
		char name[TRACE_EVENT_NAME_MAX + 1];

		OK(posix_trace_eventtypelist_getnext_id(trid, &id, &end));
		if (end)
			return text;
		OK(posix_trace_eventset_ismember(id, &set, &member));
		if (!member)
			continue;
		OK(posix_trace_eventid_get_name(trid, id, name));
		sprintf(text + strlen(text), "%s%s", *text ? " " : "", name);
	}
}

static const char *set(trace_id_t trid, const char *list, int how)
{
	OK(posix_trace_set_filter_names_np(trid, list, how));
	return filtered(trid);
}

START_TEST(patterns_select_by_name)
{
	const int how = POSIX_TRACE_SET_EVENTSET;
	trace_id_t trid = stream_with_names();

	ck_assert_str_eq(set(trid, "io.read", how), "io.read");
	ck_assert_str_eq(set(trid, "io.*", how), "io.read io.write");
	ck_assert_str_eq(set(trid, "io.*,!io.read", how), "io.write");
	ck_assert_str_eq(set(trid, "!io.read,io.*", how), "io.read io.write");
	ck_assert_str_eq(set(trid, " io.* , ! *.write , plain", how), "io.read plain");
	ck_assert_str_eq(set(trid, "[in]*.read", how), "io.read net.read");
	ck_assert_str_eq(set(trid, "io", how), "");
	shut(trid);
}
END_TEST

START_TEST(levels_select_by_schema)
{
	const int how = POSIX_TRACE_SET_EVENTSET;
	trace_id_t trid = stream_with_names();

	ck_assert_str_eq(set(trid, "@3", how), "debug");
	ck_assert_str_eq(set(trid, "@2", how), "error debug");
	ck_assert_str_eq(set(trid, "@1,!error,plain", how), "plain debug");
	ck_assert_str_eq(set(trid, "*,!posix_trace_*,!@1", how),
			 "io.read io.write net.read plain");
	shut(trid);
}
END_TEST

START_TEST(a_set_replaces_is_added_or_taken_away)
{
	trace_id_t trid = stream_with_names();

	set(trid, "io.*", POSIX_TRACE_SET_EVENTSET);
	ck_assert_str_eq(set(trid, "plain", POSIX_TRACE_ADD_EVENTSET), "io.read io.write plain");
	ck_assert_str_eq(set(trid, "*.read", POSIX_TRACE_SUB_EVENTSET), "io.write plain");
	ck_assert_str_eq(set(trid, "error", POSIX_TRACE_SET_EVENTSET), "error");
	shut(trid);
}
END_TEST

START_TEST(a_change_is_an_event_as_by_posix_trace_set_filter)
{
	trace_id_t trid = stream_with_names();
	trace_event_id_t read = type_of("io.read"), write = type_of("io.write");

	start(trid);
	trace_number(read, 1);
	set(trid, "io.r*", POSIX_TRACE_SET_EVENTSET);
	trace_number(read, 2);
	trace_number(write, 3);
	ck_assert_events(trid, "START io.read=1 FILTER{->io.read} io.write=3");
	shut(trid);
}
END_TEST

START_TEST(a_whole_set_ends_a_level)
{
	trace_id_t trid = stream_with_names();
	int level;

	OK(posix_trace_set_level_np(trid, 3));
	set(trid, "plain", POSIX_TRACE_ADD_EVENTSET);
	OK(posix_trace_get_level_np(trid, &level));
	ck_assert_int_eq(level, 3);
	ck_assert_str_eq(set(trid, "plain", POSIX_TRACE_SET_EVENTSET), "plain");
	OK(posix_trace_get_level_np(trid, &level));
	ck_assert_int_eq(level, 0);
	shut(trid);
}
END_TEST

START_TEST(bad_lists_change_nothing)
{
	static const char *const bad[] = { "", " ", "!", ",", "io.*,,plain", "@", "@0", "@6", "@33",
					   "@x", "!@", "plain,!" };
	char longest[300];
	trace_id_t trid = stream_with_names();
	int fd = log_file();

	set(trid, "plain", POSIX_TRACE_SET_EVENTSET);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		FAILS(EINVAL, posix_trace_set_filter_names_np(trid, bad[i],
							      POSIX_TRACE_SET_EVENTSET));
	memset(longest, '*', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	FAILS(EINVAL, posix_trace_set_filter_names_np(trid, longest, POSIX_TRACE_SET_EVENTSET));
	FAILS(EINVAL, posix_trace_set_filter_names_np(trid, NULL, POSIX_TRACE_SET_EVENTSET));
	FAILS(EINVAL, posix_trace_set_filter_names_np(trid, "*", 4711));
	ck_assert_str_eq(filtered(trid), "plain");
	shut(trid);
	FAILS(EINVAL, posix_trace_set_filter_names_np(trid, "*", POSIX_TRACE_SET_EVENTSET));
	shut(LOGGED(fd, .log_policy = POSIX_TRACE_APPEND));
	trid = log_open(fd);
	FAILS(EINVAL, posix_trace_set_filter_names_np(trid, "*", POSIX_TRACE_SET_EVENTSET));
	log_close(trid);
	close(fd);
}
END_TEST

SUITE_MAIN("posix_trace_set_filter_names_np", patterns_select_by_name, levels_select_by_schema,
	   a_set_replaces_is_added_or_taken_away, a_change_is_an_event_as_by_posix_trace_set_filter,
	   a_whole_set_ends_a_level, bad_lists_change_nothing)
