/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Signal handlers that interrupt posix_trace_event() and leave by siglongjmp(). */
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "support/payload.h"
#include "support/stream.h"

enum { MAIN, HANDLER };
enum { DATA = PAYLOAD_MIN, ALLOWANCE = 20000 };

static trace_event_id_t main_type, handler_type;
static volatile sig_atomic_t handled;
static _Atomic int allowance;
static sigjmp_buf out_of_here;

/*
 * Traces, unless there are so many unread events that the stream could become full. Leaves the
 * handler by siglongjmp().
 */
static void trace_and_jump(int signal)
{
	unsigned char data[DATA];

	(void)signal;
	if (atomic_fetch_sub(&allowance, 1) > 0) {
		payload_make(data, sizeof(data), HANDLER, handled);
		posix_trace_event(handler_type, data, sizeof(data));
		handled++;
	}
	siglongjmp(out_of_here, 1);
}

/*
 * Reads the available events, which must be complete and in order. Unfinished trace points leave
 * gaps in the numbers.
 */
static void drain_with_gaps(trace_id_t trid, uint64_t count[2], uint64_t last[2])
{
	struct history *history = read_all(trid);

	for (size_t i = 0; i < history->n; i++) {
		struct seen *seen = &history->event[i];
		uint64_t sequence;
		uint32_t who;

		if (seen->info.posix_event_id == POSIX_TRACE_START)
			continue;
		if (!payload_read(seen->data, seen->len, &who, &sequence) || who > HANDLER)
			ck_abort_msg("a torn event of type %u", seen->info.posix_event_id);
		if (count[who] && sequence <= last[who])
			ck_abort_msg("%u's event %llu after %llu", who,
				     (unsigned long long)sequence, (unsigned long long)last[who]);
		count[who]++;
		last[who] = sequence;
	}
	history_free(history);
	allowance = ALLOWANCE;
}

/* Waits for the next event. An unfinished event may delay later events for a while. */
static int wait_for_more(trace_id_t trid, uint64_t count[2], uint64_t last[2])
{
	struct posix_trace_event_info info;
	unsigned char data[DATA];
	struct timespec until;
	int unavailable, err;
	uint64_t sequence;
	uint32_t who;
	size_t len;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 2;
	err = posix_trace_timedgetnext_event(trid, &info, data, sizeof(data), &len, &unavailable,
					     &until);
	ck_assert(err == 0 || err == ETIMEDOUT);
	if (err)
		return 0;
	if (info.posix_event_id == POSIX_TRACE_START) /* START may be delayed, too, if the test ends
						       * soon */
		return 1;
	if (!payload_read(data, len, &who, &sequence) || who > HANDLER)
		ck_abort_msg("a torn event of type %u", info.posix_event_id);
	count[who]++;
	last[who] = sequence;
	return 1;
}

/*
 * EVENT-13: a handler may leave by siglongjmp(). The interrupted trace points, which never return,
 * are not recorded. All other events are complete and in order, however often this happens, and the
 * ledger is right.
 */
START_TEST(a_handler_that_jumps_away_leaves_the_stream_usable)
{
	static const struct itimerval often = { { 0, 60 }, { 0, 60 } }, never;
	static uint64_t called, count[2], last[2];
	static trace_id_t trid;
	struct posix_trace_ledger_np ledger;
	sigset_t alarm;

	main_type = type_of("main");
	handler_type = type_of("handler");
	trid = STARTED(.size = 1 << 22, .policy = POSIX_TRACE_UNTIL_FULL);
	allowance = ALLOWANCE;
	ck_assert_ptr_ne(signal(SIGALRM, trace_and_jump), SIG_ERR);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	/* From here on, only trace points and system calls may be interrupted. */
	if (!sigsetjmp(out_of_here, 1))
		setitimer(ITIMER_REAL, &often, NULL);
	while (handled < 2000) {
		unsigned char data[DATA];

		payload_make(data, sizeof(data), MAIN, called++);
		posix_trace_event(main_type, data, sizeof(data));
		if (called % 10000)
			continue;
		sigprocmask(SIG_BLOCK, &alarm, NULL);
		drain_with_gaps(trid, count, last);
		sigprocmask(SIG_UNBLOCK, &alarm, NULL);
	}
	sigprocmask(SIG_BLOCK, &alarm, NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	drain_with_gaps(trid, count, last);
	while (count[HANDLER] < (uint64_t)handled && wait_for_more(trid, count, last))
		drain_with_gaps(trid, count, last);
	ck_assert_uint_eq(count[HANDLER], handled);
	ck_assert_uint_le(count[MAIN], called);
	ck_assert_uint_le(called - count[MAIN], handled);
	OK(posix_trace_get_ledger_np(trid, &ledger));
	ck_assert_uint_eq(ledger.called, ledger.reported);
	ck_assert_uint_eq(ledger.unread, 0);
	trace_number(main_type, 1);
	ck_assert_events(trid, "main=1");
	shut(trid);
}
END_TEST

SUITE_MAIN("posix_trace_event: jumps", a_handler_that_jumps_away_leaves_the_stream_usable)
