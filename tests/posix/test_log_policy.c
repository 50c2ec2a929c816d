/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Log-full policies: LOOP, UNTIL_FULL, APPEND, and posix_trace_clear() of a log. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/log.h"

#define LOG_BYTES 20000 /* bytes of event records, for tests that fill a log */

static struct posix_trace_ledger_np ledger_of(trace_id_t trid)
{
	struct posix_trace_ledger_np ledger;

	OK(posix_trace_get_ledger_np(trid, &ledger));
	return ledger;
}

/* Records numbers in batches that fit into a stream of the default size, and flushes each batch. */
static void trace_and_flush(trace_id_t trid, trace_event_id_t id, int first, int n)
{
	for (int i = 0; i < n; i++) {
		trace_number(id, first + i);
		if (i % 100 == 99)
			OK(posix_trace_flush(trid));
	}
	OK(posix_trace_flush(trid));
}

/* LOG-01, LOG-14, SIZE-16, STATUS-14 */
START_TEST(append_keeps_everything_and_ignores_the_size)
{
	int fd = log_file();
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
					 .log_policy = POSIX_TRACE_APPEND, .log_size = 1);
	trace_event_id_t id = type_of("n");
	struct posix_trace_status_info status;

	trace_and_flush(trid, id, 0, 5000);
	status = status_of(trid);
	ck_assert_int_eq(status.posix_log_full_status, POSIX_TRACE_NOT_FULL);
	ck_assert_int_eq(status.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
	shut(trid);
	assert_log_numbers(fd, id, 0, 5000);
	ck_assert_int_eq(log_status(fd).posix_log_full_status, POSIX_TRACE_NOT_FULL);
	assert_log_whole(fd);
	close(fd);
}
END_TEST

static size_t data_bytes(const struct history *history)
{
	size_t sum = 0;

	for (size_t i = 0; i < history->n; i++)
		sum += history->event[i].len;
	return sum;
}

/* LOG-02, LOG-03, LOG-09, LOG-13, LOG-15, SIZE-15, STATUS-13, STATUS-14 */
START_TEST(loop_keeps_the_newest_and_overwrites_the_oldest)
{
	static const size_t payloads[] = { 4, 100, 1000 };

	for (int p = 0; p < 3; p++) {
		int fd = log_file(), n = 5000;
		trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
						 .log_policy = POSIX_TRACE_LOOP,
						 .size = 1 << 20, .log_size = LOG_BYTES);
		trace_event_id_t id = type_of("n");
		struct posix_trace_status_info status;
		struct history *history;
		struct numbers numbers;
		char data[1000] = { 0 };

		for (int i = 0; i < n; i++) {
			memcpy(data, &i, sizeof(i));
			posix_trace_event(id, data, payloads[p]);
			if (i % 100 == 99)
				OK(posix_trace_flush(trid));
		}
		status = status_of(trid);
		ck_assert_int_eq(status.posix_stream_status, POSIX_TRACE_RUNNING);
		ck_assert_int_eq(status.posix_log_full_status, POSIX_TRACE_FULL);
		ck_assert_int_eq(status.posix_log_overrun_status, POSIX_TRACE_OVERRUN);
		ck_assert_int_eq(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
		shut(trid);

		history = log_history(fd);
		numbers = numbers_of(history, id);
		ck_assert_uint_gt(numbers.n, 0);
		ck_assert_int_eq(numbers.number[numbers.n - 1], n - 1);
		for (size_t i = 1; i < numbers.n; i++)
			ck_assert_int_eq(numbers.number[i], numbers.number[i - 1] + 1);
		ck_assert_int_gt(numbers.number[0], 0);
		ck_assert_uint_eq(history_count(history, POSIX_TRACE_OVERFLOW), 0);
		ck_assert_uint_eq(history_count(history, POSIX_TRACE_RESUME), 0);
		ck_assert_uint_le(data_bytes(history), LOG_BYTES);
		ck_assert_uint_le(log_info(fd).event_bytes, LOG_BYTES);
		/* CH-64: at least 7/8 of the limit is retained, except one event at each end. */
		ck_assert_uint_ge(log_info(fd).event_bytes + 2 * 1100, LOG_BYTES / 8 * 7);
		free(numbers.number);
		history_free(history);
		assert_log_whole(fd);
		close(fd);
	}
}
END_TEST

