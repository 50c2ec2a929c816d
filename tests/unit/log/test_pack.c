/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/format_pack.h: a reader gets the packed records unchanged, and a block that would not become
 * smaller is not packed. Memory has exactly the size that the contract requires, so that the
 * sanitizers notice any byte beyond it.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/read_scan.h"
#include "support/random.h"
#include "unit/log/pile.h"
#include "unit/log/sample.h"

static size_t padded(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

/* Returns the number of bytes of the packed events (FORMAT 3.4), without the tables. */
static size_t event_bytes(const struct pile *pile)
{
	uint64_t time = (uint64_t)pile->time_min;
	size_t bytes = 0;

	for (size_t at = 0; at < pile->len;) {
		const struct ptx_record *record = (const void *)(pile->bytes + at);
		uint64_t span = record->time - time;
		size_t len = ptx_record_len(record->len_flags);

		bytes += 2 + len + (span <= UINT8_MAX ? 1 : span <= UINT16_MAX ? 2 :
				    span <= UINT32_MAX ? 4 : 8);
		time = record->time;
		at += ptx_record_size(len);
	}
	return padded(bytes);
}

/* Packs the block and, if it becomes smaller, unpacks it. Returns whether it becomes smaller. */
static bool comes_back(const struct pile *pile)
{
	size_t table = sizeof(pile_threads), want;
	struct packed packed;
	uint8_t *got;
	const char *why;
	bool is_packed = pile_pack(pile, &packed);

	want = event_bytes(pile) + packed.block.shapes * sizeof(struct ptx_log_shape);
	if (is_packed != (want < pile->len))
		ck_abort_msg("%zu bytes of records, %zu packed", pile->len, want);
	if (!is_packed)
		return false;
	if (packed.block.payload_bytes != want + table)
		ck_abort_msg("packed into %u bytes, should be %zu", packed.block.payload_bytes,
			     want + table);
	why = packed_read(&packed, &got);
	if (why)
		ck_abort_msg("%s", why);
	if (memcmp(got, pile->bytes, pile->len) || memcmp(got + pile->len, pile_threads, table))
		ck_abort_msg("the unpacked block differs");
	why = ptx_log_check_strictly(&packed.block, got);
	if (why)
		ck_abort_msg("%s", why);
	free(got);
	free(packed.payload);
	return true;
}

START_TEST(every_width_of_time_comes_back_forwards_and_backwards)
{
	static const uint64_t spans[] = {
		0, 1, 0xff, 0x100, 0xffff, 0x10000, 0xffffffff, 0x100000000, INT64_MAX,
		(uint64_t)INT64_MAX + 1, UINT64_MAX, UINT64_MAX - 0xff, UINT64_MAX - 0xffffffff,
	};
	static const int64_t starts[] = { 0, -1, INT64_MAX, INT64_MIN, SAMPLE_TIME(0) };

	for (size_t s = 0; s < sizeof(spans) / sizeof(spans[0]); s++)
		for (size_t t = 0; t < sizeof(starts) / sizeof(starts[0]); t++) {
			struct pile pile = { 0 };
			uint64_t time = (uint64_t)starts[t];

			for (int i = 0; i < 20; i++, time += i % 2 ? spans[s] : -spans[s])
				pile_add(&pile, 16, 64, 0, 0x401000, (int64_t)time);
			ck_assert(comes_back(&pile));
			pile_free(&pile);
		}
}
END_TEST

START_TEST(data_of_every_length_and_every_flag_comes_back)
{
	static const uint32_t flags[] = { 0, PTX_RECORD_TRUNCATED, PTX_RECORD_LATE,
					  PTX_RECORD_TRUNCATED | PTX_RECORD_LATE };
	static const uint32_t large[] = { 255, 256, 4095, 4096, 70001 };
	struct pile all = { 0 };
	int64_t time = SAMPLE_TIME(0);

	for (uint32_t i = 0; i < 41 + sizeof(large) / sizeof(large[0]); i++) {
		uint32_t len = i < 41 ? i : large[i - 41];
		struct pile same = { 0 };

		for (int k = 0; k < 4; k++, time += 77) {
			pile_add(&same, len | flags[i % 4], 1023, 1, UINT64_MAX, time);
			pile_add(&all, len | flags[k], (uint16_t)(1 + i), k % 2, i, time);
		}
		ck_assert(comes_back(&same));
		pile_free(&same);
	}
	ck_assert(comes_back(&all));
	pile_free(&all);
}
END_TEST

/*
 * With one shape more than the packer remembers, the block is not packed, however small it would
 * be.
 */
START_TEST(as_many_shapes_as_there_can_be_come_back_and_more_stay_plain)
{
	for (uint32_t more = 0; more < 3; more++) {
		struct pile pile = { 0 };
		struct packed packed;

		for (uint32_t i = 0; i < PTX_LOG_SHAPES_MAX - 1 + more; i++)
			for (int k = 0; k < 3; k++)
				pile_add(&pile, 24, 64, 0, 0x400000 + 4 * i, SAMPLE_TIME(i));
		if (more < 2) {
			ck_assert(comes_back(&pile));
			ck_assert(pile_pack(&pile, &packed));
			ck_assert_uint_eq(packed.block.shapes, PTX_LOG_SHAPES_MAX - 1 + more);
			free(packed.payload);
		} else {
			ck_assert(!pile_pack(&pile, &packed));
		}
		pile_free(&pile);
	}
}
END_TEST

/* Many shapes appear again after others replaced them in the packer's memory. */
START_TEST(forgotten_shapes_are_written_again)
{
	uint64_t random = 3;

	/* Shapes that differ in their address, or in their preceding shape. */
	for (int one_address = 0; one_address < 2; one_address++) {
		struct pile pile = { 0 };
		struct packed packed;

		for (int i = 0; i < 3000; i++) {
			uint64_t n = random_between(&random, 1, 1000);

			pile_add(&pile, 32, one_address ? (uint16_t)n : 64, 0,
				 one_address ? 0x400000 : 0x400000 + 4 * n, SAMPLE_TIME(i));
		}
		ck_assert(comes_back(&pile));
		ck_assert(pile_pack(&pile, &packed));
		ck_assert_uint_gt(packed.block.shapes, 1000);
		free(packed.payload);
		pile_free(&pile);
	}
}
END_TEST

START_TEST(blocks_that_do_not_get_smaller_stay_plain)
{
	struct pile pile;

	/*
	 * A block of one record: the shape has 16 bytes, and the packed event 3 bytes and its data.
	 */
	for (uint32_t len = 0; len < 40; len++) {
		memset(&pile, 0, sizeof(pile));
		pile_add(&pile, len, 64, 0, 0x401000, SAMPLE_TIME(0));
		ck_assert_int_eq(comes_back(&pile), 16 + padded(3 + len) < 24 + padded(len));
		pile_free(&pile);
	}
	/* The events have neither shapes nor times in common. */
	memset(&pile, 0, sizeof(pile));
	for (int i = 0; i < 1000; i++)
		pile_add(&pile, 0, (uint16_t)(1 + i), 0, (uint64_t)i << 20, SAMPLE_TIME(-i));
	ck_assert(!comes_back(&pile));
	pile_free(&pile);
}
END_TEST

START_TEST(five_hundred_random_blocks_come_back)
{
	uint64_t random = 11;
	unsigned plain = 0, back = 0;

	for (int n = 0; n < 500; n++) {
		struct pile pile = { 0 };

		pile_random(&pile, &random);
		if (comes_back(&pile))
			back++;
		else
			plain++;
		pile_free(&pile);
	}
	ck_assert_uint_gt(back, 100);
	ck_assert_uint_gt(plain, 10);
}
END_TEST

struct blocks {
	unsigned packed, plain;
	uint64_t record_bytes, file_bytes;
};

static void count_blocks(int fd, struct blocks *blocks)
{
	struct ptx_log_window window;
	struct ptx_log_header header;
	struct ptx_log_found found;
	uint64_t at = PTX_LOG_HEADER_BYTES;

	memset(blocks, 0, sizeof(*blocks));
	ck_assert_int_eq(ptx_log_window_open(&window, fd), 0);
	blocks->file_bytes = window.file_bytes;
	ck_assert_int_eq(pread(fd, &header, sizeof(header), 0), sizeof(header));
	for (; ptx_log_resync(&window, at, UINT64_MAX, header.log_id, &found); at = found.end) {
		if (found.block.type != PTX_LOG_DATA)
			continue;
		blocks->packed += found.block.shapes > 0;
		blocks->plain += !found.block.shapes;
		blocks->record_bytes += found.block.record_bytes;
	}
	ptx_log_window_close(&window);
}

/* Events such as programs have: few trace points, one after the other. */
static void put_alike(struct sample *sample, unsigned count, uint32_t len)
{
	uint8_t *data = calloc(1, len + 1);
	struct ptx_log_event event = { .len_flags = len, .type = 64, .pid = 500, .tid = 501,
				       .address = 0x401234, .data = data };

	for (unsigned i = 0; i < count; i++) {
		event.time_ns = SAMPLE_TIME(i);
		while (ptx_log_append(sample->log, &event) == PTX_LOG_APPEND_WRITE_FIRST)
			sample_write(sample);
	}
	free(data);
}

/*
 * FORMAT 3.4, SIZE-15: blocks in slots are not packed, because a slot has a fixed size and unpacked
 * bytes count against the limit
 */
START_TEST(blocks_of_a_sequence_are_packed_and_those_in_slots_are_not)
{
	static const uint32_t policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_UNTIL_FULL,
					     POSIX_TRACE_LOOP };

	for (int i = 0; i < 3; i++) {
		int fd = sample_file();
		struct sample sample;
		struct blocks blocks;

		ck_assert_int_eq(sample_begin(&sample, fd, policies[i], 200000, 8), 0);
		put_alike(&sample, 10000, 8);
		sample_end(&sample);
		count_blocks(fd, &blocks);
		ck_assert_uint_gt(blocks.packed + blocks.plain, 3);
		ck_assert_uint_eq(i == 2 ? blocks.packed : blocks.plain, 0);
		if (i == 0)
			ck_assert_uint_eq(blocks.record_bytes, 320000);
		if (i == 1) {
			ck_assert_uint_le(blocks.record_bytes, 200000);
			ck_assert_uint_gt(blocks.record_bytes + 2 * 32, 200000);
		}
		if (i != 2)
			ck_assert_uint_lt(blocks.file_bytes, blocks.record_bytes / 2);
		close(fd);
	}
}
END_TEST

