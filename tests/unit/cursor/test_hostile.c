/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/: logs with hostile changes and right checksums. With the sanitizers, the test proves
 * OPEN-08.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "cursor/stored_private.h"
#include "support/random.h"
#include "unit/cursor/changed.h"

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

	if (width == 8 && random_between(random, 0, 1)) { /* plus or minus a little */
		memcpy(&value, bytes + at, 8);
		value += random_between(random, 0, 64) - UINT64_C(32);
	}
	memcpy(bytes + at, &value, width);
}

static void seal_header(struct ptx_log_block *block)
{
	block->header_crc = ptx_log_crc_without(block, sizeof(*block),
						offsetof(struct ptx_log_block, header_crc));
}

/*
 * Fields get values that no writer would write, and the checksums are computed again. So the reader
 * uses every length, count and offset. OPEN-08
 */
START_TEST(impossible_fields_with_right_checksums)
{
	uint64_t random = 4242 + (uint64_t)_i;
	size_t size, blocks, at[500];
	uint8_t *bytes = changed_log(changed_policies[_i], &size), *work = malloc(size);
	int fd = sample_file();

	blocks = changed_blocks(bytes, size, at, 500);
	ck_assert_uint_gt(blocks, 10);
	for (int n = 0; n < 3000; n++) {
		struct ptx_log_header *header = (struct ptx_log_header *)(void *)work;
		/* Half of the changes are in the tail. */
		size_t i = random_between(&random, 0, 1) ? blocks - random_between(&random, 1, 6) :
			   random_between(&random, 0, blocks - 1);
		struct ptx_log_block *block = (struct ptx_log_block *)(void *)(work + at[i]);
		size_t payload;

		memcpy(work, bytes, size);
		payload = block->payload_bytes;
		switch (random_between(&random, 0, 4)) {
		case 0: /* the header */
			change(work + 8, 456 - 8, &random);
			if (random_between(&random, 0, 1)) /* otherwise the log is salvaged */
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
		default: /* a payload; or header and payload */
			for (size_t k = random_between(&random, 1, 3); k--;)
				change((uint8_t *)(block + 1), payload, &random);
			if (random_between(&random, 0, 3) == 0)
				change((uint8_t *)&block->number, 56, &random); /* to shapes */
			block->payload_crc = ptx_crc32c(0, block + 1, payload);
			seal_header(block);
		}
		if (random_between(&random, 0, 9) == 0 && /* without its end block it is
							   * recovered */
		    ftruncate(fd, (off_t)(size - random_between(&random, 1, 300))))
			ck_abort();
		if (pwrite(fd, work, size, 0) != (ssize_t)size)
			ck_abort();
		changed_use(fd, false);
	}
	close(fd);
	free(work);
	free(bytes);
}
END_TEST

/* A header gives the smallest size of a slot, and the file is sparse and has a terabyte. */
START_TEST(a_hostile_sparse_file_does_not_keep_a_reader_for_ever)
{
	size_t size;
	uint8_t *bytes = changed_log(POSIX_TRACE_LOOP, &size);
	struct ptx_log_header *header = (struct ptx_log_header *)(void *)bytes;
	struct ptx_stored *stored;
	int fd;

	header->slot_bytes = sizeof(struct ptx_log_block) + 8;
	ptx_log_seal_header(header);
	memcpy(header->closing.state, PTX_LOG_STREAMED, 8);
	fd = sample_file_of(bytes, size);
	ck_assert_int_eq(ftruncate(fd, (off_t)1 << 40), 0);
	stored = sample_open(fd, false);
	ck_assert_uint_eq(changed_read(stored), 0);
	ptx_stored_close(stored);
	close(fd);
	free(bytes);
}
END_TEST

static void seal(struct ptx_log_block *block)
{
	block->payload_crc = ptx_crc32c(0, block + 1, block->payload_bytes);
	seal_header(block);
}

/*
 * Appends a TOP that names the only INDEX block many times, and an END that names this TOP. Such a
 * log of some megabytes must not make a reader list 10^9 slots.
 */
START_TEST(a_top_that_repeats_an_index_block_adds_no_slots)
{
	enum { ENTRIES = 1000 };
	size_t size, at[500], blocks, top = 0, end = 0;
	uint8_t *bytes = changed_log(POSIX_TRACE_LOOP, &size), *more;
	const size_t payload = ENTRIES * sizeof(struct ptx_log_place);
	struct ptx_log_block *block;
	struct ptx_stored *stored;
	struct ptx_log_end *ending;
	size_t end_bytes, slots;
	unsigned events;
	int fd = sample_file_of(bytes, size);

	stored = sample_open(fd, false);
	slots = stored->slots;
	events = changed_read(stored);
	ptx_stored_close(stored);
	close(fd);
	blocks = changed_blocks(bytes, size, at, 500);
	for (size_t i = 0; i < blocks; i++) {
		block = (struct ptx_log_block *)(void *)(bytes + at[i]);
		if (block->type == PTX_LOG_TOP)
			top = at[i];
		if (block->type == PTX_LOG_END)
			end = at[i];
	}
	ck_assert_uint_gt(top, 0);
	ck_assert_uint_gt(end, top);
	end_bytes = size - end;
	more = malloc(size + sizeof(*block) + payload + end_bytes);
	memcpy(more, bytes, size);
	/* the TOP */
	block = (struct ptx_log_block *)(void *)(more + size);
	memcpy(block, bytes + top, sizeof(*block));
	ck_assert_uint_eq(block->records, 1);
	block->records = ENTRIES;
	block->payload_bytes = payload;
	for (size_t i = 0; i < ENTRIES; i++)
		memcpy((struct ptx_log_place *)(void *)(block + 1) + i,
		       bytes + top + sizeof(*block), sizeof(struct ptx_log_place));
	seal(block);
	/* the END */
	block = (struct ptx_log_block *)(void *)(more + size + sizeof(*block) + payload);
	memcpy(block, bytes + end, end_bytes);
	ending = (struct ptx_log_end *)(void *)(block + 1);
	ending->top_offset = size;
	ending->end_offset = size + sizeof(*block) + payload;
	seal(block);
	fd = sample_file_of(more, size + sizeof(*block) + payload + end_bytes);
	stored = sample_open(fd, false);
	ck_assert_uint_eq(stored->slots, slots);
	ck_assert_uint_eq(changed_read(stored), events);
	ptx_stored_close(stored);
	close(fd);
	free(more);
	free(bytes);
}
END_TEST

/* FORMAT: a length that no writer writes is invalid, even if the checksum is right. */
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
	tcase_add_loop_test(tc, impossible_fields_with_right_checksums, 0, 3);
	tcase_add_test(tc, a_top_that_repeats_an_index_block_adds_no_slots);
	tcase_add_test(tc, a_hostile_sparse_file_does_not_keep_a_reader_for_ever);
	return suite;
}

SUITE_MAIN_OF(build)
