/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/format_pack.h: packed blocks made by hand in the form of FORMAT 3.4, most of which no writer
 * would make. All checksums are right. The reader refuses a block with a reason, or gets records
 * that an unpacked block could have. Memory has exactly the size that the contract requires, so
 * that the sanitizers notice any byte beyond it. OPEN-08, LOG-11
 */
#include <stdlib.h>
#include <string.h>

#include "log/read_decode.h"
#include "unit/log/pile.h"
#include "unit/log/sample.h"

#define FIELD(name) offsetof(struct ptx_log_block, name)

/* Asserts that the packed block is read as the records of the pile. */
static void is_read(struct packed *packed, struct pile *pile)
{
	uint8_t *records;
	const char *why = packed_read(packed, &records);

	ck_assert_msg(!why, "%s", why);
	ck_assert_uint_eq(packed->block.record_bytes, pile->len);
	ck_assert(!memcmp(records, pile->bytes, pile->len));
	ck_assert(!memcmp(records + pile->len, pile_threads, sizeof(pile_threads)));
	ck_assert_ptr_null(ptx_log_check_strictly(&packed->block, records));
	free(records);
	free(packed->payload);
	pile_free(pile);
}

/* Shapes that are equal or unused, and integers longer than necessary, are no fault. */
START_TEST(unusual_but_valid_blocks_are_read_too)
{
	struct hand *hand = hand_new();
	struct pile pile = { 0 };
	struct packed packed;

	hand_shape(hand, 3, 64, 0, 0x401000);
	hand_shape(hand, 8 | PTX_RECORD_LATE, 70, 1, 0x402000); /* not used */
	hand_shape(hand, 3, 64, 0, 0x401000);                   /* equal to the first shape */
	hand_shape(hand, 0 | PTX_RECORD_TRUNCATED, 1023, 2, UINT64_MAX);
	for (unsigned w = 0; w < 4; w++) {
		hand_event(hand, 0, w, w);
		hand_event(hand, 2, w, 5);
		hand_event(hand, 3, w, 0);
	}
	hand_event(hand, 3, 3, UINT64_MAX - 10); /* backwards in time */
	for (int64_t w = 0, time = 1000; w < 4; w++) {
		time += w;
		pile_add(&pile, 3, 64, 0, 0x401000, time);
		time += 5;
		pile_add(&pile, 3, 64, 0, 0x401000, time);
		pile_add(&pile, PTX_RECORD_TRUNCATED, 1023, 2, UINT64_MAX, time);
	}
	pile_add(&pile, PTX_RECORD_TRUNCATED, 1023, 2, UINT64_MAX, pile.time_max - 11);
	packed = hand_over(hand, pile.len, 1000, pile.time_max);
	is_read(&packed, &pile);
}
END_TEST

START_TEST(the_last_of_the_greatest_number_of_shapes_is_read)
{
	struct hand *hand = hand_new();
	struct pile pile = { 0 };
	struct packed packed;

	for (uint32_t i = 0; i < 1u << 14; i++)
		hand_shape(hand, 1, 64, 0, i);
	for (uint32_t i = 0; i < 1u << 14; i++) {
		hand_event(hand, (1u << 14) - 1 - i, 0, 1);
		pile_add(&pile, 1, 64, 0, (1u << 14) - 1 - i, 1 + i);
	}
	/* The first event is not at time_min. */
	pile_add(&pile, 1, 64, 0, 7, 0);
	hand_event(hand, 7, 3, (uint64_t)-(1 << 14));
	packed = hand_over(hand, pile.len, 0, 1 << 14);
	is_read(&packed, &pile);
}
END_TEST

/*
 * The greatest number of records in this many bytes, without data and with one byte, up to 2^29
 * bytes.
 */
START_TEST(events_that_take_least_and_make_most_are_read)
{
	for (uint32_t len = 0; len < 2; len++) {
		struct hand *hand = hand_new();
		struct pile pile = { 0 };
		struct packed packed;

		hand_shape(hand, len, 64, 0, 0x401000);
		for (int i = 0; i < 64000; i++) {
			hand_event(hand, 0, 0, 0);
			pile_add(&pile, len, 64, 0, 0x401000, 0);
		}
		packed = hand_over(hand, pile.len, 0, 0);
		is_read(&packed, &pile);
	}
}
END_TEST

