/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Payloads: a reader gets the packed values, up to a truncation, with the names of the schema. */
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

START_TEST(packed_values_are_read_back)
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
 * A payload that is truncated at any byte has the same values up to this byte. Nothing outside is
 * written or read.
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

/* A type with names, a value and its label; "" means no label. */
static const struct {
	const char *schema;
	int64_t value;
	const char *label;
} labels[] = {
	{ "u32 a{1=one}", 1, "one" }, { "u32 a{1=one}", 2, "" }, { "u32 a", 2, "" },
	{ "x32 a{|3:0=R,3:1=W,3:2=RW,0100=C}", 0, "R" },
	{ "x32 a{|3:0=R,3:1=W,3:2=RW,0100=C}", 0101, "W|C" },
	{ "x32 a{|3:0=R,3:1=W,3:2=RW,0100=C}", 3, "0x3" },
	{ "x32 a{|3:0=R,3:1=W,3:2=RW,0100=C}", 0202, "RW|0x80" },
	{ "x32 a{|1=A,2=B,0=none}", 0, "none" }, { "x32 a{|1=A,2=B}", 0, "0x0" },
	{ "x32 a{|3=AB,1=A,2=B}", 3, "AB" }, { "x32 a{|3=AB,1=A,2=B}", 2, "B" },
	{ "o32 a{|0170000:0100000=REG,04000=SUID}", 0104644, "REG|SUID|0644" },
	{ "o32 a{|0170000:0100000=REG}", 0, "0" }, { "s32 a{|1=A}", -1, "A|0xfffffffe" },
	{ "errno a", 2, "ENOENT" }, { "errno a", -2, "-ENOENT" }, { "errno a", 0, "" },
	{ "errno a", 4000, "" }, { "errno a", INT32_MIN, "" }, { "signal a", 11, "SIGSEGV" },
	{ "signal a", 0, "" }, { "signal a", -1, "" }, { "signal a", 34, "SIGRTMIN" },
	{ "signal a", 36, "SIGRTMIN+2" }, { "signal a", 65, "" },
	{ "wait a", 0x100, "exited with 1" }, { "wait a", 0, "exited with 0" },
	{ "wait a", 11, "killed by SIGSEGV" },
	{ "wait a", 0x8b, "killed by SIGSEGV (core dumped)" }, { "wait a", 0xffff, "continued" },
	{ "wait a", 0x137f, "stopped by SIGSTOP" }, { "wait a", 0x20, "killed by signal 32" },
	{ "wait a{0=well}", 0, "well" }, { "fd a", 3, "" },
};

START_TEST(values_have_their_labels)
{
	const char *label = labels[_i].label;
	char text[POSIX_TRACE_LABEL_MAX_NP + 1];
	struct posix_trace_value_np v = { .s64 = labels[_i].value };

	ck_assert_ptr_null(ptx_schema_parse(labels[_i].schema, &schema));
	v.field = &schema.field[0];
	ck_assert_uint_eq(posix_trace_value_label_np(&v, text, sizeof(text)), strlen(label));
	ck_assert_str_eq(text, label);
	/*
	 * A text that does not fit is truncated, and the returned length is that of the whole text.
	 */
	ck_assert_uint_eq(posix_trace_value_label_np(&v, NULL, 0), strlen(label));
	ck_assert_uint_eq(posix_trace_value_label_np(&v, text, 2), strlen(label));
	ck_assert_uint_le(strlen(text), 1);
}
END_TEST

START_TEST(names_have_their_values)
{
	uint64_t number, mask;

	ck_assert_ptr_null(ptx_schema_parse(
		"x32 f{|3:1=W,4=C,0=none}; errno e; signal s; u8 n{7=x}", &schema));
	ck_assert_int_eq(posix_trace_value_find_np(&schema.field[0], "W", &number, &mask), 1);
	ck_assert(number == 1 && mask == 3);
	ck_assert_int_eq(posix_trace_value_find_np(&schema.field[0], "C", &number, &mask), 1);
	ck_assert(number == 4 && mask == 4);
	ck_assert_int_eq(posix_trace_value_find_np(&schema.field[0], "none", &number, &mask), 1);
	ck_assert(number == 0 && mask == UINT64_MAX);
	ck_assert_int_eq(posix_trace_value_find_np(&schema.field[0], "W|C", &number, &mask), 0);
	ck_assert_int_eq(posix_trace_value_find_np(&schema.field[1], "ENOENT", &number, &mask), 1);
	ck_assert(number == 2 && mask == UINT64_MAX);
	ck_assert_int_eq(posix_trace_value_find_np(&schema.field[2], "SIGKILL", &number, &mask), 1);
	ck_assert(number == 9 && mask == UINT64_MAX);
	ck_assert_int_eq(posix_trace_value_find_np(&schema.field[3], "x", &number, &mask), 1);
	ck_assert(number == 7 && mask == UINT64_MAX);
	ck_assert_int_eq(posix_trace_value_find_np(&schema.field[3], "ENOENT", &number, &mask), 0);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("record: fields", &tc);

	tcase_add_test(tc, packed_values_are_read_back);
	tcase_add_test(tc, a_payload_may_end_anywhere);
	tcase_add_test(tc, strings_are_cut_so_that_the_fields_behind_them_fit);
	tcase_add_test(tc, the_other_byte_order_is_read);
	tcase_add_test(tc, values_have_their_names);
	tcase_add_loop_test(tc, values_have_their_labels, 0, sizeof(labels) / sizeof(labels[0]));
	tcase_add_test(tc, names_have_their_values);
	return s;
}

SUITE_MAIN_OF(suite)
