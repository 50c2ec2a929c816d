/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Eight threads record a million events. A timer interrupts each thread every 50 microseconds, and
 * its handler traces into the same stream. support/load.h describes the assertions of each run: no
 * event is torn, the order of every maker is kept, and the ledger is exact.
 */
#include "support/load.h"
#include "support/stream.h"

#ifdef __SANITIZE_THREAD__
enum { EVENTS = 20000 }; /* each event costs a hundred times as much there */
#else
enum { EVENTS = 125000 };
#endif
enum { THREADS = 8, TIMER_NS = 50000 };

static void storm(int policy, size_t size)
{
	struct load_sum sum = load_run(&(struct load){ .policy = policy, .size = size,
						       .threads = THREADS, .events = EVENTS,
						       .timer_ns = TIMER_NS });

	ck_assert_uint_ge(sum.made, THREADS * EVENTS);
	ck_assert_uint_gt(sum.made_by_handlers, 0);
}

/* EVENT-13, EVENT-14, EVENT-18, EVENT-19, SLOOP-11 */
START_TEST(a_storm_of_signals_over_a_loop_stream)
{
	storm(POSIX_TRACE_LOOP, 1 << 20);
}
END_TEST

/* EVENT-13, EVENT-14, EVENT-18, EVENT-19, UFULL-02 */
START_TEST(a_storm_of_signals_over_an_until_full_stream)
{
	storm(POSIX_TRACE_UNTIL_FULL, 1 << 20);
}
END_TEST

/* EVENT-13, EVENT-14, EVENT-18, EVENT-19, SFLUSH-01 */
START_TEST(a_storm_of_signals_over_a_stream_with_log)
{
	storm(POSIX_TRACE_FLUSH, 1 << 20);
}
END_TEST

SUITE_MAIN("storm",
	   a_storm_of_signals_over_a_loop_stream,
	   a_storm_of_signals_over_an_until_full_stream,
	   a_storm_of_signals_over_a_stream_with_log)
