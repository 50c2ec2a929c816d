/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The loss ledger of streams: every event is in one column, in total, by type and by thread. The
 * standard does not require this; the cited assertions describe the losses that are counted.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/ledger.h"
#include "support/log.h"

enum {
	OVERWRITTEN = POSIX_TRACE_LOST_OVERWRITTEN_NP,
	STREAM_FULL = POSIX_TRACE_LOST_STREAM_FULL_NP,
	CLEARED = POSIX_TRACE_LOST_CLEARED_NP
};

/* The causes of trace_np.h have names. */
START_TEST(every_cause_has_a_name_of_its_own)
{
	for (int i = 0; i < POSIX_TRACE_LOST_CAUSES_NP; i++) {
		ck_assert_ptr_nonnull(posix_trace_lost_name_np(i));
		for (int k = 0; k < i; k++)
			ck_assert_str_ne(posix_trace_lost_name_np(i),
					 posix_trace_lost_name_np(k));
	}
	ck_assert_ptr_null(posix_trace_lost_name_np(POSIX_TRACE_LOST_CAUSES_NP));
	ck_assert_ptr_null(posix_trace_lost_name_np(-1));
}
END_TEST

/* GEN-04, GEN-05, GEN-09, LEGAL-06 */
START_TEST(bad_arguments_are_refused)
{
	struct posix_trace_ledger_np ledger, untouched;
	struct posix_trace_thread_np thread;
	trace_id_t trid = STREAM(0);
	int unavailable = 0;

	memset(&ledger, 0x5a, sizeof(ledger));
	untouched = ledger;
	FAILS(EINVAL, posix_trace_get_ledger_np(0, &ledger));
	FAILS(EINVAL, posix_trace_get_ledger_np(trid, NULL));
	FAILS(EINVAL, posix_trace_get_ledger_type_np(0, POSIX_TRACE_START, &ledger));
	FAILS(EINVAL, posix_trace_get_ledger_type_np(trid, 0, NULL));
	FAILS(EINVAL, posix_trace_get_ledger_type_np(trid, 1000, &ledger));
	FAILS(EINVAL, posix_trace_get_ledger_type_np(trid, 100000, &ledger));
	FAILS(EINVAL, posix_trace_get_ledger_type_np(trid, POSIX_TRACE_START, NULL));
	FAILS(EINVAL, posix_trace_get_ledger_thread_np(0, 0, &thread, &ledger, &unavailable));
	FAILS(EINVAL, posix_trace_get_ledger_thread_np(trid, 0, NULL, &ledger, &unavailable));
	FAILS(EINVAL, posix_trace_get_ledger_thread_np(trid, 0, &thread, NULL, &unavailable));
	FAILS(EINVAL, posix_trace_get_ledger_thread_np(trid, 0, &thread, &ledger, NULL));
	ck_assert_mem_eq(&ledger, &untouched, sizeof(ledger));
	shut(trid);
	FAILS(EINVAL, posix_trace_get_ledger_np(trid, &ledger));
}
END_TEST

/* CREATE-08 */
START_TEST(a_new_stream_has_an_empty_ledger)
{
	trace_id_t trid = STREAM(0);
	struct posix_trace_ledger_np total = ledger_total(trid), zero;

	memset(&zero, 0, sizeof(zero));
	ck_assert_mem_eq(&total, &zero, sizeof(zero));
	total = ledger_of_type(trid, POSIX_TRACE_START);
	ck_assert_mem_eq(&total, &zero, sizeof(zero));
	ck_assert_ledger_closes(trid);
	shut(trid);
}
END_TEST

