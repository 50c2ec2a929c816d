/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Schemas: valid and invalid ones, and the fields that a schema finds in any payload. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/schema.h"
#include "support/random.h"
#include "support/support.h"

static struct posix_trace_schema_np schema;

/* A text, the expected fields, and the constant bytes at the beginning of a payload. */
static const struct {
	const char *text;
	unsigned fields, bytes;
} good[] = {
	{ "u8 a", 1, 1 }, { "u16 a", 1, 2 }, { "u32 a", 1, 4 }, { "u64 a", 1, 8 },
	{ "s8 a", 1, 1 }, { "s16 a", 1, 2 }, { "s32 a", 1, 4 }, { "s64 a", 1, 8 },
	{ "x8 a", 1, 1 }, { "x16 a", 1, 2 }, { "x32 a", 1, 4 }, { "x64 a", 1, 8 },
	{ "f32 a", 1, 4 }, { "f64 a", 1, 8 }, { "bool a", 1, 1 }, { "char a", 1, 1 },
	{ "ptr a", 1, 8 }, { "ptr32 a", 1, 4 }, { "ns a", 1, 8 }, { "time a", 1, 8 },
	{ "errno a", 1, 4 }, { "str a", 1, 0 }, { "bytes a", 1, 0 },
	{ "u8 a;u8 b", 2, 2 }, { "u8 a; u8 b;", 2, 2 }, { ";;u8 a;;u8 b;;", 2, 2 },
	{ "  u8\ta\n;\r\n u16  b ", 2, 3 }, { "u8[4] a", 1, 4 }, { "u8 [ 4 ] a", 1, 4 },
	{ "u16[3]a", 1, 6 }, { "u8[1] a", 1, 1 }, { "u8[65535] a", 1, 65535 },
	{ "str[16] a; u8 b", 2, 17 }, { "bytes[6] mac", 1, 6 }, { "u8[0x10] a", 1, 16 },
	{ "u8[010] a", 1, 8 }, { "str a; u8 b", 2, 0 }, { "u32 n; bytes b; u8 c", 3, 4 },
	{ "u8 _; u8 A1", 2, 2 }, { "u8 u8", 1, 1 }, { "str str; u64 u64", 2, 0 },
	{ "u32 op{0=read}", 1, 4 }, { "u32 op{0=read,1=write}", 1, 4 },
	{ "u32 op { 0 = read , 1 = write } ; u8 b", 2, 5 }, { "s8 a{-1=no,-128=least}", 1, 1 },
	{ "s64 a{-9223372036854775808=least}", 1, 8 }, { "u64 a{18446744073709551615=most}", 1, 8 },
	{ "x32 f{|1=A,2=B}", 1, 4 }, { "x32 f{|1=A|2=B}", 1, 4 }, { "x32 f{|1=A,|2=B}", 1, 4 },
	{ "x32 f{| 0x100 = O_CREAT, 0=O_RDONLY}", 1, 4 }, { "u32 a{0777=all}", 1, 4 },
	{ "u8 a{1=a+b,2=x/y,3=k:v,4=1.5,5=-}", 1, 1 }, { "bool b{0=off,1=on}", 1, 1 },
	{ "@level 1", 0, 0 }, { "@level 5; u8 a", 1, 1 }, { "u8 a; @level 3", 1, 1 },
	{ "@begin io", 0, 0 },
	{ "ns time; ptr f; @span f", 2, 16 },
	{ "@end io; u8 a", 1, 1 }, { "@begin a.b-c:d/e", 0, 0 },
	{ "@begin io; @key a; u8 a", 1, 1 }, { "u8 a; u8 b; @key a,b; @end io", 2, 2 },
	{ "@key a , b; @begin x; u8 a; str b", 2, 1 }, { "@ level 2", 0, 0 },
	{ "time errno; errno time; ns ns; ptr ptr", 4, 28 },
	{ "o8 a", 1, 1 }, { "o16 a", 1, 2 }, { "o32 a", 1, 4 }, { "o64 a", 1, 8 },
	{ "fd a", 1, 4 }, { "signal a", 1, 4 }, { "wait a", 1, 4 }, { "fd fd; wait signal", 2, 8 },
	{ "x32 f{|3:0=R,3:1=W,3:2=RW,0100=C}", 1, 4 }, { "x32 f{| 0x3 : 0x1 = W | 4 = C }", 1, 4 },
	{ "@names a{1=x}; u8 b{a}; s8 c{ a }", 2, 2 }, { "@names a{|1=x}; x8 b{a}", 1, 1 },
	{ "@names a{-1=x}; s8 b{a}", 1, 1 }, { "@names a{1=x}", 0, 0 },
	{ "@names a{1=x}; u8 a{a}", 1, 1 },
	{ "u8 a; @counter a", 1, 1 }, { "@counter a,b; f32 a; s64 b; str c", 3, 12 },
	{ "@counter a; @counter b; u8 a; ns b", 2, 9 },
	{ "@begin io; @key a; @counter a; u8 a", 1, 1 },
	{ "@format \"\"", 0, 0 }, { "u8 a; @format \"%d; @key\"; u8 b", 2, 2 },
	{ "@format \"\\\"\\\\\\n\\x41\"", 0, 0 },
};