/*
 * All blocks would become 8 bytes smaller. But a block of large records is packed only if it is
 * then compressed.
 */
START_TEST(a_record_longer_than_a_block_stays_plain)
{
	struct ptx_stored_event got;
	struct ptx_stored *stored;
	struct sample sample;
	struct blocks blocks;
	unsigned packed = getenv("PTX_LEVEL") ? 3 : 0;
	int fd = sample_file();

	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_APPEND, 0, 100000), 0);
	put_alike(&sample, 3, 65536 - 31);
	put_alike(&sample, 3, 65536 - 23);
	sample_end(&sample);
	count_blocks(fd, &blocks);
	ck_assert_uint_eq(blocks.packed, packed);
	ck_assert_uint_eq(blocks.plain, 6 - packed);
	stored = sample_open(fd, false);
	for (int i = 0; i < 6; i++) {
		ck_assert(ptx_stored_next(stored, &got));
		ck_assert_uint_eq(got.record->len_flags, i < 3 ? 65536 - 31 : 65536 - 23);
		ck_assert_int_eq((int64_t)got.record->time, SAMPLE_TIME(i % 3));
	}
	ptx_stored_close(stored);
	close(fd);
}
END_TEST

/* Makes a log of `large` events of `len` bytes and `small` events of 8 bytes, and reads it. */
static void blocks_of(size_t stream_size, unsigned large, uint32_t len, unsigned small,
		      struct blocks *blocks)
{
	struct ptx_stored_event got;
	struct ptx_stored *stored;
	struct ptx_log_facts facts;
	struct sample sample;
	int fd = sample_file();

