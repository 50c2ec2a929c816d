/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/stored_seek.c: seeks to a time with few reads. The test wraps the reading function of
 * base/io.h and counts its calls.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/random.h"
#include "unit/log/sample.h"

static unsigned reads;

int __real_ptx_io_read_at(int fd, void *bytes, size_t len, uint64_t offset, size_t *got);
int __wrap_ptx_io_read_at(int fd, void *bytes, size_t len, uint64_t offset, size_t *got);

int __wrap_ptx_io_read_at(int fd, void *bytes, size_t len, uint64_t offset, size_t *got)
{
	reads++;
	return __real_ptx_io_read_at(fd, bytes, len, offset, got);
}

/* Returns the number of the next event, or -1. */
static int64_t next(struct ptx_stored *stored)
{
	struct ptx_stored_event got;

	if (!ptx_stored_next(stored, &got))
		return -1;
	return ((int64_t)got.record->time - SAMPLE_TIME(0)) / 1000;
}

static void seek_everywhere(struct ptx_stored *stored, int64_t first, int64_t count)
{
	uint64_t random = 5;

	for (int n = 0; n < 300; n++) {
		int64_t i = (int64_t)random_between(&random, (size_t)first, (size_t)(count - 1));

		ptx_stored_seek(stored, SAMPLE_TIME(i));
		ck_assert_int_eq(next(stored), i);
		ck_assert_int_eq(next(stored), i + 1 < count ? i + 1 : -1);
		ptx_stored_seek(stored, SAMPLE_TIME(i) - 500);
		ck_assert_int_eq(next(stored), i);
	}
	ptx_stored_seek(stored, INT64_MIN);
	ck_assert_int_eq(next(stored), first);
	ptx_stored_seek(stored, SAMPLE_TIME(count - 1) + 1);
	ck_assert_int_eq(next(stored), -1);
	ck_assert_int_eq(next(stored), -1);
	ptx_stored_seek(stored, INT64_MAX);
	ck_assert_int_eq(next(stored), -1);
	ptx_stored_rewind(stored); /* REWIND-01 */
	ck_assert_int_eq(next(stored), first);
}

/*
 * posix_trace_seek_np(): 7000 blocks, so there are seven INDEX blocks. _i = 1: the end of the log
 * is missing.
 */
START_TEST(seek_finds_the_first_event_not_older_than_a_moment)
{
	struct ptx_stored *stored;
	struct sample sample;
	int fd = sample_file();

	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_APPEND, 0, 8), 0);
	for (int i = 0; i < 7000; i++) {
		sample_add(&sample, 3);
		sample_write(&sample);
	}
	if (_i) {
		sample_die(&sample);
		stored = sample_open(fd, true);
	} else {
		ck_assert_int_eq(sample_end(&sample), 0);
		stored = sample_open(fd, false);
	}
	seek_everywhere(stored, 0, 21000);
	reads = 0;
	for (int i = 0; i < 10; i++) {
		ptx_stored_seek(stored, SAMPLE_TIME(i * 2000 + 7));
		ck_assert_int_eq(next(stored), i * 2000 + 7);
	}
	/*
	 * Reads of an INDEX block, of a DATA block, and of a further block at the boundary of a
	 * window.
	 */
	ck_assert_uint_le(reads, 40);
	ptx_stored_close(stored);
	close(fd);
}
END_TEST

START_TEST(seek_in_a_wrapped_log)
{
	struct ptx_stored *stored;
	struct sample sample;
	int fd = sample_file();
	uint64_t gone;

	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_LOOP, 8192, 8), 0);
	sample_add(&sample, 5000);
	sample_write(&sample);
	gone = ptx_log_overwritten(sample.log);
	if (_i) {
		sample_die(&sample);
		stored = sample_open(fd, true);
	} else {
		ck_assert_int_eq(sample_end(&sample), 0);
		stored = sample_open(fd, false);
	}
	seek_everywhere(stored, (int64_t)gone, 5000);
	ptx_stored_close(stored);
	close(fd);
}
END_TEST

/* Times decrease, because of late events and a clock that was set back. CLOCK, 1.4 of FORMAT */
START_TEST(seek_is_right_where_times_do_not_rise)
{
	enum { EVENTS = 3000 };
	static int64_t times[EVENTS];
	struct ptx_stored_event got;
	struct ptx_stored *stored;
	struct sample sample;
	uint64_t random = 3;
	int fd = sample_file();

	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_APPEND, 0, 8), 0);
	for (int i = 0; i < EVENTS; i++) {
		struct ptx_log_event event = { .type = 64, .address = (uint64_t)i };

		times[i] = 1000 * i - (int64_t)random_between(&random, 0, 20000);
		if (i > EVENTS / 2)
			times[i] -= 500000; /* set back */
		event.time_ns = times[i];
		if (i % 5 == 0)
			event.len_flags = PTX_RECORD_LATE;
		ck_assert_int_eq(ptx_log_append(sample.log, &event), PTX_LOG_APPEND_DONE);
		if (i % 2)
			sample_write(&sample);
	}
	sample_end(&sample);
	stored = sample_open(fd, false);
	for (int n = 0; n < 500; n++) {
		int64_t when = (int64_t)random_between(&random, 0, 1000 * EVENTS) - 10000;
		int first = 0;

		while (first < EVENTS && times[first] < when)
			first++;
		ptx_stored_seek(stored, when);
		if (first == EVENTS) {
			ck_assert(!ptx_stored_next(stored, &got));
			continue;
		}
		ck_assert(ptx_stored_next(stored, &got));
		ck_assert_int_eq((int)got.record->address, first);
		ck_assert_int_eq(!!(got.record->len_flags & PTX_RECORD_LATE), first % 5 == 0);
	}
	ptx_stored_close(stored);
	close(fd);
}
END_TEST

