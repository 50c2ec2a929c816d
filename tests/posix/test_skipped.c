/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types that a stream skips: posix_trace_set_skipped_np(), and its effect on wrappers. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/ledger.h"
#include "support/log.h"

static void skip_only(trace_id_t trid, trace_event_id_t id)
{
	trace_event_set_t set;

	OK(posix_trace_eventset_empty(&set));
	if (id)
		OK(posix_trace_eventset_add(id, &set));
	OK(posix_trace_set_skipped_np(trid, &set));
}

static void filter_out(trace_id_t trid, trace_event_id_t id, int how)
{
	trace_event_set_t set;

	OK(posix_trace_eventset_empty(&set));
	OK(posix_trace_eventset_add(id, &set));
	OK(posix_trace_set_filter(trid, &set, how));
}

static uint64_t skipped(trace_id_t trid, trace_event_id_t id)
{
	const struct posix_trace_ledger_np line = id ? ledger_of_type(trid, id) :
						       ledger_total(trid);

	return line.lost[POSIX_TRACE_LOST_BUDGET_NP];
}

/* Records n events of each type. */
static void record(trace_event_id_t id, trace_event_id_t other, int n)
{
	for (int i = 0; i < n; i++) {
		posix_trace_event(id, &i, sizeof(i));
		posix_trace_event(other, "12345678", 8);
	}
}

START_TEST(skipped_events_are_called_and_lost_and_no_others_are)
{
	trace_event_id_t id = type_of("skipped"), other = type_of("other");
	trace_id_t trid = STREAM(0);
	struct posix_trace_ledger_np line;
	struct posix_trace_thread_np thread;
	int none = 0;

	OK(posix_trace_start(trid));
	record(id, other, 5);
	skip_only(trid, id);
	record(id, other, 1000);
	skip_only(trid, 0);
	record(id, other, 7);
	ck_assert_ledger_closes(trid);
	line = ledger_of_type(trid, id);
	ck_assert_uint_eq(line.called, 1012);
	ck_assert_uint_eq(line.unread, 12);
	ck_assert_uint_eq(line.lost[POSIX_TRACE_LOST_BUDGET_NP], 1000);
	ck_assert_uint_eq(skipped(trid, other), 0);
	ck_assert_uint_eq(ledger_of_type(trid, other).unread, 1012);
	ck_assert_uint_eq(skipped(trid, 0), 1000);
	/* The skipped events belong to no known thread. */
	for (size_t i = 0; !none; i++) {
		OK(posix_trace_get_ledger_thread_np(trid, i, &thread, &line, &none));
		if (!none)
			ck_assert_uint_eq(line.lost[POSIX_TRACE_LOST_BUDGET_NP],
					  thread.pid ? 0 : 1000);
	}
	shut(trid);
}
END_TEST

START_TEST(a_wrapper_learns_what_the_only_stream_does_with_a_type)
{
	trace_event_id_t id = type_of("one"), other = type_of("other");
	trace_id_t trid, second;

	ck_assert_int_eq(posix_trace_is_wanted_np(id), 0); /* there is no stream */
	posix_trace_skip_np(id);
	trid = STREAM(0);
	OK(posix_trace_start(trid));
	ck_assert_int_eq(posix_trace_is_wanted_np(id), 1);
	filter_out(trid, id, POSIX_TRACE_ADD_EVENTSET);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(posix_trace_is_wanted_np(id), 0);
	ck_assert_int_eq(posix_trace_is_wanted_np(other), 1);
	ck_assert_uint_eq(ledger_of_type(trid, id).called, 0); /* filtered out, so never called */
	skip_only(trid, other);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(posix_trace_is_wanted_np(other), 0);
	ck_assert_int_eq(posix_trace_is_wanted_np(id), 0);
	ck_assert_uint_eq(skipped(trid, other), 4);
	/* With two streams each trace point decides for each stream. */
	second = STREAM(0);
	OK(posix_trace_start(second));
	ck_assert_int_eq(posix_trace_is_wanted_np(id), 1);
	ck_assert_int_eq(posix_trace_is_wanted_np(other), 1);
	record(id, other, 10);
	ck_assert_uint_eq(skipped(trid, other), 14);
	ck_assert_uint_eq(skipped(second, 0), 0);
	ck_assert_uint_eq(ledger_of_type(second, other).unread, 10);
	/* A wrapper that read the byte before the change still counts, in both streams. */
	posix_trace_skip_np(other);
	ck_assert_uint_eq(skipped(trid, other), 15);
	ck_assert_uint_eq(skipped(second, other), 1);
	shut(trid);
	/* The byte is not silent until the remaining stream changes its filter. */
	ck_assert_int_eq(posix_trace_is_wanted_np(id), 1);
	filter_out(second, id, POSIX_TRACE_SET_EVENTSET);
	ck_assert_int_eq(posix_trace_is_wanted_np(id), 0);
	filter_out(second, id, POSIX_TRACE_SUB_EVENTSET);
	ck_assert_int_eq(posix_trace_is_wanted_np(id), 1);
	shut(second);
}
END_TEST

