/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests parts of the ETW decoder that no sample file reaches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf.h"
#include "convert/etw/etw.h"
#include "convert/etw/etw_layout.h"
#include "convert/etw/etw_spans.h"
#include "convert/etw/etw_write.h"
#include "support/support.h"

static const struct etw_log seed = {
	.timer_resolution = 156250, .clock = ETW_CLOCK_PERFORMANCE, .frequency = 2337949,
	.start_time = 129488146139883677, .stamp0 = 795737395581,
};

static struct etw_record at(uint32_t kernel, uint32_t user)
{
	return (struct etw_record){
		.has_cpu = true, .pid = 4, .tid = 8, .kernel = kernel, .user = user,
	};
}

START_TEST(cpu_cost_is_the_increase_of_both_times)
{
	struct etw_record a = at(100, 50), b = at(110, 65), other = at(110, 65), no = at(110, 65);
	uint64_t cost;

	ck_assert(etw_cpu_cost(&seed, &a, &b, &cost));
	ck_assert_uint_eq(cost, 390625000);
	ck_assert(etw_cpu_cost(&seed, &a, &a, &cost));
	ck_assert_uint_eq(cost, 0);
	other.tid = 9;
	ck_assert(!etw_cpu_cost(&seed, &a, &other, &cost));
	no.has_cpu = false;
	ck_assert(!etw_cpu_cost(&seed, &a, &no, &cost));
	/* If the CPU times decrease, the two records are of two threads with the same number. */
	ck_assert(!etw_cpu_cost(&seed, &b, &a, &cost));
	/* A counter may wrap between the two records. */
	a = at(0xfffffffe, 0);
	b = at(1, 0);
	ck_assert(etw_cpu_cost(&seed, &a, &b, &cost));
	ck_assert_uint_eq(cost, 3u * 15625000);
}
END_TEST

START_TEST(cpu_cost_of_a_private_session_is_in_cycles)
{
	struct etw_log log = { .mode = 0x800, .cpu_mhz = 2000 };
	struct etw_record a = at(0, 1), b = at(4000, 1);
	uint64_t cost;

	ck_assert(etw_cpu_cost(&log, &a, &b, &cost));
	ck_assert_uint_eq(cost, 2000);
}
END_TEST

START_TEST(times_are_exact_up_to_the_last_stamp)
{
	struct etw_log log = seed;

	ck_assert_int_eq(etw_time_ns(&log, 795737402733),
			 (129488146139914267 - ETW_FILETIME_EPOCH) * 100 + 91);
	/* A time before the reference stamp is rounded down, too. */
	ck_assert_int_eq(etw_time_ns(&log, log.stamp0 - 1), etw_filetime_ns(log.start_time) - 428);
	/* A time that does not fit becomes the greatest or the least time. */
	ck_assert_int_eq(etw_time_ns(&log, INT64_C(1) << 62), INT64_MAX);
	ck_assert_int_eq(etw_time_ns(&log, INT64_MIN), INT64_MIN);
	/* The stamp 2^62 is 233794900 ticks after this reference stamp, which is 100 s. */
	log.stamp0 = (INT64_C(1) << 62) - 233794900;
	ck_assert_int_eq(etw_time_ns(&log, INT64_C(1) << 62),
			 etw_filetime_ns(log.start_time) + INT64_C(100000000000));
	log.clock = ETW_CLOCK_CPU;
	log.cpu_mhz = 3000;
	log.stamp0 = 0;
	ck_assert_int_eq(etw_time_ns(&log, 3000), etw_filetime_ns(log.start_time) + 1000);
	log.clock = ETW_CLOCK_SYSTEM;
	ck_assert_int_eq(etw_time_ns(&log, ETW_FILETIME_EPOCH + 5), 500);
}
END_TEST

/* The input is "abc", then a match at a distance of 3. The flags, from the highest bit on, mean
 * three bytes and a match. */
START_TEST(a_match_may_overlap_itself)
{
	unsigned char out[300];
	static const unsigned char first[] = { 0, 0, 0, 0x10, 'a', 'b', 'c', 0x10, 0 };
	/* the match: 2 << 3 | 7, a half byte 15, a byte 255, a word 297 - 3 */
	static const unsigned char long_one[] = { 0, 0, 0, 0x10, 'a', 'b', 'c', 0x17, 0,
						  0x0f, 255, 294 & 255, 294 >> 8 };

	ck_assert(etw_xpress(first, sizeof(first), out, 6));
	ck_assert_mem_eq(out, "abcabc", 6);
	ck_assert(etw_xpress(long_one, sizeof(long_one), out, 300));
	for (int i = 0; i < 300; i++)
		ck_assert_int_eq(out[i], "abc"[i % 3]);
	/* The output must have exactly the size that the input describes. */
	ck_assert(!etw_xpress(first, sizeof(first), out, 5));
	ck_assert(!etw_xpress(first, sizeof(first), out, 7));
	ck_assert(!etw_xpress(first, sizeof(first) - 1, out, 6));
	ck_assert(!etw_xpress(long_one, sizeof(long_one), out, 299));
}
END_TEST

