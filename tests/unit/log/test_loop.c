/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* log/write_loop.c: the log has the newest events, exactly counted, at any time. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/log/sample.h"

/*
 * Logs of many sizes, which are flushed with many numbers of events. The events that are read are a
 * suffix of the events that were put. Their bytes are below the limit and above seven eighths of
 * it, and the missing events are counted. LOG-02, LOG-03, LOG-09, LOG-13, LOG-15, SIZE-15, CH-64
 */
START_TEST(a_wrapped_log_holds_exactly_the_newest_events)
{
	static const uint64_t limits[] = { 400, 1000, 4096, 8192, 20000, 70001, 1 << 20 };
	static const uint64_t flushes[] = { 1, 3, 50, 100000 };
	const uint32_t data_max = 16;
	uint64_t limit = limits[_i];

	for (size_t f = 0; f < sizeof(flushes) / sizeof(flushes[0]); f++) {
		uint64_t number = limit / 8, kept, gone, left, step = flushes[f];
		struct posix_trace_loginfo_np info;
		struct ptx_stored *stored;
		struct sample sample;
		int fd = sample_file();

		if (number / step > 2000)
			number = 2000 * step; /* so that even small limits wrap */
		ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_LOOP, limit, data_max), 0);
		for (left = number; left;) {
			uint64_t part = left < step ? left : step;

			sample_add(&sample, part);
			sample_write(&sample);
			left -= part;
		}
		sample_write(&sample); /* a write without events writes nothing */
		gone = ptx_log_overwritten(sample.log);
		ck_assert_int_eq(ptx_log_is_full(sample.log), gone > 0);
		ck_assert_int_eq(sample_end(&sample), 0);

		stored = sample_open(fd, false);
		ptx_stored_info(stored, &info);
		kept = sample_read(stored, gone, data_max);
		ck_assert_uint_eq(kept + gone, number);
		ck_assert_uint_le(info.event_bytes, limit);
		if (gone)
			ck_assert_uint_ge(info.event_bytes + ptx_record_size(data_max),
					  limit - limit / 8);
		ck_assert_uint_eq(ptx_stored_ledger(stored)->total.called, number);
		ck_assert_uint_eq(ptx_stored_ledger(stored)->total.reported, kept);
		ck_assert_uint_eq(
			ptx_stored_ledger(stored)->total.lost[PTX_LOST_LOG_OVERWRITTEN], gone);
		ck_assert_int_eq(ptx_stored_status(stored)->log_full, gone > 0);
		ptx_stored_close(stored);
		sample_prove(fd); /* the same check by type and by thread */
		close(fd);
	}
}
END_TEST

/* An event of half the limit or more is between small events. LOG-09, LOG-13 */
START_TEST(large_events_overwrite_only_what_they_need)
{
	struct posix_trace_loginfo_np info;
	struct ptx_stored *stored;
	struct sample sample;
	int fd = sample_file();
	uint64_t gone;

	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_LOOP, 4096, 3000), 0);
	for (int i = 0; i < 300; i++) {
		sample_add(&sample, 1);
		if (i % 3 == 0)
			sample_write(&sample);
	}
	ck_assert_int_eq(sample_end(&sample), 0);
	stored = sample_open(fd, false);
	ptx_stored_info(stored, &info);
	ck_assert_uint_le(info.event_bytes, 4096);
	gone = ptx_stored_ledger(stored)->total.lost[PTX_LOST_LOG_OVERWRITTEN];
	ck_assert_uint_eq(sample_read(stored, gone, 3000), 300 - gone);
	ptx_stored_close(stored);
	sample_prove(fd);
	close(fd);
}
END_TEST

/* LOG-09: the limit is the size that a log may reach, and must not exceed. */
START_TEST(a_log_may_be_as_large_as_its_limit)
{
	const size_t record = ptx_record_size(0);
	const uint64_t events = 80, limit = events * record; /* in eight full blocks */
	struct posix_trace_loginfo_np info;
	struct ptx_stored *stored;
	struct sample sample;
	int fd = sample_file();

	ck_assert_uint_eq(limit / 8 % record, 0);
	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_LOOP, limit, 0), 0);
	for (uint64_t i = 0; i < events; i++) {
		sample_add(&sample, 1);
		sample_write(&sample);
		ck_assert_uint_eq(ptx_log_overwritten(sample.log), 0);
		ck_assert_int_eq(ptx_log_is_full(sample.log), i + 1 == events);
	}
	if (_i) { /* one event more costs one block */
		sample_add(&sample, 1);
		sample_write(&sample);
		ck_assert_uint_eq(ptx_log_overwritten(sample.log), events / 8);
	}
	ck_assert_int_eq(sample_end(&sample), 0);
	stored = sample_open(fd, false);
	ptx_stored_info(stored, &info);
	ck_assert_uint_eq(info.event_bytes, _i ? limit - limit / 8 + record : limit);
	ck_assert_uint_eq(sample_read(stored, _i ? events / 8 : 0, 0),
			  _i ? events - events / 8 + 1 : events);
	ptx_stored_close(stored);
	sample_prove(fd);
	close(fd);
}
END_TEST

