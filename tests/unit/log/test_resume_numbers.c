/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_resume.c: blocks are numbered by type (FORMAT D3, R7). If a valid block does not have
 * the next number, it is not the next block of the log, whatever its other fields are.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/write_encode.h"
#include "unit/log/heir.h"

enum { WRITES = 12, EACH = 7, BLOCKS_MOST = 200, LOOP_BYTES = 4096 };

/* The writer is killed after some writes. Each write adds the schema of one more type. */
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

/* Returns a copy of the file with another number in the block that begins at this offset. */
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
 * The log is damaged at such a block. If events follow, the bytes behind the block remain;
 * otherwise they are cut off.
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
	/* The unchanged log can be resumed. */
	ck_assert_int_eq(heir_resume(&sample, fd), 0);
	ck_assert_uint_eq(sample.events, WRITES * EACH);
	heir_go_on_to(&sample, fd, WRITES * EACH + 40);
	free(bytes);
	close(fd);
}
END_TEST

/* The bytes of a LOOP log and the blocks of its names areas and its lists area. */
struct beside {
	int fd;
	uint8_t *bytes;
	size_t size, count, at[BLOCKS_MOST];
};

static void beside_begin(struct beside *beside)
{
	const struct ptx_log_header *header;
	size_t names = 0;

	beside->fd = killed_with_schemas(POSIX_TRACE_LOOP);
	beside->bytes = sample_bytes(beside->fd, &beside->size);
	header = (const void *)beside->bytes;
	for (int area = 0; area < 2; area++) {
		const size_t at = header->names_offset + (size_t)area * header->names_bytes;

		names += find_blocks(beside->bytes, at, at + header->names_bytes,
				     beside->at + names);
	}
	ck_assert_uint_gt(names, 0);
	beside->count = names + find_blocks(beside->bytes, header->lists_offset,
					    header->lists_offset + header->lists_bytes,
					    beside->at + names);
	ck_assert_uint_gt(beside->count, names + 2);
}

static void beside_end(struct beside *beside)
{
	free(beside->bytes);
	close(beside->fd);
}

/* A block that the writer cannot have made ends the lists, and no block is added behind it. */
START_TEST(lists_end_at_a_block_whose_number_is_not_the_next)
{
	struct beside beside;
	struct sample sample;

	beside_begin(&beside);
	for (size_t i = 0; i < beside.count; i++) {
		const struct ptx_log_block *block = (const void *)(beside.bytes + beside.at[i]);
		const struct ptx_log_header *header = (const void *)beside.bytes;
		int other;

		if (block->type == PTX_LOG_NAMES)
			continue;
		other = renumbered(beside.bytes, beside.size, beside.at[i],
				   block->number + 1 + (uint64_t)_i);
		ck_assert_int_eq(heir_resume(&sample, other), 0);
		ck_assert_uint_eq(sample.log->lists.at, header->lists_offset + header->lists_bytes);
		ck_assert_uint_eq(sample.events, WRITES * EACH);
		sample_die(&sample);
		close(other);
	}
	beside_end(&beside);
}
END_TEST

enum harm { /* kinds of harm to one block */
	HARM_NUMBER_LESS,
	HARM_NUMBER_MORE,
	HARM_NUMBER_FAR,
	HARM_TYPE_DATA,
	HARM_TYPE_NAMES,
	HARM_TYPE_INDEX,
	HARM_TYPE_OBJECTS,
	HARM_TYPE_UNKNOWN,
	HARM_HEADER,
	HARM_PAYLOAD,
	HARM_MAGIC,
	HARM_SHORT,
	HARM_FOREIGN,
	HARMS
};

