/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/: logs in which something was changed, by chance or by somebody who can compute
 * checksums. Run with the sanitizers it proves OPEN-08; without them it proves that what is
 * delivered was written.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "log/log_scan.h"
#include "support/payload.h"
#include "unit/log/sample.h"

#define EVENTS 600

static const uint32_t policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_UNTIL_FULL,
				     POSIX_TRACE_LOOP };

static uint8_t *a_log(uint32_t policy, size_t *size)
{
	int fd = sample_file();
	uint8_t *bytes;

	/* LOOP goes round; the others hold all. */
	sample_make(fd, policy, policy == POSIX_TRACE_LOOP ? 8192 : 100000, 24, EVENTS, 20);
	bytes = sample_bytes(fd, size);
	close(fd);
	return bytes;
}

/* Every event delivered is one that was put, in order; how many. */
static unsigned read_all(struct ptx_stored *stored)
{
	struct ptx_stored_event got;
	int64_t before = -1;
	unsigned n = 0;

	for (; ptx_stored_next(stored, &got); n++) {
		struct ptx_log_event want;
		uint8_t data[32];
		int64_t i = ((int64_t)got.record->time - SAMPLE_TIME(0)) / 1000;

		if (i <= before || i >= EVENTS)
			ck_abort_msg("event %lld after %lld", (long long)i, (long long)before);
		sample_event((uint64_t)i, 24, &want, data);
		if (got.record->len_flags != want.len_flags || got.record->type != want.type ||
		    got.tid != want.tid ||
		    memcmp(got.record + 1, data, ptx_record_len(want.len_flags)))
			ck_abort_msg("event %lld is not what it was", (long long)i);
		before = i;
	}
	return n;
}

/* Uses every way to read; the bytes of events themselves are read too. */
static uint64_t touch(struct ptx_stored *stored)
{
	struct posix_trace_loginfo_np info;
	struct ptx_stored_event got;
	uint64_t sum = 0;

	ptx_stored_info(stored, &info);
	sum += ptx_stored_ledger(stored)->total.called;
	for (size_t i = 0; i < ptx_stored_ledger(stored)->threads; i++)
		sum += ptx_stored_ledger(stored)->thread[i].tid;
	for (unsigned type = 0; type <= PTX_TYPE_MAX; type++)
		sum += ptx_stored_name(stored, type) ? strlen(ptx_stored_name(stored, type)) : 0;
	for (int pass = 0; pass < 4; pass++) {
		for (unsigned n = 0; n < 2000 && ptx_stored_next(stored, &got); n++) {
			const uint8_t *data = (const uint8_t *)(got.record + 1);

			sum += got.tid + got.thread;
			for (size_t i = 0; i < ptx_record_len(got.record->len_flags); i++)
				sum += data[i];
		}
		if (pass == 0)
			ptx_stored_rewind(stored);
		else
			ptx_stored_seek(stored, pass == 1 ? SAMPLE_TIME(300) :
						pass == 2 ? INT64_MIN : INT64_MAX);
	}
	return sum;
}

static void use(int fd, bool events_are_known)
{
	struct posix_trace_check_np result;
	struct ptx_stored *stored;
	unsigned whole = 0, salvaged;
	int err, salvage;

	for (salvage = 0; salvage < 2; salvage++) {
		err = ptx_stored_open(fd, salvage, &stored);
		if (err) {
			if (err != EINVAL)
				ck_abort_msg("error %d", err);
			continue;
		}
		if (events_are_known) {
			salvaged = read_all(stored);
			if (salvage && salvaged < whole)
				ck_abort_msg("salvage gives %u, reading %u", salvaged, whole);
			whole = salvaged;
			ptx_stored_rewind(stored);
		}
		touch(stored);
		ptx_stored_close(stored);
	}
	err = ptx_check_log(fd, NULL, NULL, &result);
	if (err && err != EINVAL)
		ck_abort_msg("error %d", err);
}

/* OPEN-08, LOG-11: i is the policy */
START_TEST(two_thousand_single_bits_turned_over)
{
	uint64_t random = 7 + (uint64_t)_i;
	unsigned silent = 0, tries = 0;
	size_t size;
	uint8_t *bytes = a_log(policies[_i], &size);
	int fd = sample_file_of(bytes, size);

	while (tries < 2000) {
		size_t at = random_between(&random, 0, size - 1);
		uint8_t turned = bytes[at] ^ (uint8_t)(1u << random_between(&random, 0, 7));
		struct posix_trace_check_np result;

		/* In the holes of a LOOP log nothing has a meaning: mostly elsewhere, then. */
		if (!bytes[at] && random_between(&random, 0, 9))
			continue;
		tries++;
		if (pwrite(fd, &turned, 1, (off_t)at) != 1)
			ck_abort();
		if (tries % 4 == 0)
			use(fd, true);
		if (!ptx_check_log(fd, NULL, NULL, &result) && !result.faults)
			silent++;
		if (pwrite(fd, &bytes[at], 1, (off_t)at) != 1)
			ck_abort();
	}
	/* A sequence has no byte without a checksum. */
	if (policies[_i] != POSIX_TRACE_LOOP)
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
	uint8_t *bytes = a_log(policies[_i], &size);
	int fd = sample_file_of(bytes, size);

	for (int n = 0; n < 200; n++) {
		struct posix_trace_check_np result;

		if (ftruncate(fd, (off_t)random_between(&random, 0, size - 1)))
			ck_abort();
		use(fd, true);
		if (!ptx_check_log(fd, NULL, NULL, &result) && !result.faults)
			ck_abort();
		if (pwrite(fd, bytes, size, 0) != (ssize_t)size)
			ck_abort();
	}
	close(fd);
	free(bytes);
}
END_TEST

