/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Schemas of event types, typed payloads, names of things: in streams, children and other
 * processes.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "support/log.h"
#include "support/said.h"

static const char *const read_schema = "s32 fd; str path; ptr lock; s64 result; @level 4";

START_TEST(the_first_schema_stays_and_faults_are_returned)
{
	trace_event_id_t id = type_of("read"), other = type_of("other");
	trace_id_t trid = STREAM();
	char text[2000];

	FAILS(EINVAL, posix_trace_eventid_describe_np(id, NULL));
	FAILS(EINVAL, posix_trace_eventid_describe_np(id, ""));
	FAILS(EINVAL, posix_trace_eventid_describe_np(id, "u9 x"));
	FAILS(EINVAL, posix_trace_eventid_describe_np(0, "u8 x"));
	FAILS(EINVAL, posix_trace_eventid_describe_np(POSIX_TRACE_START, "u8 x"));
	FAILS(EINVAL, posix_trace_eventid_describe_np(POSIX_TRACE_UNNAMED_USEREVENT, "u8 x"));
	FAILS(EINVAL, posix_trace_eventid_describe_np(other + 1, "u8 x"));
	FAILS(EINVAL, posix_trace_eventid_describe_np(5000, "u8 x"));
	memset(text, ' ', sizeof(text) - 1);
	memcpy(text, "u8 x", 4);
	text[POSIX_TRACE_SCHEMA_MAX_NP + 1] = '\0';
	FAILS(EINVAL, posix_trace_eventid_describe_np(id, text));

	FAILS(ENOENT, posix_trace_eventid_get_schema_np(trid, id, text, sizeof(text)));
	OK(posix_trace_eventid_describe_np(id, read_schema));
	OK(posix_trace_eventid_describe_np(id, read_schema));
	FAILS(EEXIST, posix_trace_eventid_describe_np(id, "u8 x"));
	assert_schema(trid, id, read_schema);
	FAILS(ERANGE, posix_trace_eventid_get_schema_np(trid, id, text, strlen(read_schema)));
	OK(posix_trace_eventid_get_schema_np(trid, id, text, strlen(read_schema) + 1));
	FAILS(ENOENT, posix_trace_eventid_get_schema_np(trid, other, text, sizeof(text)));
	FAILS(ENOENT,
	      posix_trace_eventid_get_schema_np(trid, POSIX_TRACE_START, text, sizeof(text)));
	FAILS(EINVAL, posix_trace_eventid_get_schema_np(trid, other + 1, text, sizeof(text)));
	FAILS(EINVAL, posix_trace_eventid_get_schema_np(trid, id, NULL, sizeof(text)));
	FAILS(EINVAL, posix_trace_eventid_get_schema_np(4711, id, text, sizeof(text)));
	shut(trid);
}
END_TEST

static int evaluated;

static int once(int value)
{
	evaluated++;
	return value;
}

START_TEST(fields_are_evaluated_and_recorded_while_there_is_a_stream)
{
	static const unsigned char expected[] = { 5, 0, 0, 0, 'h', 'i', 0, 7 };
	trace_event_id_t id = type_of("a");
	struct seen seen;
	trace_id_t trid;

	posix_trace_fields_np(id, POSIX_TRACE_S32_NP(once(5)), POSIX_TRACE_STR_NP("hi"),
			      POSIX_TRACE_U8_NP(once(7)));
	ck_assert_int_eq(evaluated, 0);
	trid = STARTED();
	errno = 4711;
	posix_trace_fields_np(id, POSIX_TRACE_S32_NP(once(5)), POSIX_TRACE_STR_NP("hi"),
			      POSIX_TRACE_U8_NP(once(7)));
	ck_assert_int_eq(errno, 4711);
	ck_assert_int_eq(evaluated, 2);
	ck_assert_int_eq(read_one(trid, &seen), 1); /* START */
	free(seen.data);
	ck_assert_int_eq(read_one(trid, &seen), 1);
	ck_assert_uint_eq(seen.info.posix_event_id, id);
	ck_assert_uint_eq(seen.len, sizeof(expected));
	if (*(const unsigned char *)&(const int){ 1 }) /* the text of the schema in this file */
		ck_assert_mem_eq(seen.data, expected, sizeof(expected));
	free(seen.data);
	shut(trid);
}
END_TEST

