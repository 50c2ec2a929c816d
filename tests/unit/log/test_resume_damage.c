/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_resume.c: a resuming process does not change bytes that no killed writer leaves behind,
 * or that it cannot read.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "log/write_encode.h"
#include "unit/log/heir.h"

#define MIB (UINT64_C(1) << 20)

static unsigned reads, fails_at; /* the n-th read from now on fails; 0: none */
static bool goes_on_failing;

int __real_ptx_io_read_at(int fd, void *buf, size_t len, uint64_t offset, size_t *got);
int __wrap_ptx_io_read_at(int fd, void *buf, size_t len, uint64_t offset, size_t *got);
int __wrap_ptx_io_read_at(int fd, void *buf, size_t len, uint64_t offset, size_t *got)
{
	reads++;
	if (fails_at && (goes_on_failing ? reads >= fails_at : reads == fails_at)) {
		*got = 0;
		return EIO;
	}
	return __real_ptx_io_read_at(fd, buf, len, offset, got);
}

/* Returns the offset of the last block with events. */
static size_t last_data(const uint8_t *bytes, size_t size)
{
	size_t last = 0;

	for (size_t at = PTX_LOG_HEADER_BYTES; at < size;) {
		const struct ptx_log_block *block = (const void *)(bytes + at);

		if (block->type == PTX_LOG_DATA)
			last = at;
		at += block->header_bytes + block->payload_bytes;
	}
	return last;
}

/*
 * No killed writer leaves such a log. So the resuming process does not cut off the readable rest.
 */
START_TEST(a_log_with_events_behind_damage_is_left_alone)
{
	int fd = heir_killed(POSIX_TRACE_APPEND, 40);
	uint8_t *bytes;
	size_t size, last;

	bytes = sample_bytes(fd, &size);
	last = last_data(bytes, size);
	ck_assert_uint_gt(last, PTX_LOG_HEADER_BYTES);
	for (size_t at = PTX_LOG_HEADER_BYTES; at < size; at += 7) {
		int damaged = sample_file_of(bytes, size), err;
		uint8_t other = bytes[at] ^ 0x55, *now;
		struct sample sample;
		size_t is;

		ck_assert_int_eq(pwrite(damaged, &other, 1, (off_t)at), 1);
		err = heir_resume(&sample, damaged);
		if (at < last) {
			ck_assert_int_eq(err, EINVAL);
			now = sample_bytes(damaged, &is);
			ck_assert_uint_eq(is, size);
			ck_assert_mem_eq(now, bytes, at);
			ck_assert_mem_eq(now + at + 1, bytes + at + 1, size - at - 1);
			free(now);
		} else {
			ck_assert_int_eq(err, 0);
			heir_go_on_to(&sample, damaged, 60);
		}
		close(damaged);
	}
	free(bytes);
	close(fd);
}
END_TEST

/* Adds a copy of the first block with events, at this distance behind the end. */
static int with_events_behind(uint64_t distance)
{
	int fd = heir_killed(POSIX_TRACE_APPEND, 40);
	const struct ptx_log_block *block;
	uint64_t at;
	size_t size, first = PTX_LOG_HEADER_BYTES;
	uint8_t *bytes = sample_bytes(fd, &size);

	for (;; first += block->header_bytes + block->payload_bytes) {
		ck_assert_uint_lt(first, size);
		block = (const void *)(bytes + first);
		if (block->type == PTX_LOG_DATA)
			break;
	}
	at = (size + distance) & ~UINT64_C(7);
	ck_assert_int_gt(pwrite(fd, block, block->header_bytes + block->payload_bytes, (off_t)at),
			 0);
	free(bytes);
	return fd;
}

/* FORMAT W2: an older log, of any size, may have been there */
START_TEST(events_are_looked_for_as_far_as_a_killed_writer_may_have_written)
{
	struct sample sample;
	int fd = with_events_behind(15 * MIB);

	ck_assert_int_eq(heir_resume(&sample, fd), EINVAL);
	close(fd);
	fd = with_events_behind(17 * MIB);
	ck_assert_int_eq(heir_resume(&sample, fd), 0);
	ck_assert_uint_eq(sample.events, 40);
	heir_go_on_to(&sample, fd, 100);
	close(fd);
}
END_TEST

/*
 * The disk fails, for a moment or for longer. The resuming process does not cut off bytes that it
 * could not read.
 */
START_TEST(a_log_that_cannot_be_read_is_left_alone)
{
	int fd = heir_killed(POSIX_TRACE_APPEND, 40000), err;
	struct sample sample;
	uint8_t *bytes, *now;
	size_t size, is;

	bytes = sample_bytes(fd, &size);
	goes_on_failing = _i;
	for (unsigned n = 1;; n++) {
		reads = 0;
		fails_at = n;
		err = heir_resume(&sample, fd);
		fails_at = 0;
		if (reads < n)
			break;
		ck_assert_int_ne(err, 0);
		if (n > 1 && goes_on_failing)
			ck_assert_int_eq(err, EIO);
		now = sample_bytes(fd, &is);
		ck_assert_uint_eq(is, size);
		ck_assert_mem_eq(now, bytes, size);
		free(now);
	}
	ck_assert_uint_gt(reads, 3);
	ck_assert_int_eq(err, 0);
	ck_assert_uint_eq(sample.events, 40000);
	heir_go_on_to(&sample, fd, 40100);
	free(bytes);
	close(fd);
}
END_TEST

/*
 * A header with a right checksum has forged areas: with smaller slots, a new block would overwrite
 * the next slot, and with larger ones, new slots would be at offsets that no reader accepts.
 */
START_TEST(a_log_with_areas_of_another_size_is_left_alone)
{
	static const int64_t changes[] = { -512, -8, 8, 512, INT64_C(1) << 40 };
	int fd = heir_killed(POSIX_TRACE_LOOP, 40);
	struct ptx_log_header header;
	uint64_t *const field[] = { &header.names_offset, &header.names_bytes,
				    &header.lists_offset, &header.lists_bytes,
				    &header.slots_offset, &header.slot_bytes };
	struct sample sample;
	uint8_t *bytes, *now;
	size_t size, is;

	bytes = sample_bytes(fd, &size);
	memcpy(&header, bytes, sizeof(header));
	*field[_i / 5] += (uint64_t)changes[_i % 5];
	ptx_log_seal_header(&header);
	memcpy(bytes, &header, sizeof(header));
	ck_assert_int_eq(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
	ck_assert_int_eq(heir_resume(&sample, fd), EINVAL);
	now = sample_bytes(fd, &is);
	ck_assert_uint_eq(is, size);
	ck_assert_mem_eq(now, bytes, size);
	free(now);
	free(bytes);
	close(fd);
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("log: going on behind damage", &tc);

	tcase_add_test(tc, a_log_with_events_behind_damage_is_left_alone);
	tcase_add_test(tc, events_are_looked_for_as_far_as_a_killed_writer_may_have_written);
	tcase_add_loop_test(tc, a_log_that_cannot_be_read_is_left_alone, 0, 2);
	tcase_add_loop_test(tc, a_log_with_areas_of_another_size_is_left_alone, 0, 30);
	return suite;
}

SUITE_MAIN_OF(build)
