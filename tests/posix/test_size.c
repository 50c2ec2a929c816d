/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The promise of stream-min-size: if the sum of the maximum sizes of events is at most this size,
 * all these events are recorded, from any threads and after any earlier events and reads.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/memory_file.h"
#include "support/payload.h"
#include "support/random.h"
#include "support/stream.h"

static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL };

/* Asserts that no event was lost and that the next event will not be lost. */
static void assert_no_loss(trace_id_t trid, const char *when, int round)
{
	struct posix_trace_status_info status = status_of(trid);

	if (status.posix_stream_status != POSIX_TRACE_RUNNING)
		ck_abort_msg("%s, round %d: the stream has stopped", when, round);
	if (status.posix_stream_overrun_status != POSIX_TRACE_NO_OVERRUN)
		ck_abort_msg("%s, round %d: events were lost", when, round);
}

/* Sequence 8 of a stream without log: SIZE-05, SIZE-07, SIZE-10, SIZE-11 */
START_TEST(an_exact_fit_loses_nothing)
{
	static const size_t lens[] = { 0, 1, 7, 8, 9, 64, 100, 1000, 1024 };
	static const int counts[] = { 1, 2, 3, 50, 777 };
	trace_event_id_t u = type_of("u");
	char data[1024] = "";

	for (size_t i = 0; i < 2 * 9 * 5; i++) {
		size_t len = lens[i % 9];
		int n = counts[i / 9 % 5];
		struct history *history;
		trace_attr_t attr;
		trace_id_t trid;

		wish_attr(&attr, &(struct wish){ .policy = policies[i / 45], .max_data = 1024 });
		OK(posix_trace_attr_setstreamsize(
			&attr, system_event_size(&attr) + n * user_event_size(&attr, len)));
		OK(posix_trace_create(0, &attr, &trid));
		start(trid);
		for (int k = 0; k < n; k++)
			posix_trace_event(u, data, len);
		assert_no_loss(trid, "exact fit", (int)i);
		history = read_all(trid);
		ck_assert_uint_eq(history->n, n + 1);
		ck_assert_uint_eq(history->event[0].info.posix_event_id, POSIX_TRACE_START);
		ck_assert_uint_eq(history_count(history, u), n);
		history_free(history);
		shut(trid);
	}
}
END_TEST

/* SIZE-05, SIZE-06, SIZE-10, SIZE-11: starts, stops and filters are part of the collection */
START_TEST(an_exact_fit_of_system_events_loses_nothing)
{
	trace_event_set_t all;

	OK(posix_trace_eventset_fill(&all, POSIX_TRACE_ALL_EVENTS));
	OK(posix_trace_eventset_del(POSIX_TRACE_START, &all));
	OK(posix_trace_eventset_del(POSIX_TRACE_STOP, &all));
	OK(posix_trace_eventset_del(POSIX_TRACE_FILTER, &all));
	for (int i = 0; i < 2 * 40; i++) {
		struct history *history;
		trace_attr_t attr;
		trace_id_t trid;
		int n = 0;

		wish_attr(&attr, &(struct wish){ .policy = policies[i / 40] });
		ck_assert_uint_ge(system_event_size(&attr), 2 * sizeof(all));
		OK(posix_trace_attr_setstreamsize(&attr,
						  (5 * (i % 40) + 1) * system_event_size(&attr)));
		OK(posix_trace_create(0, &attr, &trid));
		start(trid);
		for (int k = 0; k < i % 40; k++) {
			OK(posix_trace_set_filter(trid, &all, POSIX_TRACE_ADD_EVENTSET));
			OK(posix_trace_set_filter(trid, &all, POSIX_TRACE_SUB_EVENTSET));
			OK(posix_trace_set_filter(trid, &all, POSIX_TRACE_SET_EVENTSET));
			stop(trid);
			start(trid);
			n += 5;
		}
		assert_no_loss(trid, "system events", i);
		history = read_all(trid);
		ck_assert_uint_eq(history->n, n + 1);
		history_free(history);
		shut(trid);
	}
}
END_TEST

