/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/check.h, posix_trace_check_np(): each fault is found at its offset, with a text that
 * describes it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "log/read_scan.h"
#include "unit/log/sample.h"

struct seen {
	unsigned faults;
	uint64_t offset;
	char text[2000];
};

static void see(void *arg, const struct posix_trace_fault_np *fault)
{
	struct seen *seen = arg;
	size_t used = strlen(seen->text);

	if (!seen->faults++)
		seen->offset = fault->offset;
	snprintf(seen->text + used, sizeof(seen->text) - used, "%s\n", fault->reason);
}

/* A copy of the log's bytes in memory, which a test changes. */
struct work {
	uint8_t *bytes;
	size_t size;
};

static struct ptx_log_block *block_of(struct work *work, unsigned type, unsigned nth)
{
	const struct ptx_log_header *header = (const void *)work->bytes;
	struct ptx_log_block block;
	const char *why;

	for (size_t at = PTX_LOG_HEADER_BYTES; at + sizeof(block) <= work->size; at += 8)
		if (ptx_log_decode_block(work->bytes + at, work->size - at, header->log_id, &block,
					 &why) == PTX_LOG_GOOD &&
		    block.type == type && !nth--)
			return (struct ptx_log_block *)(void *)(work->bytes + at);
	ck_abort_msg("no block %u", type);
	return NULL;
}

/* Returns a valid DATA block of a LOOP log, whose records are stored unpacked. */
static struct ptx_log_block *plain_block_of(struct work *work)
{
	const struct ptx_log_place *place = (const void *)(block_of(work, PTX_LOG_INDEX, 0) + 1);
	struct ptx_log_block *block =
		(struct ptx_log_block *)(void *)(work->bytes + place[1].offset);

	ck_assert_uint_eq(block->type, PTX_LOG_DATA);
	ck_assert_uint_eq(block->shapes, 0);
	return block;
}

static void reseal(struct ptx_log_block *block)
{
	ptx_log_seal_block(block, block->payload_bytes);
}

static struct work a_log(uint32_t policy)
{
	int fd = sample_file();
	struct work work;

	sample_make(fd, policy, 8192, 16, policy == POSIX_TRACE_LOOP ? 2000 : 130, 25);
	sample_prove(fd);
	work.bytes = sample_bytes(fd, &work.size);
	close(fd);
	return work;
}

/*
 * Checks that the changed bytes have a fault at this offset (1: at any offset) whose text contains
 * these words.
 */
static void expect(struct work *work, uint64_t offset, const char *words)
{
	int fd = sample_file_of(work->bytes, work->size);
	struct posix_trace_check_np result;
	struct seen seen = { 0 };

	OK(ptx_check_log(fd, see, &seen, &result));
	ck_assert_uint_eq(result.faults, seen.faults);
	ck_assert_uint_eq(result.bytes, work->size);
	ck_assert_msg(strstr(seen.text, words), "expected \"%s\", found \"%s\"", words, seen.text);
	if (offset != 1)
		ck_assert_uint_eq(seen.offset, offset);
	close(fd);
	free(work->bytes);
}

static uint64_t offset_of(const struct work *work, const struct ptx_log_block *block)
{
	return (uint64_t)((const uint8_t *)block - work->bytes);
}

START_TEST(a_changed_byte_is_found_in_every_part)
{
	struct work work = a_log(POSIX_TRACE_APPEND);
	struct ptx_log_block *block = block_of(&work, PTX_LOG_DATA, 2);

	((uint8_t *)(block + 1))[50] ^= 4;
	expect(&work, offset_of(&work, block), "the checksum of a block is wrong");

	work = a_log(POSIX_TRACE_APPEND);
	block = block_of(&work, PTX_LOG_DATA, 2);
	block->number ^= 1;
	expect(&work, offset_of(&work, block), "the checksum of a block's header is wrong");

	work = a_log(POSIX_TRACE_APPEND);
	work.bytes[300] ^= 1;
	expect(&work, 0, "the header's checksum is wrong");

	work = a_log(POSIX_TRACE_APPEND);
	work.bytes[PTX_LOG_CLOSING_AT + 100] ^= 1;
	expect(&work, PTX_LOG_CLOSING_AT, "closing area has a wrong checksum");

	work = a_log(POSIX_TRACE_LOOP);
	block = block_of(&work, PTX_LOG_LEDGER, 0);
	((uint8_t *)(block + 1))[3] ^= 1;
	expect(&work, 1, "has no good end");
}
END_TEST

