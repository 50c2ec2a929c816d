/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* log/write_resume.c: a resumed log whose writer was killed is a log like any other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/write_encode.h"
#include "unit/log/heir.h"

static const uint32_t policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_UNTIL_FULL,
				     POSIX_TRACE_LOOP };

/* EXIT-01 */
START_TEST(a_log_goes_on_behind_the_last_event_that_was_written)
{
	static const uint64_t numbers[] = { 0, 1, 7, 20, 100, 1000, 5000 };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		int fd = heir_killed(policies[_i], numbers[i]);
		struct sample sample;

		ck_assert_int_eq(heir_resume(&sample, fd), 0);
		ck_assert_uint_eq(sample.events, numbers[i]);
		ck_assert_uint_eq(sample.ledger.total.reported, numbers[i]);
		heir_go_on_to(&sample, fd, numbers[i] + 500);
		close(fd);
	}
}
END_TEST

START_TEST(the_resuming_process_may_be_killed_too)
{
	int fd = heir_killed(policies[_i], 50);
	struct sample sample;

	for (int n = 1; n <= 20; n++) {
		ck_assert_int_eq(heir_resume(&sample, fd), 0);
		ck_assert_uint_eq(sample.events, 50 + 25 * (unsigned)(n - 1));
		sample_add(&sample, 25);
		sample_write(&sample);
		sample_add(&sample, 2);
		sample_die(&sample);
	}
	ck_assert_int_eq(heir_resume(&sample, fd), 0);
	heir_go_on_to(&sample, fd, 600);
	close(fd);
}
END_TEST

/* Returns the number of events that can be read from a file of a dead writer. */
static uint64_t events_in(int fd)
{
	return sample_read_file(fd, 0, HEIR_DATA_MAX);
}

/* LOG-16: the writer was killed at some byte of its last write */
START_TEST(a_torn_last_block_is_overwritten)
{
	int fd = heir_killed(POSIX_TRACE_APPEND, 30);
	uint8_t *bytes;
	size_t size;

	bytes = sample_bytes(fd, &size);
	for (size_t len = PTX_LOG_HEADER_BYTES; len <= size; len += 5) {
		int cut = sample_file_of(bytes, len);
		uint64_t whole = events_in(cut);
		struct sample sample;

		ck_assert_int_eq(heir_resume(&sample, cut), 0);
		ck_assert_uint_eq(sample.events, whole);
		heir_go_on_to(&sample, cut, 60);
		close(cut);
	}
	free(bytes);
	close(fd);
}
END_TEST

/* The file has its final length, but some of its bytes were not written. */
START_TEST(a_last_block_with_a_hole_is_overwritten)
{
	int fd = heir_killed(POSIX_TRACE_APPEND, 28);
	uint8_t *bytes;
	size_t size;

	bytes = sample_bytes(fd, &size);
	for (size_t back = 1; back < 300; back += 3) {
		int hole = sample_file_of(bytes, size);
		struct sample sample;
		uint8_t other = bytes[size - back] ^ 0x55;

		ck_assert_int_eq(pwrite(hole, &other, 1, (off_t)(size - back)), 1);
		ck_assert_int_eq(heir_resume(&sample, hole), 0);
		/* a block has seven events */
		ck_assert_uint_lt(sample.events, 28);
		ck_assert_uint_eq(sample.events % 7, 0);
		heir_go_on_to(&sample, hole, 40);
		close(hole);
	}
	free(bytes);
	close(fd);
}
END_TEST

/*
 * The writer was killed while it completed the log. The resuming process is also killed, in one of
 * its first writes.
 */
