/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events of typed items: <trace_user_np.h>. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <trace_np.h>

#include "support/stream.h"

struct got {
	struct posix_trace_event_info info;
	unsigned char data[POSIX_TRACE_USER_BYTES_NP + 64];
	size_t len;
};

static struct got next(trace_id_t trid)
{
	struct got got;
	int unavailable;

	do {
		memset(&got, 0, sizeof(got));
		OK(posix_trace_trygetnext_event(trid, &got.info, got.data, sizeof(got.data),
						&got.len, &unavailable));
		ck_assert_int_eq(unavailable, 0);
	} while (got.info.posix_event_id == POSIX_TRACE_START);
	return got;
}

static void assert_data(const struct got *got, const void *expected, size_t len)
{
	ck_assert_uint_eq(got->len, len);
	ck_assert_mem_eq(got->data, expected, len);
}

static trace_event_id_t mark_type;

static void function(int sig)
{
	TRACE_USER_BEGIN_NP(mark_type);
	TRACE_SIG_NP(sig);
	TRACE_USER_END_NP();
}

START_TEST(items_are_one_event_with_their_types_and_widths)
{
	static const unsigned char expected[] =
		"\x30\xff" "\x01\xff" "\x02\xff\xff" "\x03\xff\xff" "\xe4\xff\xff\xff\xff"
		"\x05\1\0\0\0" "\x06\xff\xff\0\0" "\x07hello\0" "\x07\0" "\x08\4\xff\xff\0\0"
		"\x08\0"
		"\x09\xef\xbe\xad\xde" "\x0b\3" "\x0c\xfe\xff\xff\xff\xff\xff\xff\xff"
		"\x0d\1\0\0\0\0\0\0\0" "\x0e\0\0\xc0\x3f" "\x0f\0\0\0\0\0\0\xf8\x3f";
	trace_event_id_t id = type_of("rkh.USR.all");
	trace_id_t trid = STARTED(0);
	struct got got;

	TRACE_USER_BEGIN_NP(id);
	TRACE_I8_NP(3, -1);
	TRACE_U8_NP(0, 255);
	TRACE_I16_NP(0, -1);
	TRACE_U16_NP(0, 65535);
	TRACE_I32_NP(15, -1); /* width 15 is reserved */
	TRACE_U32_NP(0, 1);
	TRACE_X32_NP(0, 0xffff);
	TRACE_STR_NP("hello");
	TRACE_STR_NP(NULL);
	TRACE_MEM_NP("\xff\xff\0\0", 4);
	TRACE_MEM_NP(NULL, 4);
	TRACE_OBJ_NP(UINT64_C(0x12deadbeef));
	TRACE_SIG_NP(3);
	TRACE_I64_NP(0, -2);
	TRACE_U64_NP(0, 1);
	TRACE_F32_NP(0, 1.5);
	TRACE_F64_NP(0, 1.5);
	TRACE_USER_END_NP();
	got = next(trid);
	ck_assert_uint_eq(got.info.posix_event_id, id);
	ck_assert_int_eq(got.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	assert_data(&got, expected, sizeof(expected) - 1);
	TRACE_USER_BEGIN_NP(id);
	TRACE_FUN_NP(function);
	TRACE_USER_END_NP();
	got = next(trid);
	ck_assert_uint_eq(got.len, 5);
	ck_assert_uint_eq(got.data[0], 10);
	ck_assert_uint_eq(got.data[1], (uintptr_t)function & 0xff);
	TRACE_USER_BEGIN_NP(id);
	TRACE_USER_END_NP();
	got = next(trid);
	ck_assert_uint_eq(got.len, 0);
	shut(trid);
}
END_TEST

/*
 * With a buffer of every size, the event has only complete items. A missing item is the last: no
 * later item replaces it.
 */
START_TEST(items_without_room_in_the_stream_are_omitted_completely)
{
	static const unsigned char items[] = "\x05\1\0\0\0" "\x07" "abc\0" "\x08\3" "xyz" "\x01\7";
	static const size_t ends[] = { 0, 5, 10, 15, 17 };
	size_t end = 0;
	trace_event_id_t id = type_of("rkh.USR.cut");
	trace_id_t trid = STARTED(.max_data = (size_t)_i);
	trace_id_t wide = STARTED(.max_data = 64);
	struct got got;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		end = ends[i] <= (size_t)_i ? ends[i] : end;
	for (int twice = 0; twice < 2; twice++) {
		TRACE_USER_BEGIN_NP(id);
		TRACE_U32_NP(0, 1);
		TRACE_STR_NP("abc");
		TRACE_MEM_NP("xyz", 3);
		TRACE_U8_NP(0, 7);
		TRACE_USER_END_NP();
		got = next(trid);
		ck_assert_int_eq(got.info.posix_truncation_status,
				 end < sizeof(items) - 1 ? POSIX_TRACE_TRUNCATED_RECORD
							 : POSIX_TRACE_NOT_TRUNCATED);
		assert_data(&got, items, end);
		got = next(wide);
		ck_assert_int_eq(got.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
		assert_data(&got, items, sizeof(items) - 1);
	}
	shut(wide);
	shut(trid);
}
END_TEST

START_TEST(items_without_room_on_the_stack_are_omitted_completely)
{
	trace_event_id_t id = type_of("rkh.USR.long");
	trace_id_t trid = STARTED(.max_data = 4096);
	static char text[5000];
	struct got got;

	memset(text, 'x', sizeof(text) - 1);
	TRACE_USER_BEGIN_NP(id);
	TRACE_U8_NP(0, 1);
	TRACE_STR_NP(text);
	TRACE_U8_NP(0, 2);
	TRACE_USER_END_NP();
	got = next(trid);
	ck_assert_int_eq(got.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_RECORD);
	assert_data(&got, "\1\1", 2);
	text[POSIX_TRACE_USER_BYTES_NP - 4] = '\0'; /* exactly enough */
	TRACE_USER_BEGIN_NP(id);
	TRACE_U8_NP(0, 1);
	TRACE_STR_NP(text);
	TRACE_USER_END_NP();
	got = next(trid);
	ck_assert_int_eq(got.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	ck_assert_uint_eq(got.len, POSIX_TRACE_USER_BYTES_NP);
	TRACE_USER_BEGIN_NP(id);
	TRACE_MEM_NP(text, 300);
	TRACE_USER_END_NP();
	got = next(trid);
	ck_assert_uint_eq(got.len, 2 + 255);
	ck_assert_uint_eq(got.data[1], 255);
	shut(trid);
}
END_TEST

START_TEST(a_handler_between_two_items_has_an_event_of_its_own)
{
	trace_event_id_t id = type_of("rkh.USR.outer");
	trace_id_t trid = STARTED(0);
	struct got got;

	mark_type = type_of("rkh.USR.inner");
	signal(SIGUSR1, function);
	TRACE_USER_BEGIN_NP(id);
	TRACE_U8_NP(0, 1);
	raise(SIGUSR1);
	TRACE_U8_NP(0, 2);
	TRACE_USER_END_NP();
	got = next(trid);
	ck_assert_uint_eq(got.info.posix_event_id, mark_type);
	assert_data(&got, "\x0b\x0a", 2);
	got = next(trid);
	ck_assert_uint_eq(got.info.posix_event_id, id);
	assert_data(&got, "\1\1\1\2", 4);
	shut(trid);
}
END_TEST

START_TEST(without_a_stream_nothing_is_evaluated)
{
	int evaluated = 0;

	TRACE_USER_BEGIN_NP((evaluated++, POSIX_TRACE_UNNAMED_USEREVENT));
	TRACE_U8_NP(0, evaluated++);
	TRACE_USER_END_NP();
	ck_assert_int_eq(evaluated, 0);
}
END_TEST

/* Arguments that no program in C passes by accident. */
START_TEST(numbers_of_other_types_add_nothing)
{
	struct posix_trace_user_np user;
	trace_event_id_t id = type_of("rkh.USR.odd");
	trace_id_t trid = STARTED(0);
	struct got got;

	posix_trace_user_begin_np(&user, sizeof(user));
	posix_trace_user_number_np(&user, POSIX_TRACE_ITEM_STR_NP, 0, 1);
	posix_trace_user_number_np(&user, POSIX_TRACE_ITEM_F64_NP, 0, 1);
	posix_trace_user_number_np(&user, (enum posix_trace_item_np)16, 0, 1);
	posix_trace_user_real_np(&user, POSIX_TRACE_ITEM_U8_NP, 0, 1);
	ck_assert_uint_eq(user.used, 0);
	posix_trace_user_number_np(&user, POSIX_TRACE_ITEM_U8_NP, 0, 1);
	posix_trace_user_event_np(&user, 100000);
	posix_trace_user_event_np(&user, id);
	got = next(trid);
	assert_data(&got, "\1\1", 2);
	ck_assert_uint_eq(got.info.posix_event_id, id);
	shut(trid);
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("trace_user_np", &tc);

	tcase_add_test(tc, items_are_one_event_with_their_types_and_widths);
	tcase_add_loop_test(tc, items_without_room_in_the_stream_are_omitted_completely, 1, 20);
	tcase_add_test(tc, items_without_room_on_the_stack_are_omitted_completely);
	tcase_add_test(tc, a_handler_between_two_items_has_an_event_of_its_own);
	tcase_add_test(tc, without_a_stream_nothing_is_evaluated);
	tcase_add_test(tc, numbers_of_other_types_add_nothing);
	return suite;
}

SUITE_MAIN_OF(build)
