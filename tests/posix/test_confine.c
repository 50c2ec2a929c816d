/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix_trace_confine_np(): threads that must not read the clock, and threads whose memory another
 * task uses. The standard has no such function.
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/ledger.h"

#define MANY    20000
#define NO_SLOT POSIX_TRACE_LOST_NO_SLOT_NP

static trace_event_id_t own, other;
static atomic_int begun;

/* Returns when both tasks run. */
static void meet(void)
{
	atomic_fetch_add(&begun, 1);
	while (atomic_load(&begun) < 2)
		sched_yield();
}

static int record_beside(void *unused)
{
	(void)unused;
	meet();
	for (int i = 0; i < MANY; i++)
		trace_number(other, i);
	return 0;
}

/* Makes a task in the memory of this thread, and records events while it records some. */
static void record_with_other(void)
{
	static _Alignas(16) char stack[65536];
	pid_t task;

	atomic_store(&begun, 0);
	task = clone(record_beside, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL);
	ck_assert_int_gt(task, 0);
	meet();
	for (int i = 0; i < MANY; i++)
		trace_number(own, i);
	wait_well(task);
}

START_TEST(a_task_in_the_memory_of_a_thread_loses_its_events_and_damages_none)
{
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_LOOP, .size = 16 << 20,
				  .inheritance = POSIX_TRACE_INHERITED);
	struct posix_trace_ledger_np line;
	struct history *history;
	struct seen seen;
	int next = 0;
	pid_t child;

	own = type_of("own");
	other = type_of("other");
	OK(posix_trace_confine_np(POSIX_TRACE_CONFINE_SHARED_NP));
	record_with_other();
	line = ledger_of_type(trid, other);
	ck_assert_ledger_line(line, 0, 0, NO_SLOT, MANY);
	ck_assert_ledger_closes(trid);
	/* A child of fork() has its own memory. */
	child = fork();
	if (child == 0) {
		trace_number(own, MANY);
		_exit(0);
	}
	wait_well(child);
	trace_number(own, MANY + 1);
	history = read_all(trid);
	for (size_t i = 0; i < history->n; i++) {
		seen = history->event[i];
		if (seen.info.posix_event_id != own)
			continue;
		ck_assert_int_eq(number_of(&seen), next++);
	}
	ck_assert_int_eq(next, MANY + 2);
	history_free(history);
	ck_assert_ledger_closes(trid);
	shut(trid);
}
END_TEST

/* Without a system call, the library cannot distinguish the two tasks. */
START_TEST(behind_a_filter_both_tasks_lose_their_events)
{
	pid_t child = fork();

	if (child == 0) {
		trace_id_t trid = STARTED(0);
		struct posix_trace_ledger_np line;

		own = type_of("own");
		other = type_of("other");
		OK(posix_trace_confine_np(POSIX_TRACE_CONFINE_SHARED_NP));
		OK(posix_trace_confine_np(POSIX_TRACE_CONFINE_PROCESS_NP));
		record_with_other();
		line = ledger_of_type(trid, other);
		ck_assert_ledger_line(line, 0, 0, NO_SLOT, MANY);
		line = ledger_of_type(trid, own);
		ck_assert_ledger_line(line, 0, 0, NO_SLOT, MANY);
		ck_assert_ledger_closes(trid);
		_exit(0);
	}
	wait_well(child);
}
END_TEST

START_TEST(a_thread_without_clock_records_nothing_behind_a_filter_either)
{
	pid_t child = fork();

	if (child == 0) {
		trace_id_t trid = STARTED(0);
		struct posix_trace_ledger_np line;

		own = type_of("own");
		OK(posix_trace_confine_np(POSIX_TRACE_CONFINE_THREAD_NP));
		OK(posix_trace_confine_np(POSIX_TRACE_CONFINE_PROCESS_NP));
		trace_number(own, 1);
		line = ledger_of_type(trid, own);
		ck_assert_ledger_line(line, 0, 0, NO_SLOT, 1);
		OK(posix_trace_confine_np(POSIX_TRACE_CONFINE_NOT_NP));
		trace_number(own, 2);
		ck_assert_events(trid, "START own=2");
		_exit(0);
	}
	wait_well(child);
}
END_TEST

/* The two states do not disturb each other. */
START_TEST(a_shared_thread_can_lose_and_regain_the_clock)
{
	pid_t child = fork();

	if (child == 0) {
		trace_id_t trid = STARTED(0);
		struct posix_trace_ledger_np line;

		own = type_of("own");
		OK(posix_trace_confine_np(POSIX_TRACE_CONFINE_SHARED_NP));
		trace_number(own, 1);
		OK(posix_trace_confine_np(POSIX_TRACE_CONFINE_THREAD_NP));
		trace_number(own, 2);
		OK(posix_trace_confine_np(POSIX_TRACE_CONFINE_NOT_NP));
		trace_number(own, 3);
		line = ledger_of_type(trid, own);
		ck_assert_ledger_line(line, 0, 2, NO_SLOT, 1);
		ck_assert_events(trid, "START own=1 own=3");
		_exit(0);
	}
	wait_well(child);
}
END_TEST

START_TEST(other_values_are_refused)
{
	FAILS(EINVAL, posix_trace_confine_np(-1));
	FAILS(EINVAL, posix_trace_confine_np(POSIX_TRACE_CONFINE_ALONE_END_NP + 1));
}
END_TEST

#ifdef __SANITIZE_THREAD__ /* its own memory of the thread would be used by two tasks */
SUITE_MAIN("confine", a_thread_without_clock_records_nothing_behind_a_filter_either,
	   a_shared_thread_can_lose_and_regain_the_clock, other_values_are_refused)
#else
SUITE_MAIN("confine", a_task_in_the_memory_of_a_thread_loses_its_events_and_damages_none,
	   behind_a_filter_both_tasks_lose_their_events,
	   a_thread_without_clock_records_nothing_behind_a_filter_either,
	   a_shared_thread_can_lose_and_regain_the_clock, other_values_are_refused)
#endif