static void harm(uint8_t *at, enum harm harm)
{
	static const uint16_t types[] = {
		[HARM_TYPE_DATA] = PTX_LOG_DATA,       [HARM_TYPE_NAMES] = PTX_LOG_NAMES,
		[HARM_TYPE_INDEX] = PTX_LOG_INDEX,     [HARM_TYPE_OBJECTS] = PTX_LOG_OBJECTS,
		[HARM_TYPE_UNKNOWN] = PTX_LOG_TYPES + 1,
	};
	struct ptx_log_block *block = (void *)at;

	switch (harm) {
	case HARM_NUMBER_LESS:
		block->number--;
		break;
	case HARM_NUMBER_MORE:
		block->number++;
		break;
	case HARM_NUMBER_FAR:
		block->number += UINT64_MAX / 2;
		break;
	case HARM_HEADER:
		block->header_crc ^= 1;
		return;
	case HARM_PAYLOAD:
		at[block->header_bytes + block->payload_bytes - 1] ^= 1;
		return;
	case HARM_MAGIC:
		block->magic = 0;
		return;
	case HARM_SHORT:
		block->payload_bytes = 1u << 28;
		ptx_log_seal_block(block, 0);
		block->payload_bytes = 1u << 28;
		return;
	case HARM_FOREIGN:
		block->log_id++;
		break;
	default:
		block->type = types[harm];
		break;
	}
	ptx_log_seal_block(block, block->payload_bytes);
}

enum { FAULTS_MOST = 64, REASON_BYTES = 200 };

struct faults {
	size_t count;
	char reason[FAULTS_MOST][REASON_BYTES];
};

static void note_fault(void *arg, const struct posix_trace_fault_np *fault)
{
	struct faults *faults = arg;

	ck_assert_uint_lt(faults->count, FAULTS_MOST);
	snprintf(faults->reason[faults->count++], REASON_BYTES, "%s", fault->reason);
}

static void find_faults(int fd, struct faults *faults, bool complete)
{
	struct posix_trace_check_np result;

	faults->count = 0;
	OK(ptx_check_log(fd, note_fault, faults, &result));
	ck_assert_int_eq(result.complete, complete);
}

/* Resumes the log and completes it. The log must have no fault that it did not have before. */
static void must_not_get_worse(int fd, size_t block, int harmed, bool has_new_lists)
{
	static struct faults before, after;
	struct sample sample;

	find_faults(fd, &before, false);
	ck_assert_int_eq(heir_resume(&sample, fd), 0);
	ck_assert_uint_eq(sample.events, WRITES * EACH);
	if (has_new_lists)
		ck_assert_int_eq(ptx_log_schema(sample.log, 64 + SAMPLE_TYPES, "u16 y"), 0);
	sample_add(&sample, 2 * EACH);
	sample_write(&sample);
	ck_assert_int_eq(sample_end(&sample), 0);
	find_faults(fd, &after, true);
	for (size_t i = 0; i < after.count; i++) {
		size_t n = 0;

		while (n < before.count && strcmp(after.reason[i], before.reason[n]) != 0)
			n++;
		ck_assert_msg(n < before.count, "block %zu, harm %d: %s", block, harmed,
			      after.reason[i]);
	}
}

/* The old and new blocks outside the slots have one sequence of numbers. */
START_TEST(a_log_that_is_gone_on_with_gets_no_fault_beside_its_slots)
{
	struct beside beside;

	beside_begin(&beside);
	for (size_t i = 0; i < beside.count; i++)
		for (size_t j = i; j < beside.count; j++) {
			int fd = sample_file_of(beside.bytes, beside.size);
			uint8_t *bytes = malloc(beside.size);

			memcpy(bytes, beside.bytes, beside.size);
			harm(bytes + beside.at[i], (enum harm)_i);
			if (j > i)
				harm(bytes + beside.at[j], (enum harm)((_i + i + j) % HARMS));
			ck_assert_int_eq(pwrite(fd, bytes, beside.size, 0), (ssize_t)beside.size);
			must_not_get_worse(fd, i, _i, (i + j) % 2);
			free(bytes);
			close(fd);
		}
	beside_end(&beside);
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("log: going on, by numbers", &tc);

	tcase_add_loop_test(tc, a_sequence_ends_at_a_block_whose_number_is_not_the_next, 0, 4);
	tcase_add_loop_test(tc, lists_end_at_a_block_whose_number_is_not_the_next, 0, 2);
	tcase_add_loop_test(tc, a_log_that_is_gone_on_with_gets_no_fault_beside_its_slots, 0,
			    HARMS);
	return suite;
}

SUITE_MAIN_OF(build)