/*
 * The file of a log that has wrapped a hundred times is not larger than that of a log that has
 * wrapped once.
 */
START_TEST(the_file_does_not_grow_while_the_log_goes_round)
{
	struct stat once, often;
	int fd = sample_file();

	sample_make(fd, POSIX_TRACE_LOOP, 100000, 8, 7000, 100);
	ck_assert_int_eq(fstat(fd, &once), 0);
	close(fd);
	fd = sample_file();
	sample_make(fd, POSIX_TRACE_LOOP, 100000, 8, 200000, 100);
	ck_assert_int_eq(fstat(fd, &often), 0);
	/* The file may have one slot more if the marks are at other places. */
	ck_assert_int_le(often.st_size, once.st_size + 14000);
	close(fd);
}
END_TEST

/* EXIT-01, LOG-16 in slots: the writer dies at some byte of a write. */
START_TEST(a_torn_write_leaves_the_state_before_or_after_it)
{
	uint8_t *before = NULL, *after;
	size_t was = 0, is;
	struct sample sample;
	int fd = sample_file();
	unsigned seen[2] = { 0, 0 };
	uint64_t gone_before = 0;

	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_LOOP, 600, 8), 0);
	for (int step = 0; step < 60; step++) {
		uint64_t gone, put = sample.events;
		size_t first = 0, last;

		if (step) {
			sample_add(&sample, 1);
			sample_write(&sample);
		}
		gone = ptx_log_overwritten(sample.log);
		after = sample_bytes(fd, &is);
		last = is;
		while (step && first < was && before[first] == after[first])
			first++;
		while (step && last > first && last <= was && before[last - 1] == after[last - 1])
			last--;
		for (size_t n_cut = 0; step && n_cut <= 40; n_cut++) {
			size_t cut = first + (last - first) * n_cut / 40;
			int copy = sample_file_of(before, was);
			struct ptx_stored *stored;
			uint64_t n, from;

			ck_assert_int_eq(pwrite(copy, after + first, cut - first, (off_t)first),
					 (ssize_t)(cut - first));
			stored = sample_open(copy, false);
			from = ptx_stored_ledger(stored)->total.reported;
			from = (from + gone == put + 1) ? gone : gone_before;
			n = sample_read(stored, from, 8);
			ck_assert(!ptx_stored_damage(stored));
			if (n + from == put)
				seen[0]++;
			else if (n + from == put + 1)
				seen[1]++;
			else
				ck_abort_msg("step %d cut %zu: %u events from %u", step, cut,
					     (unsigned)n, (unsigned)from);
			ptx_stored_close(stored);
			close(copy);
		}
		free(before);
		before = after;
		was = is;
		gone_before = gone;
	}
	ck_assert_uint_gt(seen[0], 100);
	ck_assert_uint_ge(seen[1], 59);
	free(before);
	sample_die(&sample);
	close(fd);
}
END_TEST

/* A name is added late. The names areas are used in turn, and the newest complete one is valid. */
START_TEST(names_survive_overwriting_and_a_torn_names_area)
{
	struct ptx_stored *stored;
	struct sample sample;
	uint8_t *bytes;
	size_t size;
	int fd = sample_file(), copy;

	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_LOOP, 1000, 8), 0);
	sample_add(&sample, 500);
	sample_write(&sample); /* area 0 */
	ck_assert_int_eq(ptx_log_name(sample.log, 100, "late"), 0);
	sample_add(&sample, 500);
	sample_write(&sample); /* area 1 */
	bytes = sample_bytes(fd, &size);
	copy = sample_file_of(bytes, size);
	stored = sample_open(copy, false);
	ck_assert_str_eq(ptx_stored_name(stored, 70), "sample 6");
	ck_assert_str_eq(ptx_stored_name(stored, 100), "late");
	ptx_stored_close(stored);

	bytes[sample.log->header->names_offset + sample.log->header->names_bytes + 100] ^= 1;
	ck_assert_int_eq(pwrite(copy, bytes, size, 0), (ssize_t)size);
	stored = sample_open(copy, false);
	ck_assert_str_eq(ptx_stored_name(stored, 70), "sample 6");
	ck_assert_ptr_null(ptx_stored_name(stored, 100));
	ptx_stored_close(stored);
	close(copy);
	free(bytes);
	ck_assert_int_eq(sample_end(&sample), 0);
	sample_prove(fd);
	close(fd);
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("log loop", &tc);

	tcase_add_loop_test(tc, a_wrapped_log_holds_exactly_the_newest_events, 0, 7);
	tcase_add_test(tc, large_events_overwrite_only_what_they_need);
	tcase_add_loop_test(tc, a_log_may_be_as_large_as_its_limit, 0, 2);
	tcase_add_test(tc, the_file_does_not_grow_while_the_log_goes_round);
	tcase_add_test(tc, a_torn_write_leaves_the_state_before_or_after_it);
	tcase_add_test(tc, names_survive_overwriting_and_a_torn_names_area);
	return suite;
}

SUITE_MAIN_OF(build)