/* The checksums are right, and the contents are wrong. */
START_TEST(a_record_that_breaks_a_rule_is_found)
{
	static const struct {
		size_t field, bytes;
		uint64_t value;
		const char *words;
	} rules[] = {
		{ 0, 4, 0x0fffffff, "a record runs past its block" },
		{ 0, 4, 0x20000000, "flags that do not exist" },
		{ 4, 2, 0, "event type is out of range" },
		{ 4, 2, 1024, "event type is out of range" },
		{ 6, 2, 5, "thread is not in the block's table" },
		{ 16, 8, 0, "outside its block's range" },
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		struct work work = a_log(POSIX_TRACE_LOOP);
		struct ptx_log_block *block = plain_block_of(&work);

		memcpy((uint8_t *)(block + 1) + rules[i].field, &rules[i].value, rules[i].bytes);
		reseal(block);
		expect(&work, offset_of(&work, block), rules[i].words);
	}
}
END_TEST

START_TEST(counts_and_times_of_a_block_are_compared_with_its_records)
{
	struct work work = a_log(POSIX_TRACE_LOOP);
	struct ptx_log_block *block = plain_block_of(&work);
	struct ptx_record *record;

	block->records++;
	reseal(block);
	expect(&work, offset_of(&work, block), "another count of records");

	work = a_log(POSIX_TRACE_LOOP);
	block = plain_block_of(&work);
	block->record_bytes += 8;
	reseal(block);
	expect(&work, offset_of(&work, block), "another length than its counts say");

	work = a_log(POSIX_TRACE_APPEND);
	block = block_of(&work, PTX_LOG_DATA, 1);
	block->time_max++;
	reseal(block);
	expect(&work, offset_of(&work, block), "range of time is wider");

	work = a_log(POSIX_TRACE_LOOP);
	block = plain_block_of(&work);
	record = (struct ptx_record *)(void *)(block + 1);
	while (!(ptx_record_len(record->len_flags) & 7))
		record = (struct ptx_record *)(void *)((uint8_t *)record +
						       ptx_record_size(ptx_record_len(
							       record->len_flags)));
	((uint8_t *)(record + 1))[ptx_record_len(record->len_flags)] = 1;
	reseal(block);
	expect(&work, offset_of(&work, block), "padding is not zero");

	work = a_log(POSIX_TRACE_APPEND);
	block = block_of(&work, PTX_LOG_DATA, 3);
	block->first_record += 2;
	reseal(block);
	expect(&work, offset_of(&work, block), "2 events are missing before this block");

	/* No event precedes the first block of a sequence. */
	work = a_log(POSIX_TRACE_APPEND);
	block = block_of(&work, PTX_LOG_DATA, 0);
	ck_assert_uint_eq(block->first_record, 0);
	block->first_record = 2;
	reseal(block);
	expect(&work, offset_of(&work, block), "2 events are missing before this block");
}
END_TEST

START_TEST(a_block_that_is_gone_is_missed)
{
	struct work work = a_log(POSIX_TRACE_APPEND);
	struct ptx_log_block *block = block_of(&work, PTX_LOG_DATA, 2);
	uint64_t at = offset_of(&work, block);
	size_t len = sizeof(*block) + block->payload_bytes;

	memmove(block, (uint8_t *)block + len, work.size - at - len);
	work.size -= len;
	expect(&work, 1, "25 events are missing before this block");

	work = a_log(POSIX_TRACE_APPEND);
	block = block_of(&work, PTX_LOG_DATA, 2);
	at = offset_of(&work, block);
	memset(block, 0, 200);
	expect(&work, at, "no block begins here");

	/* A valid block of an unknown type is in the place of a DATA block. */
	work = a_log(POSIX_TRACE_LOOP);
	block = plain_block_of(&work);
	at = offset_of(&work, block);
	block->type = 200;
	reseal(block);
	expect(&work, at, "a slot holds another block than it should");
}
END_TEST

