/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Composed logs: a reader gets the events that were passed, and the account is right. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/composer.h"
#include "support/ledger.h"
#include "support/log.h"

static struct posix_trace_event_np next_of(trace_id_t trid)
{
	struct posix_trace_event_np event;
	int unavailable;

	OK(posix_trace_getnext_np(trid, &event, &unavailable));
	ck_assert(!unavailable);
	return event;
}

START_TEST(an_event_is_read_back_as_it_was_handed_over)
{
	static const int64_t times[] = { INT64_MIN, -1, 0, INT64_C(4102444800000000000),
					 INT64_MAX, 5 };
	int fd = log_file(), unavailable;
	composer_t *composer = compose(fd, NULL);
	trace_event_id_t id = name_of(composer, "hour");
	struct posix_trace_event_np event;
	trace_id_t trid;

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		put(composer, id, times[i], "shadow");
	event = event_of(id, 6, "");
	event.tid = -1;
	event.info.posix_pid = INT_MAX;
	event.info.posix_thread_id = ULONG_MAX;
	event.info.posix_prog_address = (void *)UINTPTR_MAX;
	event.info.posix_truncation_status = POSIX_TRACE_TRUNCATED_RECORD;
	event.flags = POSIX_TRACE_EVENT_LATE_NP;
	OK(posix_trace_compose_event_np(composer, &event));
	finish(composer, fd);
	trid = log_open(fd);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		event = next_of(trid);
		ck_assert_int_eq(event.time_ns, times[i]);
		ck_assert_uint_eq(event.info.posix_event_id, id);
		ck_assert_int_eq(event.info.posix_pid, 77);
		ck_assert_int_eq(event.tid, 78);
		ck_assert_uint_eq(event.info.posix_thread_id, 0x7000);
		ck_assert_ptr_eq(event.info.posix_prog_address, (void *)0x4711);
		ck_assert_uint_eq(event.flags, i == 0 ? POSIX_TRACE_EVENT_BLOCK_NP : 0);
		ck_assert_int_eq(event.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
		ck_assert_uint_eq(event.data_len, 6);
		ck_assert_mem_eq(event.data, "shadow", 6);
	}
	event = next_of(trid);
	ck_assert_int_eq(event.tid, -1);
	ck_assert_int_eq(event.info.posix_pid, INT_MAX);
	ck_assert_uint_eq(event.info.posix_thread_id, ULONG_MAX);
	ck_assert_ptr_eq(event.info.posix_prog_address, (void *)UINTPTR_MAX);
	ck_assert_int_eq(event.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_RECORD);
	ck_assert_uint_eq(event.flags, POSIX_TRACE_EVENT_LATE_NP);
	ck_assert_uint_eq(event.data_len, 0);
	OK(posix_trace_getnext_np(trid, &event, &unavailable));
	ck_assert(unavailable);
	log_close(trid);
	close(fd);
}
END_TEST

START_TEST(a_log_has_its_origin)
{
	int fd = log_file();
	struct posix_trace_loginfo_np info;
	char generation[TRACE_NAME_MAX + 1];
	struct timespec time;
	trace_attr_t attr;
	trace_id_t trid;

	OK(posix_trace_compose_finish_np(compose(fd, NULL), NULL));
	info = log_info(fd);
	ck_assert(info.complete);
	ck_assert_int_eq(info.pid, 77);
	ck_assert_str_eq(info.host, "elsewhere");
	ck_assert_str_eq(info.clock, "sundial");
	ck_assert_uint_eq(info.clock_hz, 24);
	ck_assert_int_eq(info.begin_ns, 41);
	ck_assert_int_eq(info.log_full_policy, POSIX_TRACE_APPEND);
	trid = log_open(fd);
	OK(posix_trace_get_attr(trid, &attr));
	OK(posix_trace_attr_getgenversion(&attr, generation));
	ck_assert_str_eq(generation, "gnomon 1");
	OK(posix_trace_attr_getcreatetime(&attr, &time));
	ck_assert_int_eq(time.tv_sec, -6);
	ck_assert_int_eq(time.tv_nsec, 999999999);
	OK(posix_trace_attr_getclockres(&attr, &time));
	ck_assert_int_eq(time.tv_nsec, 3600);
	log_close(trid);
	close(fd);
}
END_TEST