static const char *const bad[] = {
	"@format", "@format x", "@format \"", "@format \"x", "@format \"x\\", "@format \"x\\\"",
	"@format \"\\q\"", "@format \"\\x4\"", "@format \"\\x00\"", "@format \"\" x",
	"@format \"a\"; @format \"b\"",
	"@counter", "@counter a", "u8 a; @counter", "u8 a; @counter b", "u8 a; @counter a,a",
	"u8 a; @counter a; @counter a", "u8 a; @counter a,", "u8 a; @counter ,a",
	"str a; @counter a",
	"bytes a; @counter a", "str[4] a; @counter a", "u8[2] a; @counter a", "ptr a; @counter a",
	"ptr32 a; @counter a", "u8 a; @counter a b", "u8 a; @counters a",
	"", " ", ";", ";;;", "u8", "u8 ", "u8;", "a", "u9 a", "U8 a", "u128 a", "int a", "u8a",
	"u8 1a", "u8 a b", "u8 a,b", "u8 a.b", "u8 a-b", "u8 \xc3\xa4", "u8 a; u8 a", "u8 a u8 b",
	"u8[] a", "u8[0] a", "u8[65536] a", "u8[-1] a", "u8[x] a", "u8[1 a", "u8[1]]a",
	"u8[1][2] a", "u8[99999999999999999999] a", "u8[08] a", "u8[0x] a", "u8[1u] a",
	"u8] a", "[4] a", "u8[4]",
	"u8 a[4]", "u8 a{", "u8 a{}", "u8 a{0", "u8 a{0=", "u8 a{0=}", "u8 a{=x}", "u8 a{x=1}",
	"u8 a{0=a,}", "u8 a{0=a 1=b}", "u8 a{0=a;1=b}", "u8 a{0=a}{1=b}", "u8 a}", "u8 a{-1=x}",
	"u8 a{0=a|1=b}", "s8 a{|-1=x}", "u8 a{0==a}", "u8 a{0=a=b}", "u8 a{18446744073709551616=x}",
	"s64 a{9223372036854775808=x}", "s64 a{-9223372036854775809=x}", "u8 a{|}", "u8 a{||1=A}",
	"f32 a{0=x}", "f64 a{0=x}", "str a{0=x}", "bytes a{0=x}", "bytes[4] a{0=x}",
	"u8 a{0=\"x\"}", "u8 a{0=\\x}", "u8 a{0=\x7f}", "u8 a{0=@x}", "{0=a}",
	"u8 a{1e3=x}", "u8 a{0x=x}",
	"@", "@;", "@x", "@level", "@level 0", "@level 6", "@level x", "@level 1 2", "@level -1",
	"@level 1; @level 1", "@level1", "@Level 1", "@begin", "@begin ;", "@begin a b", "@end",
	"@begin a; @begin b", "@span a", "u8 a; @span a", "ns a; @span",
	"ns a; @span x; @key a",
	"ns a; @span a; @end a", "ns[2] a; @span a",
	"@begin a; @end a", "@end a; @end b", "@key a", "@key; @begin x",
	"@key a; @begin x", "u8 a; @key b; @begin x", "u8 a; @key a,a; @begin x", "u8 a; @key a",
	"u8 a; @key a,; @begin x", "u8 a; @key ,a; @begin x", "u8[2] a; @key a; @begin x",
	"u8 a; @key a; @key a; @begin x", "u8 a;u8 b;u8 c;u8 d;u8 e; @key a,b,c,d,e; @begin x",
	"@begin \"x\"", "@begin a;u8 a;@key a b", "u8 a;;@", "\x01u8 a", "u8 a\x01", "u8\240a",
	"// u8 a", "u8 a; # x", "%s %n", "u8 a{0=a,1}", "str[] a", "str[0] a", "bytes[65536] a",
	"u32 op{0=read,1=write", "u8 a; u16", "char 'c'", "ptr *p", "ns", "errno", "u8 a == 3",
	"o7 a", "o32", "fd", "x8 f{|3:4=A}", "x8 f{|0:0=A}", "x8 f{|3:=A}", "x8 f{|:3=A}",
	"x8 f{3:1=A}", "x8 f{|3:1:1=A}", "x8 f{|3:-1=A}", "@names", "@names a", "@names {1=x}",
	"@names a{}", "@names a{1=x}; @names a{2=y}", "u8 b{a}", "u8 b{a}; @names a{1=x}",
	"@names a{1=x}; u8 b{a", "@names a{1=x}; u8 b{a,2=y}", "@names a{-1=x}; u8 b{a}",
	"@names a{1=x}; str b{a}", "@names a{18446744073709551615=x}; s64 b{a}",
	("@names a{1=x}; @names b{1=x}; @names c{1=x}; @names d{1=x}; @names e{1=x};"
	 "@names f{1=x}; @names g{1=x}; @names h{1=x}; @names i{1=x}"),
};