/* SIZE-10, EVENT-05, FILTER-08: events that the stream does not record are not called */
START_TEST(events_are_unread_then_reported_and_unwanted_ones_do_not_count)
{
	trace_event_id_t wanted = type_of("wanted"), filtered = type_of("filtered");
	trace_id_t trid = STREAM(0);
	struct posix_trace_ledger_np line;
	trace_event_set_t set;
	struct seen seen;

	posix_trace_eventset_empty(&set);
	posix_trace_eventset_add(filtered, &set);
	OK(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	trace_number(wanted, 0); /* not running */
	start(trid);
	for (int i = 0; i < 10; i++) {
		trace_number(wanted, i);
		trace_number(filtered, i);
	}
	stop(trid);
	trace_number(wanted, 0);
	line = ledger_of_type(trid, wanted);
	ck_assert_ledger_line(line, 0, 10, 0, 0);
	line = ledger_of_type(trid, filtered);
	ck_assert_ledger_line(line, 0, 0, 0, 0);
	line = ledger_total(trid);
	ck_assert_ledger_line(line, 0, 12, 0, 0);
	ck_assert_ledger_closes(trid);
	for (int i = 0; i < 4; i++) { /* START and three numbers */
		ck_assert_int_eq(read_one(trid, &seen), 1);
		free(seen.data);
	}
	line = ledger_of_type(trid, wanted);
	ck_assert_ledger_line(line, 3, 7, 0, 0);
	line = ledger_total(trid);
	ck_assert_ledger_line(line, 4, 8, 0, 0);
	ck_assert_ledger_closes(trid);
	shut(trid);
}
END_TEST

/* SLOOP-01, SLOOP-04 */
START_TEST(losses_of_a_loop_stream_are_counted_exactly)
{
	const int n = 20000;
	trace_event_id_t id = type_of("n");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_LOOP);
	struct posix_trace_ledger_np line;
	struct history *history;
	size_t survivors;

	for (int i = 0; i < n; i++)
		trace_number(id, i);
	stop(trid);
	ck_assert_ledger_closes(trid);
	line = ledger_of_type(trid, id);
	ck_assert_uint_eq(line.called, n);
	history = read_all(trid);
	survivors = history_count(history, id);
	line = ledger_of_type(trid, id);
	ck_assert_ledger_line(line, survivors, 0, OVERWRITTEN, n - survivors);
	line = ledger_of_type(trid, POSIX_TRACE_START);
	ck_assert_ledger_line(line, 0, 0, OVERWRITTEN, 1);
	line = ledger_of_type(trid, POSIX_TRACE_STOP);
	ck_assert_ledger_line(line, 1, 0, OVERWRITTEN, 0);
	/* The marks of the gap are system events: called and reported, like others. */
	line = ledger_total(trid);
	ck_assert_ledger_line(line, history->n, 0, OVERWRITTEN, n - survivors + 1);
	ck_assert_uint_eq(history->n, survivors + 3);
	ck_assert_ledger_closes(trid);
	history_free(history);
	shut(trid);
}
END_TEST

/* UFULL-06 */
START_TEST(losses_of_a_full_stream_are_counted_exactly)
{
	const int more = 1234;
	trace_event_id_t id = type_of("n");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL);
	struct posix_trace_ledger_np line;
	struct history *history;
	size_t kept;
	int n;

	n = fill(trid, id, sizeof(int), 0);
	for (int i = 0; i < more; i++)
		trace_number(id, n + i);
	line = ledger_of_type(trid, id);
	ck_assert_uint_eq(line.called, n + more);
	ck_assert_uint_ge(line.lost[STREAM_FULL], more);
	ck_assert_ledger_closes(trid);
	history = read_all(trid);
	kept = history_count(history, id);
	line = ledger_of_type(trid, id);
	ck_assert_ledger_line(line, kept, 0, STREAM_FULL, n + more - kept);
	ck_assert_ledger_closes(trid);
	history_free(history);
	shut(trid);
}
END_TEST

/* CLEAR-01 */
START_TEST(events_that_clear_removes_are_counted)
{
	trace_event_id_t id = type_of("n");
	trace_id_t trid = STARTED(0);
	struct posix_trace_ledger_np line;
	struct seen seen;

	for (int i = 0; i < 10; i++)
		trace_number(id, i);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(read_one(trid, &seen), 1);
		free(seen.data);
	}
	OK(posix_trace_clear(trid));
	line = ledger_of_type(trid, id);
	ck_assert_ledger_line(line, 2, 0, CLEARED, 8);
	trace_number(id, 11);
	line = ledger_of_type(trid, id);
	ck_assert_uint_eq(line.called, 11);
	ck_assert_uint_eq(line.unread, 1);
	ck_assert_uint_eq(line.lost[CLEARED], 8);
	ck_assert_ledger_closes(trid);
	shut(trid);
}
END_TEST

struct worker {
	trace_event_id_t odd, even;
	int n;
	pid_t tid;
	pthread_t self;
};

static void *work(void *arg)
{
	struct worker *worker = arg;

	worker->tid = thread_id();
	worker->self = pthread_self();
	for (int i = 0; i < worker->n; i++)
		trace_number(i % 2 ? worker->odd : worker->even, i);
	return NULL;
}

