/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* flush/checkpoint.c: the state of the stream and its members after another drain has continued. */
#include "flush/checkpoint.h"
#include "support/support.h"
#include "unit/drain/stage.h"
#include "unit/ring/steps.h"

enum { CHUNKS = 12 };

static struct writer one;

static void begin(int policy)
{
	stage_make(policy, CHUNKS);
	writer_begin(&one, stage.pool, 11);
	stage_start();
	ptx_checkpoint_enable(stage.drain);
}

/*
 * Writes fail, and the stream was suspended when the last write succeeded. Without the noted marks,
 * a successor would count the events between as members. The first failed block may have no events.
 */
START_TEST(failures_leave_the_state_of_the_file)
{
	unsigned in_file;

	begin(POSIX_TRACE_UNTIL_FULL);
	writer_put_many(&one, 1, 3);
	stage_stop();
	stage_take_all();
	in_file = stage.n;
	ck_assert_uint_eq(in_file, 5);
	ptx_checkpoint_write(stage.drain, in_file);
	ptx_drain_settle(stage.drain);
	writer_put_many(&one, 100, 2); /* their writer had not yet noticed the stop */
	stage_start();
	writer_put_many(&one, 4, 4);
	for (unsigned n = in_file + (unsigned)_i; n < in_file + 4; n++) {
		ptx_checkpoint_write(stage.drain, n);
		ck_assert(stage_take());
	}
	stage_resume(in_file);
	in_file = stage.n;
	stage_take_all();
	ck_assert_uint_eq(stage.n - in_file, 5);
	ck_assert_uint_eq(stage.told[in_file].type, POSIX_TRACE_START);
	for (unsigned i = 1; i < 5; i++)
		ck_assert_uint_eq(stage.told[in_file + i].value, 3 + i);
	ck_assert_uint_eq(stage.drain->not_running, 2);
}
END_TEST

/*
 * The event was stamped before the STOP that the dead controller had delivered. The writer of the
 * event was suspended meanwhile.
 */
START_TEST(a_late_event_after_a_takeover_belongs_to_the_stream)
{
	struct half half;
	unsigned in_file;

	begin(POSIX_TRACE_UNTIL_FULL);
	writer_enter(&one, 1, &half);
	stage_stop();
	stage_take_all_beyond();
	in_file = stage.n;
	ck_assert_uint_eq(stage.told[in_file - 1].type, POSIX_TRACE_STOP);
	ptx_checkpoint_write(stage.drain, in_file);
	ptx_drain_settle(stage.drain);
	stage_resume(in_file);
	writer_commit(&one, &half);
	ck_assert_uint_eq(stage_unread(), 1);
	stage_take_all_beyond();
	ck_assert_uint_eq(stage.n, in_file + 1);
	ck_assert_uint_eq(stage.told[in_file].value, 1);
	ck_assert(stage.told[in_file].late);
	ck_assert_uint_eq(stage.drain->not_running, 0);
}
END_TEST

/*
 * UFULL-09: the dead controller had freed space, and had not yet reported that the stream restarted
 */
START_TEST(a_restart_that_was_not_reported_is_reported)
{
	unsigned n = 0, told, full, later = 0;

	begin(POSIX_TRACE_UNTIL_FULL);
	while (writer_put(&one, POOL_TYPE, ++n))
		;
	stage_fill_up();
	stage_take_all();
	ck_assert_uint_eq(stage.told[stage.n - 1].type, POSIX_TRACE_STOP);
	ptx_checkpoint_write(stage.drain, stage.n);
	ptx_drain_settle(stage.drain);
	full = stage.n;
	ptx_drain_sync(stage.drain);
	ck_assert_int_eq(stage_state(), PTX_RUNNING);
	writer_put_many(&one, 5000, 3);
	stage_resume(full);
	told = stage.n;
	stage_take_all();
	ck_assert_uint_eq(stage.told[told].type, POSIX_TRACE_START);
	for (unsigned i = told + 1; i < stage.n; i++, later++)
		ck_assert_uint_eq(stage.told[i].value, 5000 + later);
	ck_assert_uint_eq(later, 3);
}
END_TEST

static void make_room(void *state)
{
	(void)state;
	ptx_drain_sync(stage.drain);
}

/*
 * UFULL-04, UFULL-09: the dead controller was about to report the restart, at any instruction.
 * Events that were written while the stream ran again belong to it, and a start that did not happen
 * is not reported
 */
START_TEST(a_restart_interrupted_at_any_instruction_is_reported_if_it_was_made)
{
	unsigned n = 0, told;

	begin(POSIX_TRACE_UNTIL_FULL);
	while (writer_put(&one, POOL_TYPE, ++n))
		;
	stage_fill_up();
	while (stage.told[stage.n ? stage.n - 1 : 0].type != POSIX_TRACE_STOP)
		ck_assert(stage_take());
	ptx_checkpoint_write(stage.drain, stage.n);
	ptx_drain_settle(stage.drain);
	told = stage.n;
	ck_assert_int_eq(stage_state(), PTX_FULL);
	steps_leave(make_room, NULL);
	n = 0;
	if (stage_state() == PTX_RUNNING)
		writer_put_many(&one, 5000 + n++, 1);
	stage_resume(told);
	stage_take_all();
	ck_assert_int_eq(stage_state(), PTX_RUNNING);
	writer_put_many(&one, 5000 + n++, 1);
	stage_take_all();
	ck_assert_uint_eq(stage.n - told, 1 + n);
	ck_assert_uint_eq(stage.told[told].type, POSIX_TRACE_START);
	for (unsigned i = 0; i < n; i++)
		ck_assert_uint_eq(stage.told[told + 1 + i].value, 5000 + i);
	ck_assert_uint_eq(stage_lost(PTX_LOST_STREAM_FULL), 1);
	steps_end(50);
}
END_TEST

