/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The worked sequences 9 to 13 of the specification: streams with log. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/log.h"

static trace_event_id_t u;

static void find_type(void)
{
	u = type_of("u");
}

/* Sequence 9: WITHLOG-01, SHUT-01, SHUT-03, OPEN-01, REWIND-01, GETNEXT-06, LOG-14 */
START_TEST(default_log_holds_start_events_stop_and_repeats_after_rewind)
{
	int fd = log_file();
	char *texts[2];
	trace_id_t trid;

	find_type();
	OK(posix_trace_create_withlog(0, NULL, fd, &trid));
	start(trid);
	trace_number(u, 1);
	trace_number(u, 2);
	shut(trid);
	ck_assert_log(fd, "START u=1 u=2 STOP(0)");
	trid = log_open(fd);
	for (int i = 0; i < 2; i++) {
		struct history *history = read_log(trid);

		texts[i] = history_text(trid, history);
		history_free(history);
		OK(posix_trace_rewind(trid));
	}
	ck_assert_str_eq(texts[0], texts[1]);
	free(texts[0]);
	free(texts[1]);
	log_close(trid);
	close(fd);
}
END_TEST

/* Sequence 10: FLUSHF-01, FLUSHF-04, SHUT-01, LOG-14 */
START_TEST(an_explicit_flush_is_framed_by_its_marks)
{
	int fd = log_file();
	trace_id_t trid;

	find_type();
	trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL);
	trace_number(u, 1);
	OK(posix_trace_flush(trid));
	trace_number(u, 2);
	shut(trid);
	ck_assert_log_all(fd, "START u=1 FLUSH_START FLUSH_STOP u=2 STOP(0) "
			      "FLUSH_START FLUSH_STOP");
	close(fd);
}
END_TEST

/* Sequence 11: LOG-04, LOG-05, LOG-06, LOG-07, STATUS-13, STATUS-14 */
START_TEST(a_log_until_full_ends_in_the_automatic_stop)
{
	static const int policies[] = { POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH,
					POSIX_TRACE_LOOP };

	find_type();
	for (int p = 0; p < 3; p++) {
		int fd = log_file(), n = 0;
		struct posix_trace_status_info status = { 0 };
		struct history *history;
		size_t k;
		trace_id_t trid = LOGGED_STARTED(fd, .policy = policies[p],
						 .log_policy = POSIX_TRACE_UNTIL_FULL,
						 .log_size = 10000);

		while (status.posix_log_full_status != POSIX_TRACE_FULL) {
			ck_assert_int_lt(n, 10000);
			for (int i = 0; i < 50; i++)
				trace_number(u, n++);
			OK(posix_trace_flush(trid));
			status = status_of(trid);
		}
		ck_assert_int_eq(status.posix_log_overrun_status, POSIX_TRACE_OVERRUN);
		ck_assert_int_eq(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
		shut(trid);
		history = log_history(fd);
		k = history_count(history, u);
		ck_assert_uint_gt(k, 0);
		assert_numbers_from(history, u, 0, k);
		ck_assert_uint_eq(history->event[0].info.posix_event_id, POSIX_TRACE_START);
		ck_assert_uint_eq(history_count(history, POSIX_TRACE_START), 1);
		ck_assert_uint_eq(history_count(history, POSIX_TRACE_STOP), 1);
		ck_assert_uint_eq(history->event[history->n - 1].info.posix_event_id,
				  POSIX_TRACE_STOP);
		ck_assert_int_ne(int_of(&history->event[history->n - 1]), 0);
		history_free(history);
		close(fd);
	}
}
END_TEST

/* Sequence 12: LOG-02, LOG-03, LOG-09, LOG-13, STATUS-13 */
START_TEST(a_log_loop_holds_a_gapless_tail_that_ends_with_the_newest)
{
	const int n = 20000;
	int fd = log_file();
	struct posix_trace_status_info status;
	struct history *history;
	struct numbers numbers;
	trace_id_t trid;

	find_type();
	trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL, .size = 2 << 20,
			      .log_policy = POSIX_TRACE_LOOP, .log_size = 50000);
	for (int i = 0; i < n; i++)
		trace_number(u, i);
	OK(posix_trace_flush(trid));
	status = status_of(trid);
	ck_assert_int_eq(status.posix_log_overrun_status, POSIX_TRACE_OVERRUN);
	shut(trid);
	ck_assert_int_eq(log_status(fd).posix_log_full_status, POSIX_TRACE_FULL);
	history = log_history(fd);
	numbers = numbers_of(history, u);
	ck_assert_uint_gt(numbers.n, 0);
	ck_assert_uint_lt(numbers.n, n);
	ck_assert_int_eq(numbers.number[numbers.n - 1], n - 1);
	for (size_t i = 1; i < numbers.n; i++)
		ck_assert_int_eq(numbers.number[i], numbers.number[i - 1] + 1);
	ck_assert_uint_le(log_info(fd).event_bytes, 50000);
	free(numbers.number);
	history_free(history);
	close(fd);
}
END_TEST