START_TEST(a_schema_is_one)
{
	size_t bytes = 0;

	ck_assert_msg(!ptx_schema_parse(good[_i].text, &schema), "%s", good[_i].text);
	ck_assert_uint_eq(schema.fields, good[_i].fields);
	for (unsigned i = 0; i < schema.fields; i++) {
		const struct posix_trace_field_np *field = &schema.field[i];

		ck_assert_ptr_nonnull(ptx_schema_type(field->type));
		if (field->form == POSIX_TRACE_FORM_BYTES_NP && !field->room)
			break;
		ck_assert_uint_eq(field->offset, bytes);
		bytes += (size_t)field->size * field->count;
	}
	ck_assert_uint_eq(bytes, good[_i].bytes);
}
END_TEST

START_TEST(an_invalid_schema_is_refused_with_a_reason)
{
	const char *why = ptx_schema_parse(bad[_i], &schema);

	ck_assert_msg(why != NULL, "%s", bad[_i]);
	ck_assert_uint_gt(strlen(why), 5);
	ck_assert_int_eq(posix_trace_schema_parse_np(bad[_i], &schema), 22 /* EINVAL */);
	ck_assert_int_eq(*bad[_i] == '\0', posix_trace_schema_fault_np(bad[_i], SIZE_MAX) == NULL);
}
END_TEST

