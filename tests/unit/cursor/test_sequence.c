/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cursor/stored.c: the blocks are valid, but together they are not the log that was written. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/read_scan.h"
#include "unit/log/sample.h"

enum { BLOCKS = 12, EACH = 5, DATA_MAX = 24 };

/* Stores the offsets of the blocks with events. at[BLOCKS] is the end of the last block. */
static void find_data(int fd, uint64_t *at)
{
	struct ptx_log_window window;
	struct ptx_log_header header;
	struct ptx_log_found found;
	uint64_t offset = PTX_LOG_HEADER_BYTES;
	size_t count = 0;
	const char *why;

	ck_assert_int_eq(ptx_log_window_open(&window, fd), 0);
	ck_assert_int_eq(pread(fd, &header, sizeof(header), 0), sizeof(header));
	while (ptx_log_find(&window, offset, UINT64_MAX, header.log_id, &found, &why) ==
	       PTX_LOG_GOOD) {
		offset = found.end;
		if (found.block.type != PTX_LOG_DATA)
			continue;
		ck_assert_uint_lt(count, BLOCKS);
		at[count++] = found.offset;
		at[count] = found.end;
	}
	ck_assert_uint_eq(count, BLOCKS);
	ptx_log_window_close(&window);
}

/* Makes a log of a dead writer. Its blocks with events are those that order[] lists. */
static int log_of(const unsigned *order, size_t count)
{
	uint64_t at[BLOCKS + 1], put;
	struct sample sample;
	int fd = sample_file(), result;
	uint8_t *bytes, *work;
	size_t size;

	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_APPEND, 0, DATA_MAX), 0);
	for (int i = 0; i < BLOCKS; i++) {
		sample_add(&sample, EACH);
		sample_write(&sample);
	}
	sample_die(&sample);
	find_data(fd, at);
	bytes = sample_bytes(fd, &size);
	work = malloc(2 * size);
	memcpy(work, bytes, at[0]);
	put = at[0];
	for (size_t i = 0; i < count; i++) {
		size_t len = at[order[i] + 1] - at[order[i]];

		memcpy(work + put, bytes + at[order[i]], len);
		put += len;
	}
	result = sample_file_of(work, put);
	free(work);
	free(bytes);
	close(fd);
	return result;
}

static const struct {
	unsigned order[BLOCKS];
	size_t blocks;     /* of order[] */
	size_t plain;      /* the number of blocks that are read without salvage */
	uint64_t from, to; /* salvage misses only the blocks with these numbers, `to` excluded */
} logs[] = {
	{ { 0, 1, 2, 3, 4, 5 }, 6, 6, 6, 6 },
	{ { 0, 1, 2, 4, 5, 6 }, 6, 3, 3, 4 },
	{ { 0, 1, 2, 6 }, 4, 3, 3, 6 },
	{ { 0, 1, 2, 1, 3, 4 }, 6, 3, 3, 3 },
	{ { 0, 1, 2, 2, 3, 4 }, 6, 3, 3, 3 },
	{ { 0, 1, 2, 0, 1, 2, 3 }, 7, 3, 3, 3 },
};

enum { LOGS = sizeof(logs) / sizeof(logs[0]) };

/* FORMAT 6 */
START_TEST(reading_ends_where_a_block_is_missing_or_comes_again)
{
	int fd = log_of(logs[_i].order, logs[_i].blocks);
	struct ptx_stored *stored = sample_open(fd, false);

	ck_assert_uint_eq(sample_read(stored, 0, DATA_MAX), logs[_i].plain * EACH);
	if (logs[_i].plain == logs[_i].blocks)
		ck_assert_ptr_null(ptx_stored_damage(stored));
	else
		ck_assert_str_eq(ptx_stored_damage(stored), "a block is missing");
	ptx_stored_close(stored);
	close(fd);
}
END_TEST

/* Salvage reads a repeated block once, and marks the place. */
START_TEST(salvage_reads_all_that_is_there_once)
{
	int fd = log_of(logs[_i].order, logs[_i].blocks);
	struct ptx_stored *stored = sample_open(fd, true);
	struct ptx_stored_event got;
	uint64_t next = 0,
		 gap = logs[_i].plain == logs[_i].blocks ? UINT64_MAX : logs[_i].to * EACH;

	while (ptx_stored_next(stored, &got)) {
		if (next == logs[_i].from * EACH)
			next = logs[_i].to * EACH;
		ck_assert_int_eq((int64_t)got.record->time, SAMPLE_TIME(next));
		ck_assert_int_eq(got.gap, next == gap);
		next++;
	}
	ck_assert_uint_eq(next, (logs[_i].order[logs[_i].blocks - 1] + 1u) * EACH);
	ptx_stored_close(stored);
	close(fd);
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("cursor sequence", &tc);

	tcase_add_loop_test(tc, reading_ends_where_a_block_is_missing_or_comes_again, 0, LOGS);
	tcase_add_loop_test(tc, salvage_reads_all_that_is_there_once, 0, LOGS);
	return suite;
}

SUITE_MAIN_OF(build)
