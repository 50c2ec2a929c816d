/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "record/ledger.h"
#include "support/support.h"

/* The linker redirects all calls of malloc() and realloc() to this file. */
void *__real_malloc(size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *old, size_t size);

static bool memory_is_short;

void *__wrap_malloc(size_t size)
{
	if (!memory_is_short)
		return __real_malloc(size);
	errno = ENOMEM;
	return NULL;
}

void *__wrap_realloc(void *old, size_t size)
{
	if (!memory_is_short)
		return __real_realloc(old, size);
	errno = ENOMEM;
	return NULL;
}

static struct ptx_ledger ledger;

static struct ptx_ledger_line *line_of(uint32_t tid, bool memory)
{
	struct ptx_ledger_line *line;

	/* Check itself needs memory, so allocations fail only during the call. */
	memory_is_short = !memory;
	errno = 4711;
	line = ptx_ledger_thread(&ledger, 1, tid, 1000 + (uint64_t)tid);
	memory_is_short = false;
	ck_assert_int_eq(errno, 4711); /* GEN-02 */
	return line;
}

static void one_event_of(uint32_t tid)
{
	line_of(tid, true)->reported++;
}

static uint64_t reported(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < ledger.threads; i++)
		sum += ledger.thread[i].line.reported;
	return sum;
}

START_TEST(each_thread_has_one_line_that_keeps_its_index)
{
	ptx_ledger_init(&ledger);
	for (int round = 0; round < 3; round++)
		for (uint32_t tid = 1; tid <= 100; tid++)
			one_event_of(tid);
	ck_assert_uint_eq(ledger.threads, 100);
	for (uint32_t i = 0; i < 100; i++) {
		ck_assert_uint_eq(ledger.thread[i].pid, 1);
		ck_assert_uint_eq(ledger.thread[i].tid, i + 1);
		ck_assert_uint_eq(ledger.thread[i].thread, 1001 + i);
		ck_assert_uint_eq(ledger.thread[i].line.reported, 3);
	}
	ptx_ledger_fini(&ledger);
}
END_TEST

START_TEST(a_reused_thread_id_is_another_thread)
{
	ptx_ledger_init(&ledger);
	ptx_ledger_thread(&ledger, 1, 2, 3)->reported++;
	ptx_ledger_thread(&ledger, 1, 2, 4)->reported++;
	ck_assert_uint_eq(ledger.threads, 2);
	ptx_ledger_fini(&ledger);
}
END_TEST

START_TEST(all_events_without_a_thread_share_one_line)
{
	ptx_ledger_init(&ledger);
	ptx_ledger_thread(&ledger, 0, 0, 0)->reported++;
	one_event_of(1);
	ptx_ledger_thread(&ledger, 0, 5, 6)->reported++;
	ck_assert_uint_eq(ledger.threads, 2);
	ck_assert_uint_eq(ledger.thread[0].pid, 0);
	ck_assert_uint_eq(ledger.thread[0].line.reported, 2);
	ptx_ledger_fini(&ledger);
}
END_TEST

/* Allocations fail after any number of threads up to 40. */
START_TEST(without_memory_events_are_counted_in_the_line_of_no_process)
{
	uint32_t known = (uint32_t)_i;

	ptx_ledger_init(&ledger);
	for (uint32_t tid = 1; tid <= known; tid++)
		one_event_of(tid);
	for (uint32_t tid = 1; tid <= known + 100; tid++)
		line_of(tid, false)->reported++;
	ck_assert_uint_eq(reported(), 2 * known + 100);
	ck_assert_uint_lt(ledger.threads, known + 100);
	ck_assert_uint_gt(ptx_ledger_thread(&ledger, 0, 0, 0)->reported, 0);
	one_event_of(10000);
	ck_assert_uint_eq(reported(), 2 * known + 101);
	ck_assert_uint_eq(ledger.thread[ledger.threads - 1].tid, 10000);
	ptx_ledger_fini(&ledger);
}
END_TEST

START_TEST(a_copy_has_a_line_for_no_process_too)
{
	struct ptx_ledger copy;

	ptx_ledger_init(&ledger);
	ptx_ledger_init(&copy);
	for (uint32_t tid = 1; tid <= (uint32_t)_i; tid++)
		one_event_of(tid);
	ck_assert_int_eq(ptx_ledger_copy(&copy, &ledger), 0);
	ptx_ledger_thread(&copy, 0, 0, 0)->reported++;
	ck_assert_uint_le(copy.threads, copy.room);
	ck_assert_uint_eq(copy.thread[copy.threads - 1].line.reported, 1);
	ptx_ledger_fini(&copy);
	ptx_ledger_fini(&ledger);
}
END_TEST