START_TEST(names_are_numbered_as_they_come_or_as_is_asked)
{
	int fd = log_file();
	composer_t *composer = compose(fd, NULL);
	trace_event_id_t id = 65, none = 1024;
	char name[TRACE_EVENT_NAME_MAX + 2];
	trace_id_t trid;

	ck_assert_uint_eq(name_of(composer, "first"), 64);
	OK(posix_trace_compose_name_np(composer, "asked", &id));
	ck_assert_uint_eq(name_of(composer, "second"), 66);
	ck_assert_uint_eq(name_of(composer, "first"), 64);
	ck_assert_uint_eq(name_of(composer, ""), 67);
	ck_assert_uint_eq(name_of(composer, "posix_trace_overflow"), POSIX_TRACE_OVERFLOW);
	FAILS(EEXIST, posix_trace_compose_name_np(composer, "other", &id));
	OK(posix_trace_compose_name_np(composer, "asked", &id));
	FAILS(EINVAL, posix_trace_compose_name_np(composer, "other", &none));
	memset(name, 'x', sizeof(name));
	name[TRACE_EVENT_NAME_MAX + 1] = '\0';
	id = 0;
	FAILS(ENAMETOOLONG, posix_trace_compose_name_np(composer, name, &id));
	name[TRACE_EVENT_NAME_MAX] = '\0';
	ck_assert_uint_eq(name_of(composer, name), 68);
	finish(composer, fd);
	trid = log_open(fd);
	OK(posix_trace_eventid_get_name(trid, 65, name));
	ck_assert_str_eq(name, "asked");
	log_close(trid);
	close(fd);
}
END_TEST

START_TEST(there_are_as_many_names_as_a_process_can_have)
{
	int fd = log_file();
	composer_t *composer = compose(fd, NULL);
	trace_event_id_t id = 0;
	char name[16];

	/* The unnamed type is one of them. */
	for (int i = 1; i < TRACE_USER_EVENT_MAX; i++) {
		snprintf(name, sizeof(name), "type %d", i);
		put(composer, name_of(composer, name), i, name);
	}
	FAILS(ENOSPC, posix_trace_compose_name_np(composer, "one more", &id));
	ck_assert_uint_eq(name_of(composer, name), 63 + TRACE_USER_EVENT_MAX - 1);
	finish(composer, fd);
	close(fd);
}
END_TEST

START_TEST(schemas_and_objects_are_read_back)
{
	const struct posix_trace_object_np lock = {
		.kind = POSIX_TRACE_OBJECT_MUTEX_NP, .pid = 77, .pointer = 0x1000, .time_ns = -3,
		.name = "the lock",
	};
	int fd = log_file(), unavailable;
	composer_t *composer = compose(fd, NULL);
	trace_event_id_t id = name_of(composer, "take");
	char schema[POSIX_TRACE_SCHEMA_MAX_NP + 1];
	struct posix_trace_object_np object;
	trace_id_t trid;

	OK(posix_trace_compose_schema_np(composer, id, "ptr lock; u32 spins"));
	OK(posix_trace_compose_schema_np(composer, id, "ptr lock; u32 spins"));
	FAILS(EEXIST, posix_trace_compose_schema_np(composer, id, "u32 spins"));
	FAILS(EINVAL, posix_trace_compose_schema_np(composer, id, "nonsense"));
	FAILS(EINVAL, posix_trace_compose_schema_np(composer, id + 1, "u32 spins"));
	OK(posix_trace_compose_object_np(composer, &lock));
	FAILS(EINVAL, posix_trace_compose_object_np(composer, NULL));
	put(composer, id, 1, "");
	finish(composer, fd);
	trid = log_open(fd);
	OK(posix_trace_eventid_get_schema_np(trid, id, schema, sizeof(schema)));
	ck_assert_str_eq(schema, "ptr lock; u32 spins");
	OK(posix_trace_object_getnext_np(trid, &object, &unavailable));
	ck_assert(!unavailable);
	ck_assert_mem_eq(&object, &lock, sizeof(object));
	OK(posix_trace_object_getnext_np(trid, &object, &unavailable));
	ck_assert(unavailable);
	log_close(trid);
	close(fd);
}
END_TEST

/*
 * Two files are mapped at one address, one after the other; the second remains until the end. A
 * child has a parent.
 */