START_TEST(names_hold_from_their_time_on)
{
	static char a, b;
	const pid_t pid = getpid();
	struct posix_trace_object_np object;
	trace_id_t trid = STREAM();
	char longer[100];
	int64_t times[3], earlier;
	unsigned before;

	FAILS(EINVAL, posix_trace_object_np(0, &a, "a"));
	FAILS(EINVAL, posix_trace_object_np(-1, &a, "a"));
	FAILS(EINVAL, posix_trace_object_np(POSIX_TRACE_OBJECT_OTHER_NP + 1, &a, "a"));
	before = count_objects(trid);
	earlier = now_ns() - 2000000; /* more than the possible error of the clock of a stream */
	OK(posix_trace_object_np(POSIX_TRACE_OBJECT_MUTEX_NP, &a, "first"));
	OK(posix_trace_object_np(POSIX_TRACE_OBJECT_MUTEX_NP, &a, "first"));
	times[0] = now_ns();
	OK(posix_trace_object_np(POSIX_TRACE_OBJECT_COND_NP, &a, "second"));
	times[1] = now_ns();
	OK(posix_trace_object_np(POSIX_TRACE_OBJECT_COND_NP, &a, NULL));
	times[2] = now_ns();
	ck_assert_uint_eq(count_objects(trid), before + 3);
	ck_assert_str_eq(called(trid, pid, &a, earlier), "-");
	ck_assert_str_eq(called(trid, pid, &a, times[0]), "first");
	ck_assert_str_eq(called(trid, pid, &a, times[1]), "second");
	ck_assert_str_eq(called(trid, pid, &a, times[2]), "-");
	ck_assert_str_eq(called(trid, pid, &b, times[2]), "-");
	ck_assert_str_eq(called(trid, pid + 1, &a, times[0]), "-");

	memset(longer, 'x', sizeof(longer) - 1);
	memcpy(longer + POSIX_TRACE_OBJECT_NAME_MAX_NP - 1, "\xc3\xa4", 2);
	longer[sizeof(longer) - 1] = '\0';
	OK(posix_trace_object_np(POSIX_TRACE_OBJECT_FILE_NP, &b, longer));
	OK(posix_trace_object_find_np(trid, pid, (uintptr_t)&b, now_ns(), &object));
	ck_assert_uint_eq(strlen(object.name), POSIX_TRACE_OBJECT_NAME_MAX_NP - 1);
	ck_assert_int_eq(object.kind, POSIX_TRACE_OBJECT_FILE_NP);
	ck_assert_int_eq(object.pid, pid);
	ck_assert_str_eq(posix_trace_object_kind_name_np(object.kind), "file");
	ck_assert_str_eq(posix_trace_object_kind_name_np(4711), "object");

	FAILS(EINVAL, posix_trace_object_find_np(trid, pid, 0, 0, NULL));
	FAILS(EINVAL, posix_trace_object_find_np(4711, pid, 0, 0, &object));
	FAILS(EINVAL, posix_trace_object_getnext_np(trid, NULL, NULL));
	FAILS(EINVAL, posix_trace_object_rewind_np(4711));
	shut(trid);
}
END_TEST

