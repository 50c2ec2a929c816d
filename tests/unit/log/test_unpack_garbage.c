/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/format_pack.h: packed blocks with changed bits, and garbage. All checksums are right. The
 * reader refuses a block with a reason, or gets records that an unpacked block could have.
 */
#include <stdlib.h>
#include <string.h>

#include "log/read_decode.h"
#include "support/random.h"
#include "unit/log/pile.h"
#include "unit/log/sample.h"

/*
 * Unpacks the block. The records must form a valid plain block. Returns NULL, or the reason why the
 * block was not unpacked.
 */
static const char *sound_or_refused(struct packed *packed)
{
	struct packed plain;
	uint8_t *records;
	const char *why;

	packed_seal(packed);
	why = packed_read(packed, &records);
	if (why)
		return why;
	plain = *packed;
	plain.block.shapes = 0;
	plain.block.payload_bytes = (uint32_t)(plain.block.record_bytes +
					       plain.block.sources * sizeof(pile_threads[0]));
	plain.payload = records;
	packed_seal(&plain);
	why = packed_check(&plain);
	if (why)
		ck_abort_msg("was unpacked, but %s", why);
	ptx_log_check_strictly(&plain.block, plain.payload);
	free(records);
	return NULL;
}

/* Returns whether the reason can be found only after some events were unpacked. */
static bool is_one_of_the_last(const char *why)
{
	return !strcmp(why, "a block has more bytes of records than it says") ||
	       !strcmp(why, "a block has fewer bytes of records than it says") ||
	       !strcmp(why, "a block has another count of records than it says") ||
	       !strcmp(why, "a block's padding is not zero");
}

static void turn_bits(void *bytes, size_t len, size_t bits, uint64_t *random)
{
	while (bits--)
		((uint8_t *)bytes)[random_between(random, 0, len - 1)] ^=
			(uint8_t)(1u << random_between(random, 0, 7));
}

START_TEST(bits_turned_over_in_payload_and_counts)
{
	uint64_t random = 23;
	unsigned sound = 0, tries = 0;

	while (tries < 20000) {
		struct pile pile = { 0 };
		struct packed packed;
		uint8_t *payload;

		pile_random(&pile, &random);
		if (pile_pack(&pile, &packed)) {
			struct packed work = packed;

			payload = malloc(packed.block.payload_bytes);
			for (int i = 0; i < 100; i++, tries++) {
				size_t bits = random_between(&random, 1, 4);

				work.block = packed.block;
				work.payload = payload;
				memcpy(payload, packed.payload, packed.block.payload_bytes);
				if (random_between(&random, 0, 3)) /* tables are reached often
								    * enough */
					turn_bits(payload + random_between(&random, 0, 1) * 8,
						  packed.block.payload_bytes - 8, bits, &random);
				else
					turn_bits(&work.block.records, 16, bits, &random);
				sound += !sound_or_refused(&work);
			}
			free(payload);
			free(packed.payload);
		}
		pile_free(&pile);
	}
	/*
	 * Changed bits of data, or of an address, leave valid records; other changed bits do not.
	 */
	ck_assert_uint_gt(sound, tries / 100);
	ck_assert_uint_lt(sound, tries / 100 * 99);
}
END_TEST

/*
 * Garbage with valid shapes, so that the events are reached, or with shapes that are garbage, too.
 */
START_TEST(garbage)
{
	uint64_t random = 29;
	unsigned far = 0;

	for (int n = 0; n < 20000; n++) {
		struct hand *hand = hand_new();
		uint32_t shapes = (uint32_t)random_between(&random, 4, 6);
		struct packed packed;
		const char *why;
		size_t bytes = 0;

		for (uint32_t i = 0; i < shapes; i++)
			hand_shape(hand, (uint32_t)random_between(&random, 0, 3) * 4, 64,
				   (uint16_t)(i % PILE_THREADS), i);
		hand->len = random_between(&random, 0, 50) * 8;
		for (size_t at = 0; at < hand->len; at += 4) {
			uint32_t word = random_next(&random);

			/* Mostly the head of an event, at any place where an event could begin. */
			if (random_between(&random, 0, 31))
				word &= 0xc003c003;
			memcpy(hand->events + at, &word, 4);
		}
		hand->records = (uint32_t)random_between(&random, 0, 12);
		for (uint32_t i = 0; i < hand->records; i++)
			bytes += 24 + 8 * random_between(&random, 0, 2);
		packed = hand_over(hand, bytes, INT64_MIN, INT64_MAX);
		if (random_between(&random, 0, 9) == 0)
			packed.block.sources = (uint32_t)random_between(&random, 0, 8);
		if (random_between(&random, 0, 9) == 0)
			for (size_t at = 0; at < packed.block.payload_bytes; at++)
				packed.payload[at] = (uint8_t)random_next(&random);
		why = sound_or_refused(&packed);
		far += !why || is_one_of_the_last(why);
		free(packed.payload);
	}
	ck_assert_uint_gt(far, 1000); /* all lengths were valid, except those of the records */
}
END_TEST

SUITE_MAIN("log unpack: garbage",
	   bits_turned_over_in_payload_and_counts,
	   garbage)