/* Its time and memory do not grow with the number of threads. */
START_TEST(a_summary_has_the_total_and_the_types_but_no_threads)
{
	struct ptx_ledger summary;
	int err;

	ptx_ledger_init(&ledger);
	ptx_ledger_init_summary(&summary);
	for (uint32_t tid = 1; tid <= 1000; tid++)
		one_event_of(tid);
	ledger.total.reported = 1000;
	ledger.type[7].reported = 1000;
	memory_is_short = true;
	err = ptx_ledger_copy(&summary, &ledger);
	for (uint32_t tid = 900; tid <= 1100; tid++)
		ptx_ledger_thread(&summary, 1, tid, 1000 + (uint64_t)tid)->unread++;
	summary.total.unread = summary.type[7].unread = 201;
	summary.total.called = 1201;
	ptx_ledger_close(&summary);
	memory_is_short = false;
	ck_assert_int_eq(err, 0);
	ck_assert_uint_eq(summary.threads, 1);
	ck_assert_uint_eq(summary.total.reported, 1000);
	ck_assert_uint_eq(summary.type[7].called, 1201);
	ck_assert_uint_eq(ptx_ledger_unattributed(&summary.total), 0);
	ptx_ledger_fini(&summary);
	ptx_ledger_fini(&ledger);
}
END_TEST

START_TEST(the_sum_has_every_column_but_called)
{
	struct ptx_ledger_line line = { .called = 1u << 20, .reported = 1, .unread = 2 };

	for (int cause = 0; cause < PTX_LOST_CAUSES; cause++)
		line.lost[cause] = 4u << cause;
	ck_assert_uint_eq(ptx_ledger_sum(&line), (4u << PTX_LOST_CAUSES) - 1);
}
END_TEST

/* A later ledger of the same events may have them in other lines. */
START_TEST(a_difference_has_exact_totals_and_no_negative_column)
{
	struct ptx_ledger part, sum;

	ptx_ledger_init(&ledger);
	ptx_ledger_init(&part);
	ptx_ledger_init(&sum);
	/* Before: three events of thread 1, a loss whose thread was not known yet, and another. */
	part.total = (struct ptx_ledger_line){ .called = 5, .reported = 3, .lost = { 1, 1 } };
	part.type[7] = (struct ptx_ledger_line){ .reported = 3, .lost = { 1, 1 } };
	ptx_ledger_thread(&part, 1, 1, 1)->reported = 3;
	ptx_ledger_thread(&part, 1, 1, 1)->lost[1] = 1;
	ptx_ledger_thread(&part, 0, 0, 0)->lost[0] = 1;
	ptx_ledger_close(&part);
	/* Now: all losses belong to thread 2; the type of one is not known. One event is
	 * unattributed. */
	ledger.total = (struct ptx_ledger_line){ .called = 11, .reported = 7, .lost = { 2, 1 } };
	ledger.type[7] = (struct ptx_ledger_line){ .reported = 7, .lost = { 2, 0 } };
	ledger.type[0].lost[1] = 1;
	ptx_ledger_thread(&ledger, 1, 1, 1)->reported = 3;
	ptx_ledger_thread(&ledger, 1, 2, 2)->reported = 4;
	ptx_ledger_thread(&ledger, 1, 2, 2)->lost[0] = 2;
	ptx_ledger_thread(&ledger, 1, 2, 2)->lost[1] = 1;
	ptx_ledger_subtract(&ledger, &part);
	ck_assert_uint_eq(ledger.total.called, 6);
	ck_assert_uint_eq(ledger.total.reported, 4);
	ck_assert_uint_eq(ledger.total.lost[0], 1);
	ck_assert_uint_eq(ledger.total.lost[1], 0);
	ck_assert_uint_eq(ledger.type[7].reported, 4);
	ck_assert_uint_eq(ledger.type[7].lost[0], 1);
	ck_assert_uint_eq(ledger.type[0].lost[1], 0);
	ck_assert_uint_eq(ledger.type[0].called, 1); /* the unattributed event */
	/* Thread 1 has no event any more, so it has no line. */
	ck_assert_uint_eq(ledger.threads, 2);
	ck_assert_ptr_null(ptx_ledger_find(&ledger, 1, 1, 1));
	ck_assert_uint_eq(ptx_ledger_find(&ledger, 1, 2, 2)->called, 5);
	ck_assert_uint_eq(ptx_ledger_find(&ledger, 0, 0, 0)->called, 1);

	ptx_ledger_add(&sum, &part);
	ptx_ledger_add(&sum, &ledger);
	ck_assert_uint_eq(sum.total.called, 11);
	ck_assert_uint_eq(sum.total.reported, 7);
	ck_assert_uint_eq(ptx_ledger_find(&sum, 1, 1, 1)->reported, 3);
	ptx_ledger_fini(&sum);
	ptx_ledger_fini(&part);
	ptx_ledger_fini(&ledger);
}
END_TEST

static Suite *ledger_suite(void)
{
	TCase *tc;
	Suite *suite = support_suite("record/ledger", &tc);

	tcase_add_test(tc, each_thread_has_one_line_that_keeps_its_index);
	tcase_add_test(tc, a_reused_thread_id_is_another_thread);
	tcase_add_test(tc, all_events_without_a_thread_share_one_line);
	tcase_add_loop_test(tc, without_memory_events_are_counted_in_the_line_of_no_process, 0, 41);
	tcase_add_loop_test(tc, a_copy_has_a_line_for_no_process_too, 0, 20);
	tcase_add_test(tc, a_summary_has_the_total_and_the_types_but_no_threads);
	tcase_add_test(tc, a_difference_has_exact_totals_and_no_negative_column);
	tcase_add_test(tc, the_sum_has_every_column_but_called);
	return suite;
}

SUITE_MAIN_OF(ledger_suite)