/* SIZE-03, SIZE-04: names and attributes need none of the size */
START_TEST(the_size_is_for_events_alone)
{
	trace_event_id_t u = type_of("u");
	struct history *history;
	trace_attr_t attr;
	trace_id_t trid;
	char name[32];

	for (int i = 0; i < 400; i++) {
		snprintf(name, sizeof(name), "a rather long name %d", i);
		type_of(name);
	}
	wish_attr(&attr, &(struct wish){ .policy = POSIX_TRACE_UNTIL_FULL,
					 .name = "a stream with a long name" });
	OK(posix_trace_attr_setstreamsize(
		&attr, system_event_size(&attr) + 100 * user_event_size(&attr, 8)));
	OK(posix_trace_create(0, &attr, &trid));
	ck_assert_uint_ge(stream_size(trid),
			  system_event_size(&attr) + 100 * user_event_size(&attr, 8));
	start(trid);
	for (int i = 0; i < 100; i++)
		posix_trace_event(u, "12345678", 8);
	assert_no_loss(trid, "with many names", 0);
	history = read_all(trid);
	ck_assert_uint_eq(history->n, 101);
	history_free(history);
	shut(trid);
}
END_TEST

/* SIZE-12: fills, drains and fills again, beginning at every offset of the memory */
START_TEST(after_any_offset_the_whole_size_is_there)
{
	trace_event_id_t u = type_of("u");
	char data[100] = "";

	for (int p = 0; p < 2; p++) {
		trace_attr_t attr;
		trace_id_t trid;
		size_t size;

		wish_attr(&attr, &(struct wish){ .policy = policies[p], .max_data = 100 });
		size = 30 * user_event_size(&attr, 100);
		OK(posix_trace_attr_setstreamsize(&attr, size));
		OK(posix_trace_create(0, &attr, &trid));
		start(trid);
		history_free(read_all(trid));
		for (int offset = 0; offset < 700; offset++) {
			size_t len = offset % 101;
			struct history *history;
			int n = 0;

			posix_trace_event(u, data, offset % 13); /* the next offset */
			history_free(read_all(trid));
			for (size_t room = size; room >= user_event_size(&attr, len); n++) {
				room -= user_event_size(&attr, len);
				posix_trace_event(u, data, len);
			}
			assert_no_loss(trid, "at an offset", offset);
			history = read_all(trid);
			ck_assert_uint_eq(history->n, n);
			ck_assert_uint_eq(history_count(history, u), n);
			history_free(history);
		}
		shut(trid);
	}
}
END_TEST

/*
 * SIZE-12, GETNEXT-03: an event that was read frees its space immediately, also between unread
 * events
 */
START_TEST(events_read_one_by_one_make_room_one_by_one)
{
	trace_event_id_t u = type_of("u");
	unsigned char data[300];
	uint64_t state = 9, made = 0, read = 0;

	for (int p = 0; p < 2; p++) {
		size_t cost[1000], size, unread = 0;
		trace_attr_t attr;
		trace_id_t trid;

		wish_attr(&attr, &(struct wish){ .policy = policies[p], .max_data = 300 });
		size = 40 * user_event_size(&attr, 150);
		OK(posix_trace_attr_setstreamsize(&attr, size));
		OK(posix_trace_create(0, &attr, &trid));
		start(trid);
		history_free(read_all(trid));
		made = read = 0;
		for (int round = 0; round < 3000; round++) {
			size_t len = random_between(&state, PAYLOAD_MIN, sizeof(data));
			size_t take = random_between(&state, 0, 60);

			for (; unread + user_event_size(&attr, len) <= size; made++) {
				payload_make(data, len, 1, made);
				posix_trace_event(u, data, len);
				cost[made % 1000] = user_event_size(&attr, len);
				unread += cost[made % 1000];
				len = random_between(&state, PAYLOAD_MIN, sizeof(data));
			}
			assert_no_loss(trid, "one by one", round);
			for (; take && read < made; take--, read++) {
				uint64_t sequence;
				struct seen seen;
				uint32_t who;

				ck_assert_int_eq(read_one(trid, &seen), 1);
				if (!payload_read(seen.data, seen.len, &who, &sequence) ||
				    sequence != read)
					ck_abort_msg("event %llu is wrong",
						     (unsigned long long)read);
				unread -= cost[read % 1000];
				free(seen.data);
			}
		}
		shut(trid);
	}
}
END_TEST