START_TEST(the_fields_of_a_schema_need_bytes)
{
	static const struct {
		const char *text;
		size_t bytes;
	} needs[] = {
		{ "", 0 }, { "@level 4", 0 }, { "u8 a", 1 }, { "str a", 1 }, { "bytes a", 4 },
		{ "str[16] a; str b; bytes c; bytes[3] d", 16 + 1 + 4 + 3 },
		{ "u16[300] a; ptr p; f32[2] f; @level 4", 600 + 8 + 8 },
	};

	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		const size_t bytes = needs[i].bytes;

		ck_assert_ptr_null(posix_trace_schema_fault_np(needs[i].text, bytes));
		if (bytes)
			ck_assert_str_eq(posix_trace_schema_fault_np(needs[i].text, bytes - 1),
					 "the fields need more bytes than there is room for");
	}
	ck_assert_str_eq(posix_trace_schema_fault_np("int a", SIZE_MAX), "this is not a type");
	ck_assert_str_eq(posix_trace_schema_fault_np(NULL, SIZE_MAX), "there is no text");
}
END_TEST

START_TEST(the_parts_of_a_schema_are_found)
{
	ck_assert_ptr_null(
		ptx_schema_parse("s32 fd; str path; x32 how{|1=A,2=B}; s8 op{-1=no,1=yes};"
				 "u16[3] n; str[5] t; @level 4; @end io; @key path, fd",
				 &schema));
	ck_assert_int_eq(schema.level, 4);
	ck_assert_int_eq(schema.role, POSIX_TRACE_END_NP);
	ck_assert_str_eq(schema.span, "io");
	ck_assert_uint_eq(schema.keys, 2);
	ck_assert_uint_eq(schema.key[0], 1);
	ck_assert_uint_eq(schema.key[1], 0);
	ck_assert(schema.field[0].is_key && schema.field[1].is_key && !schema.field[2].is_key);
	ck_assert_str_eq(schema.field[0].name, "fd");
	ck_assert_uint_eq(schema.field[0].offset, 0);
	ck_assert_uint_eq(schema.field[1].offset, 4);
	ck_assert_uint_eq(schema.field[2].offset, POSIX_TRACE_OFFSET_VARIES_NP);
	ck_assert(schema.field[2].has_bits);
	ck_assert_uint_eq(schema.field[2].value_names, 2);
	ck_assert_str_eq(schema.field[2].value_name[1].name, "B");
	ck_assert(!schema.field[3].has_bits);
	ck_assert_int_eq((int64_t)schema.field[3].value_name[0].value, -1);
	ck_assert(schema.field[4].is_array);
	ck_assert_uint_eq(schema.field[4].count, 3);
	ck_assert_uint_eq(schema.field[5].room, 5);
	ck_assert_uint_eq(schema.field[5].count, 1);
}
END_TEST

START_TEST(counters_are_found_in_any_order)
{
	ck_assert_ptr_null(ptx_schema_parse("@counter depth,load; str name; u32 depth; f64 load;"
					    "s8 cold; u16 other; @counter cold",
					    &schema));
	ck_assert(!schema.field[0].is_counter && schema.field[1].is_counter);
	ck_assert(schema.field[2].is_counter && schema.field[3].is_counter);
	ck_assert(!schema.field[4].is_counter);
	ck_assert_ptr_null(ptx_schema_parse("u32 depth", &schema));
	ck_assert(!schema.field[0].is_counter);
}
END_TEST

START_TEST(lists_of_names_serve_several_fields)
{
	ck_assert_ptr_null(ptx_schema_parse("@names n{|3:1=W,4=C}; x32 a{n}; x16 b{n}; u8 c{7=x}",
					    &schema));
	ck_assert_uint_eq(schema.value_names, 3);
	ck_assert_ptr_eq(schema.field[0].value_name, schema.field[1].value_name);
	ck_assert_ptr_eq(schema.field[0].value_mask, schema.field[1].value_mask);
	ck_assert_uint_eq(schema.field[0].value_names, 2);
	ck_assert(schema.field[1].has_bits && !schema.field[2].has_bits);
	ck_assert_uint_eq(schema.field[1].value_mask[0], 3);
	ck_assert_uint_eq(schema.field[1].value_mask[1], 0);
	ck_assert_str_eq(schema.field[2].value_name[0].name, "x");
}
END_TEST

