/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cursor/: salvage of logs whose header is damaged. Everything that the blocks contain is
 * recovered. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/random.h"
#include "unit/log/sample.h"

#define EVENTS    240
#define FIELDS    456 /* where the fields of the header end, FORMAT 2.1 */
#define READABLE  10  /* magic and version_major are before this offset */
#define DATA_MAX  24

/* A log whose first part was written before a clear, in a file that has an older log. */
struct log {
	uint8_t *bytes;
	size_t size;
	uint64_t first, events; /* the numbers of the events in the log */
	bool complete;
};

static const uint32_t policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_UNTIL_FULL,
				     POSIX_TRACE_LOOP };
#define KINDS 6 /* combinations of the policies with completed or not */

static struct log make(int kind)
{
	uint32_t policy = policies[kind / 2];
	struct log log = { .complete = kind % 2 };
	struct ptx_stored *stored;
	struct ptx_stored_event got;
	struct sample sample;
	int fd = sample_file(), copy;

	sample_make(fd, policies[(kind / 2 + 1) % 3], 100000, 40, 700, 10);
	ck_assert_int_eq(sample_begin(&sample, fd, policy,
				      policy == POSIX_TRACE_LOOP ? 4096 : 100000, DATA_MAX), 0);
	sample_add(&sample, 100);
	sample_write(&sample);
	OK(ptx_log_clear(sample.log, &sample.ledger, NULL));
	for (int i = 0; i < EVENTS / 20; i++) {
		sample_add(&sample, 20);
		sample_write(&sample);
	}
	if (log.complete)
		ck_assert_int_eq(sample_end(&sample), 0);
	else
		sample_die(&sample);
	log.bytes = sample_bytes(fd, &log.size);
	close(fd);

	/* A copy, because this process might count as the writer of the original file. */
	copy = sample_file_of(log.bytes, log.size);
	stored = sample_open(copy, false);
	ck_assert(ptx_stored_next(stored, &got));
	log.first = (uint64_t)((int64_t)got.record->time - SAMPLE_TIME(0)) / 1000;
	ptx_stored_rewind(stored);
	log.events = sample_read(stored, log.first, DATA_MAX);
	ck_assert_uint_eq(log.first + log.events, 100 + EVENTS);
	ck_assert(policy == POSIX_TRACE_LOOP ? log.first > 100 : log.first == 100);
	ptx_stored_close(stored);
	close(copy);
	return log;
}

struct seen {
	unsigned faults;
	uint64_t offset; /* of the first */
	char reason[200];
};

static void see(void *arg, const struct posix_trace_fault_np *fault)
{
	struct seen *seen = arg;

	if (seen->faults++)
		return;
	seen->offset = fault->offset;
	strncpy(seen->reason, fault->reason, sizeof(seen->reason) - 1);
}

/* Asserts that only the header is missing, and that the check reports only this. */
static void assert_salvaged(int fd, const struct log *log, uint64_t offset)
{
	struct ptx_stored *stored = sample_open(fd, true);
	struct posix_trace_check_np result;
	struct seen seen = { 0 };

	if (sample_read(stored, log->first, DATA_MAX) != log->events)
		ck_abort_msg("events are missing");
	if (strcmp(ptx_stored_name(stored, 64), "sample 0") ||
	    strcmp(ptx_stored_name(stored, 70), "sample 6"))
		ck_abort_msg("a name is missing");
	if (ptx_stored_ledger(stored)->total.reported != log->events)
		ck_abort_msg("the ledger is wrong");
	ptx_stored_seek(stored, SAMPLE_TIME(log->first + 10));
	if (sample_read(stored, log->first + 10, DATA_MAX) != log->events - 10)
		ck_abort_msg("seeking is wrong");
	ptx_stored_close(stored);
	OK(ptx_check_log(fd, see, &seen, &result));
	if (seen.offset != offset || seen.faults != 1)
		ck_abort_msg("%u faults, the first at %llu: %s", seen.faults,
			     (unsigned long long)seen.offset, seen.reason);
	if (result.events != log->events || result.complete != log->complete)
		ck_abort_msg("the check sees %llu events", (unsigned long long)result.events);
}