START_TEST(two_matches_share_a_half_byte)
{
	/* "a", then two matches at a distance of 1: 7 + 2 + 3 = 12 and 7 + 4 + 3 = 14 bytes long.
	 * The halves of the shared byte are 2 and 4. */
	static const unsigned char in[] = { 0, 0, 0, 0x60, 'a', 7, 0, 0x42, 7, 0 };
	unsigned char out[27];

	ck_assert(etw_xpress(in, sizeof(in), out, sizeof(out)));
	for (size_t i = 0; i < sizeof(out); i++)
		ck_assert_int_eq(out[i], 'a');
}
END_TEST

START_TEST(a_match_before_the_beginning_is_refused)
{
	static const unsigned char in[] = { 0, 0, 0, 0x40, 'a', 0x08, 0 };
	unsigned char out[4];

	ck_assert(!etw_xpress(in, sizeof(in), out, sizeof(out)));
}
END_TEST

START_TEST(guids_are_stored_half_swapped)
{
	static const unsigned char bytes[] = { 0xd0, 0xa8, 0x6f, 0x3d, 0x05, 0xfe, 0xd0, 0x11,
					       0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c };
	char text[ETW_GUID_TEXT];

	etw_guid_text(bytes, text);
	ck_assert_str_eq(text, "3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c");
	ck_assert_str_eq(etw_class_name(bytes), "process");
}
END_TEST

/* A START of each thread opens a span; the first one more than ETW_SPANS_OPEN has no room. */
START_TEST(a_span_without_room_is_counted)
{
	static const struct etw_file file = { .pointer_bytes = 8 };
	struct etw_record start = { .kind = ETW_FULL, .type = 1, .has_ids = true, .pid = 4 };
	struct etw_spans *spans = etw_spans_new(&file);
	struct etw_span ended;

	ck_assert_ptr_nonnull(spans);
	for (start.tid = 1; start.tid <= ETW_SPANS_OPEN; start.tid++)
		ck_assert(!etw_spans_take(spans, &start, start.tid, 0, &ended));
	ck_assert_uint_eq(etw_spans_without_room(spans), 0);
	ck_assert(!etw_spans_take(spans, &start, start.tid, 0, &ended));
	ck_assert_uint_eq(etw_spans_without_room(spans), 1);
	/* Other spans still end. */
	start.type = 2;
	start.tid = ETW_SPANS_OPEN;
	ck_assert(etw_spans_take(spans, &start, start.tid, 0, &ended));
	etw_spans_free(spans);
}
END_TEST

START_TEST(a_class_is_made_of_its_name)
{
	static const char *const vectors[][2] = {
		{ "disk_read", "7c19f463-2af3-5b37-aa7b-712da0679cd8" },
		{ "posix_trace_start", "e71af98d-5aa6-560a-b962-59dba9856bc6" },
		{ "posixtrace-registry", "086fa334-b9da-5ceb-b5bf-ced3a39cd91a" },
		{ "posixtrace-stream", "c5a84e40-60d3-510f-9c79-4bc24584ef4e" },
	};

	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		unsigned char guid[ETW_GUID_BYTES];
		char text[ETW_GUID_TEXT];

		etw_guid_of_name(vectors[i][0], strlen(vectors[i][0]), guid);
		etw_guid_text(guid, text);
		ck_assert_str_eq(text, vectors[i][1]);
	}
}
END_TEST

START_TEST(a_long_name_ends_in_its_checksum)
{
	unsigned char traits[100] = { 100, 0 }, schema[100] = { 100, 0, 0 };
	struct etw_record r = {
		.kind = ETW_EVENT, .group = ETW_NO_GROUP, .channel = 11,
		.traits = traits, .traits_bytes = sizeof(traits),
		.schema = schema, .schema_bytes = sizeof(schema),
	};
	char name[ETW_NAME_BYTES], other[ETW_NAME_BYTES];

	memset(traits + 2, 'p', 60);
	memcpy(schema + 3, "one", 4);
	etw_name(&r, name);
	ck_assert_uint_eq(strlen(name), 63);
	ck_assert_int_eq(name[54], '~');
	memcpy(schema + 3, "two", 4);
	etw_name(&r, other);
	ck_assert_str_ne(name, other);
	ck_assert_mem_eq(name, other, 55);
}
END_TEST

START_TEST(a_message_has_the_parts_of_its_options)
{
	unsigned char m[64] = { 48, 0, 0, 0x90, 7, 0, 0x2a, 0 };
	struct etw_record r;
	const char *why;

	m[8 + 16] = 5; /* guid, time, system information */
	m[8 + 16 + 8] = 2;
	m[8 + 16 + 12] = 3;
	ck_assert_int_eq(etw_record(m, sizeof(m), &r, &why), 0);
	ck_assert_int_eq(r.kind, ETW_MESSAGE);
	ck_assert_uint_eq(r.id, 7);
	ck_assert_int_eq(r.stamp, 5);
	ck_assert_uint_eq(r.tid, 2);
	ck_assert_uint_eq(r.pid, 3);
	ck_assert_uint_eq(r.header, 40);
	m[0] = 39; /* the record is too short for a header of 40 bytes */
	ck_assert_int_eq(etw_record(m, sizeof(m), &r, &why), 7);
}
END_TEST