/* LOG-02, LOG-14: LOOP, not yet wrapped */
START_TEST(a_loop_log_with_room_holds_exactly_what_the_stream_held)
{
	int fd = log_file();
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
					 .log_policy = POSIX_TRACE_LOOP);
	trace_event_id_t id = type_of("n");
	trace_event_set_t set;

	trace_number(id, 1);
	posix_trace_eventset_empty(&set);
	posix_trace_eventset_add(type_of("other"), &set);
	OK(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	trace_number(id, 2);
	OK(posix_trace_flush(trid));
	trace_number(type_of("other"), 3);
	stop(trid);
	start(trid);
	trace_number(id, 4);
	ck_assert_int_eq(status_of(trid).posix_log_full_status, POSIX_TRACE_NOT_FULL);
	shut(trid);
	ck_assert_log_all(fd, "START n=1 FILTER{->other} n=2 FLUSH_START FLUSH_STOP STOP(0) "
			      "START{other} n=4 STOP(0) FLUSH_START FLUSH_STOP");
	close(fd);
}
END_TEST

/* LOG-04, LOG-05, LOG-06, LOG-07, LOG-09, SIZE-15, SHUT-07, STATUS-13, STATUS-14; flush 0: 8.8 */
START_TEST(until_full_ends_in_an_automatic_stop_and_discards_the_rest)
{
	int fd = log_file(), i = 0;
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
					 .log_policy = POSIX_TRACE_UNTIL_FULL,
					 .log_size = LOG_BYTES);
	trace_event_id_t id = type_of("n");
	struct posix_trace_status_info status = { 0 };
	struct posix_trace_ledger_np ledger;
	struct history *history;
	size_t kept;

	for (; status.posix_log_full_status != POSIX_TRACE_FULL; i += 100) {
		ck_assert_int_lt(i, LOG_BYTES);
		trace_and_flush(trid, id, i, 100);
		status = status_of(trid);
	}
	ck_assert_int_eq(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
	ck_assert_int_eq(status.posix_log_overrun_status, POSIX_TRACE_OVERRUN);
	ck_assert_int_eq(status.posix_stream_flush_error, 0);
	ledger = ledger_of(trid);
	ck_assert_uint_gt(ledger.lost[POSIX_TRACE_LOST_LOG_FULL_NP], 0);
	OK(posix_trace_flush(trid));
	shut(trid);

	history = log_history(fd);
	ck_assert_uint_eq(history->event[history->n - 1].info.posix_event_id, POSIX_TRACE_STOP);
	ck_assert_int_ne(int_of(&history->event[history->n - 1]), 0);
	ck_assert_uint_eq(history_count(history, POSIX_TRACE_STOP), 1);
	kept = history_count(history, id);
	assert_numbers_from(history, id, 0, kept);
	ck_assert_uint_lt(kept, i);
	ck_assert_uint_le(data_bytes(history), LOG_BYTES);
	ck_assert_uint_le(log_info(fd).event_bytes, LOG_BYTES);
	/* Full means that one more event and its STOP would not fit. */
	ck_assert_uint_gt(log_info(fd).event_bytes + 32 + 32, LOG_BYTES);
	ck_assert_int_eq(log_status(fd).posix_log_full_status, POSIX_TRACE_FULL);
	history_free(history);
	assert_log_whole(fd);
	close(fd);
}
END_TEST

/* LOG-08, CLEAR-07, CLEAR-08 */
START_TEST(a_full_until_full_log_discards_until_clear_makes_it_new)
{
	int fd = log_file();
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
					 .log_policy = POSIX_TRACE_UNTIL_FULL,
					 .log_size = LOG_BYTES);
	trace_event_id_t id = type_of("n");
	struct posix_trace_status_info status;

	trace_and_flush(trid, id, 0, 1000);
	ck_assert_int_eq(status_of(trid).posix_log_full_status, POSIX_TRACE_FULL);
	start(trid);
	ck_assert_int_eq(status_of(trid).posix_stream_status, POSIX_TRACE_RUNNING);
	trace_number(id, 4711);
	OK(posix_trace_flush(trid));
	status = status_of(trid);
	ck_assert_int_eq(status.posix_log_full_status, POSIX_TRACE_FULL);
	ck_assert_int_eq(status.posix_log_overrun_status, POSIX_TRACE_OVERRUN);

	stop(trid);
	OK(posix_trace_clear(trid));
	status = status_of(trid);
	ck_assert_int_eq(status.posix_log_full_status, POSIX_TRACE_NOT_FULL);
	ck_assert_int_eq(status.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
	ck_assert_int_eq(status.posix_stream_flush_error, 0);
	start(trid);
	trace_number(id, 1);
	shut(trid);
	ck_assert_log(fd, "START n=1 STOP(0)");
	assert_log_whole(fd);
	close(fd);
}
END_TEST

