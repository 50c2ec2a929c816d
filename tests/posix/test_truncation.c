/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The amount of an event's data that a stream keeps and a reader gets. */
#include <stdlib.h>
#include <string.h>

#include "support/stream.h"

#define BUFFER 64

/* Reads once with a buffer of num_bytes. */
struct cut {
	struct posix_trace_event_info info;
	unsigned char data[BUFFER];
	size_t len;
};

static struct cut read_cut(trace_id_t trid, size_t num_bytes)
{
	struct cut cut;
	int unavailable;

	memset(&cut, 0xcc, sizeof(cut));
	ck_assert_uint_le(num_bytes, BUFFER);
	OK(posix_trace_trygetnext_event(trid, &cut.info, num_bytes ? cut.data : NULL, num_bytes,
					&cut.len, &unavailable));
	ck_assert_int_eq(unavailable, 0);
	return cut;
}

static void skip_start(trace_id_t trid)
{
	struct seen seen;

	ck_assert_int_eq(read_one(trid, &seen), 1);
	ck_assert_uint_eq(seen.info.posix_event_id, POSIX_TRACE_START);
	free(seen.data);
}

static const unsigned char alphabet[] = "abcdefghijklmnopqrstuvwxyz0123456789";

/* TRUNC-01, TRUNC-02, TRUNC-03, TRUNC-07, TRUNC-08: every length with every buffer size */
START_TEST(the_reader_gets_the_smaller_of_data_and_room)
{
	enum { MAX = 20 };
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.max_data = MAX);

	skip_start(trid);
	for (size_t len = 0; len < 30; len++)
		for (size_t room = 0; room < 30; room++) {
			size_t recorded = len < MAX ? len : MAX;
			size_t got = recorded < room ? recorded : room;
			int expected = room < recorded ? POSIX_TRACE_TRUNCATED_READ
				     : len > MAX ? POSIX_TRACE_TRUNCATED_RECORD
						 : POSIX_TRACE_NOT_TRUNCATED;
			struct cut cut;

			posix_trace_event(u, alphabet, len);
			cut = read_cut(trid, room);
			ck_assert_uint_eq(cut.info.posix_event_id, u);
			ck_assert_uint_eq(cut.len, got);
			ck_assert_int_eq(cut.info.posix_truncation_status, expected);
			ck_assert(!memcmp(cut.data, alphabet, got));
			for (size_t i = got; i < BUFFER; i++)
				ck_assert_uint_eq(cut.data[i], 0xcc);
		}
	shut(trid);
}
END_TEST

/* TRUNC-04, GETNEXT-01: with each of the reading calls */
START_TEST(null_is_a_buffer_for_0_bytes)
{
	struct timespec past = { 0, 0 };
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.max_data = 8);
	struct posix_trace_event_info info;
	static const struct {
		size_t len;
		int status;
	} row[] = { { 0, POSIX_TRACE_NOT_TRUNCATED },
		    { 1, POSIX_TRACE_TRUNCATED_READ },
		    { 9, POSIX_TRACE_TRUNCATED_READ } };

	skip_start(trid);
	for (int i = 0; i < 9; i++) {
		int unavailable = -1;
		size_t len = 77;

		posix_trace_event(u, alphabet, row[i / 3].len);
		if (i % 3 == 0)
			OK(posix_trace_trygetnext_event(trid, &info, NULL, 0, &len, &unavailable));
		if (i % 3 == 1)
			OK(posix_trace_getnext_event(trid, &info, NULL, 0, &len, &unavailable));
		if (i % 3 == 2)
			OK(posix_trace_timedgetnext_event(trid, &info, NULL, 0, &len,
							  &unavailable, &past));
		ck_assert_int_eq(unavailable, 0);
		ck_assert_uint_eq(len, 0);
		ck_assert_int_eq(info.posix_truncation_status, row[i / 3].status);
	}
	shut(trid);
}
END_TEST

/* TRUNC-05 */
START_TEST(the_rest_of_a_truncated_read_is_lost)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED();
	struct cut cut;

	skip_start(trid);
	posix_trace_event(u, alphabet, 20);
	trace_number(u, 2);
	cut = read_cut(trid, 5);
	ck_assert_int_eq(cut.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_READ);
	ck_assert_events(trid, "u=2");
	shut(trid);
}
END_TEST

/* SIZE-14, EVENT-03 */
START_TEST(a_stream_for_0_bytes_of_data_records_events_without_data)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.max_data = NO_DATA);
	struct cut cut;

	skip_start(trid);
	posix_trace_event(u, alphabet, 20);
	posix_trace_event(u, alphabet, 0);
	posix_trace_event(u, alphabet, 1);
	cut = read_cut(trid, BUFFER);
	ck_assert_uint_eq(cut.len, 0);
	ck_assert_int_eq(cut.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_RECORD);
	cut = read_cut(trid, BUFFER);
	ck_assert_uint_eq(cut.len, 0);
	ck_assert_int_eq(cut.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	cut = read_cut(trid, 0);
	ck_assert_uint_eq(cut.len, 0);
	ck_assert_int_eq(cut.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_RECORD);
	shut(trid);
}
END_TEST

