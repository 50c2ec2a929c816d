/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_get_status() and its relatives, of streams without log. */
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "support/stream.h"

static int is_overrun(trace_id_t trid)
{
	int status = status_of(trid).posix_stream_overrun_status;

	ck_assert(status == POSIX_TRACE_OVERRUN || status == POSIX_TRACE_NO_OVERRUN);
	return status == POSIX_TRACE_OVERRUN;
}

/* STATUS-02, STATUS-03 */
START_TEST(the_status_follows_start_stop_and_room)
{
	trace_event_id_t u = type_of("u");
	trace_id_t loop = STREAM(.policy = POSIX_TRACE_LOOP, .size = 4000);
	trace_id_t until = STREAM(.policy = POSIX_TRACE_UNTIL_FULL, .size = 4000);

	ck_assert_status(loop, SUSPENDED, NOT_FULL);
	ck_assert_status(until, SUSPENDED, NOT_FULL);
	start(loop);
	ck_assert_status(loop, RUNNING, NOT_FULL);
	fill(loop, u, 64, 0);
	ck_assert_status(loop, RUNNING, FULL);
	stop(loop);
	ck_assert_status(loop, SUSPENDED, FULL);
	start(until);
	ck_assert_status(until, RUNNING, NOT_FULL);
	fill(until, u, 64, 0);
	ck_assert_status(until, SUSPENDED, FULL);
	shut(loop);
	shut(until);
}
END_TEST

/* STATUS-04, STATUS-05, STATUS-06, STATUS-10 */
START_TEST(overrun_is_reported_once_per_loss_in_a_loop_stream)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_LOOP, .size = 4000);

	ck_assert_int_eq(POSIX_TRACE_NO_OVERRUN, 0);
	ck_assert_int_eq(is_overrun(trid), 0);
	trace_number(u, 1);
	ck_assert_int_eq(is_overrun(trid), 0);
	for (int i = 0; i < 5; i++) {
		overrun(trid, u, 64, 0); /* reading the status ends it */
		ck_assert_int_eq(is_overrun(trid), 0);
		ck_assert_int_eq(is_overrun(trid), 0);
	}
	shut(trid);
}
END_TEST

/* STATUS-04, STATUS-06, UFULL-06 */
START_TEST(overrun_is_reported_once_per_loss_in_an_until_full_stream)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL, .size = 4000);

	fill(trid, u, 64, 0);
	is_overrun(trid);
	for (int i = 0; i < 5; i++) {
		ck_assert_int_eq(is_overrun(trid), 0);
		trace_number(u, i);
		ck_assert_int_eq(is_overrun(trid), 1);
	}
	shut(trid);
}
END_TEST

START_TEST(a_peek_has_all_members_and_leaves_the_overrun_to_the_next_reader)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL, .size = 4000);
	struct posix_trace_status_info peeked, read;

	fill(trid, u, 64, 0);
	trace_number(u, 1);
	for (int i = 0; i < 3; i++) {
		memset(&peeked, 0x33, sizeof(peeked));
		OK(posix_trace_peek_status_np(trid, &peeked));
		ck_assert_int_eq(peeked.posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
	}
	read = status_of(trid);
	ck_assert_mem_eq(&peeked, &read, sizeof(read));
	OK(posix_trace_peek_status_np(trid, &peeked));
	ck_assert_int_eq(peeked.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	FAILS(EINVAL, posix_trace_peek_status_np(trid, NULL));
	FAILS(EINVAL, posix_trace_peek_status_np(trid ^ 1ul << 40, &peeked));
	shut(trid);
	FAILS(EINVAL, posix_trace_peek_status_np(trid, &peeked));
}
END_TEST

/* STATUS-08 */
START_TEST(reading_the_status_resets_nothing_else)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_LOOP, .size = 4000);

	fill(trid, u, 64, 0);
	for (int i = 0; i < 5; i++)
		ck_assert_status(trid, RUNNING, FULL);
	stop(trid);
	for (int i = 0; i < 5; i++)
		ck_assert_status(trid, SUSPENDED, FULL);
	shut(trid);
}
END_TEST

/* STATUS-15 */
START_TEST(a_stream_without_log_has_no_log_status)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_LOOP, .size = 4000);
	struct posix_trace_status_info status;

	overrun(trid, u, 64, 0);
	for (int i = 0; i < 100000; i++)
		trace_number(u, i);
	status = status_of(trid);
	ck_assert_int_eq(status.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
	ck_assert_int_eq(status.posix_log_full_status, POSIX_TRACE_NOT_FULL);
	ck_assert_int_eq(status.posix_stream_flush_status, POSIX_TRACE_NOT_FLUSHING);
	ck_assert_int_eq(status.posix_stream_flush_error, 0);
	shut(trid);
}
END_TEST

/* STATUS-17, STATUS-19 */
START_TEST(a_failing_call_resets_nothing)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL, .size = 4000);
	struct posix_trace_status_info status;
	trace_attr_t attr;

	fill(trid, u, 64, 0);
	is_overrun(trid);
	trace_number(u, 1);
	FAILS(EINVAL, posix_trace_get_status(trid ^ 1ul << 40, &status));
	FAILS(EINVAL, posix_trace_get_status(trid, NULL));
	FAILS(EINVAL, posix_trace_get_attr(trid ^ 1ul << 40, &attr));
	OK(posix_trace_get_attr(trid, &attr)); /* reading the attributes does not end it either */
	ck_assert_int_eq(is_overrun(trid), 1);
	shut(trid);
}
END_TEST