static void flip(int fd, const struct log *log, size_t at, uint8_t mask)
{
	uint8_t byte = log->bytes[at] ^ mask;
	struct posix_trace_check_np result;
	struct ptx_stored *stored;
	struct seen seen = { 0 };

	if (pwrite(fd, &byte, 1, (off_t)at) != 1)
		ck_abort();
	/*
	 * Without salvage the file is no log, except after damage of the closing area, which has
	 * its own checksum.
	 */
	if (at < PTX_LOG_CLOSING_AT && ptx_stored_open(fd, false, &stored) != EINVAL)
		ck_abort_msg("byte %zu: opened", at);
	if (at >= READABLE) {
		assert_salvaged(fd, log, at < PTX_LOG_CLOSING_AT ? 0 : PTX_LOG_CLOSING_AT);
	} else {
		FAILS(EINVAL, ptx_stored_open(fd, true, &stored));
		FAILS(EINVAL, ptx_check_log(fd, see, &seen, &result));
		ck_assert_uint_eq(seen.faults, 1);
		ck_assert_str_eq(seen.reason, at < 8 ? "this is not a trace log" :
				 "the log has another major version, or its header is damaged");
	}
	if (pwrite(fd, &log->bytes[at], 1, (off_t)at) != 1)
		ck_abort();
}

/*
 * LOG-11, OPEN-02, OPEN-08: _i is the kind. Each byte of the fields is changed several times, and
 * only some of the spare bytes
 */
START_TEST(no_changed_byte_of_the_header_costs_an_event)
{
	struct log log = make(_i);
	int fd = sample_file_of(log.bytes, log.size);
	uint64_t random = 5 + (uint64_t)_i;

	for (size_t at = 0; at < PTX_LOG_HEADER_BYTES; at++) {
		if (at >= FIELDS && at < PTX_LOG_CLOSING_AT && at % 7)
			continue;
		flip(fd, &log, at, (uint8_t)(1u << at % 8));
		if (at >= FIELDS)
			continue;
		flip(fd, &log, at, (uint8_t)random_between(&random, 1, 255));
		flip(fd, &log, at, log.bytes[at] ? log.bytes[at] : 0xff); /* zero, or ones */
	}
	close(fd);
	free(log.bytes);
}
END_TEST

static void fill(uint8_t *to, size_t len, unsigned how, uint64_t *random)
{
	for (size_t i = 0; i < len; i++)
		to[i] = how == 0 ? 0 : how == 1 ? 0xff : (uint8_t)random_next(random);
}

/*
 * _i is the kind. Even without the header, the reader does not read the older log and the cleared
 * blocks
 */
START_TEST(magic_and_version_of_a_header_suffice)
{
	struct log log = make(_i);
	int fd = sample_file_of(log.bytes, log.size);
	uint64_t random = 50 + (uint64_t)_i;
	uint8_t bytes[PTX_LOG_HEADER_BYTES];

	for (unsigned n = 0; n < 50; n++) {
		struct ptx_stored *stored;
		struct ptx_attr attr;

		memcpy(bytes, log.bytes, sizeof(bytes));
		fill(bytes + READABLE, PTX_LOG_CLOSING_AT - READABLE, n, &random);
		ck_assert_int_eq(pwrite(fd, bytes, sizeof(bytes), 0), sizeof(bytes));
		assert_salvaged(fd, &log, 0);
		/* The attributes are valid for a stream. */
		stored = sample_open(fd, true);
		attr = ptx_stored_facts(stored)->attr;
		ck_assert(ptx_attr_is_valid(&attr));
		ck_assert(attr.inheritance == POSIX_TRACE_CLOSE_FOR_CHILD ||
			  attr.inheritance == POSIX_TRACE_INHERITED);
		ck_assert(attr.stream_policy == POSIX_TRACE_FLUSH ||
			  attr.stream_policy == POSIX_TRACE_LOOP ||
			  attr.stream_policy == POSIX_TRACE_UNTIL_FULL);
		ck_assert_int_eq(attr.log_policy == POSIX_TRACE_LOOP, _i / 2 == 2);
		ck_assert_uint_lt(strnlen(attr.name, sizeof(attr.name)), sizeof(attr.name));
		ck_assert_uint_le(attr.max_data_size, UINT64_C(1) << 48);
		ck_assert_int_ge(attr.clock_resolution_ns, 1);
		ptx_stored_close(stored);
	}
	close(fd);
	free(log.bytes);
}
END_TEST

static struct ptx_log_block *block_at(uint8_t *bytes, size_t at)
{
	return (struct ptx_log_block *)(void *)(bytes + at);
}

