/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_value_print_np() and posix_trace_event_print_np(): the text equals that of posixtrace
 * dump. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "support/log.h"

/* The values of a payload, with blanks between them. */
static const char *values_of(const char *schema_text, const void *data, size_t len)
{
	static char text[600];
	struct posix_trace_schema_np schema;
	struct posix_trace_values_np values;
	struct posix_trace_value_np value;
	size_t used = 0;

	OK(posix_trace_schema_parse_np(schema_text, &schema));
	posix_trace_values_begin_np(&values, &schema, data, len, 0);
	*text = '\0';
	while (posix_trace_field_next_np(&values, &value)) {
		if (used)
			text[used++] = ' ';
		used += posix_trace_value_print_np(&value, text + used, sizeof(text) - used);
		ck_assert_uint_lt(used, sizeof(text));
	}
	return text;
}

#define VALUE(schema, type, v) values_of(schema, &(type){ v }, sizeof(type))

/* Returns the message of a payload. */
static const char *message_of(const char *schema_text, const void *data, size_t len)
{
	static char text[9000];
	struct posix_trace_schema_np schema;
	size_t needed;

	OK(posix_trace_schema_parse_np(schema_text, &schema));
	needed = posix_trace_message_print_np(&schema, data, len, 0, NULL, 0);
	ck_assert_uint_lt(needed, sizeof(text));
	ck_assert_uint_eq(posix_trace_message_print_np(&schema, data, len, 0, text, sizeof(text)),
			  needed);
	ck_assert_uint_eq(strlen(text), needed);
	return text;
}

#define MESSAGE(schema, ...) \
	message_of(schema, (const unsigned char[]){ __VA_ARGS__ }, \
		   sizeof((const unsigned char[]){ __VA_ARGS__ }))

/* Formats and data of a log can have any bytes. */
START_TEST(hostile_messages_are_bounded)
{
	ck_assert_uint_eq(strlen(MESSAGE("u8 a; @format \"%999999999d\"", 1)), 512);
	ck_assert_uint_eq(strlen(MESSAGE("u8 a; @format \"%-99999999999999999999x\"", 1)), 512);
	ck_assert_uint_le(strlen(MESSAGE("s8 a; s8 b; @format \"%*d\"", 0x80, 1)), 512);
	ck_assert_str_eq(MESSAGE("u8 a; @format \"%d %d %s %f\"", 1), "1 ? ? ?");
	ck_assert_str_eq(MESSAGE("u8 a; @format \"%s %f %p %c\"", 65), "65 ? ? ?");
	ck_assert_str_eq(MESSAGE("u8 a; @format \"%f\"", 65), "65");
	ck_assert_str_eq(MESSAGE("str a; @format \"%d|%s\"", 'x', 0), "\"x\"|?");
	ck_assert_str_eq(MESSAGE("u8 a; @format \"%1$d %31$d %32$d x\"", 7), "7 ? %32$d x");
	ck_assert_str_eq(MESSAGE("u8 a; @format \"%q %d\"", 7), "%q %d");
	ck_assert_str_eq(MESSAGE("u8 a; @format \"%n%d%\"", 7), "?%");
	ck_assert_str_eq(MESSAGE("u8 a; @format \"%m\"", 7), "?");
	ck_assert_str_eq(MESSAGE("u8 a; @format \"%0000000000+5d\"", 7), "+0007");
	ck_assert_str_eq(MESSAGE("s8 a; @format \"%m\"", 0x80), "error -128");
	ck_assert_str_eq(MESSAGE("u8[4] a; @format \"%d %d %d\"", 1, 2), "1 2 ?");
	ck_assert_str_eq(MESSAGE("bytes a; @format \"%s.%.1s\"", 9, 0, 0, 0, 'x'), "x.?");
	ck_assert_uint_le(strlen(MESSAGE("f64 a; @format \"%500.500f\"", 0xff, 0xff, 0xff, 0xff,
					 0xff, 0xff, 0xef, 0x7f)), 900);
}
END_TEST

