/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_event(): the recorded data, the streams that record it, and its attributes. */
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/stream.h"

/* EVENT-01, EVENT-05 */
START_TEST(an_event_goes_to_every_running_stream_that_does_not_filter_it)
{
	trace_event_id_t u = type_of("u");
	trace_id_t first = STARTED(), second = STARTED(), filtered = STREAM(), stopped = STREAM();
	trace_event_set_t set;

	OK(posix_trace_eventset_empty(&set));
	OK(posix_trace_eventset_add(u, &set));
	OK(posix_trace_set_filter(filtered, &set, POSIX_TRACE_SET_EVENTSET));
	start(filtered);
	trace_number(u, 1);
	stop(second);
	trace_number(u, 2);
	ck_assert_events(first, "START u=1 u=2");
	ck_assert_events(second, "START u=1 STOP(0)");
	ck_assert_events(filtered, "START{u}");
	assert_empty(stopped);
	ck_assert_int_eq(status_of(filtered).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	ck_assert_int_eq(status_of(second).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	ck_assert_int_eq(status_of(stopped).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	shut(first);
	shut(second);
	shut(filtered);
	shut(stopped);
}
END_TEST

/* EVENT-05, EVENT-17, GEN-03 */
START_TEST(without_a_stream_an_event_does_nothing)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid;

	errno = 4711;
	for (int i = 0; i < 1000; i++)
		trace_number(u, i);
	ck_assert_int_eq(errno, 4711);
	trid = STARTED();
	ck_assert_events(trid, "START");
	shut(trid);
	trace_number(u, 1);
}
END_TEST

/* EVENT-05 with the inline check: without a stream the arguments are not evaluated */
START_TEST(a_trace_point_is_an_event_while_there_is_a_stream)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid;
	int evaluated = 0;

	posix_trace_point_np((evaluated++, u), "x", 1);
	ck_assert_int_eq(evaluated, 0);
	ck_assert_int_eq(*posix_trace_active_np, 0);
	trid = STARTED();
	ck_assert_int_ne(*posix_trace_active_np, 0);
	posix_trace_point_np((evaluated++, u), &evaluated, sizeof(evaluated));
	ck_assert_int_eq(evaluated, 1);
	ck_assert_events(trid, "START u=1");
	shut(trid);
	posix_trace_point_np((evaluated++, u), "x", 1);
	ck_assert_int_eq(evaluated, 1);
}
END_TEST

/* EVENT-02, EVENT-10: any length, any bytes, at any address */
START_TEST(the_data_is_recorded_byte_by_byte)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.size = 1 << 20);
	unsigned char buffer[400];
	struct history *history;
	size_t n = 1;

	for (size_t align = 0; align < 8; align++)
		for (size_t len = 0; len < 300; len++) {
			for (size_t i = 0; i < len; i++)
				buffer[align + i] = (unsigned char)(len + 3 * i + align);
			posix_trace_event(u, buffer + align, len);
			memset(buffer, 0, sizeof(buffer)); /* after the call, when it has no
							    * effect */
		}
	history = read_all(trid);
	for (size_t align = 0; align < 8; align++)
		for (size_t len = 0; len < 300; len++, n++) {
			struct seen *seen = &history->event[n];

			ck_assert_uint_lt(n, history->n);
			ck_assert_uint_eq(seen->len, len);
			ck_assert_int_eq(seen->info.posix_truncation_status,
					 POSIX_TRACE_NOT_TRUNCATED);
			for (size_t i = 0; i < len; i++)
				if (seen->data[i] != (unsigned char)(len + 3 * i + align))
					ck_abort_msg("byte %zu of %zu is wrong", i, len);
		}
	ck_assert_uint_eq(history->n, n);
	history_free(history);
	shut(trid);
}
END_TEST

/* EVENT-10: all 256 values */
START_TEST(every_byte_value_survives)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED();
	unsigned char all[256];
	struct history *history;

	for (int i = 0; i < 256; i++)
		all[i] = (unsigned char)(255 - i);
	posix_trace_event(u, all, sizeof(all));
	history = read_all(trid);
	ck_assert_uint_eq(history->n, 2);
	ck_assert_uint_eq(history->event[1].len, sizeof(all));
	ck_assert_mem_eq(history->event[1].data, all, sizeof(all));
	history_free(history);
	shut(trid);
}
END_TEST