START_TEST(mappings_are_read_back)
{
	const struct posix_trace_mapping_np mapping[] = {
		{ .from_ns = 10, .until_ns = 20, .start = 0x1000, .end = 0x3000, .offset = 0x40,
		  .base = 0x800, .pid = 77, .build_id_len = 2, .build_id = { 0xab, 0xcd },
		  .path = "/bin/old" },
		{ .from_ns = 20, .until_ns = INT64_MAX, .start = 0x1000, .end = 0x2000,
		  .base = 0x1000, .pid = 77, .path = "/bin/new" },
		{ .from_ns = 30, .until_ns = INT64_MAX, .pid = 78, .parent = 77 },
	};
	struct posix_trace_mapping_np wrong = mapping[0], found;
	int fd = log_file(), unavailable;
	composer_t *composer = compose(fd, NULL);
	trace_id_t trid;

	for (size_t i = 3; i-- > 0;)
		OK(posix_trace_compose_mapping_np(composer, &mapping[i]));
	FAILS(EINVAL, posix_trace_compose_mapping_np(composer, NULL));
	FAILS(EINVAL, posix_trace_compose_mapping_np(NULL, &mapping[0]));
	wrong.path = NULL;
	FAILS(EINVAL, posix_trace_compose_mapping_np(composer, &wrong));
	wrong = mapping[0];
	wrong.end = wrong.start;
	FAILS(EINVAL, posix_trace_compose_mapping_np(composer, &wrong));
	wrong = mapping[0];
	wrong.build_id_len = POSIX_TRACE_BUILD_ID_MAX_NP + 1;
	FAILS(EINVAL, posix_trace_compose_mapping_np(composer, &wrong));
	wrong = mapping[0];
	wrong.pid = 0;
	FAILS(EINVAL, posix_trace_compose_mapping_np(composer, &wrong));
	put(composer, name_of(composer, "call"), 1, "");
	finish(composer, fd);
	trid = log_open(fd);
	for (size_t i = 0; i < 3; i++) {
		OK(posix_trace_mapping_getnext_np(trid, &found, &unavailable));
		ck_assert(!unavailable);
		ck_assert_int_eq(found.from_ns, mapping[i].from_ns);
		ck_assert_int_eq(found.until_ns, mapping[i].until_ns);
		ck_assert_int_eq(found.pid, mapping[i].pid);
		ck_assert_int_eq(found.parent, mapping[i].parent);
		if (found.parent)
			continue;
		ck_assert_uint_eq(found.start, mapping[i].start);
		ck_assert_uint_eq(found.end, mapping[i].end);
		ck_assert_uint_eq(found.offset, mapping[i].offset);
		ck_assert_uint_eq(found.base, mapping[i].base);
		ck_assert_uint_eq(found.build_id_len, mapping[i].build_id_len);
		ck_assert_mem_eq(found.build_id, mapping[i].build_id, sizeof(found.build_id));
		ck_assert_str_eq(found.path, mapping[i].path);
	}
	OK(posix_trace_mapping_getnext_np(trid, &found, &unavailable));
	ck_assert(unavailable);
	OK(posix_trace_mapping_find_np(trid, 78, 0x1800, 40, &found));
	ck_assert_str_eq(found.path, "/bin/new");
	log_close(trid);
	close(fd);
}
END_TEST

