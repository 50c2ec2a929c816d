/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_resume.c: blocks count themselves by type (FORMAT D3, R7). One that is whole and has
 * another number than the next is not the next block of the log, whatever else it says.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/write_encode.h"
#include "unit/log/heir.h"

enum { WRITES = 12, EACH = 7, BLOCKS_MOST = 200, LOOP_BYTES = 4096 };

/* Killed after some writes; with each of them the log has got the schema of one more type. */
static int killed_with_schemas(uint32_t policy)
{
	struct sample sample;
	int fd = sample_file();

	ck_assert_int_eq(sample_begin(&sample, fd, policy,
				      policy == POSIX_TRACE_LOOP ? LOOP_BYTES : 0, HEIR_DATA_MAX),
			 0);
	for (unsigned i = 0; i < WRITES; i++) {
		ck_assert_int_eq(ptx_log_schema(sample.log, 64 + i % SAMPLE_TYPES, "u8 x"), 0);
		sample_add(&sample, EACH);
		sample_write(&sample);
	}
	sample_die(&sample);
	return fd;
}

/* The file with another number in the block that begins at. */
static int renumbered(const uint8_t *bytes, size_t size, size_t at, uint64_t number)
{
	uint8_t *copy = malloc(size);
	struct ptx_log_block *block = (void *)(copy + at);
	int fd;

	memcpy(copy, bytes, size);
	block->number = number;
	ptx_log_seal_block(block, block->payload_bytes);
	fd = sample_file_of(copy, size);
	free(copy);
	return fd;
}

static size_t find_blocks(const uint8_t *bytes, size_t from, size_t to, size_t *at)
{
	size_t count = 0;

	while (from + sizeof(struct ptx_log_block) <= to) {
		const struct ptx_log_block *block = (const void *)(bytes + from);

		if (block->magic != PTX_LOG_BLOCK_MAGIC)
			break;
		ck_assert_uint_lt(count, BLOCKS_MOST);
		at[count++] = from;
		from += block->header_bytes + block->payload_bytes;
	}
	return count;
}

/*
 * So the log is damaged there: what stands behind is left alone if there are events, and cut off if
 * not.
 */
START_TEST(a_sequence_ends_at_a_block_whose_number_is_not_the_next)
{
	static const int64_t changes[] = { 1, -1, 2, INT32_MAX };
	int fd = killed_with_schemas(POSIX_TRACE_APPEND);
	size_t at[BLOCKS_MOST], size, is, count, last_data = 0, types[PTX_LOG_TYPES] = { 0 };
	uint8_t *bytes = sample_bytes(fd, &size), *now;
	struct sample sample;

	count = find_blocks(bytes, PTX_LOG_HEADER_BYTES, size, at);
	for (size_t i = 0; i < count; i++) {
		const struct ptx_log_block *block = (const void *)(bytes + at[i]);

		ck_assert_uint_lt(block->type, PTX_LOG_TYPES);
		ck_assert_uint_eq(block->number, types[block->type]++);
		if (block->type == PTX_LOG_DATA)
			last_data = at[i];
	}
	ck_assert_uint_gt(types[PTX_LOG_DATA], 2);
	ck_assert_uint_gt(types[PTX_LOG_NAMES], 0);
	ck_assert_uint_gt(types[PTX_LOG_SCHEMAS], 2);
	for (size_t i = 0; i < count; i++) {
		const struct ptx_log_block *block = (const void *)(bytes + at[i]);
		int other = renumbered(bytes, size, at[i],
				       block->number + (uint64_t)changes[_i]);
		int err = heir_resume(&sample, other);

		if (at[i] > last_data) {
			ck_assert_int_eq(err, 0);
			ck_assert_uint_eq(sample.events, WRITES * EACH);
			heir_go_on_to(&sample, other, WRITES * EACH + 40);
		} else {
			ck_assert_int_eq(err, EINVAL);
			now = sample_bytes(other, &is);
			ck_assert_uint_eq(is, size);
			ck_assert_mem_eq(now, bytes, at[i]);
			free(now);
		}
		close(other);
	}
	/* As it was, it goes on. */
	ck_assert_int_eq(heir_resume(&sample, fd), 0);
	ck_assert_uint_eq(sample.events, WRITES * EACH);
	heir_go_on_to(&sample, fd, WRITES * EACH + 40);
	free(bytes);
	close(fd);
}
END_TEST

/* In slots the lists stand in an area of their own. */
START_TEST(lists_end_at_a_block_whose_number_is_not_the_next)
{
	int fd = killed_with_schemas(POSIX_TRACE_LOOP);
	size_t at[BLOCKS_MOST], size, count;
	uint8_t *bytes = sample_bytes(fd, &size);
	const struct ptx_log_header *header = (const void *)bytes;
	struct sample sample;

	count = find_blocks(bytes, header->lists_offset, header->lists_offset + header->lists_bytes,
			    at);
	ck_assert_uint_gt(count, 2);
	for (size_t i = 0; i < count; i++) {
		const struct ptx_log_block *block = (const void *)(bytes + at[i]);
		int other = renumbered(bytes, size, at[i], block->number + 1 + (uint64_t)_i);

		ck_assert_int_eq(heir_resume(&sample, other), 0);
		ck_assert_uint_eq(sample.log->lists.at, at[i]);
		ck_assert_uint_eq(sample.events, WRITES * EACH);
		sample_die(&sample);
		close(other);
	}
	free(bytes);
	close(fd);
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("log: going on, by numbers", &tc);

	tcase_add_loop_test(tc, a_sequence_ends_at_a_block_whose_number_is_not_the_next, 0, 4);
	tcase_add_loop_test(tc, lists_end_at_a_block_whose_number_is_not_the_next, 0, 2);
	return suite;
}

SUITE_MAIN_OF(build)