START_TEST(values_have_the_text_of_their_type)
{
	ck_assert_str_eq(VALUE("u8 n", uint8_t, 200), "200");
	ck_assert_str_eq(VALUE("u64 n", uint64_t, UINT64_MAX), "18446744073709551615");
	ck_assert_str_eq(VALUE("s32 n", int32_t, -5), "-5");
	ck_assert_str_eq(VALUE("s64 n", int64_t, INT64_MIN), "-9223372036854775808");
	ck_assert_str_eq(VALUE("x16 n", uint16_t, 0xbeef), "0xbeef");
	ck_assert_str_eq(VALUE("ptr n", uint64_t, 0x10), "0x10");
	ck_assert_str_eq(VALUE("f32 n", float, 0.1f), "0.1");
	ck_assert_str_eq(VALUE("f32 n", float, 16777216.0f), "16777216");
	ck_assert_str_eq(VALUE("f64 n", double, 1.0 / 3), "0.3333333333333333");
	ck_assert_str_eq(VALUE("f64 n", double, 0.1), "0.1");
	ck_assert_str_eq(VALUE("f64 n", double, 0.1 + 0.7), "0.7999999999999999");
	ck_assert_str_eq(VALUE("f64 n", double, 0.1 + 0.2), "0.30000000000000004");
	ck_assert_str_eq(VALUE("bool n", uint8_t, 7), "true");
	ck_assert_str_eq(VALUE("char n", char, 'x'), "'x'");
	ck_assert_str_eq(VALUE("char n", char, 0), "'\\0'");
	ck_assert_str_eq(VALUE("char n", char, 27), "'\\x1b'");
	ck_assert_str_eq(VALUE("ns n", uint64_t, 1500), "1.5us");
	ck_assert_str_eq(VALUE("ns n", uint64_t, 2000000000), "2s");
	ck_assert_str_eq(VALUE("ns n", uint64_t, 0), "0ns");
	ck_assert_str_eq(VALUE("time n", int64_t, 1738577732123456789),
			 "2025-02-03T10:15:32.123456789Z");
	ck_assert_str_eq(VALUE("time n", int64_t, -1), "1969-12-31T23:59:59.999999999Z");
	ck_assert_str_eq(VALUE("time n", int64_t, 951782400000000000),
			 "2000-02-29T00:00:00.000000000Z");
	ck_assert_str_eq(VALUE("time n", int64_t, INT64_MIN), "1677-09-21T00:12:43.145224192Z");
	ck_assert_str_eq(VALUE("time n", int64_t, INT64_MAX), "2262-04-11T23:47:16.854775807Z");
	ck_assert_str_eq(VALUE("errno n", int32_t, ENOENT), "ENOENT");
	ck_assert_str_eq(VALUE("errno n", int32_t, -EAGAIN), "-EAGAIN");
	ck_assert_str_eq(VALUE("errno n", int32_t, 4000), "4000");
	ck_assert_str_eq(VALUE("u8 n{0=read,1=write}", uint8_t, 1), "write");
	ck_assert_str_eq(VALUE("u8 n{0=read,1=write}", uint8_t, 2), "2");
	ck_assert_str_eq(VALUE("u8 n{|1=r,2=w}", uint8_t, 3), "r|w");
	ck_assert_str_eq(VALUE("u8 n{|1=r,2=w}", uint8_t, 9), "r|0x8");
	ck_assert_str_eq(VALUE("u8 n{|1=r,2=w}", uint8_t, 0), "0x0");
}
END_TEST

START_TEST(bytes_cannot_hurt_a_terminal)
{
	ck_assert_str_eq(values_of("str s", "a\"b\\c\n\033[2J\303\244", 14),
			 "\"a\\\"b\\\\c\\n\\x1b[2J\\xc3\\xa4\"");
	ck_assert_str_eq(values_of("str s", "", 1), "\"\"");
	ck_assert_str_eq(values_of("bytes[3] b", "\1\2\377", 3), "0102ff");
	ck_assert_str_eq(values_of("bytes[3] b", "\1\2", 2), "0102...");
	ck_assert_str_eq(values_of("str[4] s; u8 n", "ab\0\0\7", 5), "\"ab\" 7");
}
END_TEST