static int finish(pid_t child)
{
	int status;

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The child has an arena of its own in one run, and its parent's arena in the other. */
START_TEST(a_child_has_what_its_parent_said_before)
{
	static char parents, childs, later;
	trace_event_id_t id = type_of("a"), own;
	trace_id_t trid = 0, mine;
	pid_t parent = getpid(), child;

	OK(posix_trace_eventid_describe_np(id, "u8 a"));
	OK(posix_trace_object_np(POSIX_TRACE_OBJECT_MUTEX_NP, &parents, "parent's"));
	if (_i)
		trid = STARTED(.inheritance = POSIX_TRACE_INHERITED);
	child = fork();
	if (child == 0) {
		own = type_of("own");
		OK(posix_trace_eventid_describe_np(own, "u16 own"));
		OK(posix_trace_object_np(POSIX_TRACE_OBJECT_MUTEX_NP, &childs, "child's"));
		mine = STREAM();
		assert_schema(mine, id, "u8 a");
		assert_schema(mine, own, "u16 own");
		ck_assert_str_eq(called(mine, getpid(), &parents, now_ns()), "parent's");
		ck_assert_str_eq(called(mine, getpid(), &childs, now_ns()), "child's");
		ck_assert_str_eq(called(mine, parent, &childs, now_ns()), "-");
		shut(mine);
		_exit(0);
	}
	ck_assert_int_eq(finish(child), 0);
	OK(posix_trace_object_np(POSIX_TRACE_OBJECT_MUTEX_NP, &later, "later"));
	if (_i) { /* the stream traces both */
		ck_assert_str_eq(called(trid, child, &parents, now_ns()), "parent's");
		ck_assert_str_eq(called(trid, child, &childs, now_ns()), "child's");
		ck_assert_str_eq(called(trid, child, &later, now_ns()), "-");
		ck_assert_str_eq(called(trid, parent, &childs, now_ns()), "-");
		shut(trid);
	}
}
END_TEST

static char shared_thing; /* at the same address in a child */

/* A process that obeys commands: d describes, o names. */
static pid_t other_process(const int *in, const int *out)
{
	pid_t child = fork();
	char command;

	if (child)
		return child;
	close(in[1]); /* otherwise the end of the commands would never be read */
	while (read(in[0], &command, 1) == 1) {
		trace_event_id_t id = type_of("theirs");

		if (command == 'd')
			OK(posix_trace_eventid_describe_np(id, "u32 n; @level 5"));
		else
			OK(posix_trace_object_np(POSIX_TRACE_OBJECT_THREAD_NP, &shared_thing,
						 "theirs"));
		trace_number(id, 1);
		if (write(out[1], &command, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static void tell(const int *in, const int *out, char command)
{
	char answer;

	ck_assert_int_eq(write(in[1], &command, 1), 1);
	ck_assert_int_eq(read(out[0], &answer, 1), 1);
}

START_TEST(descriptions_of_another_process_reach_its_controller_and_the_log)
{
	int in[2], out[2], fd = log_file();
	trace_event_id_t id;
	trace_id_t trid;
	pid_t child;

	ck_assert_int_eq(pipe(in), 0);
	ck_assert_int_eq(pipe(out), 0);
	child = other_process(in, out);
	if (_i)
		tell(in, out, 'd');
	trid = log_attach(child, fd, &(struct log_wish){ 0 });
	OK(posix_trace_trid_eventid_open(trid, "theirs", &id));
	start(trid);
	tell(in, out, 'd');
	tell(in, out, 'o');
	assert_schema(trid, id, "u32 n; @level 5");
	ck_assert_str_eq(called(trid, child, &shared_thing, now_ns()), "theirs");
	ck_assert_str_eq(called(trid, getpid(), &shared_thing, now_ns()), "-");
	shut(trid);
	close(in[0]);
	close(in[1]);
	close(out[0]);
	close(out[1]);
	ck_assert_int_eq(finish(child), 0);
	assert_log_whole(fd);
	trid = log_open(fd);
	assert_schema(trid, id, "u32 n; @level 5");
	ck_assert_str_eq(called(trid, child, &shared_thing, now_ns()), "theirs");
	log_close(trid);
	close(fd);
}
END_TEST

SUITE_NEEDS("stat pidfd");

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("describe", &tc);

	tcase_add_test(tc, the_first_schema_stays_and_faults_are_returned);
	tcase_add_test(tc, fields_are_evaluated_and_recorded_while_there_is_a_stream);
	tcase_add_test(tc, names_hold_from_their_time_on);
	tcase_add_loop_test(tc, a_child_has_what_its_parent_said_before, 0, 2);
	tcase_add_loop_test(
		tc, descriptions_of_another_process_reach_its_controller_and_the_log, 0, 2);
	return s;
}

SUITE_MAIN_OF(suite)
