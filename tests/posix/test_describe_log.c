/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Schemas of event types and names of objects in logs, independent of the time at which the program
 * gave them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/log.h"
#include "support/said.h"

static int before_main_result = -1;
static char before_main;

__attribute__((constructor)) static void name_before_main(void)
{
	before_main_result =
		posix_trace_object_np(POSIX_TRACE_OBJECT_BUFFER_NP, &before_main, "early");
}

static const int log_policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP };

/*
 * The program describes types before the stream exists, while it runs, between flushes and after
 * the last flush.
 */
START_TEST(a_description_at_any_time_reaches_the_log)
{
	trace_event_id_t id[4] = { type_of("a"), type_of("b"), type_of("c"), type_of("d") };
	static char thing[4];
	static const char *const schema[4] = { "u8 a", "u16 b; str s", "u32 c; @level 1", "s64 d" };
	static const char *const name[4] = { "thing a", "thing b", "thing c", "thing d" };
	int fd = log_file();
	trace_id_t trid = 0;

	for (int i = 0; i < 4; i++) {
		OK(posix_trace_eventid_describe_np(id[i], schema[i]));
		OK(posix_trace_object_np(POSIX_TRACE_OBJECT_MUTEX_NP, &thing[i], name[i]));
		if (i == 0)
			trid = LOGGED_STARTED(fd, .log_policy = log_policies[_i]);
		trace_number(id[i], i);
		if (i == 2)
			OK(posix_trace_flush(trid));
	}
	shut(trid);
	assert_log_whole(fd);
	trid = log_open(fd);
	for (int i = 0; i < 4; i++) {
		assert_schema(trid, id[i], schema[i]);
		ck_assert_str_eq(called(trid, getpid(), &thing[i], now_ns()), name[i]);
	}
	ck_assert_int_eq(before_main_result, 0);
	ck_assert_uint_eq(count_objects(trid), 6); /* the test is a child of the process in which
						    * main() began */
	ck_assert_uint_eq(log_info(fd).format_minor, 2);
	log_close(trid);
	close(fd);
}
END_TEST

/*
 * A copy of the log that is made while the writer works equals the log that a killed writer leaves.
 */
START_TEST(a_log_that_was_not_completed_has_the_lists)
{
	trace_event_id_t id = type_of("a"), late = type_of("b");
	int fd = log_file(), copy;
	static char thing;
	trace_id_t trid;
	unsigned char *bytes;
	size_t len;

	OK(posix_trace_eventid_describe_np(id, "u8 a"));
	trid = LOGGED_STARTED(fd, .log_policy = log_policies[_i]);
	trace_number(id, 1);
	OK(posix_trace_flush(trid));
	wait_until(status_of(trid).posix_stream_flush_status == POSIX_TRACE_NOT_FLUSHING);
	OK(posix_trace_eventid_describe_np(late, "u8 b"));
	OK(posix_trace_object_np(POSIX_TRACE_OBJECT_QUEUE_NP, &thing, "queue"));
	trace_number(late, 1);
	OK(posix_trace_flush(trid));
	wait_until(status_of(trid).posix_stream_flush_status == POSIX_TRACE_NOT_FLUSHING);
	bytes = log_bytes(fd, &len);
	copy = log_file_of(bytes, len);
	free(bytes);
	shut(trid);
	trid = log_open(copy);
	assert_schema(trid, id, "u8 a");
	assert_schema(trid, late, "u8 b");
	ck_assert_str_eq(called(trid, getpid(), &thing, now_ns()), "queue");
	log_close(trid);
	close(copy);
	close(fd);
}
END_TEST

START_TEST(a_log_that_was_cleared_has_them_again)
{
	trace_event_id_t id = type_of("a");
	int fd = log_file();
	static char thing;
	trace_id_t trid;

	OK(posix_trace_eventid_describe_np(id, "u8 a"));
	OK(posix_trace_object_np(POSIX_TRACE_OBJECT_QUEUE_NP, &thing, "queue"));
	trid = LOGGED_STARTED(fd, .log_policy = log_policies[_i]);
	trace_number(id, 1);
	OK(posix_trace_flush(trid));
	OK(posix_trace_clear(trid));
	trace_number(id, 2);
	shut(trid);
	assert_log_whole(fd);
	trid = log_open(fd);
	assert_schema(trid, id, "u8 a");
	ck_assert_str_eq(called(trid, getpid(), &thing, now_ns()), "queue");
	log_close(trid);
	close(fd);
}
END_TEST

/* The program describes more than the lists area of a log in slots has room for. */
START_TEST(a_log_has_all_that_a_process_can_say)
{
	static char text[POSIX_TRACE_SCHEMA_MAX_NP + 1], thing[5000];
	trace_event_id_t id[350];
	int fd = log_file(), err = 0;
	unsigned named = 0;
	trace_id_t trid;

	memset(text, ' ', POSIX_TRACE_SCHEMA_MAX_NP);
	memcpy(text, "u32 n", 5);
	for (unsigned i = 0; i < 350; i++) {
		char name[20];

		snprintf(name, sizeof(name), "type %u", i);
		id[i] = type_of(name);
		OK(posix_trace_eventid_describe_np(id[i], text));
	}
	for (; !err; named++)
		err = posix_trace_object_np(POSIX_TRACE_OBJECT_BUFFER_NP, &thing[named], "buffer");
	ck_assert_int_eq(err, ENOSPC);
	ck_assert_uint_gt(named, 4000);
	trid = LOGGED_STARTED(fd, .log_policy = log_policies[_i]);
	trace_number(id[349], 1);
	shut(trid);
	assert_log_whole(fd);
	trid = log_open(fd);
	for (unsigned i = 0; i < 350; i++)
		assert_schema(trid, id[i], text);
	ck_assert_uint_eq(count_objects(trid), 4096);
	log_close(trid);
	close(fd);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("describe: logs", &tc);

	tcase_add_loop_test(tc, a_description_at_any_time_reaches_the_log, 0, 3);
	tcase_add_loop_test(tc, a_log_that_was_not_completed_has_the_lists, 0, 3);
	tcase_add_loop_test(tc, a_log_that_was_cleared_has_them_again, 0, 3);
	tcase_add_loop_test(tc, a_log_has_all_that_a_process_can_say, 0, 3);
	return s;
}

SUITE_MAIN_OF(suite)