/* Three events in 20 bytes, four of padding, shapes at 24 and 40, threads at 56. */
static struct packed three_events(void)
{
	struct hand *hand = hand_new();

	hand_shape(hand, 5, 64, 0, 0x401000);
	hand_shape(hand, 0, 65, 1, 0x402000);
	hand_event(hand, 0, 0, 0);
	hand_event(hand, 1, 1, 1000);
	hand_event(hand, 0, 0, 100);
	ck_assert_uint_eq(hand->len, 20);
	return hand_over(hand, 32 + 24 + 32, 1000, 2100);
}

static void is_refused(struct packed *packed, const char *reason)
{
	uint8_t *records;
	const char *why;

	packed_seal(packed);
	why = packed_read(packed, &records);
	ck_assert_msg(why != NULL, "expected \"%s\", but it was read", reason);
	ck_assert_str_eq(why, reason);
	free(packed->payload);
}

static const char too_long[] = "an event runs past its block";
static const char tables[] = "the tables of a block are longer than it is";
static const char impossible[] = "the length of a block's records is impossible";
static const char outside[] = "an event's time is outside its block's range";
static const char no_shape[] = "an event's shape is not in the block's table";
static const char no_thread[] = "a record's thread is not in the block's table";
static const char no_type[] = "a record's event type is out of range";
static const char no_flags[] = "a record has flags that do not exist";
static const char more[] = "a block has more bytes of records than it says";
static const char fewer[] = "a block has fewer bytes of records than it says";
static const char padding[] = "a block's padding is not zero";
static const char count[] = "a block has another count of records than it says";

START_TEST(a_header_that_is_not_that_of_its_payload_is_refused)
{
	static const struct {
		size_t field, bytes;
		uint64_t value;
		const char *reason;
	} rules[] = {
		{ FIELD(records), 4, 0, "a block without records" },
		{ FIELD(records), 4, 2, fewer },
		{ FIELD(records), 4, 4, too_long },
		{ FIELD(records), 4, UINT32_MAX, too_long },
		{ FIELD(shapes), 4, (1u << 14) + 1, "a block has more shapes than there can be" },
		{ FIELD(shapes), 4, UINT32_MAX, "a block has more shapes than there can be" },
		{ FIELD(shapes), 4, 1u << 14, tables },
		{ FIELD(shapes), 4, 4, tables },
		{ FIELD(shapes), 4, 1, no_shape },
		{ FIELD(shapes), 4, 0, "a block has another length than its counts say" },
		{ FIELD(sources), 4, 5, tables },
		{ FIELD(sources), 4, 1u << 28, tables },
		{ FIELD(sources), 4, UINT32_MAX, tables },
		{ FIELD(sources), 4, 0, no_thread },
		{ FIELD(record_bytes), 4, 84, impossible },
		{ FIELD(record_bytes), 4, 89, impossible },
		{ FIELD(record_bytes), 4, (1u << 29) + 8, impossible },
		{ FIELD(record_bytes), 4, UINT32_MAX - 7, impossible },
		{ FIELD(record_bytes), 4, 8 * 24 + 8,
		  "a block says that it has more bytes of records than it can have" },
		{ FIELD(record_bytes), 4, 8 * 24, fewer },
		{ FIELD(record_bytes), 4, 96, fewer },
		{ FIELD(record_bytes), 4, 80, more },
		{ FIELD(record_bytes), 4, 24, more },
		{ FIELD(record_bytes), 4, 0, more },
		{ FIELD(time_max), 8, 2099, outside },
		{ FIELD(time_max), 8, 999, outside },
		{ FIELD(time_min), 8, 1001, outside },
		{ FIELD(time_min), 8, INT64_MAX, outside },
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		struct packed packed = three_events();

		memcpy((uint8_t *)&packed.block + rules[i].field, &rules[i].value, rules[i].bytes);
		is_refused(&packed, rules[i].reason);
	}
}
END_TEST