	sample_facts(&facts, POSIX_TRACE_APPEND, 0, 4096);
	facts.attr.stream_size = stream_size;
	facts.attr.log_compression = 0;
	sample_begin_frozen(&sample, fd, &facts);
	put_alike(&sample, large, len);
	put_alike(&sample, small, 8);
	sample_end(&sample);
	count_blocks(fd, blocks);
	stored = sample_open(fd, false);
	for (unsigned i = 0; i < large + small; i++) {
		ck_assert(ptx_stored_next(stored, &got));
		ck_assert_uint_eq(got.record->len_flags, i < large ? len : 8);
	}
	ck_assert(!ptx_stored_next(stored, &got));
	ptx_stored_close(stored);
	close(fd);
}

/* FORMAT 3.4 */
START_TEST(blocks_of_large_records_are_plain_and_grow_with_the_stream)
{
	struct blocks blocks;

	blocks_of(16 << 20, 1024, 1000, 0, &blocks);
	ck_assert_uint_eq(blocks.packed, 0);
	ck_assert_uint_eq(blocks.plain, 4); /* of 262144 bytes */
	blocks_of(1 << 20, 1024, 1000, 0, &blocks);
	ck_assert_uint_eq(blocks.packed, 0);
	ck_assert_uint_eq(blocks.plain, 8);
	blocks_of(1 << 16, 1024, 488, 0, &blocks);
	ck_assert_uint_eq(blocks.packed, 0);
	ck_assert_uint_eq(blocks.plain, 8); /* of 65536 bytes */
	blocks_of(16 << 20, 1024, 480, 0, &blocks);
	ck_assert_uint_eq(blocks.packed, 8);
	ck_assert_uint_eq(blocks.plain, 0);
	blocks_of(16 << 20, 4, 100000, 0, &blocks);
	ck_assert_uint_eq(blocks.plain, 2); /* two records fit into 262144 bytes */
	/* The first block has grown once, for all large records and some of the small ones. */
	blocks_of(16 << 20, 70, 1000, 20000, &blocks);
	ck_assert_uint_eq(blocks.plain, 1);
	ck_assert_uint_ge(blocks.packed, 9);
}
END_TEST

SUITE_MAIN("log pack", every_width_of_time_comes_back_forwards_and_backwards,
	   data_of_every_length_and_every_flag_comes_back,
	   as_many_shapes_as_there_can_be_come_back_and_more_stay_plain,
	   forgotten_shapes_are_written_again, blocks_that_do_not_get_smaller_stay_plain,
	   five_hundred_random_blocks_come_back,
	   blocks_of_a_sequence_are_packed_and_those_in_slots_are_not,
	   a_record_longer_than_a_block_stays_plain,
	   blocks_of_large_records_are_plain_and_grow_with_the_stream)