static trace_id_t full_stream;
static trace_event_id_t lost_type;
static _Atomic int round_begun, round_done;
enum { ROUNDS = 5000 };

/* One lost event a round. */
static void *lose_one_per_round(void *unused)
{
	(void)unused;
	for (int n = 1; n <= ROUNDS; n++) {
		while (round_begun < n)
			sched_yield();
		posix_trace_event(lost_type, NULL, 0);
		round_done = n;
	}
	return NULL;
}

/*
 * STATUS-09: if a loss happens during a read of the status, this read or the next read reports it
 */
START_TEST(no_loss_falls_between_two_readings)
{
	struct posix_trace_status_info status;
	pthread_t thread;

	lost_type = type_of("lost");
	full_stream = STARTED(.policy = POSIX_TRACE_UNTIL_FULL, .size = 4000);
	fill(full_stream, lost_type, 64, 0);
	status_of(full_stream);
	thread = spawn(lose_one_per_round, NULL);
	for (int n = 1; n <= ROUNDS; n++) {
		int reports = 0, done;

		round_begun = n;
		do {
			done = round_done == n;
			if (posix_trace_get_status(full_stream, &status))
				ck_abort_msg("get_status failed");
			reports += status.posix_stream_overrun_status == POSIX_TRACE_OVERRUN;
			if (!done) /* the other thread may wait for this processor */
				sched_yield();
		} while (!done);
		if (reports != 1)
			ck_abort_msg("one loss was reported %d times in round %d", reports, n);
	}
	join(thread);
	shut(full_stream);
}
END_TEST

static _Atomic int over;

static void *trace_on(void *unused)
{
	(void)unused;
	while (!over)
		posix_trace_event(lost_type, "12345678", 8);
	return NULL;
}

static void *read_on(void *arg)
{
	trace_id_t trid = *(trace_id_t *)arg;
	struct posix_trace_event_info info;
	int unavailable;
	size_t len;

	while (!over)
		if (posix_trace_trygetnext_event(trid, &info, NULL, 0, &len, &unavailable))
			ck_abort_msg("reading failed");
	return NULL;
}

/*
 * STATUS-01, STATUS-03, UFULL-12: if no call stops it, a stream is in every snapshot either running
 * and not full, or suspended and full. A LOOP stream always runs.
 */
START_TEST(every_snapshot_is_consistent)
{
	trace_id_t until, loop;
	pthread_t thread[4];
	int seen_full = 0, seen_running = 0;

	lost_type = type_of("u");
	until = STARTED(.policy = POSIX_TRACE_UNTIL_FULL, .size = 4000);
	loop = STARTED(.policy = POSIX_TRACE_LOOP, .size = 4000);
	thread[0] = spawn(trace_on, NULL);
	thread[1] = spawn(trace_on, NULL);
	thread[2] = spawn(read_on, &until);
	thread[3] = spawn(read_on, &loop);
	for (int i = 0; i < 5000 || !seen_full || !seen_running; i++) {
		struct posix_trace_status_info status;
		int running;

		if (posix_trace_get_status(until, &status))
			ck_abort_msg("get_status failed");
		running = status.posix_stream_status == POSIX_TRACE_RUNNING;
		if (running != (status.posix_stream_full_status == POSIX_TRACE_NOT_FULL))
			ck_abort_msg("status %d with full status %d", status.posix_stream_status,
				     status.posix_stream_full_status);
		seen_running |= running;
		seen_full |= !running;
		if (posix_trace_get_status(loop, &status))
			ck_abort_msg("get_status failed");
		if (status.posix_stream_status != POSIX_TRACE_RUNNING)
			ck_abort_msg("the loop stream is suspended");
	}
	over = 1;
	for (int i = 0; i < 4; i++)
		join(thread[i]);
	shut(until);
	shut(loop);
}
END_TEST

/* STATUS-18, ATTR-09, ATTR-10 */
START_TEST(get_attr_fills_an_object_whatever_it_was)
{
	char name[TRACE_NAME_MAX + 1];
	trace_id_t trid = STREAM(.name = "named", .max_data = 77);
	trace_attr_t attr[3];
	size_t size;

	memset(&attr[0], 0x33, sizeof(attr[0])); /* never initialised */
	OK(posix_trace_attr_init(&attr[1]));
	OK(posix_trace_attr_setname(&attr[1], "another"));
	OK(posix_trace_attr_init(&attr[2]));
	OK(posix_trace_attr_destroy(&attr[2]));
	for (int i = 0; i < 3; i++) {
		OK(posix_trace_get_attr(trid, &attr[i]));
		OK(posix_trace_attr_getname(&attr[i], name));
		ck_assert_str_eq(name, "named");
		OK(posix_trace_attr_getmaxdatasize(&attr[i], &size));
		ck_assert_uint_eq(size, 77);
		OK(posix_trace_attr_destroy(&attr[i]));
	}
	shut(trid);
}
END_TEST

SUITE_MAIN("posix_trace_get_attr",
	   the_status_follows_start_stop_and_room,
	   overrun_is_reported_once_per_loss_in_a_loop_stream,
	   overrun_is_reported_once_per_loss_in_an_until_full_stream,
	   a_peek_has_all_members_and_leaves_the_overrun_to_the_next_reader,
	   reading_the_status_resets_nothing_else,
	   a_stream_without_log_has_no_log_status,
	   a_failing_call_resets_nothing,
	   no_loss_falls_between_two_readings,
	   every_snapshot_is_consistent,
	   get_attr_fills_an_object_whatever_it_was)