START_TEST(losses_are_in_the_ledger)
{
	const struct posix_trace_thread_np thread = { 77, 78, 0x7000 };
	int fd = log_file();
	composer_t *composer = compose(fd, NULL);
	trace_event_id_t id = name_of(composer, "kept");
	struct posix_trace_ledger_np line;
	trace_id_t trid;

	put(composer, id, 1, "a");
	put(composer, id, 2, "b");
	OK(posix_trace_compose_lost_np(composer, POSIX_TRACE_LOST_STREAM_FULL_NP, 5, id, &thread));
	OK(posix_trace_compose_lost_np(composer, POSIX_TRACE_LOST_NESTING_NP, 7, 0, NULL));
	OK(posix_trace_compose_lost_np(composer, POSIX_TRACE_LOST_NESTING_NP, 0, 0, NULL));
	OK(posix_trace_compose_lost_np(composer, POSIX_TRACE_UNATTRIBUTED_NP, 3, id, &thread));
	FAILS(EINVAL, posix_trace_compose_lost_np(composer, -2, 1, id, NULL));
	FAILS(EINVAL,
	      posix_trace_compose_lost_np(composer, POSIX_TRACE_LOST_CAUSES_NP, 1, id, NULL));
	FAILS(EINVAL, posix_trace_compose_lost_np(composer, 0, 1, 1024, NULL));
	finish(composer, fd);
	ck_assert_int_eq(log_status(fd).posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
	trid = log_open(fd);
	line = ledger_total(trid);
	ck_assert_uint_eq(line.called, 17);
	ck_assert_uint_eq(line.unattributed, 3);
	ck_assert_uint_eq(line.reported, 2);
	line = ledger_of_type(trid, id);
	ck_assert_ledger_line(line, 2, 0, POSIX_TRACE_LOST_STREAM_FULL_NP, 5);
	line = ledger_of_type(trid, 0);
	ck_assert_uint_eq(line.called, 10);
	ck_assert_uint_eq(line.unattributed, 3);
	ck_assert_uint_eq(line.lost[POSIX_TRACE_LOST_NESTING_NP], 7);
	line = ledger_of_type(trid, POSIX_TRACE_UNNAMED_USER_EVENT);
	ck_assert_ledger_line(line, 0, 0, POSIX_TRACE_LOST_NESTING_NP, 0);
	line = ledger_of_thread(trid, 78);
	ck_assert_ledger_line(line, 2, 0, POSIX_TRACE_LOST_STREAM_FULL_NP, 5);
	log_close(trid);
	close(fd);
}
END_TEST

START_TEST(the_status_is_the_one_that_was_given)
{
	const struct posix_trace_status_info given = { POSIX_TRACE_RUNNING, POSIX_TRACE_FULL,
		POSIX_TRACE_OVERRUN, POSIX_TRACE_NOT_FLUSHING, ENOTTY, POSIX_TRACE_OVERRUN,
		POSIX_TRACE_NOT_FULL };
	struct posix_trace_status_info status;
	int fd = log_file();

	OK(posix_trace_compose_finish_np(compose(fd, NULL), &given));
	status = log_status(fd);
	ck_assert_mem_eq(&status, &given, sizeof(status));
	close(fd);
}
END_TEST

START_TEST(events_that_no_log_can_have_are_refused)
{
	int fd = log_file();
	composer_t *composer = compose(fd, NULL);
	trace_event_id_t id = name_of(composer, "event");
	struct posix_trace_event_np event = event_of(id, 0, "");
	static char data[4096];

	FAILS(EINVAL, posix_trace_compose_event_np(composer, NULL));
	FAILS(EINVAL, posix_trace_compose_event_np(NULL, &event));
	event.info.posix_event_id = id + 1;
	FAILS(EINVAL, posix_trace_compose_event_np(composer, &event));
	event.info.posix_event_id = 0;
	FAILS(EINVAL, posix_trace_compose_event_np(composer, &event));
	event.info.posix_event_id = 100000;
	FAILS(EINVAL, posix_trace_compose_event_np(composer, &event));
	event.info.posix_event_id = id;
	event.info.posix_truncation_status = 4711;
	FAILS(EINVAL, posix_trace_compose_event_np(composer, &event));
	event.info.posix_truncation_status = POSIX_TRACE_NOT_TRUNCATED;
	event.data = NULL;
	event.data_len = 1;
	FAILS(EINVAL, posix_trace_compose_event_np(composer, &event));
	event.data = data;
	event.data_len = 1025;
	FAILS(EMSGSIZE, posix_trace_compose_event_np(composer, &event));
	event.data_len = 1024;
	OK(posix_trace_compose_event_np(composer, &event));
	finish(composer, fd);
	ck_assert_uint_eq(events_of(fd), 1);
	close(fd);
}
END_TEST

/* A reader gets every process id unchanged, also -1, which the writer uses for "no process". */
START_TEST(a_process_may_have_any_number)
{
	static const pid_t pids[] = { -1, 0, -1, 5, -1 };
	int fd = log_file();
	composer_t *composer = compose(fd, NULL);
	struct posix_trace_event_np event = event_of(name_of(composer, "event"), 0, "");
	trace_id_t trid;

	event.tid = 0;
	event.info.posix_thread_id = 0;
	for (int i = 0; i < 20000; i++) {
		event.info.posix_pid = pids[i % 5];
		OK(posix_trace_compose_event_np(composer, &event));
	}
	finish(composer, fd);
	trid = log_open(fd);
	for (int i = 0; i < 20000; i++)
		ck_assert_int_eq(next_of(trid).info.posix_pid, pids[i % 5]);
	log_close(trid);
	close(fd);
}
END_TEST

SUITE_MAIN("posix_trace_compose_np",
	   an_event_is_read_back_as_it_was_handed_over,
	   a_log_has_its_origin,
	   names_are_numbered_as_they_come_or_as_is_asked,
	   there_are_as_many_names_as_a_process_can_have,
	   schemas_and_objects_are_read_back, mappings_are_read_back,
	   losses_are_in_the_ledger,
	   the_status_is_the_one_that_was_given,
	   events_that_no_log_can_have_are_refused,
	   a_process_may_have_any_number)