START_TEST(the_rest_of_an_end_is_no_fault_of_a_resumed_log)
{
	int fd = heir_killed(POSIX_TRACE_APPEND, 400);
	uint8_t *before, *after;
	size_t was, is;
	struct sample sample;

	before = sample_bytes(fd, &was);
	ck_assert_int_eq(heir_resume(&sample, fd), 0);
	ck_assert_int_eq(sample_end(&sample), 0);
	after = sample_bytes(fd, &is);
	memcpy(after, before, PTX_LOG_HEADER_BYTES); /* the state is still "writing" */
	ck_assert_uint_gt(is, was);
	/* If the file were complete, it would be a completed log. */
	for (size_t len = was; len < is; len += 8) {
		int cut = sample_file_of(after, len);

		ck_assert_int_eq(heir_resume(&sample, cut), 0);
		ck_assert_uint_eq(sample.events, 400);
		sample_add(&sample, 2);
		sample_write(&sample);
		sample_die(&sample);
		ck_assert_uint_eq(sample_faults(cut, true), 0);
		ck_assert_uint_eq(events_in(cut), 402);
		ck_assert_int_eq(heir_resume(&sample, cut), 0);
		heir_go_on_to(&sample, cut, 500);
		close(cut);
	}
	free(before);
	free(after);
	close(fd);
}
END_TEST

/* LOG-16 in slots: the log has the state before the write or after it. */
START_TEST(a_torn_slot_leaves_the_state_before_it)
{
	struct sample sample, heir;
	unsigned seen[2] = { 0, 0 };
	int fd = sample_file();

	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_LOOP, 600, HEIR_DATA_MAX), 0);
	for (unsigned step = 0; step < 60; step++) {
		size_t was, is, first = 0, last;
		uint8_t *before, *after;

		before = sample_bytes(fd, &was);
		sample_add(&sample, 1); /* one event for each slot */
		sample_write(&sample);
		after = sample_bytes(fd, &is);
		while (first < was && before[first] == after[first])
			first++;
		for (last = is; last > first && last <= was && before[last - 1] == after[last - 1];)
			last--;
		for (size_t n = 0; n <= 10; n++) {
			size_t cut = first + (last - first) * n / 10;
			int torn = sample_file_of(before, was);

			ck_assert_int_eq(pwrite(torn, after + first, cut - first, (off_t)first),
					 (ssize_t)(cut - first));
			ck_assert_int_eq(heir_resume(&heir, torn), 0);
			ck_assert(heir.events == sample.events || heir.events + 1 == sample.events);
			seen[heir.events == sample.events]++;
			heir_go_on_to(&heir, torn, sample.events + 40);
			close(torn);
		}
		free(before);
		free(after);
	}
	ck_assert_uint_gt(seen[0], 100);
	ck_assert_uint_ge(seen[1], 60);
	sample_die(&sample);
	close(fd);
}
END_TEST

/* Adds more names than one page of the file has room for, and their schemas. */
static void tell_more(struct sample *sample, unsigned round)
{
	char name[32];

	for (unsigned i = 0; i < 100; i++) {
		const unsigned type = 100 + 100 * round + i;

		snprintf(name, sizeof(name), "more %u", type);
		OK(ptx_log_name(sample->log, type, name));
		OK(ptx_log_schema(sample->log, type, "u32 number; bytes rest"));
	}
}

/* W2: the block during whose write the writer was killed is no fault of the completed log. */
START_TEST(a_torn_block_beside_the_slots_leaves_no_fault)
{
	struct sample sample, heir;
	int fd = sample_file();

	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_LOOP, 600, HEIR_DATA_MAX), 0);
	for (unsigned round = 0; round < 4; round++) {
		size_t was, is, end;
		uint8_t *before, *after;

		before = sample_bytes(fd, &was);
		tell_more(&sample, round);
		sample_add(&sample, 1);
		sample_write(&sample);
		after = sample_bytes(fd, &is);
		end = round ? ((struct ptx_log_header *)(void *)before)->slots_offset : 0;
		for (size_t at = PTX_LOG_HEADER_BYTES; at < end; at += 501) {
			int torn = sample_file_of(before, was);

			ck_assert_int_eq(pwrite(torn, after, at, 0), (ssize_t)at);
			ck_assert_int_eq(heir_resume(&heir, torn), 0);
			heir_go_on_to(&heir, torn, heir.events + 3 * (at % 2));
			close(torn);
		}
		free(before);
		free(after);
	}
	sample_die(&sample);
	close(fd);
}
END_TEST