START_TEST(a_clear_and_a_level_change_the_bytes)
{
	trace_event_id_t id = type_of("detail");
	trace_id_t trid = STREAM(0);

	OK(posix_trace_start(trid));
	filter_out(trid, id, POSIX_TRACE_ADD_EVENTSET);
	skip_only(trid, type_of("other"));
	OK(posix_trace_clear(trid));
	ck_assert_int_eq(posix_trace_is_wanted_np(id), 1);
	ck_assert_int_eq(posix_trace_is_wanted_np(type_of("other")), 1);
	OK(posix_trace_eventid_describe_np(id, "u32 n; @level 4"));
	OK(posix_trace_set_level_np(trid, 3));
	ck_assert_int_eq(posix_trace_is_wanted_np(id), 0);
	OK(posix_trace_set_level_np(trid, 4));
	ck_assert_int_eq(posix_trace_is_wanted_np(id), 1);
	/* A type that is described after the level was set. */
	id = type_of("later");
	OK(posix_trace_set_level_np(trid, 3));
	filter_out(trid, id, POSIX_TRACE_ADD_EVENTSET);
	ck_assert_int_eq(posix_trace_is_wanted_np(id), 0);
	OK(posix_trace_eventid_describe_np(id, "u32 n; @level 2"));
	ck_assert_int_eq(posix_trace_is_wanted_np(id), 1);
	shut(trid);
}
END_TEST

#define THREADS 20
#define EVENTS  20000

static trace_event_id_t many;

static void *skip_many(void *argument)
{
	for (int i = 0; i < EVENTS; i++)
		if (i % 2)
			posix_trace_event(many, argument, 8);
		else
			posix_trace_skip_np(many);
	return argument;
}

START_TEST(threads_that_share_rows_count_each_event_once)
{
	trace_id_t trid = STREAM(0);
	pthread_t thread[THREADS];

	many = type_of("many");
	OK(posix_trace_start(trid));
	skip_only(trid, many);
	for (int i = 0; i < THREADS; i++)
		OK(pthread_create(&thread[i], NULL, skip_many, thread));
	for (int i = 0; i < THREADS; i++)
		OK(pthread_join(thread[i], NULL));
	ck_assert_uint_eq(ledger_of_type(trid, many).called, (uint64_t)THREADS * EVENTS);
	ck_assert_uint_eq(skipped(trid, many), (uint64_t)THREADS * EVENTS);
	shut(trid);
}
END_TEST

/* Types are skipped and recorded by turns while threads record them: nothing is missing. */
START_TEST(changes_while_threads_record_lose_no_count)
{
	trace_id_t trid = STREAM(.size = 16 << 20);
	pthread_t thread[2];

	many = type_of("many");
	OK(posix_trace_start(trid));
	for (int i = 0; i < 2; i++)
		OK(pthread_create(&thread[i], NULL, skip_many, thread));
	for (int i = 0; i < 200; i++)
		skip_only(trid, i % 2 ? many : 0);
	for (int i = 0; i < 2; i++)
		OK(pthread_join(thread[i], NULL));
	ck_assert_ledger_closes(trid);
	ck_assert_uint_eq(ledger_of_type(trid, many).called, 2 * (uint64_t)EVENTS);
	shut(trid);
}
END_TEST