START_TEST(index_end_and_names_are_compared_with_the_blocks)
{
	struct work work = a_log(POSIX_TRACE_APPEND);
	struct ptx_log_block *block = block_of(&work, PTX_LOG_INDEX, 0);
	struct ptx_log_place *place = (struct ptx_log_place *)(void *)(block + 1);
	struct ptx_log_end *end;
	struct ptx_log_name *name;

	place[1].offset += 8;
	reseal(block);
	expect(&work, offset_of(&work, block), "index does not agree with the blocks");

	work = a_log(POSIX_TRACE_LOOP);
	block = block_of(&work, PTX_LOG_INDEX, 0);
	place = (struct ptx_log_place *)(void *)(block + 1);
	place[1].time_min -= 8;
	reseal(block);
	expect(&work, 1, "index does not agree with the blocks");

	work = a_log(POSIX_TRACE_APPEND);
	block = block_of(&work, PTX_LOG_TOP, 0);
	place = (struct ptx_log_place *)(void *)(block + 1);
	place[0].time_top++;
	reseal(block);
	expect(&work, offset_of(&work, block), "top index does not agree");

	work = a_log(POSIX_TRACE_APPEND);
	block = block_of(&work, PTX_LOG_END, 0);
	end = (struct ptx_log_end *)(void *)(block + 1);
	end->sum.records++;
	reseal(block);
	expect(&work, 1, "the END block counts 131 events, there are 130");

	work = a_log(POSIX_TRACE_LOOP);
	block = block_of(&work, PTX_LOG_END, 0);
	end = (struct ptx_log_end *)(void *)(block + 1);
	end->sum.overwritten++;
	reseal(block);
	expect(&work, 1, "overwritten events, the blocks");

	work = a_log(POSIX_TRACE_APPEND);
	block = block_of(&work, PTX_LOG_END, 0);
	end = (struct ptx_log_end *)(void *)(block + 1);
	end->sum.overwritten = 3;
	reseal(block);
	expect(&work, 1, "the END block counts 3 overwritten events, the blocks 0");

	work = a_log(POSIX_TRACE_APPEND);
	for (unsigned i = 0; i < 2; i++) {
		block = block_of(&work, PTX_LOG_NAMES, i);
		name = (struct ptx_log_name *)(void *)(block + 1);
		name->type = 900;
		reseal(block);
	}
	expect(&work, 0, "event type 64 has events but no name");
}
END_TEST

START_TEST(a_ledger_that_does_not_add_up_is_found)
{
	struct work work = a_log(POSIX_TRACE_APPEND);
	struct ptx_log_block *block = block_of(&work, PTX_LOG_LEDGER, 0);
	struct ptx_log_line *total = (struct ptx_log_line *)(void *)(block + 1);
	struct ptx_log_type_line *type = (struct ptx_log_type_line *)(void *)(total + 1);

	total->called++;
	reseal(block);
	expect(&work, 0, "threads add up to 130 called, its total says 131");

	work = a_log(POSIX_TRACE_LOOP);
	block = block_of(&work, PTX_LOG_LEDGER, 0);
	total = (struct ptx_log_line *)(void *)(block + 1);
	type = (struct ptx_log_type_line *)(void *)(total + 1);
	type[2].line.reported--;
	type[2].line.lost[PTX_LOST_LOG_OVERWRITTEN]++;
	reseal(block);
	expect(&work, 0, "event type 66: the ledger reports");

	work = a_log(POSIX_TRACE_APPEND);
	block = block_of(&work, PTX_LOG_LEDGER, 0);
	total = (struct ptx_log_line *)(void *)(block + 1);
	total->reported -= 3;
	total->lost[PTX_LOST_NESTING] += 3;
	reseal(block);
	expect(&work, 0, "types add up to 130 reported, its total says 127");

	work = a_log(POSIX_TRACE_APPEND);
	block = block_of(&work, PTX_LOG_LEDGER, 0);
	total = (struct ptx_log_line *)(void *)(block + 1);
	type = (struct ptx_log_type_line *)(void *)(total + 1);
	((struct ptx_log_thread_line *)(void *)(type + block->records))->tid = 999;
	reseal(block);
	expect(&work, 0, "process 500 thread 999: the ledger reports 27 events, the log holds 0");
}
END_TEST