static void *trace_and_tell(void *arg)
{
	trace_number(*(trace_event_id_t *)arg, (int)thread_id());
	return NULL;
}

/* EVENT-06, EVENT-07, FORK-14 */
START_TEST(an_event_has_its_process_and_its_thread)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED();
	struct history *history;
	pthread_t thread[8];

	for (int i = 0; i < 8; i++)
		thread[i] = spawn(trace_and_tell, &u);
	trace_number(u, 0);
	for (int i = 0; i < 8; i++)
		join(thread[i]);
	history = read_all(trid);
	ck_assert_uint_eq(history->n, 10);
	for (int i = 0; i < 8; i++) {
		int found = 0;

		for (size_t k = 1; k < history->n; k++)
			found += !!pthread_equal(history->event[k].info.posix_thread_id,
						 thread[i]);
		/* A later thread may have the identifier of an earlier one. */
		ck_assert_int_ge(found, 1);
	}
	for (size_t k = 1; k < history->n; k++) {
		struct seen *seen = &history->event[k];
		int mine = !!pthread_equal(seen->info.posix_thread_id, pthread_self());

		ck_assert_int_eq(seen->info.posix_pid, getpid());
		ck_assert_int_eq(mine, number_of(seen) == 0);
	}
	history_free(history);
	shut(trid);
}
END_TEST

extern char __start_point_text[], __stop_point_text[];

__attribute__((noinline, section("point_text"))) static void trace_point(trace_event_id_t id)
{
	(posix_trace_event)(id, NULL, 0);
	__asm__ volatile(""); /* the compiler must make a call */
	posix_trace_event(id, NULL, 0);
	__asm__ volatile("");
}

/* EVENT-08 */
START_TEST(the_program_address_is_that_of_the_call)
{
	trace_id_t trid = STARTED();
	struct history *history;
	char *first, *second;

	trace_point(type_of("u"));
	trace_point(type_of("u"));
	history = read_all(trid);
	ck_assert_uint_eq(history->n, 5);
	first = history->event[1].info.posix_prog_address;
	second = history->event[2].info.posix_prog_address;
	ck_assert(first > __start_point_text && first < __stop_point_text);
	ck_assert(second > first && second < __stop_point_text);
	ck_assert_ptr_eq(history->event[3].info.posix_prog_address, first);
	ck_assert_ptr_eq(history->event[4].info.posix_prog_address, second);
	history_free(history);
	shut(trid);
}
END_TEST

/* In one stream and in several, with data of any length. */
START_TEST(the_program_address_may_be_given)
{
	static const char data[40] = "0123456";
	static const size_t lens[] = { 0, 8, 24, 40 };
	void *address = (void *)(uintptr_t)0x4711;
	trace_event_id_t u = type_of("u");

	for (int streams = 1; streams <= 2; streams++) {
		trace_id_t trid[2];
		struct history *history;

		for (int i = 0; i < streams; i++)
			trid[i] = STARTED();
		for (size_t i = 0; i < 4; i++)
			posix_trace_event_at_np(u, data, lens[i], address);
		for (int i = 0; i < streams; i++) {
			history = read_all(trid[i]);
			ck_assert_uint_eq(history->n, 5);
			for (size_t k = 0; k < 4; k++) {
				struct seen *seen = &history->event[1 + k];

				ck_assert_ptr_eq(seen->info.posix_prog_address, address);
				ck_assert_uint_eq(seen->len, lens[k]);
				ck_assert_mem_eq(seen->data, data, seen->len);
			}
			history_free(history);
			shut(trid[i]);
		}
	}
	posix_trace_event_at_np(u, data, 8, address);
}
END_TEST