START_TEST(no_log_and_a_completed_log_are_not_changed)
{
	uint8_t *bytes, *now;
	struct sample sample;
	size_t size, is;
	int fd = sample_file();

	ck_assert_int_eq(heir_resume(&sample, fd), EINVAL); /* empty */
	sample_make(fd, policies[_i], policies[_i] == POSIX_TRACE_APPEND ? 0 : HEIR_LIMIT,
		    HEIR_DATA_MAX, 40, 7);
	bytes = sample_bytes(fd, &size);
	ck_assert_int_eq(heir_resume(&sample, fd), EINVAL);
	now = sample_bytes(fd, &is);
	ck_assert_uint_eq(is, size);
	ck_assert_mem_eq(now, bytes, size);
	free(now);
	close(fd);

	fd = heir_killed(policies[_i], 30);
	ck_assert_int_eq(pwrite(fd, "no", 2, 0), 2);
	ck_assert_int_eq(heir_resume(&sample, fd), EINVAL);
	ck_assert_int_eq(ftruncate(fd, PTX_LOG_HEADER_BYTES - 1), 0);
	ck_assert_int_eq(heir_resume(&sample, fd), EINVAL);
	close(fd);
	free(bytes);
}
END_TEST

/*
 * Any reader skips a block whose type belongs to a later version or another program (FORMAT 3.1).
 */
START_TEST(a_block_of_no_type_that_is_known_is_skipped)
{
	struct {
		struct ptx_log_block header;
		uint8_t payload[24];
	} foreign = { .header = { .type = 0x8001, .number = 7 } };
	int fd = heir_killed(POSIX_TRACE_APPEND, 30);
	struct ptx_log_block first;
	struct sample sample;

	ck_assert_int_eq(pread(fd, &first, sizeof(first), PTX_LOG_HEADER_BYTES), sizeof(first));
	foreign.header.log_id = first.log_id;
	ptx_log_seal_block(&foreign.header, sizeof(foreign.payload));
	for (int i = 0; i < 3; i++) {
		ck_assert_int_gt(lseek(fd, 0, SEEK_END), 0);
		ck_assert_int_eq(write(fd, &foreign, sizeof(foreign)), sizeof(foreign));
		ck_assert_int_eq(heir_resume(&sample, fd), 0);
		ck_assert_uint_eq(sample.events, 30 + 10 * i);
		sample_add(&sample, 10);
		sample_write(&sample);
		sample_die(&sample);
	}
	ck_assert_int_eq(heir_resume(&sample, fd), 0);
	heir_go_on_to(&sample, fd, 100);
	close(fd);
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("log: going on", &tc);

	tcase_add_loop_test(tc, a_log_goes_on_behind_the_last_event_that_was_written, 0, 3);
	tcase_add_loop_test(tc, the_resuming_process_may_be_killed_too, 0, 3);
	tcase_add_test(tc, a_torn_last_block_is_overwritten);
	tcase_add_test(tc, a_last_block_with_a_hole_is_overwritten);
	tcase_add_test(tc, the_rest_of_an_end_is_no_fault_of_a_resumed_log);
	tcase_add_test(tc, a_block_of_no_type_that_is_known_is_skipped);
	tcase_add_test(tc, a_torn_slot_leaves_the_state_before_it);
	tcase_add_test(tc, a_torn_block_beside_the_slots_leaves_no_fault);
	tcase_add_loop_test(tc, no_log_and_a_completed_log_are_not_changed, 0, 3);
	return suite;
}

SUITE_MAIN_OF(build)