/* SIZE-13: the maximum for user data is 0, and system events are complete */
START_TEST(the_maximum_is_for_user_data_only)
{
	trace_id_t trid = STREAM(.max_data = NO_DATA);
	trace_event_set_t all, got;
	struct history *history;

	OK(posix_trace_eventset_fill(&all, POSIX_TRACE_ALL_EVENTS));
	OK(posix_trace_eventset_del(POSIX_TRACE_START, &all));
	OK(posix_trace_eventset_del(POSIX_TRACE_STOP, &all));
	OK(posix_trace_eventset_del(POSIX_TRACE_FILTER, &all));
	start(trid);
	OK(posix_trace_set_filter(trid, &all, POSIX_TRACE_SET_EVENTSET));
	stop(trid);
	history = read_all(trid);
	ck_assert_uint_eq(history->n, 3);
	ck_assert_uint_eq(history->event[0].len, sizeof(all));
	ck_assert_uint_eq(history->event[1].len, 2 * sizeof(all));
	memcpy(&got, history->event[1].data + sizeof(all), sizeof(got));
	ck_assert_mem_eq(&got, &all, sizeof(all));
	ck_assert_int_eq(int_of(&history->event[2]), 0);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(history->event[i].info.posix_truncation_status,
				 POSIX_TRACE_NOT_TRUNCATED);
	history_free(history);
	shut(trid);
}
END_TEST

/* TRUNC-02: the read truncates system events like others */
START_TEST(a_system_event_is_cut_to_the_room)
{
	trace_id_t trid = STARTED();
	struct cut cut;

	stop(trid);
	cut = read_cut(trid, 7);
	ck_assert_uint_eq(cut.info.posix_event_id, POSIX_TRACE_START);
	ck_assert_uint_eq(cut.len, 7);
	ck_assert_int_eq(cut.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_READ);
	cut = read_cut(trid, 3);
	ck_assert_uint_eq(cut.info.posix_event_id, POSIX_TRACE_STOP);
	ck_assert_uint_eq(cut.len, 3);
	ck_assert_int_eq(cut.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_READ);
	shut(trid);
}
END_TEST

/*
 * EVENT-02, EVENT-03, TRUNC-08: the paths of an event differ by the length of its data and by
 * whether the stream's maximum is at least 32 bytes.
 */
START_TEST(one_byte_more_than_the_maximum_is_cut_on_every_path)
{
	static const size_t max[] = { 1,  4,   7,   8,   16,  31,  32,  33,  40,
				      63, 64, 65, 127, 128, 129, 255, 256, 257 };
	trace_event_id_t u = type_of("u");
	unsigned char data[300];

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7 + 1);
	for (size_t m = 0; m < sizeof(max) / sizeof(max[0]); m++) {
		trace_id_t trid = STARTED(.max_data = max[m]);
		struct history *history;
		size_t n = 0;

		skip_start(trid);
		for (size_t len = max[m] - 1; len <= max[m] + 9; len++)
			posix_trace_event(u, data, len);
		history = read_all(trid);
		ck_assert_uint_eq(history->n, 11);
		for (size_t len = max[m] - 1; len <= max[m] + 9; len++, n++) {
			const struct seen *seen = &history->event[n];

			ck_assert_uint_eq(seen->len, len < max[m] ? len : max[m]);
			ck_assert_mem_eq(seen->data, data, seen->len);
			ck_assert_int_eq(seen->info.posix_truncation_status,
					 len > max[m] ? POSIX_TRACE_TRUNCATED_RECORD
						      : POSIX_TRACE_NOT_TRUNCATED);
		}
		history_free(history);
		shut(trid);
	}
}
END_TEST

/* EVENT-02: data of a million bytes */
START_TEST(large_data_is_whole)
{
	enum { LEN = 1000000 };
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.max_data = LEN, .policy = POSIX_TRACE_UNTIL_FULL);
	unsigned char *data = malloc(LEN + 1);
	struct history *history;

	for (int i = 0; i <= LEN; i++)
		data[i] = (unsigned char)(i * 2654435761u >> 13);
	skip_start(trid);
	for (size_t len = LEN - 1; len <= LEN + 1; len++) {
		posix_trace_event(u, data, len);
		history = read_all(trid);
		ck_assert_uint_eq(history->n, 1);
		ck_assert_uint_eq(history->event[0].len, len > LEN ? LEN : len);
		ck_assert(!memcmp(history->event[0].data, data, history->event[0].len));
		ck_assert_int_eq(history->event[0].info.posix_truncation_status,
				 len > LEN ? POSIX_TRACE_TRUNCATED_RECORD
					   : POSIX_TRACE_NOT_TRUNCATED);
		history_free(history);
	}
	free(data);
	shut(trid);
}
END_TEST

SUITE_MAIN("truncation",
	   the_reader_gets_the_smaller_of_data_and_room,
	   null_is_a_buffer_for_0_bytes,
	   the_rest_of_a_truncated_read_is_lost,
	   a_stream_for_0_bytes_of_data_records_events_without_data,
	   the_maximum_is_for_user_data_only,
	   a_system_event_is_cut_to_the_room,
	   one_byte_more_than_the_maximum_is_cut_on_every_path,
	   large_data_is_whole)
