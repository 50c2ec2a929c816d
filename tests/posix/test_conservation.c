/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Under load, each called event is either read or lost, and counted exactly by type and by thread.
 * support/load.h describes the assertions of each run.
 */
#include "support/load.h"
#include "support/stream.h"

#ifdef __SANITIZE_THREAD__
enum { EVENTS = 4000 }; /* each event costs a hundred times as much there */
#else
enum { EVENTS = 12000 };
#endif
enum { THREADS = 8 };

/* Runs tiny and large streams, all manners of reading, with signals. */
static void run_all(int policy)
{
	static const size_t sizes[] = { 1, 30000, 8 << 20 };
	static const enum load_reader readers[] = { READ_FAST, READ_SLOW, READ_LATE };
	uint64_t by_handlers = 0;

	for (int i = 0; i < 9; i++) {
		struct load_sum sum = load_run(&(struct load){
			.policy = policy, .size = sizes[i / 3], .reader = readers[i % 3],
			.threads = THREADS, .events = EVENTS, .timer_ns = 100000 });

		ck_assert_uint_ge(sum.made, (uint64_t)THREADS * EVENTS);
		ck_assert_uint_le(sum.read, sum.made);
		by_handlers += sum.made_by_handlers;
	}
	ck_assert_uint_gt(by_handlers, 0);
}

/* SLOOP-01, SLOOP-04, SLOOP-08, SLOOP-11, EVENT-14, EVENT-18, EVENT-19, GETNEXT-03 */
START_TEST(a_loop_stream_accounts_for_every_event)
{
	run_all(POSIX_TRACE_LOOP);
}
END_TEST

/* UFULL-02, UFULL-06, UFULL-11, EVENT-14, EVENT-18, EVENT-19, GETNEXT-03 */
START_TEST(an_until_full_stream_accounts_for_every_event)
{
	run_all(POSIX_TRACE_UNTIL_FULL);
}
END_TEST

/* SFLUSH-01, SFLUSH-05, SFLUSH-06, LOG-01, EVENT-14, EVENT-18, EVENT-19 */
START_TEST(a_stream_flushed_to_a_log_accounts_for_every_event)
{
	run_all(POSIX_TRACE_FLUSH);
}
END_TEST

/* EVENT-18: one thread alone, and without signals */
START_TEST(one_thread_accounts_for_every_event)
{
	static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL,
					POSIX_TRACE_FLUSH };

	for (int i = 0; i < 3; i++)
		load_run(&(struct load){ .policy = policies[i], .size = 20000, .threads = 1,
					 .events = 100000, .reader = READ_FAST });
}
END_TEST

SUITE_MAIN("conservation",
	   a_loop_stream_accounts_for_every_event,
	   an_until_full_stream_accounts_for_every_event,
	   a_stream_flushed_to_a_log_accounts_for_every_event,
	   one_thread_accounts_for_every_event)
