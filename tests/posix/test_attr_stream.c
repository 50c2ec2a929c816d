/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attributes objects and event sets with streams: the values that a stream and a log return. */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <trace.h>

#include "support/log.h"
#include "support/stream.h"

static struct timespec createtime_of(const trace_attr_t *attr)
{
	struct timespec time;

	OK(posix_trace_attr_getcreatetime(attr, &time));
	ck_assert_int_ge(time.tv_nsec, 0);
	ck_assert_int_lt(time.tv_nsec, 1000000000);
	return time;
}

/* ATTR-09, ATTR-11 */
START_TEST(an_initialised_object_receives_a_streams_attributes)
{
	trace_id_t trid = STREAM(.name = "the stream", .max_data = 321);
	trace_attr_t attr, fresh;
	char name[TRACE_NAME_MAX + 1];
	struct timespec resolution, fresh_resolution;
	size_t size;

	OK(posix_trace_attr_init(&attr));
	OK(posix_trace_attr_setname(&attr, "something else, and longer"));
	OK(posix_trace_get_attr(trid, &attr));
	OK(posix_trace_attr_getname(&attr, name));
	ck_assert_str_eq(name, "the stream");
	OK(posix_trace_attr_getmaxdatasize(&attr, &size));
	ck_assert_uint_eq(size, 321);
	OK(posix_trace_attr_init(&fresh));
	OK(posix_trace_attr_getclockres(&attr, &resolution));
	OK(posix_trace_attr_getclockres(&fresh, &fresh_resolution));
	ck_assert_int_eq(nanoseconds(&resolution), nanoseconds(&fresh_resolution));
	OK(posix_trace_attr_destroy(&attr));
	shut(trid);
}
END_TEST

/* ATTR-10 */
START_TEST(an_uninitialised_object_receives_them_too)
{
	trace_id_t trid = STREAM(.name = "the stream");
	trace_attr_t attr;
	char name[TRACE_NAME_MAX + 1];

	memset(&attr, 0xa5, sizeof(attr));
	OK(posix_trace_get_attr(trid, &attr));
	OK(posix_trace_attr_getname(&attr, name));
	ck_assert_str_eq(name, "the stream");
	OK(posix_trace_attr_destroy(&attr));
	FAILS(EINVAL, posix_trace_attr_destroy(&attr));
	shut(trid);
}
END_TEST

/* ATTR-07, ATTR-09: also for the next stream that is created with the same object */
START_TEST(attributes_of_a_stream_make_another_like_it)
{
	trace_id_t first = STREAM(.policy = POSIX_TRACE_UNTIL_FULL, .name = "model"), second;
	trace_attr_t attr;
	char name[TRACE_NAME_MAX + 1];
	int policy;

	OK(posix_trace_get_attr(first, &attr));
	OK(posix_trace_create(0, &attr, &second));
	OK(posix_trace_get_attr(second, &attr));
	OK(posix_trace_attr_getname(&attr, name));
	ck_assert_str_eq(name, "model");
	OK(posix_trace_attr_getstreamfullpolicy(&attr, &policy));
	ck_assert_int_eq(policy, POSIX_TRACE_UNTIL_FULL);
	shut(first);
	shut(second);
}
END_TEST

/* ATTR-16, SIZE-18, POLICY-04: with a log, the policy is FLUSH if none was set */
START_TEST(a_log_has_the_attributes_of_its_recording)
{
	int fd = log_file();
	trace_id_t trid = LOGGED(fd, .name = "logged", .max_data = 77, .log_size = 40000);
	trace_attr_t before, after;
	char text[TRACE_NAME_MAX + 1], text_after[TRACE_NAME_MAX + 1];
	struct timespec time, time_after;
	size_t size, size_after;
	int policy;

	OK(posix_trace_get_attr(trid, &before));
	OK(posix_trace_attr_getstreamfullpolicy(&before, &policy));
	ck_assert_int_eq(policy, POSIX_TRACE_FLUSH);
	shut(trid);

	trid = log_open(fd);
	memset(&after, 0xa5, sizeof(after));
	OK(posix_trace_get_attr(trid, &after));
	OK(posix_trace_attr_getgenversion(&before, text));
	OK(posix_trace_attr_getgenversion(&after, text_after));
	ck_assert_str_eq(text_after, text);
	OK(posix_trace_attr_getname(&after, text));
	ck_assert_str_eq(text, "logged");
	time = createtime_of(&before);
	time_after = createtime_of(&after);
	ck_assert_int_eq(nanoseconds(&time_after), nanoseconds(&time));
	OK(posix_trace_attr_getclockres(&before, &time));
	OK(posix_trace_attr_getclockres(&after, &time_after));
	ck_assert_int_eq(nanoseconds(&time_after), nanoseconds(&time));
	OK(posix_trace_attr_getmaxdatasize(&after, &size));
	ck_assert_uint_eq(size, 77);
	OK(posix_trace_attr_getlogsize(&after, &size));
	ck_assert_uint_eq(size, 40000);
	OK(posix_trace_attr_getstreamsize(&before, &size));
	OK(posix_trace_attr_getstreamsize(&after, &size_after));
	ck_assert_uint_eq(size_after, size);
	ck_assert_uint_eq(user_event_size(&after, 1000), user_event_size(&before, 1000));
	ck_assert_uint_eq(system_event_size(&after), system_event_size(&before));
	OK(posix_trace_attr_destroy(&after));
	log_close(trid);
	close(fd);
}
END_TEST

/* POLICY-05 */
START_TEST(loop_that_was_asked_for_is_kept_with_a_log)
{
	int fd = log_file();
	trace_id_t trid = LOGGED(fd, .policy = POSIX_TRACE_LOOP);
	trace_attr_t attr;
	int policy;

	OK(posix_trace_get_attr(trid, &attr));
	OK(posix_trace_attr_getstreamfullpolicy(&attr, &policy));
	ck_assert_int_eq(policy, POSIX_TRACE_LOOP);
	shut(trid);
	close(fd);
}
END_TEST

/* SET-11: sets that were passed to a filter or read from a filter */
START_TEST(a_set_is_no_part_of_a_filter)
{
	trace_id_t trid = STREAM();
	trace_event_set_t set, filter;
	int member;

	OK(posix_trace_eventset_empty(&set));
	OK(posix_trace_eventset_add(POSIX_TRACE_START, &set));
	OK(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	OK(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS));
	OK(posix_trace_get_filter(trid, &filter));
	OK(posix_trace_eventset_ismember(POSIX_TRACE_START, &filter, &member));
	ck_assert_int_ne(member, 0);
	OK(posix_trace_eventset_ismember(POSIX_TRACE_STOP, &filter, &member));
	ck_assert_int_eq(member, 0);
	OK(posix_trace_eventset_add(POSIX_TRACE_STOP, &filter));
	OK(posix_trace_get_filter(trid, &set));
	OK(posix_trace_eventset_ismember(POSIX_TRACE_STOP, &set, &member));
	ck_assert_int_eq(member, 0);
	shut(trid);
}
END_TEST

SUITE_MAIN("posix_trace_attr_init beside streams",
	   an_initialised_object_receives_a_streams_attributes,
	   an_uninitialised_object_receives_them_too,
	   attributes_of_a_stream_make_another_like_it,
	   a_log_has_the_attributes_of_its_recording,
	   loop_that_was_asked_for_is_kept_with_a_log,
	   a_set_is_no_part_of_a_filter)