/*
 * SIZE-10, SIZE-12: with this size, no fixed reserve is a significant part. These lengths leave as
 * much of the memory unused as possible: the test records a large event whenever the rest of a
 * piece, of any power of two, is just too small for this event.
 */
START_TEST(a_large_size_is_not_saved_by_its_reserve)
{
	static const size_t lens[] = { 4000, 4000, 4000, 208 };
	trace_event_id_t u = type_of("u");
	static char data[4000];

	for (int p = 0; p < 2; p++) {
		trace_attr_t attr;
		trace_id_t trid;

		wish_attr(&attr, &(struct wish){ .policy = policies[p], .max_data = 4000,
						 .size = 64 << 20 });
		OK(posix_trace_create(0, &attr, &trid));
		start(trid);
		history_free(read_all(trid));
		for (int round = 0; round < 4; round++) {
			struct posix_trace_event_info info;
			int n = 0, unavailable;
			size_t len;

			for (size_t room = 64 << 20;; n++) {
				if (room < user_event_size(&attr, lens[n % 4]))
					break;
				room -= user_event_size(&attr, lens[n % 4]);
				posix_trace_event(u, data, lens[n % 4]);
			}
			assert_no_loss(trid, "a large size", round);
			do {
				OK(posix_trace_trygetnext_event(trid, &info, NULL, 0, &len,
								&unavailable));
				n -= !unavailable;
			} while (!unavailable);
			ck_assert_int_eq(n, 0);
			for (int i = 0; i < round; i++) /* the round begins at another offset */
				posix_trace_event(u, data, 1000 * round);
			history_free(read_all(trid));
		}
		shut(trid);
	}
}
END_TEST

/* SIZE-10: FLUSH, the third policy; its events are in the log at the end */
START_TEST(an_exact_fit_with_a_log_loses_nothing)
{
	trace_event_id_t u = type_of("u");
	static const int counts[] = { 1, 2, 50, 777 };

	for (int i = 0; i < 4; i++) {
		int fd = memory_file("log", MFD_CLOEXEC), n = counts[i];
		struct history *history;
		trace_attr_t attr;
		trace_id_t trid;

		wish_attr(&attr, &(struct wish){ .policy = POSIX_TRACE_FLUSH });
		OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
		OK(posix_trace_attr_setstreamsize(
			&attr, system_event_size(&attr) + n * user_event_size(&attr, 32)));
		OK(posix_trace_create_withlog(0, &attr, fd, &trid));
		start(trid);
		for (int k = 0; k < n; k++)
			posix_trace_event(u, "0123456789abcdef0123456789abcdef", 32);
		assert_no_loss(trid, "with log", i);
		shut(trid);
		OK(posix_trace_open(fd, &trid));
		history = read_log(trid);
		ck_assert_uint_eq(history_count(history, u), n);
		ck_assert_uint_eq(history_count(history, POSIX_TRACE_START), 1);
		history_free(history);
		OK(posix_trace_close(trid));
		close(fd);
	}
}
END_TEST

SUITE_MAIN("stream-min-size",
	   an_exact_fit_loses_nothing,
	   an_exact_fit_of_system_events_loses_nothing,
	   the_size_is_for_events_alone,
	   after_any_offset_the_whole_size_is_there,
	   events_read_one_by_one_make_room_one_by_one,
	   a_large_size_is_not_saved_by_its_reserve,
	   an_exact_fit_with_a_log_loses_nothing)