/* The first blocks, which have the most information, are damaged, too. _i is the kind */
START_TEST(with_a_damaged_block_beside_the_header_the_other_blocks_are_read)
{
	struct log log = make(_i);
	uint64_t random = 500 + (uint64_t)_i, most = 0;
	struct ptx_stored_event got;
	struct ptx_stored *stored;
	int fd;

	/* The block of names, and the first block with events, which is part of the oldest 20. */
	for (size_t at = PTX_LOG_HEADER_BYTES, damaged = 0; damaged < 2; at += 8) {
		if (block_at(log.bytes, at)->magic != PTX_LOG_BLOCK_MAGIC)
			continue;
		damaged += block_at(log.bytes, at)->type == PTX_LOG_DATA ||
			   at == PTX_LOG_HEADER_BYTES;
		block_at(log.bytes, at)->header_crc ^= 1;
	}
	fill(log.bytes + READABLE, PTX_LOG_CLOSING_AT - READABLE, 2, &random);
	fd = sample_file_of(log.bytes, log.size);
	stored = sample_open(fd, true);
	for (int64_t before = 0; ptx_stored_next(stored, &got); most++) {
		ck_assert_int_gt((int64_t)got.record->time, before);
		before = (int64_t)got.record->time;
	}
	ck_assert_uint_ge(most + 20, log.events);
	ptx_stored_close(stored);
	close(fd);
	free(log.bytes);
}
END_TEST

/* Every second block is damaged, so that no block follows another. _i is the kind */
START_TEST(with_half_of_the_blocks_and_no_header_the_other_half_is_read)
{
	struct log log = make(_i);
	uint64_t random = 5000 + (uint64_t)_i, expected = 0, n = 0;
	const uint64_t id = ((struct ptx_log_header *)(void *)log.bytes)->log_id;
	struct ptx_stored_event got;
	struct ptx_stored *stored;
	unsigned blocks = 0;
	int fd;

	for (size_t at = PTX_LOG_HEADER_BYTES; at + sizeof(struct ptx_log_block) < log.size;
	     at += 8) {
		struct ptx_log_block *block = block_at(log.bytes, at);

		if (block->magic != PTX_LOG_BLOCK_MAGIC || block->log_id != id)
			continue;
		if (++blocks % 2)
			block->header_crc ^= 1;
		else if (block->type == PTX_LOG_DATA)
			expected += block->records;
	}
	ck_assert_uint_ge(expected, log.events / 4);
	fill(log.bytes + READABLE, PTX_LOG_CLOSING_AT - READABLE, 2, &random);
	fd = sample_file_of(log.bytes, log.size);
	stored = sample_open(fd, true);
	for (int64_t before = 0; ptx_stored_next(stored, &got); n++) {
		ck_assert_int_gt((int64_t)got.record->time, before);
		before = (int64_t)got.record->time;
	}
	/*
	 * In slots, only the newest block shows which blocks are obsolete, and it may be missing.
	 */
	if (_i / 2 == 2)
		ck_assert_uint_ge(n, expected / 2);
	else
		ck_assert_uint_eq(n, expected);
	ptx_stored_close(stored);
	close(fd);
	free(log.bytes);
}
END_TEST

/* _i is the kind */
START_TEST(a_log_without_events_is_a_log_without_events)
{
	struct posix_trace_check_np result;
	struct ptx_stored_event got;
	struct ptx_stored *stored;
	struct sample sample;
	struct seen seen = { 0 };
	int fd = sample_file(), copy;
	uint8_t *bytes;
	size_t size;

	ck_assert_int_eq(sample_begin(&sample, fd, policies[_i / 2], 4096, DATA_MAX), 0);
	sample_write(&sample);
	if (_i % 2)
		ck_assert_int_eq(sample_end(&sample), 0);
	else
		sample_die(&sample);
	bytes = sample_bytes(fd, &size);
	bytes[100] ^= 1;
	copy = sample_file_of(bytes, size);
	stored = sample_open(copy, true);
	ck_assert(!ptx_stored_next(stored, &got));
	ck_assert_str_eq(ptx_stored_name(stored, 64), "sample 0");
	ck_assert_str_eq(ptx_stored_facts(stored)->attr.name, "sample");
	ptx_stored_close(stored);
	OK(ptx_check_log(copy, see, &seen, &result));
	ck_assert_uint_eq(seen.faults, 1);
	close(copy);
	close(fd);
	free(bytes);
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("cursor mend", &tc);

	tcase_add_loop_test(tc, no_changed_byte_of_the_header_costs_an_event, 0, KINDS);
	tcase_add_loop_test(tc, magic_and_version_of_a_header_suffice, 0, KINDS);
	tcase_add_loop_test(tc, with_a_damaged_block_beside_the_header_the_other_blocks_are_read,
			    0, KINDS);
	tcase_add_loop_test(tc, with_half_of_the_blocks_and_no_header_the_other_half_is_read, 0,
			    KINDS);
	tcase_add_loop_test(tc, a_log_without_events_is_a_log_without_events, 0, KINDS);
	return suite;
}

SUITE_MAIN_OF(build)