START_TEST(a_text_is_cut_to_the_room_and_its_length_is_returned)
{
	struct posix_trace_schema_np schema;
	struct posix_trace_value_np value;
	const uint32_t number = 123456;
	char text[10];

	OK(posix_trace_schema_parse_np("u32 n", &schema));
	ck_assert_int_eq(posix_trace_field_get_np(&schema, 0, 0, &number, sizeof(number), 0,
						  &value), 1);
	for (size_t size = 1; size <= sizeof(text); size++) {
		memset(text, '#', sizeof(text));
		ck_assert_uint_eq(posix_trace_value_print_np(&value, text, size), 6);
		ck_assert_int_eq(strncmp(text, "123456", size - 1), 0);
		ck_assert_int_eq(text[size > 6 ? 6 : size - 1], '\0');
		if (size < sizeof(text))
			ck_assert_int_eq(text[size], '#');
	}
	ck_assert_uint_eq(posix_trace_value_print_np(&value, NULL, 0), 6);
	/* A value from an older program, without data and len. */
	ck_assert_uint_eq(posix_trace_value_print_sized_np(
				  &value, offsetof(struct posix_trace_value_np, data), text,
				  sizeof(text)), 6);
	ck_assert_uint_eq(posix_trace_value_print_sized_np(&value, 8, text, sizeof(text)), 0);
}
END_TEST

/* Returns the text of an event behind its time. */
static const char *behind_time(trace_id_t trid, const struct seen *seen)
{
	static char text[1000];
	size_t len;

	OK(posix_trace_event_print_np(trid, &seen->info, seen->data, seen->len, text, sizeof(text),
				      &len));
	ck_assert_uint_eq(len, strlen(text));
	ck_assert_uint_gt(len, 31);
	ck_assert_int_eq(text[10], 'T');
	ck_assert_int_eq(text[29], 'Z');
	return text + 31;
}

static void assert_text(trace_id_t trid, const struct seen *seen, const char *text)
{
	char due[300];

	snprintf(due, sizeof(due), "%ld %s", (long)getpid(), text);
	ck_assert_str_eq(behind_time(trid, seen), due);
}

START_TEST(an_event_is_printed_by_its_schema)
{
	trace_event_id_t read = type_of("read"), plain = type_of("plain"), odd = type_of("a\033b");
	trace_id_t trid;
	struct history *history;
	static const unsigned char short_array[] = { 1, 0, 2, 0 };

	OK(posix_trace_eventid_describe_np(read, "s32 fd; str path; u16[3] n"));
	trid = STARTED(.max_data = 16);
	posix_trace_fields_np(read, POSIX_TRACE_S32_NP(3), POSIX_TRACE_STR_NP("/x"),
			      POSIX_TRACE_BYTES_N_NP("\1\0\2\0\3\0", 6));
	posix_trace_fields_np(read, POSIX_TRACE_S32_NP(-1), POSIX_TRACE_STR_NP(""),
			      POSIX_TRACE_BYTES_N_NP(short_array, 4));
	posix_trace_fields_np(read, POSIX_TRACE_S32_NP(0), POSIX_TRACE_STR_NP(""),
			      POSIX_TRACE_BYTES_N_NP("\1\0\2\0\3\0", 6),
			      POSIX_TRACE_U8_NP(255));
	posix_trace_event(plain, "hello", 5);
	posix_trace_event(plain, "\1\2", 2);
	posix_trace_event(plain, NULL, 0);
	posix_trace_event(odd, "0123456789abcdefgh", 18);
	history = read_all(trid);
	ck_assert_uint_eq(history->n, 8);
	assert_text(trid, &history->event[1], "read fd=3 path=\"/x\" n=[1 2 3]");
	assert_text(trid, &history->event[2], "read fd=-1 path=\"\" n=[1 2 ...]");
	assert_text(trid, &history->event[3], "read fd=0 path=\"\" n=[1 2 3] +ff");
	assert_text(trid, &history->event[4], "plain \"hello\"");
	assert_text(trid, &history->event[5], "plain 0102");
	assert_text(trid, &history->event[6], "plain");
	assert_text(trid, &history->event[7],
		    "a\\x1bb \"0123456789abcdef\" [truncated]");
	history_free(history);
	shut(trid);
}
END_TEST

/* Returns the text of a system event behind its time and process. */
static const char *system_text(trace_id_t trid, const struct seen *seen)
{
	return strstr(behind_time(trid, seen), " posix_trace_") + 1;
}

