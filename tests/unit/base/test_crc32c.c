/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* base/crc32c.h */
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "support/random.h"
#include "support/support.h"

typedef uint32_t crc_fn(uint32_t crc, const void *bytes, size_t len);

static crc_fn *const functions[] = { ptx_crc32c, ptx_crc32c_portable };

/* RFC 3720 B.4, and the check value that catalogues of CRCs list. */
START_TEST(known_checksums_come_out)
{
	crc_fn *crc = functions[_i];
	uint8_t bytes[32];

	ck_assert_uint_eq(crc(0, "", 0), 0);
	ck_assert_uint_eq(crc(0, "123456789", 9), 0xe3069283);
	memset(bytes, 0, sizeof(bytes));
	ck_assert_uint_eq(crc(0, bytes, sizeof(bytes)), 0x8a9136aa);
	memset(bytes, 0xff, sizeof(bytes));
	ck_assert_uint_eq(crc(0, bytes, sizeof(bytes)), 0x62a8ab43);
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	ck_assert_uint_eq(crc(0, bytes, sizeof(bytes)), 0x46dd794e);
}
END_TEST

static uint32_t bit_by_bit(const uint8_t *bytes, size_t len)
{
	uint32_t crc = ~0u;

	while (len--) {
		crc ^= *bytes++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
	}
	return ~crc;
}

/*
 * The lanes have 128 and 1024 bytes. The test uses every length around these, at every alignment.
 */
START_TEST(every_length_and_alignment_gives_the_sum_of_the_definition)
{
	uint8_t bytes[7000];
	uint64_t random = 1;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)random_next(&random);
	for (size_t len = 0; len < 6900; len += len < 800 ? 1 : 37) {
		size_t at = len % 9;
		uint32_t want = bit_by_bit(bytes + at, len);

		if (functions[_i](0, bytes + at, len) != want)
			ck_abort_msg("length %zu", len);
	}
}
END_TEST

START_TEST(a_checksum_may_be_taken_in_parts)
{
	uint8_t bytes[5000];
	uint64_t random = 2;
	uint32_t whole;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)random_next(&random);
	whole = functions[_i](0, bytes, sizeof(bytes));
	for (size_t n = 0; n < 500; n++) {
		size_t a = random_between(&random, 0, sizeof(bytes));
		size_t b = random_between(&random, a, sizeof(bytes));
		uint32_t crc = functions[_i](0, bytes, a);

		crc = functions[_i](crc, bytes + a, b - a);
		if (functions[_i](crc, bytes + b, sizeof(bytes) - b) != whole)
			ck_abort_msg("parts at %zu and %zu", a, b);
	}
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("crc32c", &tc);

	tcase_add_loop_test(tc, known_checksums_come_out, 0, 2);
	tcase_add_loop_test(tc, every_length_and_alignment_gives_the_sum_of_the_definition, 0, 2);
	tcase_add_loop_test(tc, a_checksum_may_be_taken_in_parts, 0, 2);
	return suite;
}

SUITE_MAIN_OF(build)