START_TEST(a_stopped_stream_skips_nothing)
{
	trace_event_id_t id = type_of("skipped"), other = type_of("other");
	trace_id_t trid = STREAM(0);

	skip_only(trid, id);
	record(id, other, 10);
	posix_trace_skip_np(id);
	ck_assert_uint_eq(ledger_of_type(trid, id).called, 0);
	OK(posix_trace_start(trid));
	record(id, other, 1);
	OK(posix_trace_stop(trid));
	record(id, other, 10);
	posix_trace_skip_np(id);
	ck_assert_uint_eq(ledger_of_type(trid, id).called, 1);
	ck_assert_uint_eq(skipped(trid, 0), 1);
	shut(trid);
}
END_TEST

START_TEST(system_events_and_wrong_arguments)
{
	trace_id_t trid = STREAM(0);
	trace_event_set_t set, bad;
	uint64_t recorded, counts[8];
	unsigned recent[8];

	memset(&bad, 0x5a, sizeof(bad));
	OK(posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS));
	OK(posix_trace_set_skipped_np(trid, &set));
	OK(posix_trace_start(trid));
	ck_assert_uint_eq(ledger_of_type(trid, POSIX_TRACE_START).unread, 1);
	FAILS(EINVAL, posix_trace_set_skipped_np(trid, NULL));
	FAILS(EINVAL, posix_trace_set_skipped_np(trid, &bad));
	FAILS(EINVAL, posix_trace_get_load_np(trid, NULL, recent, counts, 8));
	FAILS(EINVAL, posix_trace_get_load_np(trid, &recorded, NULL, counts, 8));
	FAILS(EINVAL, posix_trace_get_load_np(trid, &recorded, recent, NULL, 8));
	posix_trace_skip_np((trace_event_id_t)1 << 20); /* no such type: no effect */
	shut(trid);
	FAILS(EINVAL, posix_trace_set_skipped_np(trid, &set));
	FAILS(EINVAL, posix_trace_get_load_np(trid, &recorded, recent, counts, 8));
}
END_TEST

START_TEST(the_load_has_exact_sums_and_the_newest_types)
{
	trace_event_id_t id = type_of("skipped"), other = type_of("other");
	trace_id_t trid = STREAM(0);
	uint64_t recorded, before, counts[1030];
	unsigned recent[1030];

	OK(posix_trace_start(trid));
	OK(posix_trace_get_load_np(trid, &before, recent, counts, 1030));
	record(id, other, 3);
	posix_trace_event(id, NULL, 0);
	OK(posix_trace_get_load_np(trid, &recorded, recent, counts, 1030));
	ck_assert_uint_eq(recorded - before, 7);
	ck_assert_uint_eq(recent[id], 4);
	ck_assert_uint_eq(recent[other], 3);
	ck_assert_uint_eq(counts[id], 0);
	/* Only events since the last call count as recent. */
	skip_only(trid, id);
	record(id, other, 2);
	OK(posix_trace_get_load_np(trid, &before, recent, counts, 1030));
	ck_assert_uint_eq(before - recorded, 2);
	ck_assert_uint_eq(recent[id], 0);
	ck_assert_uint_eq(recent[other], 2);
	ck_assert_uint_eq(counts[id], 2);
	ck_assert_uint_eq(counts[1029], 0);
	/*
	 * Many events: the shares equal those of the calls. A chunk has at least 20 of these
	 * events, so the shares of two types that alternate differ by less than a tenth.
	 */
	skip_only(trid, 0);
	record(id, other, 1000);
	OK(posix_trace_get_load_np(trid, &recorded, recent, counts, 1030));
	ck_assert_uint_eq(recorded - before, 2000);
	ck_assert_uint_ge(recent[id], 900);
	ck_assert_uint_le(recent[id], 1100);
	ck_assert_uint_ge(recent[id] + recent[other], 1999);
	ck_assert_uint_le(recent[id] + recent[other], 2001);
	/* Nothing was read, so all events are still in the stream. */
	ck_assert_uint_eq(ledger_of_type(trid, id).unread, 1004);
	shut(trid);
}
END_TEST

static trace_event_id_t rare;

static void *record_rare(void *argument)
{
	posix_trace_event(rare, NULL, 0);
	posix_trace_event(rare, NULL, 0);
	return argument;
}