/* CLEAR-07, CLEAR-08, CLEAR-02 */
START_TEST(clear_resets_the_log_of_every_policy_in_a_regular_file)
{
	static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL,
					POSIX_TRACE_APPEND };

	for (int i = 0; i < 3; i++) {
		int fd = log_file();
		trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
						 .log_policy = policies[i]);
		trace_event_id_t id = type_of("n");

		trace_and_flush(trid, id, 0, 300);
		trace_number(id, 1000);
		OK(posix_trace_clear(trid));
		ck_assert_status(trid, RUNNING, NOT_FULL);
		trace_number(id, 1);
		OK(posix_trace_flush(trid));
		trace_number(id, 2);
		shut(trid);
		ck_assert_log(fd, "n=1 n=2 STOP(0)");
		assert_log_whole(fd);
		close(fd);
	}
}
END_TEST

/* CLEAR-09, CLEAR-07: and the account is right */
START_TEST(clear_keeps_the_bytes_in_a_pipe)
{
	struct siphon *siphon = siphon_start();
	struct posix_trace_ledger_np ledger;
	trace_id_t trid = LOGGED_STARTED(siphon_fd(siphon), .policy = POSIX_TRACE_UNTIL_FULL,
					 .log_policy = POSIX_TRACE_APPEND);
	trace_event_id_t id = type_of("n");
	int fd;

	close(siphon_fd(siphon));
	siphon_release(siphon);
	trace_number(id, 1);
	OK(posix_trace_flush(trid));
	trace_number(id, 2);
	OK(posix_trace_clear(trid));
	trace_number(id, 3);
	shut(trid);
	fd = siphon_finish(siphon);
	ck_assert_log(fd, "START n=1 n=3 STOP(0)");
	assert_log_whole(fd);
	trid = log_open(fd);
	OK(posix_trace_get_ledger_type_np(trid, id, &ledger));
	ck_assert_uint_eq(ledger.called, 3);
	ck_assert_uint_eq(ledger.reported, 2);
	ck_assert_uint_eq(ledger.lost[POSIX_TRACE_LOST_CLEARED_NP], 1);
	log_close(trid);
	close(fd);
}
END_TEST

/* SLOOP-05, SLOOP-06, SLOOP-12 with log, as clarified in 8.1 */
START_TEST(a_loop_stream_flushes_its_gap_as_overflow_and_resume)
{
	int fd = log_file(), last = 20000;
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_LOOP,
					 .log_policy = POSIX_TRACE_APPEND);
	trace_event_id_t id = type_of("n");
	struct history *history;
	struct numbers numbers;
	size_t i = 0;

	for (int n = 0; n <= last; n++)
		trace_number(id, n);
	shut(trid);
	history = log_history(fd);
	while (history->event[i].info.posix_event_id == POSIX_TRACE_FLUSH_START)
		i++;
	ck_assert_uint_eq(history->event[i].info.posix_event_id, POSIX_TRACE_OVERFLOW);
	ck_assert_uint_eq(history->event[i + 1].info.posix_event_id, POSIX_TRACE_RESUME);
	ck_assert_uint_eq(history->event[i + 2].info.posix_event_id, id);
	ck_assert_int_eq(nanoseconds(&history->event[i + 1].info.posix_timestamp),
			 nanoseconds(&history->event[i + 2].info.posix_timestamp));
	ck_assert_int_lt(nanoseconds(&history->event[i].info.posix_timestamp),
			 nanoseconds(&history->event[i + 1].info.posix_timestamp));
	numbers = numbers_of(history, id);
	ck_assert_int_eq(numbers.number[numbers.n - 1], last);
	for (size_t k = 1; k < numbers.n; k++)
		ck_assert_int_eq(numbers.number[k], numbers.number[k - 1] + 1);
	free(numbers.number);
	ck_assert_uint_eq(history_count(history, POSIX_TRACE_OVERFLOW), 1);
	ck_assert_uint_eq(history_count(history, POSIX_TRACE_RESUME), 1);
	history_free(history);
	close(fd);
}
END_TEST

SUITE_MAIN("log-full policies", append_keeps_everything_and_ignores_the_size,
	   loop_keeps_the_newest_and_overwrites_the_oldest,
	   a_loop_log_with_room_holds_exactly_what_the_stream_held,
	   until_full_ends_in_an_automatic_stop_and_discards_the_rest,
	   a_full_until_full_log_discards_until_clear_makes_it_new,
	   clear_resets_the_log_of_every_policy_in_a_regular_file,
	   clear_keeps_the_bytes_in_a_pipe,
	   a_loop_stream_flushes_its_gap_as_overflow_and_resume)