/* The sets of types are printed as names, not as digits. */
START_TEST(a_system_event_is_printed_by_its_meaning)
{
	trace_event_id_t a = type_of("a"), b = type_of("b\033");
	trace_event_set_t set;
	struct history *history;
	struct seen damaged;
	trace_id_t trid;

	OK(posix_trace_eventset_empty(&set));
	trid = STARTED();
	OK(posix_trace_eventset_add(a, &set));
	OK(posix_trace_eventset_add(b, &set));
	OK(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	OK(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS));
	OK(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	OK(posix_trace_eventset_empty(&set));
	OK(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	OK(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS));
	OK(posix_trace_eventset_del(POSIX_TRACE_STOP, &set));
	OK(posix_trace_eventset_del(POSIX_TRACE_FILTER, &set));
	OK(posix_trace_eventset_del(b, &set));
	OK(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	OK(posix_trace_stop(trid));
	history = read_all(trid);
	ck_assert_uint_eq(history->n, 6);
	ck_assert_str_eq(system_text(trid, &history->event[0]), "posix_trace_start filter=none");
	ck_assert_str_eq(system_text(trid, &history->event[1]),
			 "posix_trace_filter old=none new={a, b\\x1b}");
	ck_assert_str_eq(system_text(trid, &history->event[2]),
			 "posix_trace_filter old={a, b\\x1b} new=all");
	ck_assert_str_eq(system_text(trid, &history->event[3]),
			 "posix_trace_filter old=all new=none");
	ck_assert_str_eq(system_text(trid, &history->event[4]),
			 "posix_trace_filter old=none new=all but "
			 "{posix_trace_stop, posix_trace_filter, b\\x1b}");
	ck_assert_str_eq(system_text(trid, &history->event[5]), "posix_trace_stop by=call");
	/* Data that are no set, or too short, are printed as digits. */
	damaged = history->event[0];
	damaged.data[0] ^= 1;
	ck_assert_uint_eq(strspn(system_text(trid, &damaged) + 18, "0123456789abcdef"),
			  2 * damaged.len);
	damaged.data[0] ^= 1;
	damaged.len--;
	ck_assert_uint_eq(strspn(system_text(trid, &damaged) + 18, "0123456789abcdef"),
			  2 * damaged.len);
	history_free(history);
	shut(trid);
}
END_TEST

START_TEST(an_event_of_a_log_is_printed)
{
	trace_event_id_t id = type_of("n");
	int fd = log_file(), end;
	trace_id_t trid;
	struct posix_trace_event_np event;
	char text[100];
	size_t len;

	OK(posix_trace_eventid_describe_np(id, "s32 number"));
	trid = LOGGED_STARTED(fd, .log_policy = POSIX_TRACE_APPEND);
	trace_number(id, 5);
	shut(trid);
	trid = log_open(fd);
	do {
		OK(posix_trace_getnext_np(trid, &event, &end));
		ck_assert_int_eq(end, 0);
	} while (event.info.posix_event_id != id);
	OK(posix_trace_event_print_np(trid, &event.info, event.data, event.data_len, text,
				      sizeof(text), &len));
	ck_assert_str_eq(text + len - 11, " n number=5");
	FAILS(EINVAL, posix_trace_event_print_np(trid, NULL, NULL, 0, text, sizeof(text), &len));
	FAILS(EINVAL, posix_trace_event_print_np(trid, &event.info, NULL, 1, text, 100, &len));
	FAILS(EINVAL, posix_trace_event_print_np(trid, &event.info, NULL, 0, NULL, 1, &len));
	FAILS(EINVAL, posix_trace_event_print_np(trid, &event.info, NULL, 0, text, 100, NULL));
	OK(posix_trace_event_print_np(trid, &event.info, event.data, event.data_len, NULL, 0,
				      &len));
	ck_assert_uint_eq(len, strlen(text));
	event.info.posix_event_id = 999;
	FAILS(EINVAL, posix_trace_event_print_np(trid, &event.info, NULL, 0, text, 100, &len));
	log_close(trid);
	FAILS(EINVAL, posix_trace_event_print_np(trid, &event.info, NULL, 0, text, 100, &len));
	close(fd);
}
END_TEST

SUITE_MAIN("posix_trace_event_print_np", values_have_the_text_of_their_type,
	   hostile_messages_are_bounded,
	   bytes_cannot_hurt_a_terminal, a_text_is_cut_to_the_room_and_its_length_is_returned,
	   an_event_is_printed_by_its_schema, a_system_event_is_printed_by_its_meaning,
	   an_event_of_a_log_is_printed)