/* Whole pages gone, doubled, or from elsewhere. */
START_TEST(pages_exchanged_and_zeroed)
{
	uint64_t random = 777 + (uint64_t)_i;
	size_t size;
	uint8_t *bytes = a_log(policies[_i], &size), *work = malloc(size);
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
		use(fd, true);
	}
	close(fd);
	free(work);
	free(bytes);
}
END_TEST

static uint64_t interesting(uint64_t *random)
{
	static const uint64_t values[] = {
		0, 1, 7, 8, 16, 87, 88, 89, 96, 255, 256, 1023, 1024, 4095, 4096, 65535, 65536,
		UINT32_MAX, UINT32_MAX - 7, INT32_MAX, (uint64_t)INT32_MAX + 1, 1u << 29,
		(1u << 29) - 8, UINT64_MAX, UINT64_MAX - 7, INT64_MAX, (uint64_t)INT64_MAX + 1,
		UINT64_C(1) << 48, (UINT64_C(1) << 48) - 8,
	};

	if (random_between(random, 0, 3) == 0)
		return (uint64_t)random_next(random) << 32 | random_next(random);
	return values[random_between(random, 0, sizeof(values) / sizeof(values[0]) - 1)];
}

static void change(uint8_t *bytes, size_t len, uint64_t *random)
{
	static const size_t widths[] = { 1, 2, 4, 8 };
	size_t width = widths[random_between(random, 0, 3)];
	size_t at = random_between(random, 0, len / width - 1) * width;
	uint64_t value = interesting(random);

	if (width == 8 && random_between(random, 0, 1)) { /* a little more or less */
		memcpy(&value, bytes + at, 8);
		value += random_between(random, 0, 64) - UINT64_C(32);
	}
	memcpy(bytes + at, &value, width);
}

/* The header and all block headers of a log, found in its bytes. */
static size_t find_blocks(const uint8_t *bytes, size_t size, size_t *at, size_t max)
{
	const struct ptx_log_header *header = (const void *)bytes;
	struct ptx_log_block block;
	const char *why;
	size_t count = 0;

	for (size_t i = PTX_LOG_HEADER_BYTES; i + sizeof(block) < size && count < max; i += 8)
		if (ptx_log_decode_block(bytes + i, size - i, header->log_id, &block, &why) ==
		    PTX_LOG_GOOD)
			at[count++] = i;
	return count;
}

static void seal_header(struct ptx_log_block *block)
{
	block->header_crc = ptx_log_crc_without(block, sizeof(*block),
						offsetof(struct ptx_log_block, header_crc));
}

/*
 * Fields get values that no writer would write, and the checksums are made right again. So every
 * length, count and offset is met where it is used. OPEN-08
 */
START_TEST(impossible_fields_with_right_checksums)
{
	uint64_t random = 4242 + (uint64_t)_i;
	size_t size, blocks, at[500];
	uint8_t *bytes = a_log(policies[_i], &size), *work = malloc(size);
	int fd = sample_file();

	blocks = find_blocks(bytes, size, at, 500);
	ck_assert_uint_gt(blocks, 10);
	for (int n = 0; n < 3000; n++) {
		struct ptx_log_header *header = (struct ptx_log_header *)(void *)work;
		/* The tail is as interesting as all the rest. */
		size_t i = random_between(&random, 0, 1) ? blocks - random_between(&random, 1, 6) :
			   random_between(&random, 0, blocks - 1);
		struct ptx_log_block *block = (struct ptx_log_block *)(void *)(work + at[i]);
		size_t payload;

		memcpy(work, bytes, size);
		payload = block->payload_bytes;
		switch (random_between(&random, 0, 4)) {
		case 0: /* the header */
			change(work + 8, 456 - 8, &random);
			if (random_between(&random, 0, 1)) /* else it is salvaged */
				ptx_log_seal_header(header);
			break;
		case 1:
			change((uint8_t *)&header->closing, 200, &random);
			ptx_log_seal_closing(&header->closing);
			break;
		case 2: /* a block's header */
			change((uint8_t *)block, sizeof(*block), &random);
			seal_header(block);
			break;
		default: /* a payload; both */
			for (size_t k = random_between(&random, 1, 3); k--;)
				change((uint8_t *)(block + 1), payload, &random);
			if (random_between(&random, 0, 3) == 0)
				change((uint8_t *)&block->number, 56, &random); /* to shapes */
			block->payload_crc = ptx_crc32c(0, block + 1, payload);
			seal_header(block);
		}
		if (random_between(&random, 0, 9) == 0 && /* without its end it is recovered */
		    ftruncate(fd, (off_t)(size - random_between(&random, 1, 300))))
			ck_abort();
		if (pwrite(fd, work, size, 0) != (ssize_t)size)
			ck_abort();
		use(fd, false);
	}
	close(fd);
	free(work);
	free(bytes);
}
END_TEST