/* UFULL-04: if the log has the stop, it is not reported again; otherwise it is reported */
START_TEST(a_stop_of_a_full_stream_is_reported_once)
{
	unsigned n = 0, told;

	begin(POSIX_TRACE_UNTIL_FULL);
	while (writer_put(&one, POOL_TYPE, ++n))
		;
	if (_i == 0)
		stage_fill_up();
	stage_take_all();
	ptx_checkpoint_write(stage.drain, stage.n);
	if (_i == 1)
		stage_fill_up();
	told = stage.n;
	stage_resume(told);
	ptx_drain_sync(stage.drain);
	stage_take_all();
	ck_assert_uint_eq(stage.n - told, (unsigned)_i);
	if (_i == 1)
		ck_assert_uint_eq(stage.told[told].type, POSIX_TRACE_STOP);
}
END_TEST

static volatile unsigned written;

/* Does the same as flush/transfer.c. The file gets the events at one moment. */
static void write_out(void *state)
{
	(void)state;
	ptx_checkpoint_write(stage.drain, stage.n);
	written = stage.n;
	ptx_drain_settle(stage.drain);
}

/* EXIT-01: no event is missing, and none appears twice */
START_TEST(a_block_whose_writing_was_left_at_any_instruction_is_gone_on_from)
{
	const unsigned all = 1 + 5 * POOL_RECORDS;
	unsigned told;

	begin(POSIX_TRACE_UNTIL_FULL);
	writer_put_many(&one, 1, all - 1);
	while (stage.n < 1 + POOL_RECORDS + 2)
		ck_assert(stage_take());
	write_out(NULL);
	while (stage.n < 1 + 4 * POOL_RECORDS + 1)
		ck_assert(stage_take());
	steps_leave(write_out, NULL);
	told = stage.n;
	stage_resume(written);
	stage_take_all();
	ck_assert_uint_eq(stage.n - told, all - written);
	for (unsigned i = told; i < stage.n; i++)
		ck_assert_uint_eq(stage.told[i].value, written + i - told);
	steps_end(100);
}
END_TEST

/* Events that a process calls and the stream does not record are in no account. */
START_TEST(events_outside_the_stream_are_not_called_after_a_takeover)
{
	static struct ptx_ledger ledger;
	unsigned in_file;

	begin(POSIX_TRACE_UNTIL_FULL);
	writer_put_many(&one, 1, 3);
	stage_stop();
	writer_put_many(&one, 100, 2);
	stage_start();
	writer_put_many(&one, 4, 2);
	stage_take_all();
	in_file = stage.n;
	ck_assert_uint_eq(in_file, 5 + 3);
	ptx_checkpoint_write(stage.drain, in_file);
	ptx_drain_settle(stage.drain);
	stage_resume(in_file);
	ptx_ledger_init(&ledger);
	ck_assert_int_eq(ptx_drain_ledger(stage.drain, &ledger), 0);
	ck_assert_uint_eq(ledger.total.called, in_file);
	ck_assert_uint_eq(ptx_ledger_sum(&ledger.total), 0); /* the log itself has its events */
	ptx_ledger_fini(&ledger);
}
END_TEST

/*
 * CLEAR-01: a clear did not reach some events, because writers overwrote all the time. These events
 * remain cleared.
 */
START_TEST(cleared_events_are_not_reported_after_a_takeover)
{
	unsigned in_file;

	begin(POSIX_TRACE_LOOP);
	stage_take_all();
	writer_put_many(&one, 1, 2);
	stage.drain->cleared = pool_now;
	writer_put_many(&one, 3, 2);
	in_file = stage.n;
	ptx_checkpoint_write(stage.drain, in_file);
	ptx_drain_settle(stage.drain);
	stage_resume(in_file);
	stage_take_all();
	ck_assert_uint_eq(stage.n - in_file, 2);
	ck_assert_uint_eq(stage.told[in_file].value, 3);
	ck_assert_uint_eq(stage_lost(PTX_LOST_CLEARED), 2);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("drain: taking over", &tc);

	tcase_add_loop_test(tc, failures_leave_the_state_of_the_file, 0, 2);
	tcase_add_test(tc, a_late_event_after_a_takeover_belongs_to_the_stream);
	tcase_add_test(tc, a_restart_that_was_not_reported_is_reported);
	tcase_add_test(tc, a_restart_interrupted_at_any_instruction_is_reported_if_it_was_made);
	tcase_add_loop_test(tc, a_stop_of_a_full_stream_is_reported_once, 0, 2);
	tcase_add_test(tc, a_block_whose_writing_was_left_at_any_instruction_is_gone_on_from);
	tcase_add_test(tc,
		       events_outside_the_stream_are_not_called_after_a_takeover);
	tcase_add_test(tc, cleared_events_are_not_reported_after_a_takeover);
	return s;
}

SUITE_MAIN_OF(suite)
