/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_trid_event_np(), posix_trace_trid_describe_np(): events of the controller. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/log.h"
#include "support/puppet.h"

static trace_event_id_t theirs(trace_id_t trid, const char *name)
{
	trace_event_id_t id;

	OK(posix_trace_trid_eventid_open(trid, name, &id));
	return id;
}

static void tell_number(trace_id_t trid, trace_event_id_t id, int number)
{
	OK(posix_trace_trid_event_np(trid, id, &number, sizeof(number)));
}

START_TEST(a_controller_adds_events_to_the_stream_of_another_process)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid = stream_attach_started(puppet.pid, &(struct wish){ 0 });
	trace_event_id_t ended = theirs(trid, "ended");
	struct history *history;

	puppet_tell(&puppet, PUPPET_ONE);
	tell_number(trid, ended, 7);
	puppet_tell(&puppet, PUPPET_ONE);
	puppet_end(&puppet);
	/* The traced process has ended. This has no effect on the call. */
	tell_number(trid, ended, 8);
	history = read_all(trid);
	ck_assert_uint_eq(history->n, 5);
	ck_assert_uint_eq(history->event[2].info.posix_event_id, ended);
	ck_assert_int_eq(number_of(&history->event[2]), 7);
	ck_assert_int_eq(history->event[2].info.posix_pid, getpid());
	ck_assert_int_eq(number_of(&history->event[4]), 8);
	for (size_t i = 1; i < history->n; i++)
		ck_assert_int_ge(nanoseconds(&history->event[i].info.posix_timestamp),
				 nanoseconds(&history->event[i - 1].info.posix_timestamp));
	history_free(history);
	shut(trid);
}
END_TEST

START_TEST(a_suspended_stream_and_a_filter_refuse_it)
{
	trace_id_t trid = STREAM();
	trace_event_id_t a = type_of("a");
	trace_event_set_t set;

	tell_number(trid, a, 1);
	start(trid);
	OK(posix_trace_eventset_empty(&set));
	OK(posix_trace_eventset_add(a, &set));
	OK(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	tell_number(trid, a, 2);
	OK(posix_trace_set_filter(trid, &set, POSIX_TRACE_SUB_EVENTSET));
	tell_number(trid, a, 3);
	stop(trid);
	tell_number(trid, a, 4);
	ck_assert_events(trid, "START FILTER{->a} FILTER{a->} a=3 STOP(0)");
	shut(trid);
}
END_TEST

START_TEST(a_full_stream_counts_it_as_lost)
{
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL, .size = 4096);
	trace_event_id_t a = type_of("a");
	struct posix_trace_ledger_np ledger;

	for (int i = 0; i < 100000; i++)
		OK(posix_trace_trid_event_np(trid, a, &i, sizeof(i)));
	ck_assert_status(trid, SUSPENDED, FULL);
	OK(posix_trace_get_ledger_np(trid, &ledger));
	ck_assert_uint_gt(ledger.lost[POSIX_TRACE_LOST_STREAM_FULL_NP], 0);
	ck_assert_uint_eq(ledger.called,
			  ledger.reported + ledger.unread +
				  ledger.lost[POSIX_TRACE_LOST_STREAM_FULL_NP]);
	shut(trid);
}
END_TEST

START_TEST(long_data_is_cut)
{
	trace_id_t trid = STARTED(.max_data = 8);
	trace_event_id_t a = type_of("a");
	struct seen seen;

	OK(posix_trace_trid_event_np(trid, a, "0123456789", 10));
	OK(posix_trace_trid_event_np(trid, a, NULL, 0));
	ck_assert_int_eq(read_one(trid, &seen), 1);
	free(seen.data);
	ck_assert_int_eq(read_one(trid, &seen), 1);
	ck_assert_uint_eq(seen.len, 8);
	ck_assert_mem_eq(seen.data, "01234567", 8);
	ck_assert_int_eq(seen.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_RECORD);
	free(seen.data);
	ck_assert_int_eq(read_one(trid, &seen), 1);
	ck_assert_uint_eq(seen.len, 0);
	free(seen.data);
	shut(trid);
}
END_TEST

START_TEST(the_log_has_its_schema)
{
	struct puppet puppet = puppet_start();
	int fd = log_file();
	trace_id_t trid = log_attach_started(puppet.pid, fd, &(struct log_wish){ 0 });
	trace_event_id_t ended = theirs(trid, "ended");
	char text[100];

	OK(posix_trace_trid_describe_np(trid, ended, "s32 status"));
	OK(posix_trace_trid_describe_np(trid, ended, "s32 status"));
	FAILS(EEXIST, posix_trace_trid_describe_np(trid, ended, "u32 status"));
	tell_number(trid, ended, 7);
	shut(trid);
	puppet_end(&puppet);
	trid = log_open(fd);
	OK(posix_trace_eventid_get_schema_np(trid, ended, text, sizeof(text)));
	ck_assert_str_eq(text, "s32 status");
	FAILS(EINVAL, posix_trace_trid_event_np(trid, ended, NULL, 0));
	FAILS(EINVAL, posix_trace_trid_describe_np(trid, ended, "s32 status"));
	log_close(trid);
	close(fd);
}
END_TEST

START_TEST(types_without_a_name_are_refused)
{
	trace_id_t trid = STARTED();
	trace_event_id_t a = type_of("a");

	FAILS(EINVAL, posix_trace_trid_event_np(4711, a, NULL, 0));
	FAILS(EINVAL, posix_trace_trid_event_np(trid, a, NULL, 1));
	FAILS(EINVAL, posix_trace_trid_event_np(trid, a + 1, NULL, 0));
	FAILS(EINVAL, posix_trace_trid_event_np(trid, 5000, NULL, 0));
	FAILS(EINVAL, posix_trace_trid_event_np(trid, POSIX_TRACE_START, NULL, 0));
	FAILS(EINVAL, posix_trace_trid_event_np(trid, POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0));
	FAILS(EINVAL, posix_trace_trid_describe_np(4711, a, "u8 x"));
	FAILS(EINVAL, posix_trace_trid_describe_np(trid, a, "u9 x"));
	FAILS(EINVAL, posix_trace_trid_describe_np(trid, a + 1, "u8 x"));
	FAILS(EINVAL, posix_trace_trid_describe_np(trid, a, NULL));
	ck_assert_events(trid, "START");
	shut(trid);
}
END_TEST

SUITE_NEEDS("exec stat pidfd");

SUITE_MAIN("trid_event", a_controller_adds_events_to_the_stream_of_another_process,
	   a_suspended_stream_and_a_filter_refuse_it, a_full_stream_counts_it_as_lost,
	   long_data_is_cut, the_log_has_its_schema, types_without_a_name_are_refused)