/*
 * In a program of the first version, the struct has no value_mask. The library writes nothing
 * behind this struct.
 */
START_TEST(the_first_struct_has_no_masks)
{
	const size_t first = offsetof(struct posix_trace_schema_np, value_mask);

	memset(&schema, 0x5a, sizeof(schema));
	ck_assert_int_eq(posix_trace_schema_parse_sized_np("x8 a{|3:1=W}", &schema, first), 0);
	ck_assert_ptr_null(schema.field[0].value_mask);
	ck_assert_uint_eq(schema.field[0].value_name[0].value, 1);
	ck_assert_uint_eq(schema.value_mask[0], UINT64_C(0x5a5a5a5a5a5a5a5a));
}
END_TEST

static void put_fields(char *text, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		text += sprintf(text, "u8 f%u;", i);
}

static void put_names(char *text, unsigned count)
{
	text += sprintf(text, "u8 a{");
	for (unsigned i = 0; i < count; i++)
		text += sprintf(text, "%s%u=a", i ? "," : "", i);
	sprintf(text, "}");
}

START_TEST(limits_hold_at_their_last_value_and_not_beyond)
{
	static char text[4096];
	char name[70];

	put_fields(text, POSIX_TRACE_FIELDS_MAX_NP);
	ck_assert_ptr_null(ptx_schema_parse(text, &schema));
	put_fields(text, POSIX_TRACE_FIELDS_MAX_NP + 1);
	ck_assert_ptr_nonnull(ptx_schema_parse(text, &schema));

	put_names(text, POSIX_TRACE_VALUE_NAMES_MAX_NP);
	ck_assert_ptr_null(ptx_schema_parse(text, &schema));
	put_names(text, POSIX_TRACE_VALUE_NAMES_MAX_NP + 1);
	ck_assert_ptr_nonnull(ptx_schema_parse(text, &schema));

	memset(name, 'n', sizeof(name));
	name[POSIX_TRACE_FIELD_NAME_MAX_NP] = '\0';
	sprintf(text, "u8 %s{1=%s}; @begin %s; @key %s", name, name, name, name);
	ck_assert_ptr_null(ptx_schema_parse(text, &schema));
	ck_assert_str_eq(schema.span, name);
	name[POSIX_TRACE_FIELD_NAME_MAX_NP] = 'n';
	name[POSIX_TRACE_FIELD_NAME_MAX_NP + 1] = '\0';
	sprintf(text, "u8 %s", name);
	ck_assert_ptr_nonnull(ptx_schema_parse(text, &schema));

	memset(text, ' ', sizeof(text));
	memcpy(text, "u8 a", 4);
	text[POSIX_TRACE_SCHEMA_MAX_NP] = '\0';
	ck_assert_ptr_null(ptx_schema_parse(text, &schema));
	text[POSIX_TRACE_SCHEMA_MAX_NP] = ' ';
	text[POSIX_TRACE_SCHEMA_MAX_NP + 1] = '\0';
	ck_assert_str_eq(ptx_schema_parse(text, &schema), "it is too long");
	memset(text, ';', POSIX_TRACE_SCHEMA_MAX_NP);
	text[POSIX_TRACE_SCHEMA_MAX_NP] = '\0';
	ck_assert_ptr_nonnull(ptx_schema_parse(text, &schema));
}
END_TEST