START_TEST(a_payload_that_breaks_a_rule_is_refused)
{
	static const struct {
		size_t at, bytes;
		uint64_t value;
		const char *reason;
	} rules[] = {
		{ 0, 2, 2, no_shape },
		{ 0, 2, 0x3fff, no_shape },
		{ 8, 2, 0xc001, outside }, /* a time of 8 bytes, with bytes of the next event */
		{ 12, 2, 0xc000, too_long },
		{ 14, 1, 101, outside },
		{ 20, 1, 1, padding },
		{ 23, 1, 0x80, padding },
		{ 24, 4, PTX_RECORD_LEN_MAX, too_long },
		{ 24, 4, 22, too_long },
		{ 24, 4, 5 | 1u << 29, no_flags },
		{ 24, 4, 5 | 1u << 31, no_flags },
		{ 28, 2, 0, no_type },
		{ 28, 2, 1024, no_type },
		{ 30, 2, PILE_THREADS, no_thread },
		{ 46, 2, UINT16_MAX, no_thread },
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		struct packed packed = three_events();

		memcpy(packed.payload + rules[i].at, &rules[i].value, rules[i].bytes);
		is_refused(&packed, rules[i].reason);
	}
}
END_TEST

START_TEST(a_shape_that_no_event_has_is_refused_all_the_same)
{
	static const struct ptx_log_shape bad[] = {
		{ 1u << 30 | 1u << 29, 64, 0, 0 }, { 0, 0, 0, 0 }, { 0, 64, PILE_THREADS, 0 },
	};
	static const char *const reasons[] = { no_flags, no_type, no_thread };

	for (int i = 0; i < 3; i++) {
		struct hand *hand = hand_new();
		struct packed packed;

		hand_shape(hand, 0, 64, 0, 0x401000);
		hand->shape[hand->shapes++] = bad[i];
		hand_event(hand, 0, 0, 0);
		packed = hand_over(hand, 24, 0, 0);
		is_refused(&packed, reasons[i]);
	}
}
END_TEST

/* The second event needs one byte more than the payload has, or many more. */
START_TEST(an_event_of_which_only_a_part_is_there_is_refused)
{
	for (uint32_t left = 0; left < 8; left++)
		for (unsigned w = 0; w < 4; w++) {
			uint16_t head = (uint16_t)(1 | w << 14);
			struct hand *hand = hand_new();
			struct packed packed;

			hand_shape(hand, 13 - left, 64, 0, 0x401000);
			hand_shape(hand, 0, 64, 0, 0x401000);
			hand_event(hand, 0, 0, 0);
			if (left >= 2)
				memcpy(hand->events + hand->len, &head, 2);
			hand->len = 16;
			hand->records = 2;
			packed = hand_over(hand, ptx_record_size(13 - left) + 24, 0, 0);
			if (2 + (1u << w) > left)
				is_refused(&packed, too_long);
			else
				free(packed.payload);
		}
}
END_TEST

START_TEST(events_that_the_header_does_not_count_are_no_padding)
{
	struct hand *hand = hand_new();
	struct packed packed;

	hand_shape(hand, 5, 64, 0, 0x401000);
	for (int i = 0; i < 3; i++)
		hand_event(hand, 0, 0, 0);
	hand->records = 2;
	packed = hand_over(hand, 64, 0, 0);
	is_refused(&packed, count);

	/* Eight additional zeros are invalid, too. */
	hand = hand_new();
	hand_shape(hand, 5, 64, 0, 0x401000);
	hand_event(hand, 0, 0, 0);
	hand->len += 8;
	packed = hand_over(hand, 32, 0, 0);
	is_refused(&packed, count);
}
END_TEST

SUITE_MAIN("log unpack",
	   unusual_but_valid_blocks_are_read_too,
	   the_last_of_the_greatest_number_of_shapes_is_read,
	   events_that_take_least_and_make_most_are_read,
	   a_header_that_is_not_that_of_its_payload_is_refused,
	   a_payload_that_breaks_a_rule_is_refused,
	   a_shape_that_no_event_has_is_refused_all_the_same,
	   an_event_of_which_only_a_part_is_there_is_refused,
	   events_that_the_header_does_not_count_are_no_padding)