/* An extension: an event with a duration, for data of 8 bytes and of other lengths. */
START_TEST(an_event_has_the_time_since_a_stamp)
{
	static const size_t lens[] = { 12, 0, 8, 100 };
	static const char data[100] = "0123456789ab";
	trace_event_id_t u = type_of("u");
	const uint64_t early = posix_trace_stamp_np();

	ck_assert_uint_eq(early, 0); /* a stamp before the stream exists is 0 */
	for (int streams = 1; streams <= 2; streams++) {
		trace_id_t trid[2];
		struct history *history;
		uint64_t begin;

		for (int i = 0; i < streams; i++)
			trid[i] = STARTED();
		begin = posix_trace_stamp_np();
		ck_assert_uint_ne(begin, 0);
		for (size_t i = 0; i < 4; i++)
			posix_trace_event_since_np(u, begin, lens[i] ? data : NULL, lens[i],
						   NULL);
		posix_trace_event_since_np(u, early, data, 12, NULL);
		posix_trace_event_since_np(u, begin + (UINT64_C(1) << 62), data, 12, NULL);
		for (int i = 0; i < streams; i++) {
			uint64_t last = 0, span;

			history = read_all(trid[i]);
			ck_assert_uint_eq(history->n, 7);
			for (size_t k = 0; k < 6; k++) {
				struct seen *seen = &history->event[1 + k];

				memcpy(&span, seen->data, sizeof span);
				ck_assert_uint_eq(seen->len, 8 + (k < 4 ? lens[k] : 12));
				ck_assert_mem_eq(seen->data + 8, data, seen->len - 8);
				if (k < 4) /* with the same unit as these times, and in order */
					ck_assert(span >= last && span < UINT64_C(3600000000000));
				else
					ck_assert_uint_eq(span, 0);
				last = span;
			}
			history_free(history);
			shut(trid[i]);
		}
	}
}
END_TEST

/*
 * An extension: a duration is in nanoseconds, even if it is long, and ends at the time of the
 * event.
 */
START_TEST(a_duration_begins_at_its_stamp)
{
	const struct timespec nap = { .tv_nsec = 20000000 };
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED();
	struct history *history;
	int64_t before, after, begin, called, returned;
	uint64_t span, stamp;

	/* The first stamp takes longer, so it is not measured. */
	ck_assert_uint_ne(posix_trace_stamp_np(), 0);
	before = now_ns();
	stamp = posix_trace_stamp_np();
	after = now_ns();
	nanosleep(&nap, NULL);
	called = now_ns();
	posix_trace_event_since_np(u, stamp, "0123456789ab", 12, NULL);
	returned = now_ns();
	history = read_all(trid);
	ck_assert_uint_eq(history->n, 2);
	memcpy(&span, history->event[1].data, sizeof span);
	ck_assert(span >= (uint64_t)nap.tv_nsec * 99 / 100);
	begin = nanoseconds(&history->event[1].info.posix_timestamp) - (int64_t)span;
	/*
	 * The error of the rate is less than a hundredth of the duration. The duration ends before
	 * the time of the event; the call determines both.
	 */
	ck_assert(begin >= before - (int64_t)span / 100 - 100000);
	ck_assert(begin <= after + (int64_t)span / 100 + 100000 + returned - called);
	history_free(history);
	shut(trid);
}
END_TEST

/* EVENT-09, CLOCK-01, CLOCK-04: the times are those of the calls, not those of the reads */
START_TEST(the_time_is_that_of_the_call)
{
	enum { EVENTS = 20 };
	struct timespec before[EVENTS], after[EVENTS];
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED();
	struct history *history;

	for (int i = 0; i < EVENTS; i++) {
		clock_gettime(CLOCK_REALTIME, &before[i]);
		trace_number(u, i);
		clock_gettime(CLOCK_REALTIME, &after[i]);
		usleep(3000);
	}
	history = read_all(trid);
	ck_assert_uint_eq(history->n, EVENTS + 1);
	for (int i = 0; i < EVENTS; i++) {
		struct timespec *time = &history->event[i + 1].info.posix_timestamp;

		ck_assert(time->tv_nsec >= 0 && time->tv_nsec < 1000000000);
		/* The tolerance for the conversion between the clocks is a millisecond. */
		ck_assert_int_ge(nanoseconds(time), nanoseconds(&before[i]) - 1000000);
		ck_assert_int_le(nanoseconds(time), nanoseconds(&after[i]) + 1000000);
	}
	history_free(history);
	shut(trid);
}
END_TEST