START_TEST(a_file_that_is_no_log_is_einval_with_a_reason)
{
	struct posix_trace_check_np result;
	struct seen seen = { 0 };
	int fd = sample_file_of("hello", 5);

	FAILS(EINVAL, ptx_check_log(fd, see, &seen, &result));
	ck_assert_str_eq(seen.text, "this is not a trace log\n");
	ck_assert_str_eq(posix_trace_open_fault_np(fd), "this is not a trace log");
	close(fd);
	/* A file with the beginning of a header may be a log that was cut. */
	fd = sample_file_of(PTX_LOG_MAGIC, 5);
	memset(&seen, 0, sizeof(seen));
	FAILS(EINVAL, ptx_check_log(fd, see, &seen, &result));
	ck_assert_str_eq(seen.text, "this file is too short to be a trace log\n");
	ck_assert_str_eq(posix_trace_open_fault_np(fd), "this file is too short to be a trace log");
	close(fd);
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	memset(&seen, 0, sizeof(seen));
	FAILS(EINVAL, ptx_check_log(fd, see, &seen, &result));
	ck_assert_str_eq(seen.text, "this is not a trace log\n");
	close(fd);
	FAILS(EINVAL, ptx_check_log(-1, NULL, NULL, &result));
}
END_TEST

START_TEST(only_a_file_that_is_refused_has_a_reason)
{
	struct work work = a_log(POSIX_TRACE_APPEND);
	struct ptx_log_header *header = (void *)work.bytes;
	int fd = sample_file_of(work.bytes, work.size), folder = open("/", O_RDONLY | O_CLOEXEC);

	ck_assert_ptr_null(posix_trace_open_fault_np(fd));
	close(fd);
	header->byte_order = __builtin_bswap64(header->byte_order);
	fd = sample_file_of(work.bytes, work.size);
	errno = ENOSYS;
	ck_assert_str_eq(posix_trace_open_fault_np(fd), "the log has another byte order");
	close(fd);
	header->byte_order = __builtin_bswap64(header->byte_order);
	header->version_major++;
	fd = sample_file_of(work.bytes, work.size);
	ck_assert_str_eq(posix_trace_open_fault_np(fd),
			 "the log has another major version, or its header is damaged");
	ck_assert_str_eq(posix_trace_open_fault_np(folder), "this is a directory");
	ck_assert_str_eq(posix_trace_open_fault_np(-1), "the descriptor is not open");
	ck_assert_int_eq(errno, ENOSYS);
	close(folder);
	close(fd);
	free(work.bytes);
}
END_TEST

START_TEST(a_descriptor_that_cannot_be_read_at_offsets_has_its_own_reason)
{
	struct posix_trace_check_np result;
	struct seen seen = { 0 };
	int ends[2], fd;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	FAILS(EINVAL, ptx_check_log(ends[0], see, &seen, &result));
	ck_assert_msg(strstr(seen.text, "this is a pipe or a socket"), "%s", seen.text);
	close(ends[0]);
	close(ends[1]);

	fd = open("/", O_RDONLY | O_CLOEXEC);
	memset(&seen, 0, sizeof(seen));
	FAILS(EINVAL, ptx_check_log(fd, see, &seen, &result));
	ck_assert_str_eq(seen.text, "this is a directory\n");
	close(fd);

	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	memset(&seen, 0, sizeof(seen));
	FAILS(EINVAL, ptx_check_log(fd, see, &seen, &result));
	ck_assert_str_eq(seen.text, "this is no regular file\n");
	close(fd);

	fd = open("/proc/self/exe", O_PATH | O_CLOEXEC);
	memset(&seen, 0, sizeof(seen));
	FAILS(EINVAL, ptx_check_log(fd, see, &seen, &result));
	ck_assert_str_eq(seen.text, "the descriptor is not open for reading\n");
	close(fd);

	memset(&seen, 0, sizeof(seen));
	FAILS(EINVAL, ptx_check_log(-1, see, &seen, &result));
	ck_assert_str_eq(seen.text, "the descriptor is not open\n");
}
END_TEST

SUITE_MAIN("cursor check", a_changed_byte_is_found_in_every_part,
	   a_record_that_breaks_a_rule_is_found,
	   counts_and_times_of_a_block_are_compared_with_its_records,
	   a_block_that_is_gone_is_missed, index_end_and_names_are_compared_with_the_blocks,
	   a_ledger_that_does_not_add_up_is_found, a_file_that_is_no_log_is_einval_with_a_reason,
	   only_a_file_that_is_refused_has_a_reason,
	   a_descriptor_that_cannot_be_read_at_offsets_has_its_own_reason)