/* Sequence 13 in a log: TRUNC-01, TRUNC-02, TRUNC-03, TRUNC-04, TRUNC-06, TRUNC-07, LOG-18 */
START_TEST(a_truncated_read_of_a_log_can_be_repeated_with_a_bigger_buffer)
{
	static const char text[] = "12345678901234567890";
	struct posix_trace_event_info info;
	int fd = log_file(), unavailable = 1;
	char data[100];
	trace_id_t trid;
	size_t len;

	find_type();
	trid = LOGGED_STARTED(fd, .max_data = 8);
	posix_trace_event(u, text, 20);
	posix_trace_event(u, text, 8);
	posix_trace_event(u, text, 0);
	shut(trid);
	trid = log_open(fd);
	OK(posix_trace_getnext_event(trid, &info, data, sizeof(data), &len, &unavailable));
	ck_assert_uint_eq(info.posix_event_id, POSIX_TRACE_START);

	memset(data, 'x', sizeof(data));
	OK(posix_trace_getnext_event(trid, &info, data, 4, &len, &unavailable));
	ck_assert_int_eq(unavailable, 0);
	ck_assert_uint_eq(len, 4);
	ck_assert_mem_eq(data, "1234xxxx", 8);
	ck_assert_int_eq(info.posix_truncation_status, POSIX_TRACE_TRUNCATED_READ);
	OK(posix_trace_getnext_event(trid, &info, data, 8, &len, &unavailable));
	ck_assert_uint_eq(len, 8);
	ck_assert_int_eq(info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	OK(posix_trace_getnext_event(trid, &info, NULL, 0, &len, &unavailable));
	ck_assert_uint_eq(len, 0);
	ck_assert_int_eq(info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);

	OK(posix_trace_rewind(trid));
	OK(posix_trace_getnext_event(trid, &info, NULL, 0, &len, &unavailable));
	ck_assert_uint_eq(len, 0);
	ck_assert_int_eq(info.posix_truncation_status, POSIX_TRACE_TRUNCATED_READ);
	memset(data, 'x', sizeof(data));
	OK(posix_trace_getnext_event(trid, &info, data, 100, &len, &unavailable));
	ck_assert_uint_eq(info.posix_event_id, u);
	ck_assert_uint_eq(len, 8);
	ck_assert_mem_eq(data, "12345678xxxx", 12);
	ck_assert_int_eq(info.posix_truncation_status, POSIX_TRACE_TRUNCATED_RECORD);
	log_close(trid);
	close(fd);
}
END_TEST

/* Sequence 13 with a live stream: TRUNC-02, TRUNC-03, TRUNC-05 */
START_TEST(a_truncated_read_of_a_stream_consumes_the_event)
{
	struct posix_trace_event_info info;
	int unavailable = 1;
	char data[100];
	trace_id_t trid;
	size_t len;

	find_type();
	trid = STARTED(.max_data = 8);
	posix_trace_event(u, "12345678901234567890", 20);
	posix_trace_event(u, "abc", 3);
	OK(posix_trace_trygetnext_event(trid, &info, NULL, 0, &len, &unavailable));
	ck_assert_uint_eq(info.posix_event_id, POSIX_TRACE_START);
	OK(posix_trace_trygetnext_event(trid, &info, data, 4, &len, &unavailable));
	ck_assert_uint_eq(len, 4);
	ck_assert_int_eq(info.posix_truncation_status, POSIX_TRACE_TRUNCATED_READ);
	OK(posix_trace_trygetnext_event(trid, &info, data, 100, &len, &unavailable));
	ck_assert_uint_eq(len, 3);
	ck_assert_mem_eq(data, "abc", 3);
	ck_assert_int_eq(info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	shut(trid);
}
END_TEST

SUITE_MAIN("worked sequences with log",
	   default_log_holds_start_events_stop_and_repeats_after_rewind,
	   an_explicit_flush_is_framed_by_its_marks, a_log_until_full_ends_in_the_automatic_stop,
	   a_log_loop_holds_a_gapless_tail_that_ends_with_the_newest,
	   a_truncated_read_of_a_log_can_be_repeated_with_a_bigger_buffer,
	   a_truncated_read_of_a_stream_consumes_the_event)