/* An accepted schema can be used on any payload. The results point only into this payload. */
static void use(const unsigned char *payload, size_t len)
{
	const char *from = (const char *)&schema, *to = from + sizeof(schema);
	unsigned char *exact = malloc(len ? len : 1);
	struct posix_trace_values_np values;
	struct posix_trace_value_np value;
	size_t count = 0;

	memcpy(exact, payload, len);
	for (unsigned i = 0; i < schema.fields; i++)
		ck_assert(schema.field[i].name > from && schema.field[i].name < to);
	posix_trace_values_begin_np(&values, &schema, exact, len, len & 1);
	while (posix_trace_field_next_np(&values, &value)) {
		struct posix_trace_value_np again;

		ck_assert(count++ < len + 1);
		ck_assert((const unsigned char *)value.data >= exact);
		ck_assert((const unsigned char *)value.data + value.len <= exact + len);
		posix_trace_value_name_np(&value);
		if (count < 40)
			ck_assert_int_eq(posix_trace_field_get_np(
						 &schema, (unsigned)(value.field - schema.field),
						 value.index, exact, len, len & 1, &again), 1);
	}
	ck_assert(values.data + values.len == exact + len);
	free(exact);
}

START_TEST(mutated_schemas_are_refused_or_can_be_used)
{
	static const char letters[] = "u816324sxfbolcharptnimeyg;@{}[]|=,-0 \t\n_.";
	uint64_t random = 88172645463325252u + (uint64_t)_i;
	unsigned char payload[64];
	char text[600];

	for (unsigned round = 0; round < 4000; round++) {
		size_t len;

		snprintf(text, sizeof(text), "%s;%s", good[random_word(&random) % 20].text,
			 good[random_word(&random) % (sizeof(good) / sizeof(good[0]))].text);
		len = strlen(text);
		for (unsigned n = random_word(&random) % 5; n > 0 && len; n--)
			text[random_word(&random) % len] =
				random_word(&random) % 8 ?
					letters[random_word(&random) % (sizeof(letters) - 1)] :
					(char)random_word(&random);
		for (unsigned i = 0; i < sizeof(payload); i += 8) {
			uint64_t word = random_word(&random) & (round % 2 ? UINT64_MAX : 0x0f0f);

			memcpy(payload + i, &word, 8);
		}
		if (!ptx_schema_parse(text, &schema))
			use(payload, random_word(&random) % sizeof(payload));
	}
}
END_TEST

START_TEST(a_format_is_found_without_its_escapes)
{
	ck_assert_ptr_null(
		ptx_schema_parse("u8 a; @format \"%d \\\"x\\\" \\\\ \\n\\x01;\"", &schema));
	ck_assert_str_eq(schema.format, "%d \"x\" \\ \n\001;");
	ck_assert_ptr_null(ptx_schema_parse("u8 a", &schema));
	ck_assert_ptr_null(schema.format);
}
END_TEST

/* In a program of an earlier version, the struct has no `format`, and other data is behind it. */
START_TEST(a_struct_without_format_is_not_exceeded)
{
	const size_t size = offsetof(struct posix_trace_schema_np, format);

	memset(&schema, 0x5a, sizeof(schema));
	ck_assert_ptr_null(ptx_schema_parse_sized("u8 a; @format \"%d\"", &schema, size));
	for (size_t i = size; i < sizeof(schema); i++)
		ck_assert_uint_eq(((const unsigned char *)&schema)[i], 0x5a);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("record: schema", &tc);

	tcase_add_loop_test(tc, a_schema_is_one, 0, sizeof(good) / sizeof(good[0]));
	tcase_add_loop_test(tc, an_invalid_schema_is_refused_with_a_reason, 0,
			    sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(tc, the_fields_of_a_schema_need_bytes);
	tcase_add_test(tc, the_parts_of_a_schema_are_found);
	tcase_add_test(tc, counters_are_found_in_any_order);
	tcase_add_test(tc, lists_of_names_serve_several_fields);
	tcase_add_test(tc, the_first_struct_has_no_masks);
	tcase_add_test(tc, a_format_is_found_without_its_escapes);
	tcase_add_test(tc, a_struct_without_format_is_not_exceeded);
	tcase_add_test(tc, limits_hold_at_their_last_value_and_not_beyond);
	tcase_add_loop_test(tc, mutated_schemas_are_refused_or_can_be_used, 0, 10);
	return s;
}

SUITE_MAIN_OF(suite)
