/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Payloads: what is packed is read, as far as it goes, and is called as its schema says. */
#include <stdlib.h>
#include <string.h>

#include "record/schema.h"
#include "support/support.h"

static struct posix_trace_schema_np schema;

static const char *const wide =
	"u8 a; s16 b; u32 c; s64 d; f32 e; f64 f; bool g; char h; str i; bytes j; u16[2] k; "
	"str[4] l;bytes[2] m; str n";

static size_t pack_wide(unsigned char *payload, size_t room)
{
	static const uint16_t k[2] = { 10, 11 };
	const struct posix_trace_arg_np args[] = {
		POSIX_TRACE_U8_NP(255), POSIX_TRACE_S16_NP(-2), POSIX_TRACE_U32_NP(3000000000u),
		POSIX_TRACE_S64_NP(-4), POSIX_TRACE_F32_NP(0.5), POSIX_TRACE_F64_NP(-0.25),
		POSIX_TRACE_BOOL_NP("yes"), POSIX_TRACE_CHAR_NP('h'), POSIX_TRACE_STR_NP("iii"),
		POSIX_TRACE_BYTES_NP("jj", 2), POSIX_TRACE_BYTES_N_NP(k, sizeof(k)),
		POSIX_TRACE_STR_N_NP("l", 4), POSIX_TRACE_BYTES_N_NP("mm", 2),
		POSIX_TRACE_STR_NP(NULL),
	};

	return posix_trace_fields_pack_np(payload, room, args, sizeof(args) / sizeof(args[0]));
}

START_TEST(what_is_packed_is_what_is_read)
{
	struct posix_trace_values_np values;
	struct posix_trace_value_np v;
	unsigned char payload[200];
	size_t len = pack_wide(payload, sizeof(payload));

	ck_assert_ptr_null(ptx_schema_parse(wide, &schema));
	ck_assert_uint_eq(len, 1 + 2 + 4 + 8 + 4 + 8 + 1 + 1 + 4 + 6 + 4 + 4 + 2 + 1);
	posix_trace_values_begin_np(&values, &schema, payload, len, 0);
#define NEXT() ck_assert_int_eq(posix_trace_field_next_np(&values, &v), 1)
	NEXT(); ck_assert_uint_eq(v.u64, 255);
	NEXT(); ck_assert_int_eq(v.s64, -2);
	NEXT(); ck_assert_uint_eq(v.u64, 3000000000u);
	NEXT(); ck_assert_int_eq(v.s64, -4);
	NEXT(); ck_assert_double_eq(v.f64, 0.5);
	NEXT(); ck_assert_double_eq(v.f64, -0.25);
	NEXT(); ck_assert_uint_eq(v.u64, 1);
	NEXT(); ck_assert_uint_eq(v.u64, 'h');
	NEXT(); ck_assert(v.len == 3 && !memcmp(v.data, "iii", 3) && !v.flags);
	NEXT(); ck_assert(v.len == 2 && !memcmp(v.data, "jj", 2));
	NEXT(); ck_assert(v.u64 == 10 && v.index == 0);
	NEXT(); ck_assert(v.u64 == 11 && v.index == 1);
	NEXT(); ck_assert(v.len == 1 && !memcmp(v.data, "l", 1));
	NEXT(); ck_assert(v.len == 2 && !memcmp(v.data, "mm", 2));
	NEXT(); ck_assert_uint_eq(v.len, 0);
#undef NEXT
	ck_assert_int_eq(posix_trace_field_next_np(&values, &v), 0);
	ck_assert_uint_eq(values.len, 0);
	ck_assert_int_eq(posix_trace_field_get_np(&schema, 10, 1, payload, len, 0, &v), 1);
	ck_assert_uint_eq(v.u64, 11);
	ck_assert_int_eq(posix_trace_field_get_np(&schema, 10, 2, payload, len, 0, &v), 0);
	ck_assert_int_eq(posix_trace_field_get_np(&schema, 14, 0, payload, len, 0, &v), 0);
}
END_TEST

/*
 * Cut anywhere, the payload has the same values as far as it goes; nothing outside is written or
 * read.
 */