/* EVENT-11 */
START_TEST(the_unnamed_event_needs_no_name)
{
	trace_id_t trid = STARTED();

	trace_number(POSIX_TRACE_UNNAMED_USEREVENT, 1);
	trace_number(POSIX_TRACE_UNNAMED_USER_EVENT, 2);
	ck_assert_events(trid, "START posix_trace_unnamed_userevent=1 "
			       "posix_trace_unnamed_userevent=2");
	shut(trid);
}
END_TEST

/* EVENT-12 */
START_TEST(system_types_and_types_without_a_name_are_ignored)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED();

	for (trace_event_id_t id = 0; id < 5000; id++)
		if (id != u && id != POSIX_TRACE_UNNAMED_USEREVENT)
			trace_number(id, 1);
	for (int bit = 12; bit < 32; bit++)
		trace_number(1u << bit | u, 1);
	trace_number((trace_event_id_t)-1, 1);
	trace_number(u, 9);
	ck_assert_events(trid, "START u=9");
	ck_assert_int_eq(status_of(trid).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	shut(trid);
}
END_TEST

/* EVENT-02, EVENT-03, EVENT-04 */
START_TEST(each_stream_truncates_for_itself)
{
	trace_event_id_t u = type_of("u");
	trace_id_t narrow = STARTED(.max_data = 10), wide = STARTED(.max_data = 100);
	struct history *in_narrow, *in_wide;
	char data[101];

	memset(data, 'x', sizeof(data));
	for (size_t len = 9; len <= 101; len++) {
		data[9] = (char)len;
		posix_trace_event(u, data, len);
	}
	in_narrow = read_all(narrow);
	in_wide = read_all(wide);
	ck_assert_uint_eq(in_narrow->n, 94);
	ck_assert_uint_eq(in_wide->n, 94);
	for (size_t i = 1; i <= 93; i++) {
		struct seen *cut = &in_narrow->event[i], *whole = &in_wide->event[i];
		size_t len = 8 + i;

		ck_assert_uint_eq(cut->len, len < 10 ? len : 10);
		ck_assert_int_eq(cut->info.posix_truncation_status,
				 len > 10 ? POSIX_TRACE_TRUNCATED_RECORD
					  : POSIX_TRACE_NOT_TRUNCATED);
		ck_assert_uint_eq(whole->len, len < 100 ? len : 100);
		ck_assert_int_eq(whole->info.posix_truncation_status,
				 len > 100 ? POSIX_TRACE_TRUNCATED_RECORD
					   : POSIX_TRACE_NOT_TRUNCATED);
		if (len > 9)
			ck_assert_int_eq(cut->data[9], len);
	}
	history_free(in_narrow);
	history_free(in_wide);
	shut(narrow);
	shut(wide);
}
END_TEST

/*
 * EVENT-01: the most frequent data is one word. The paths for two, three, four and more streams
 * differ for it. Each stream in turn does not record the type.
 */
START_TEST(one_word_goes_to_each_of_several_streams)
{
	trace_event_id_t u = type_of("u"), v = type_of("v");
	trace_event_set_t set;
	trace_id_t trid[6];

	OK(posix_trace_eventset_empty(&set));
	OK(posix_trace_eventset_add(u, &set));
	for (size_t n = 1; n <= 6; n++)
		for (size_t without = 0; without <= n; without++) {
			uint64_t word = 0x0102030405060708 + 16 * n + without;

			for (size_t i = 0; i < n; i++) {
				trid[i] = STREAM(.max_data = 8 + i);
				if (i == without)
					OK(posix_trace_set_filter(trid[i], &set,
								  POSIX_TRACE_SET_EVENTSET));
				start(trid[i]);
			}
			/* All streams record this type, so the thread has a lane in each stream. */
			posix_trace_event(v, &word, sizeof(word));
			for (int k = 0; k < 3; k++) {
				posix_trace_event(u, &word, sizeof(word));
				word++;
			}
			for (size_t i = 0; i < n; i++) {
				struct history *history = read_all(trid[i]);

				ck_assert_uint_eq(history_count(history, u), i == without ? 0 : 3);
				ck_assert_uint_eq(history_count(history, v), 1);
				for (size_t k = 0; i != without && k < 3; k++) {
					const struct seen *event = &history->event[2 + k];
					uint64_t seen, expected = word - 3 + k;

					ck_assert_uint_eq(event->len, sizeof(seen));
					memcpy(&seen, event->data, sizeof(seen));
					ck_assert_uint_eq(seen, expected);
				}
				history_free(history);
				shut(trid[i]);
			}
		}
}
END_TEST