/* The few events of one thread are not multiplied by the many events of another thread. */
START_TEST(the_events_of_each_thread_are_estimated_from_its_own_sample)
{
	trace_event_id_t busy = type_of("busy");
	trace_id_t trid = STREAM(0);
	uint64_t recorded, counts[128];
	unsigned recent[128];
	pthread_t thread;

	rare = type_of("rare");
	OK(posix_trace_start(trid));
	/* This thread keeps its ring, so the other thread has one of its own. */
	record(busy, busy, 5000);
	OK(pthread_create(&thread, NULL, record_rare, NULL));
	OK(pthread_join(thread, NULL));
	OK(posix_trace_get_load_np(trid, &recorded, recent, counts, 128));
	ck_assert_uint_eq(recent[rare], 2);
	/* The other events are START, or records about a thread, in the same chunk. */
	ck_assert_uint_ge(recent[busy], 9900);
	ck_assert_uint_le(recent[busy], 10000);
	/*
	 * A thread that has recorded nothing since the last call has no share in the next result.
	 */
	record(busy, busy, 1);
	OK(posix_trace_get_load_np(trid, &recorded, recent, counts, 128));
	ck_assert_uint_eq(recent[rare], 0);
	ck_assert_uint_eq(recent[busy], 2);
	shut(trid);
}
END_TEST

/* A killed process has counted its events up to its last instruction. */
START_TEST(the_counts_survive_the_kill_of_the_writer_and_are_in_the_log)
{
	trace_event_id_t id = type_of("skipped"), other = type_of("other");
	int fd = log_file(), status;
	trace_id_t trid = LOGGED_STARTED(fd, .inheritance = POSIX_TRACE_INHERITED), log;
	pid_t child;

	skip_only(trid, id);
	child = fork();
	if (child == 0) {
		record(id, other, 777);
		raise(SIGKILL);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(WTERMSIG(status), SIGKILL);
	ck_assert_uint_eq(ledger_of_type(trid, id).called, 777);
	ck_assert_uint_eq(skipped(trid, id), 777);
	shut(trid);
	OK(posix_trace_open(fd, &log));
	ck_assert_uint_eq(ledger_of_type(log, id).called, 777);
	ck_assert_uint_eq(skipped(log, id), 777);
	ck_assert_ledger_closes(log);
	ck_assert_uint_eq(skipped(log, 0), 777);
	OK(posix_trace_close(log));
	assert_log_whole(fd);
	close(fd);
}
END_TEST

static void *record_many(void *argument)
{
	for (int i = 0; i < 10 * EVENTS; i++)
		posix_trace_event(many, argument, 8);
	return argument;
}

/* The count never exceeds the number of calls, although the threads change and reuse chunks. */
START_TEST(the_load_is_possible_while_chunks_are_reused)
{
	trace_id_t trid = STREAM(.size = 1 << 16, .policy = POSIX_TRACE_LOOP);
	pthread_t thread[4];
	uint64_t recorded, counts[8];
	unsigned recent[8];

	many = type_of("many");
	OK(posix_trace_start(trid));
	for (int i = 0; i < 4; i++)
		OK(pthread_create(&thread[i], NULL, record_many, thread));
	for (int i = 0; i < 20000; i++) {
		OK(posix_trace_get_load_np(trid, &recorded, recent, counts, 8));
		ck_assert_uint_le(recorded, UINT64_C(40) * EVENTS + 8);
	}
	for (int i = 0; i < 4; i++)
		OK(pthread_join(thread[i], NULL));
	OK(posix_trace_get_load_np(trid, &recorded, recent, counts, 8));
	ck_assert_uint_le(recorded, UINT64_C(40) * EVENTS + 8);
	shut(trid);
}
END_TEST

SUITE_MAIN("posix_trace_set_skipped_np", skipped_events_are_called_and_lost_and_no_others_are,
	   a_wrapper_learns_what_the_only_stream_does_with_a_type,
	   a_clear_and_a_level_change_the_bytes, threads_that_share_rows_count_each_event_once,
	   changes_while_threads_record_lose_no_count,
	   a_stopped_stream_skips_nothing,
	   system_events_and_wrong_arguments, the_load_has_exact_sums_and_the_newest_types,
	   the_counts_survive_the_kill_of_the_writer_and_are_in_the_log,
	   the_events_of_each_thread_are_estimated_from_its_own_sample,
	   the_load_is_possible_while_chunks_are_reused)
