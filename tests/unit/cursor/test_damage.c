/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/: logs with random changes. With the sanitizers, the test proves that no read is outside
 * the memory of the log. Without them, it proves that each delivered event was written.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cursor/stored_private.h"
#include "log/write_resume.h"
#include "support/random.h"
#include "unit/cursor/changed.h"

/* OPEN-08, LOG-11: _i is the policy */
START_TEST(two_thousand_single_bits_turned_over)
{
	uint64_t random = 7 + (uint64_t)_i;
	unsigned silent = 0, tries = 0;
	size_t size;
	uint8_t *bytes = changed_log(changed_policies[_i], &size);
	int fd = sample_file_of(bytes, size);

	while (tries < 2000) {
		size_t at = random_between(&random, 0, size - 1);
		uint8_t turned = bytes[at] ^ (uint8_t)(1u << random_between(&random, 0, 7));
		struct posix_trace_check_np result;

		/* The unused parts of a LOOP log have no meaning, so most changes are elsewhere. */
		if (!bytes[at] && random_between(&random, 0, 9))
			continue;
		tries++;
		if (pwrite(fd, &turned, 1, (off_t)at) != 1)
			ck_abort();
		if (tries % 4 == 0)
			changed_use(fd, true);
		if (!ptx_check_log(fd, NULL, NULL, &result) && !result.faults)
			silent++;
		if (pwrite(fd, &bytes[at], 1, (off_t)at) != 1)
			ck_abort();
	}
	/* Checksums cover every byte of a sequence. */
	if (changed_policies[_i] != POSIX_TRACE_LOOP)
		ck_assert_uint_eq(silent, 0);
	sample_prove(fd);
	close(fd);
	free(bytes);
}
END_TEST

/* OPEN-08 */
START_TEST(two_hundred_cuts)
{
	uint64_t random = 77 + (uint64_t)_i;
	size_t size;
	uint8_t *bytes = changed_log(changed_policies[_i], &size);
	int fd = sample_file_of(bytes, size);

	for (int n = 0; n < 200; n++) {
		struct posix_trace_check_np result;

		if (ftruncate(fd, (off_t)random_between(&random, 0, size - 1)))
			ck_abort();
		changed_use(fd, true);
		if (!ptx_check_log(fd, NULL, NULL, &result) && !result.faults)
			ck_abort();
		if (pwrite(fd, bytes, size, 0) != (ssize_t)size)
			ck_abort();
	}
	close(fd);
	free(bytes);
}
END_TEST

/* Whole pages are missing, doubled, or replaced by other pages. */
START_TEST(pages_exchanged_and_zeroed)
{
	uint64_t random = 777 + (uint64_t)_i;
	size_t size;
	uint8_t *bytes = changed_log(changed_policies[_i], &size), *work = malloc(size);
	int fd = sample_file();

	for (int n = 0; n < 200; n++) {
		memcpy(work, bytes, size);
		for (size_t k = random_between(&random, 1, 3); k--;) {
			size_t len = random_between(&random, 1, 5000);
			size_t to = random_between(&random, 0, size - len);

			if (random_between(&random, 0, 1))
				memset(work + to, 0, len);
			else
				memmove(work + to, bytes + random_between(&random, 0, size - len),
					len);
		}
		if (ftruncate(fd, 0) || pwrite(fd, work, size, 0) != (ssize_t)size)
			ck_abort();
		changed_use(fd, true);
	}
	close(fd);
	free(work);
	free(bytes);
}
END_TEST

/* Random bytes follow a good header, or only the magic, or magic and version. */
START_TEST(noise)
{
	uint64_t random = 99;
	size_t size;
	uint8_t *bytes = changed_log(changed_policies[_i], &size), *work = malloc(size);
	int fd = sample_file();

	for (int n = 0; n < 150; n++) {
		memcpy(work, bytes, size);
		const size_t from[] = { PTX_LOG_HEADER_BYTES, 8, 12 };

		for (size_t i = from[n % 3]; i < size; i += 4) {
			uint32_t word = random_next(&random) % 5 ? random_next(&random) :
								  PTX_LOG_BLOCK_MAGIC;

			memcpy(work + i, &word, i + 4 <= size ? 4 : size - i);
		}
		if (pwrite(fd, work, size, 0) != (ssize_t)size)
			ck_abort();
		changed_use(fd, false);
	}
	close(fd);
	free(work);
	free(bytes);
}
END_TEST

/*
 * A damaged part in the middle costs only this part. posix_trace_getnext_event() delivers the rest
 * by salvage.
 */
START_TEST(salvage_costs_only_the_damaged_block_and_marks_the_gap)
{
	struct ptx_stored_event got;
	struct ptx_stored *stored;
	size_t size, blocks, at[500], gaps = 0, n = 0;
	uint8_t *bytes = changed_log(POSIX_TRACE_APPEND, &size);
	int fd;

	blocks = changed_blocks(bytes, size, at, 500);
	ck_assert_uint_gt(blocks, 20);
	memset(bytes + at[5], 0, 40);            /* a header */
	bytes[at[10] + 100] ^= 0x10;             /* a payload */
	fd = sample_file_of(bytes, size);
	ck_assert_uint_ge(sample_faults(fd, false), 2);

	stored = sample_open(fd, false);
	/* names, four blocks of 20, then the first fault */
	ck_assert_uint_eq(changed_read(stored), 80);
	ck_assert_ptr_nonnull(ptx_stored_damage(stored));
	ptx_stored_close(stored);

	stored = sample_open(fd, true);
	ck_assert_uint_eq(changed_read(stored), CHANGED_EVENTS - 40);
	ptx_stored_rewind(stored);
	for (; ptx_stored_next(stored, &got); n++) {
		ck_assert_int_eq(got.gap, n == 80 || n == 160);
		gaps += got.gap;
	}
	ck_assert_uint_eq(gaps, 2);
	ptx_stored_close(stored);
	close(fd);
	free(bytes);
}
END_TEST