/* EVENT-03: each stream in turn records less than the word. */
START_TEST(one_word_is_cut_in_each_of_several_streams_for_itself)
{
	trace_event_id_t u = type_of("u");
	const uint64_t word = 0x0102030405060708;
	trace_id_t trid[5];

	for (size_t n = 1; n <= 5; n++)
		for (size_t narrow = 0; narrow < n; narrow++) {
			for (size_t i = 0; i < n; i++)
				trid[i] = STARTED(.max_data = i == narrow ? 7 : 8);
			for (int k = 0; k < 3; k++)
				posix_trace_event(u, &word, sizeof(word));
			for (size_t i = 0; i < n; i++) {
				struct history *history = read_all(trid[i]);

				ck_assert_uint_eq(history_count(history, u), 3);
				for (size_t k = 1; k <= 3; k++) {
					const struct seen *seen = &history->event[k];

					ck_assert_uint_eq(seen->len, i == narrow ? 7 : 8);
					ck_assert_mem_eq(seen->data, &word, seen->len);
					ck_assert_int_eq(seen->info.posix_truncation_status,
							 i == narrow ? POSIX_TRACE_TRUNCATED_RECORD
								     : POSIX_TRACE_NOT_TRUNCATED);
				}
				history_free(history);
				shut(trid[i]);
			}
		}
}
END_TEST

struct waiting {
	trace_id_t trid;
	_Atomic pid_t tid;
};

static void *read_an_event(void *arg)
{
	struct waiting *waiting = arg;
	struct posix_trace_event_info info;
	char data[8];
	size_t len;
	int unavailable;

	atomic_store(&waiting->tid, thread_id());
	OK(posix_trace_getnext_event(waiting->trid, &info, data, sizeof(data), &len, &unavailable));
	return NULL;
}

/* GETNEXT-01: the event wakes the reader of each stream. */
START_TEST(one_word_wakes_the_reader_of_each_of_several_streams)
{
	trace_event_id_t u = type_of("u");
	uint64_t word = 1;
	trace_id_t trid[5];

	for (size_t n = 1; n <= 5; n++)
		for (size_t read = 0; read < n; read++) {
			struct waiting waiting = { .tid = 0 };
			pthread_t reader;

			for (size_t i = 0; i < n; i++)
				trid[i] = STARTED();
			/* The lanes are filled before the reader waits. */
			posix_trace_event(type_of("v"), &word, sizeof(word));
			history_free(read_all(trid[read]));
			waiting.trid = trid[read];
			reader = spawn(read_an_event, &waiting);
			while (atomic_load(&waiting.tid) == 0)
				sched_yield();
			spin_until_asleep(atomic_load(&waiting.tid));
			posix_trace_event(u, &word, sizeof(word));
			join(reader);
			for (size_t i = 0; i < n; i++)
				shut(trid[i]);
		}
}
END_TEST

SUITE_MAIN("posix_trace_event",
	   one_word_wakes_the_reader_of_each_of_several_streams,
	   one_word_goes_to_each_of_several_streams,
	   one_word_is_cut_in_each_of_several_streams_for_itself,
	   an_event_goes_to_every_running_stream_that_does_not_filter_it,
	   without_a_stream_an_event_does_nothing,
	   a_trace_point_is_an_event_while_there_is_a_stream,
	   an_event_has_the_time_since_a_stamp,
	   a_duration_begins_at_its_stamp,
	   the_data_is_recorded_byte_by_byte,
	   every_byte_value_survives,
	   an_event_has_its_process_and_its_thread,
	   the_program_address_is_that_of_the_call,
	   the_program_address_may_be_given,
	   the_time_is_that_of_the_call,
	   the_unnamed_event_needs_no_name,
	   system_types_and_types_without_a_name_are_ignored,
	   each_stream_truncates_for_itself)