/* EVENT-07, EVENT-18 */
START_TEST(every_thread_has_its_own_line_also_after_its_end)
{
	enum { WORKERS = 10 };
	trace_event_id_t odd = type_of("odd"), even = type_of("even");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL, .size = 4 << 20);
	struct worker worker[WORKERS];
	struct posix_trace_thread_np thread;
	struct posix_trace_ledger_np line;
	pthread_t handle[WORKERS];
	int end = 0, met = 0, evens = 0, odds = 0;

	for (int i = 0; i < WORKERS; i++) {
		worker[i] = (struct worker){ odd, even, 1 + 37 * i, 0, 0 };
		odds += worker[i].n / 2;
		evens += worker[i].n - worker[i].n / 2;
		handle[i] = spawn(work, &worker[i]);
	}
	for (int i = 0; i < WORKERS; i++)
		join(handle[i]);
	ck_assert_ledger_closes(trid);
	line = ledger_of_type(trid, odd);
	ck_assert_ledger_line(line, 0, odds, 0, 0);
	line = ledger_of_type(trid, even);
	ck_assert_ledger_line(line, 0, evens, 0, 0);
	for (size_t i = 0;; i++) {
		OK(posix_trace_get_ledger_thread_np(trid, i, &thread, &line, &end));
		if (end)
			break;
		for (int k = 0; k < WORKERS; k++) {
			if (thread.tid != worker[k].tid)
				continue;
			ck_assert_int_eq(thread.pid, getpid());
			ck_assert(pthread_equal(thread.thread, worker[k].self));
			ck_assert_ledger_line(line, 0, worker[k].n, 0, 0);
			met++;
		}
	}
	ck_assert_int_eq(met, WORKERS);
	shut(trid);
}
END_TEST

#ifdef __SANITIZE_THREAD__
enum { VFORK_EVENTS = 1 }; /* the runtime of ThreadSanitizer calls fork() for vfork() */
#else
enum { VFORK_EVENTS = 2 };
#endif

/* A child of vfork(), and then its parent, record an event of the thread. */
static void *work_after_child(void *arg)
{
	struct worker *worker = arg;
	pid_t child;

	worker->tid = thread_id();
	child = vfork();
	if (child == 0) {
		trace_number(worker->odd, 1);
		_exit(0);
	}
	wait_well(child);
	trace_number(worker->odd, 2);
	return NULL;
}

/* The child uses the memory of its parent's thread: the thread keeps its own id. */
START_TEST(a_thread_whose_first_event_is_of_a_child_of_vfork_has_its_own_id)
{
	trace_id_t trid = STARTED();
	struct worker worker = { .odd = type_of("odd") };
	struct posix_trace_thread_np thread;
	struct posix_trace_ledger_np line;
	int end = 0, met = 0;

	join(spawn(work_after_child, &worker));
	for (size_t i = 0;; i++) {
		OK(posix_trace_get_ledger_thread_np(trid, i, &thread, &line, &end));
		if (end)
			break;
		if (thread.tid != worker.tid)
			continue;
		ck_assert_int_eq(thread.pid, getpid());
		ck_assert_uint_eq(line.called, VFORK_EVENTS);
		met++;
	}
	ck_assert_int_eq(met, 1);
	shut(trid);
}
END_TEST

/* SLOOP-01, SLOOP-11, EVENT-18 */
START_TEST(losses_are_counted_by_thread_and_type)
{
	enum { WORKERS = 6 };
	trace_event_id_t odd = type_of("odd"), even = type_of("even");
	static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL };

	for (int p = 0; p < 2; p++) {
		int cause = p ? STREAM_FULL : OVERWRITTEN;
		trace_id_t trid = STARTED(.policy = policies[p]);
		struct worker worker[WORKERS];
		pthread_t handle[WORKERS];
		struct posix_trace_ledger_np line;
		struct history *history;
		size_t odds = 0;

		for (int i = 0; i < WORKERS; i++) {
			worker[i] = (struct worker){ odd, even, 1000 + 1000 * i, 0, 0 };
			odds += (size_t)worker[i].n / 2;
			handle[i] = spawn(work, &worker[i]);
		}
		for (int i = 0; i < WORKERS; i++)
			join(handle[i]);
		history = read_all(trid);
		for (int i = 0; i < WORKERS; i++) {
			size_t kept = 0;

			for (size_t k = 0; k < history->n; k++)
				kept += history->event[k].info.posix_event_id >=
						POSIX_TRACE_UNNAMED_USEREVENT &&
					pthread_equal(history->event[k].info.posix_thread_id,
						      worker[i].self);
			line = ledger_of_thread(trid, worker[i].tid);
			ck_assert_ledger_line(line, kept, 0, cause, worker[i].n - kept);
		}
		line = ledger_of_type(trid, odd);
		ck_assert_ledger_line(line, history_count(history, odd), 0, cause,
				      odds - history_count(history, odd));
		ck_assert_ledger_closes(trid);
		history_free(history);
		shut(trid);
	}
}
END_TEST

SUITE_MAIN("the ledger of streams", every_cause_has_a_name_of_its_own, bad_arguments_are_refused,
	   a_new_stream_has_an_empty_ledger,
	   events_are_unread_then_reported_and_unwanted_ones_do_not_count,
	   losses_of_a_loop_stream_are_counted_exactly,
	   losses_of_a_full_stream_are_counted_exactly, events_that_clear_removes_are_counted,
	   every_thread_has_its_own_line_also_after_its_end,
	   a_thread_whose_first_event_is_of_a_child_of_vfork_has_its_own_id,
	   losses_are_counted_by_thread_and_type)