/* Overwrites one block of a LOOP log, neither the oldest nor the newest, with zeros. */
static void wipe_a_block(int fd)
{
	struct ptx_stored *stored = sample_open(fd, true);
	const struct ptx_stored_slot *slot = &stored->slot[stored->slots / 2];
	const struct ptx_log_block nothing = { .magic = 0 };

	ck_assert_uint_gt(stored->slots, 4);
	ck_assert_int_eq(pwrite(fd, &nothing, sizeof(nothing), (off_t)slot->offset),
			 sizeof(nothing));
	ptx_stored_close(stored);
}

/* LOG-13, R7: the index of this log has no numbers. */
START_TEST(a_loop_log_that_was_ended_without_a_block_is_salvaged_behind_it)
{
	int fd = sample_file(), own;
	struct ptx_stored *stored;
	struct ptx_stored_event got;
	struct ptx_log_facts facts;
	struct ptx_log_tally tally;
	struct sample sample;
	uint64_t n = 0, gaps = 0, strictly;
	int64_t first = 0, last = 0;

	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_LOOP, 4096, 12), 0);
	for (int i = 0; i < 60; i++) {
		sample_add(&sample, 7);
		sample_write(&sample);
	}
	sample_die(&sample);
	wipe_a_block(fd);

	own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	memset(&sample, 0, sizeof(sample));
	ptx_ledger_init(&sample.ledger);
	ptx_log_tally_init(&tally);
	ck_assert_int_eq(ptx_log_resume(own, &sample.log, &facts, &tally), 0);
	ck_assert_int_eq(ptx_log_tally_report(&tally, &sample.ledger), 0);
	ptx_log_tally_fini(&tally);
	ck_assert_int_eq(sample_end(&sample), 0);

	strictly = 0;
	stored = sample_open(fd, false);
	while (ptx_stored_next(stored, &got))
		strictly++;
	ck_assert_ptr_nonnull(ptx_stored_damage(stored));
	ptx_stored_close(stored);
	stored = sample_open(fd, true);
	for (; ptx_stored_next(stored, &got); n++) {
		first = n ? first : (int64_t)got.record->time;
		ck_assert_int_gt((int64_t)got.record->time, last);
		last = (int64_t)got.record->time;
		gaps += got.gap;
	}
	ck_assert_int_eq(last, SAMPLE_TIME(60 * 7 - 1));
	ck_assert_uint_gt(n, strictly);
	ck_assert_uint_eq(gaps, 1);
	ck_assert_uint_lt(n, (uint64_t)(last - first) / 1000 + 1);
	/* the maximum in a block */
	ck_assert_uint_ge(n + 32, (uint64_t)(last - first) / 1000 + 1);
	ptx_stored_close(stored);
	close(fd);
}
END_TEST

/*
 * R7: a block has the events that the index lists, but an older number; and another block is
 * younger.
 */
START_TEST(a_block_of_a_loop_log_that_is_not_the_one_of_its_place_is_passed_over)
{
	const struct ptx_stored_slot *slot;
	struct ptx_stored *stored;
	struct ptx_stored_event got;
	struct ptx_log_block *block;
	int fd = sample_file(), changed;
	uint64_t n = 0, all = 0, gaps = 0, fewer;
	uint8_t *bytes;
	size_t size;

	sample_make(fd, POSIX_TRACE_LOOP, 4096, 12, 60 * 7, 7);
	bytes = sample_bytes(fd, &size);
	stored = sample_open(fd, true);
	slot = &stored->slot[stored->slots / 2];
	block = (void *)(bytes + slot->offset);
	ck_assert_uint_eq(block->number, slot->number);
	fewer = block->records;
	if (_i == 0) {
		block->number = 0;
		ptx_log_seal_block(block, block->payload_bytes);
	} else {
		const struct ptx_log_block *last =
			(void *)(bytes + stored->slot[stored->slots - 1].offset);

		memmove(block, last, last->header_bytes + last->payload_bytes);
	}
	while (ptx_stored_next(stored, &got))
		all++;
	ptx_stored_close(stored);

	changed = sample_file_of(bytes, size);
	stored = sample_open(changed, true);
	for (; ptx_stored_next(stored, &got); n++)
		gaps += got.gap;
	ck_assert_uint_eq(n, all - fewer);
	ck_assert_uint_eq(gaps, 1);
	ptx_stored_close(stored);
	close(changed);
	close(fd);
	free(bytes);
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("cursor damage", &tc);

	tcase_add_loop_test(tc, two_thousand_single_bits_turned_over, 0, 3);
	tcase_add_loop_test(tc, two_hundred_cuts, 0, 3);
	tcase_add_loop_test(tc, pages_exchanged_and_zeroed, 0, 3);
	tcase_add_loop_test(tc, noise, 0, 3);
	tcase_add_test(tc, a_loop_log_that_was_ended_without_a_block_is_salvaged_behind_it);
	tcase_add_loop_test(
		tc, a_block_of_a_loop_log_that_is_not_the_one_of_its_place_is_passed_over, 0, 2);
	tcase_add_test(tc, salvage_costs_only_the_damaged_block_and_marks_the_gap);
	return suite;
}

SUITE_MAIN_OF(build)