START_TEST(a_payload_may_end_anywhere)
{
	unsigned char whole[200], *cut;
	size_t len = pack_wide(whole, sizeof(whole)), packed;
	struct posix_trace_values_np a, b;
	struct posix_trace_value_np x, y;

	ck_assert_ptr_null(ptx_schema_parse(wide, &schema));
	for (size_t room = 0; room <= len; room++) {
		cut = malloc(room + 1);
		memcpy(cut, whole, room);
		posix_trace_values_begin_np(&a, &schema, whole, len, 0);
		posix_trace_values_begin_np(&b, &schema, cut, room, 0);
		while (posix_trace_field_next_np(&b, &y)) {
			ck_assert_int_eq(posix_trace_field_next_np(&a, &x), 1);
			ck_assert_ptr_eq(x.field, y.field);
			ck_assert_uint_eq(x.index, y.index);
			if (x.field->form == POSIX_TRACE_FORM_BYTES_NP)
				ck_assert(y.len <= x.len && !memcmp(x.data, y.data, y.len));
			else
				ck_assert_uint_eq(x.u64, y.u64);
		}
		ck_assert_uint_lt(b.len, 8);
		cut[room] = 0x5a;
		packed = pack_wide(cut, room);
		ck_assert_uint_le(packed, room);
		ck_assert_uint_eq(cut[room], 0x5a);
		free(cut);
	}
}
END_TEST

START_TEST(strings_are_cut_so_that_the_fields_behind_them_fit)
{
	static char text[3000];
	unsigned char payload[POSIX_TRACE_FIELDS_BYTES_NP];
	struct posix_trace_value_np v;
	size_t len;

	memset(text, 't', sizeof(text) - 1);
	{
		const struct posix_trace_arg_np args[] = {
			POSIX_TRACE_STR_NP(text), POSIX_TRACE_BYTES_NP(text, 7),
			POSIX_TRACE_U64_NP(42),
		};

		len = posix_trace_fields_pack_np(payload, sizeof(payload), args, 3);
	}
	ck_assert_ptr_null(ptx_schema_parse("str s; bytes b; u64 n", &schema));
	ck_assert_uint_eq(len, sizeof(payload));
	ck_assert_int_eq(posix_trace_field_get_np(&schema, 0, 0, payload, len, 0, &v), 1);
	ck_assert_uint_eq(v.len, sizeof(payload) - 1 - 4 - 8);
	ck_assert_int_eq(posix_trace_field_get_np(&schema, 2, 0, payload, len, 0, &v), 1);
	ck_assert_uint_eq(v.u64, 42);
}
END_TEST

START_TEST(the_other_byte_order_is_read)
{
	static const unsigned char payload[] = {
		0xff, 0xfe, 0, 0, 0, 2, 'a', 'b', 0x3f, 0xc0, 0, 0
	};
	static const uint16_t one = 1;
	unsigned flags = *(const unsigned char *)&one ? POSIX_TRACE_VALUES_SWAPPED_NP : 0;
	struct posix_trace_value_np v;

	ck_assert_ptr_null(ptx_schema_parse("s16 a; bytes b; f32 c", &schema));
	ck_assert_int_eq(
		posix_trace_field_get_np(&schema, 0, 0, payload, sizeof(payload), flags, &v), 1);
	ck_assert_int_eq(v.s64, -2);
	ck_assert_int_eq(
		posix_trace_field_get_np(&schema, 1, 0, payload, sizeof(payload), flags, &v), 1);
	ck_assert_uint_eq(v.len, 2);
	ck_assert_int_eq(
		posix_trace_field_get_np(&schema, 2, 0, payload, sizeof(payload), flags, &v), 1);
	ck_assert_double_eq(v.f64, 1.5);
}
END_TEST

START_TEST(values_have_their_names)
{
	const int8_t no = -1;
	struct posix_trace_value_np v;

	ck_assert_ptr_null(ptx_schema_parse("s8 a{-1=no,1=yes}", &schema));
	ck_assert_int_eq(posix_trace_field_get_np(&schema, 0, 0, &no, 1, 0, &v), 1);
	ck_assert_str_eq(posix_trace_value_name_np(&v), "no");
	v.s64 = 2;
	ck_assert_ptr_null(posix_trace_value_name_np(&v));
	ck_assert_str_eq(posix_trace_type_name_np(POSIX_TRACE_TYPE_ERRNO_NP), "errno");
	ck_assert_ptr_null(posix_trace_type_name_np((enum posix_trace_type_np)0));
	ck_assert_ptr_null(posix_trace_type_name_np((enum posix_trace_type_np)99));
}
END_TEST

SUITE_MAIN("record: fields",
	   what_is_packed_is_what_is_read,
	   a_payload_may_end_anywhere,
	   strings_are_cut_so_that_the_fields_behind_them_fit,
	   the_other_byte_order_is_read,
	   values_have_their_names)