/* Nothing but noise behind a good header, behind the magic, behind the version. */
START_TEST(noise)
{
	uint64_t random = 99;
	size_t size;
	uint8_t *bytes = a_log(policies[_i], &size), *work = malloc(size);
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
		use(fd, false);
	}
	close(fd);
	free(work);
	free(bytes);
}
END_TEST

/* A header that promises the least of slots in a sparse file of a terabyte. */
START_TEST(a_hostile_sparse_file_does_not_keep_a_reader_for_ever)
{
	size_t size;
	uint8_t *bytes = a_log(POSIX_TRACE_LOOP, &size);
	struct ptx_log_header *header = (struct ptx_log_header *)(void *)bytes;
	struct ptx_stored *stored;
	int fd;

	header->slot_bytes = sizeof(struct ptx_log_block) + 8;
	ptx_log_seal_header(header);
	memcpy(header->closing.state, PTX_LOG_STREAMED, 8);
	fd = sample_file_of(bytes, size);
	ck_assert_int_eq(ftruncate(fd, (off_t)1 << 40), 0);
	stored = sample_open(fd, false);
	ck_assert_uint_eq(read_all(stored), 0);
	ptx_stored_close(stored);
	close(fd);
	free(bytes);
}
END_TEST

/* What a part in the middle that is gone costs: itself. GETNEXT of the rest by salvage. */
START_TEST(salvage_costs_only_the_damaged_block_and_marks_the_gap)
{
	struct ptx_stored_event got;
	struct ptx_stored *stored;
	size_t size, blocks, at[500], gaps = 0, n = 0;
	uint8_t *bytes = a_log(POSIX_TRACE_APPEND, &size);
	int fd;

	blocks = find_blocks(bytes, size, at, 500);
	ck_assert_uint_gt(blocks, 20);
	memset(bytes + at[5], 0, 40);            /* a header */
	bytes[at[10] + 100] ^= 0x10;             /* a payload */
	fd = sample_file_of(bytes, size);
	ck_assert_uint_ge(sample_faults(fd, false), 2);

	stored = sample_open(fd, false);
	ck_assert_uint_eq(read_all(stored), 80); /* names, four blocks of 20, then the first fault */
	ck_assert_ptr_nonnull(ptx_stored_damage(stored));
	ptx_stored_close(stored);

	stored = sample_open(fd, true);
	ck_assert_uint_eq(read_all(stored), EVENTS - 40);
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

/* FORMAT: a length that no writer makes is none, whatever its checksum says. */
START_TEST(a_block_with_an_impossible_length_is_wrong)
{
	static const struct {
		uint32_t bytes;
		enum ptx_log_verdict verdict;
	} length[] = {
		{ 0, PTX_LOG_GOOD }, { 8, PTX_LOG_GOOD }, { 4, PTX_LOG_WRONG },
		{ PTX_LOG_PAYLOAD_MAX, PTX_LOG_GOOD }, { PTX_LOG_PAYLOAD_MAX + 8, PTX_LOG_WRONG },
		{ UINT32_MAX & ~7u, PTX_LOG_WRONG },
	};

	for (size_t i = 0; i < sizeof(length) / sizeof(length[0]); i++) {
		struct ptx_log_block block = { .magic = PTX_LOG_BLOCK_MAGIC, .log_id = 7 }, got;
		const char *why;

		block.header_bytes = sizeof(block);
		block.payload_bytes = length[i].bytes;
		block.header_crc = ptx_log_crc_without(&block, sizeof(block),
						       offsetof(struct ptx_log_block, header_crc));
		ck_assert_int_eq(ptx_log_decode_block(&block, sizeof(block), 7, &got, &why),
				 length[i].verdict);
	}
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("cursor hostile", &tc);

	tcase_add_test(tc, a_block_with_an_impossible_length_is_wrong);
	tcase_add_loop_test(tc, two_thousand_single_bits_turned_over, 0, 3);
	tcase_add_loop_test(tc, two_hundred_cuts, 0, 3);
	tcase_add_loop_test(tc, pages_exchanged_and_zeroed, 0, 3);
	tcase_add_loop_test(tc, impossible_fields_with_right_checksums, 0, 3);
	tcase_add_loop_test(tc, noise, 0, 3);
	tcase_add_test(tc, a_hostile_sparse_file_does_not_keep_a_reader_for_ever);
	tcase_add_test(tc, salvage_costs_only_the_damaged_block_and_marks_the_gap);
	return suite;
}

SUITE_MAIN_OF(build)