enum { FALLING = 3000 };

/*
 * A log with decreasing times, because of late events and a clock that is set back in the middle.
 */
static int falling_log(int policy, size_t log_size, bool dies, int64_t times[FALLING])
{
	struct sample sample;
	uint64_t random = 11;
	int fd = sample_file();

	ck_assert_int_eq(sample_begin(&sample, fd, policy, log_size, 8), 0);
	for (int i = 0; i < FALLING; i++) {
		struct ptx_log_event event = { .type = 64, .address = (uint64_t)i };

		times[i] = 1000 * i - (int64_t)random_between(&random, 0, 20000);
		if (i > FALLING / 2)
			times[i] -= 500000;
		if (i == FALLING - 10)
			times[i] = 700000; /* far later than all other times */
		event.time_ns = times[i];
		while (ptx_log_append(sample.log, &event) != PTX_LOG_APPEND_DONE)
			sample_write(&sample);
		if (i % 2)
			sample_write(&sample);
	}
	if (dies)
		sample_die(&sample);
	else
		sample_end(&sample);
	return fd;
}

/* posix_trace_until_np(): _i & 1: the end of the log is missing; _i & 2: the log is in slots. */
START_TEST(until_leaves_out_nothing_that_is_old_enough)
{
	static int64_t times[FALLING];
	int fd = falling_log(_i & 2 ? POSIX_TRACE_LOOP : POSIX_TRACE_APPEND,
			     _i & 2 ? 128 << 10 : 0, _i & 1, times);
	struct ptx_stored *stored = sample_open(fd, _i & 1);
	struct ptx_stored_event got;
	uint64_t random = 3, passed = 0;

	for (int n = 0; n < 300; n++) {
		int64_t until = (int64_t)random_between(&random, 0, 1000 * FALLING) - 30000;
		int next_wanted = 0;

		ptx_stored_until(stored, until);
		ptx_stored_rewind(stored);
		while (ptx_stored_next(stored, &got)) {
			int i = (int)got.record->address;

			ck_assert_int_ge(i, next_wanted);
			for (; next_wanted < i; next_wanted++, passed++)
				ck_assert_int_gt(times[next_wanted], until);
			next_wanted = i + 1;
		}
		ck_assert_ptr_null(ptx_stored_damage(stored));
		for (; next_wanted < FALLING; next_wanted++, passed++)
			ck_assert_int_gt(times[next_wanted], until);
	}
	ck_assert_uint_gt(passed, 300 * FALLING / (_i & 2 ? 8 : 4));
	ptx_stored_until(stored, INT64_MAX);
	ptx_stored_rewind(stored);
	for (int i = 0; i < FALLING; i++)
		ck_assert(ptx_stored_next(stored, &got));
	ck_assert(!ptx_stored_next(stored, &got));
	ptx_stored_close(stored);
	close(fd);
}
END_TEST

START_TEST(a_window_of_a_long_log_takes_few_reads)
{
	struct ptx_stored_event got;
	struct ptx_stored *stored;
	struct sample sample;
	int fd = sample_file();
	int events = 0;

	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_APPEND, 0, 8), 0);
	for (int i = 0; i < 7000; i++) {
		sample_add(&sample, 3);
		sample_write(&sample);
	}
	ck_assert_int_eq(sample_end(&sample), 0);
	stored = sample_open(fd, false);
	reads = 0;
	ptx_stored_until(stored, SAMPLE_TIME(9010));
	ptx_stored_seek(stored, SAMPLE_TIME(9000));
	while (ptx_stored_next(stored, &got))
		events++;
	ck_assert_int_ge(events, 11);
	ck_assert_int_le(events, 11 + 3);
	ck_assert_uint_le(reads, 6);
	ptx_stored_close(stored);
	close(fd);
}
END_TEST

/*
 * The reader has a block of memory of the same size for any log, and makes no more reads than
 * necessary for a long log.
 */
START_TEST(reading_a_log_reads_each_byte_about_once)
{
	struct ptx_stored *stored;
	struct posix_trace_loginfo_np info;
	int fd = sample_file();

	sample_make(fd, POSIX_TRACE_APPEND, 0, 8, 500000, 500000);
	stored = sample_open(fd, false);
	ptx_stored_info(stored, &info);
	reads = 0;
	ck_assert_uint_eq(sample_read(stored, 0, 8), 500000);
	/* Each read has 192 KiB, and the reader reads up to 66 KiB of them again, for a block. */
	ck_assert_uint_le(reads, info.file_bytes / (126 * 1024) + 2);
	ptx_stored_close(stored);
	close(fd);
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("cursor seek", &tc);

	tcase_add_loop_test(tc, seek_finds_the_first_event_not_older_than_a_moment, 0, 2);
	tcase_add_loop_test(tc, seek_in_a_wrapped_log, 0, 2);
	tcase_add_test(tc, seek_is_right_where_times_do_not_rise);
	tcase_add_loop_test(tc, until_leaves_out_nothing_that_is_old_enough, 0, 4);
	tcase_add_test(tc, a_window_of_a_long_log_takes_few_reads);
	tcase_add_test(tc, reading_a_log_reads_each_byte_about_once);
	return suite;
}

SUITE_MAIN_OF(build)