START_TEST(utf8_is_well_formed_or_none)
{
	static const struct {
		const char *bytes;
		uint32_t character; /* 0: none */
	} forms[] = {
		{ "a", 'a' }, { "\xc3\xbc", 0xfc }, { "\xe2\x82\xac", 0x20ac },
		{ "\xf0\x9f\x98\x80", 0x1f600 }, { "\xf4\x8f\xbf\xbf", 0x10ffff },
		{ "\xc2\x80", 0x80 }, { "\xe0\xa0\x80", 0x800 }, { "\xf0\x90\x80\x80", 0x10000 },
		/* overlong forms, surrogates, above the last character, incomplete, no lead byte */
		{ "\xc1\x81", 0 }, { "\xe0\x9f\xbf", 0 }, { "\xf0\x8f\xbf\xbf", 0 },
		{ "\xed\xa0\x80", 0 }, { "\xed\xbf\xbf", 0 }, { "\xf4\x90\x80\x80", 0 },
		{ "\xe2\x82", 0 }, { "\xe2\x82z", 0 }, { "\x80", 0 }, { "\xff", 0 },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		uint32_t c = 0, wanted = forms[i].character;
		size_t len = strlen(forms[i].bytes), n = utf8_take(forms[i].bytes, len, &c);
		char back[UTF8_BYTES];

		ck_assert_msg(n == (wanted ? len : 0), "form %zu: %zu bytes", i, n);
		if (!wanted)
			continue;
		ck_assert_uint_eq(c, wanted);
		ck_assert_uint_eq(utf8_put(c, back), len);
		ck_assert_mem_eq(back, forms[i].bytes, len);
	}
}
END_TEST

START_TEST(a_cut_divides_no_character)
{
	static const char text[] = "a\xe2\x82\xac\xf0\x9f\x98\x80";
	static const size_t cut[] = { 0, 1, 1, 1, 4, 4, 4, 4, 8, 8 };

	for (size_t max = 0; max < sizeof(cut) / sizeof(cut[0]); max++)
		ck_assert_uint_eq(utf8_cut(text, 8, max), cut[max]);
	/* Text that is not UTF-8 may be cut anywhere. */
	ck_assert_uint_eq(utf8_cut("\x80\x80\x80\x80\x80\x80", 6, 5), 5);
}
END_TEST

START_TEST(half_a_surrogate_is_no_character)
{
	static const unsigned char p[] = { 0x3d, 0xd8, 0x00, 0xde, 0x00, 0xde, 0x3d, 0xd8, 'a', 0,
					   0x3d, 0xd8 };
	static const uint32_t wanted[] = { 0x1f600, UTF_INVALID, UTF_INVALID, 'a', UTF_INVALID };
	size_t at = 0;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		ck_assert_uint_eq(utf16_take(p, sizeof(p), &at), wanted[i]);
	ck_assert_uint_eq(at, sizeof(p));
}
END_TEST

START_TEST(a_value_has_the_name_that_was_added_first)
{
	struct etw_map *map = calloc(1, sizeof(*map));
	char name[16];

	ck_assert_ptr_nonnull(map);
	for (uint32_t i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		ck_assert(etw_map_add(map, i * 7919 % 4001, name));
	}
	ck_assert(etw_map_add(map, 0, "again"));
	ck_assert(etw_map_add(map, UINT32_MAX, "last"));
	ck_assert(etw_map_sort(map));
	for (uint32_t i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		ck_assert_str_eq(etw_map_name(map, i * 7919 % 4001), name);
	}
	ck_assert_str_eq(etw_map_name(map, UINT32_MAX), "last");
	ck_assert_ptr_null(etw_map_name(map, 5000));
	ck_assert_ptr_null(etw_map_name(map, UINT64_MAX));
	etw_map_free(map);
}
END_TEST

SUITE_MAIN("parts of ETW's decoder", cpu_cost_is_the_increase_of_both_times,
	   cpu_cost_of_a_private_session_is_in_cycles, times_are_exact_up_to_the_last_stamp,
	   a_match_may_overlap_itself, two_matches_share_a_half_byte,
	   a_match_before_the_beginning_is_refused, guids_are_stored_half_swapped,
	   a_span_without_room_is_counted,
	   a_class_is_made_of_its_name, a_long_name_ends_in_its_checksum,
	   a_message_has_the_parts_of_its_options, utf8_is_well_formed_or_none,
	   a_cut_divides_no_character, half_a_surrogate_is_no_character,
	   a_value_has_the_name_that_was_added_first)
