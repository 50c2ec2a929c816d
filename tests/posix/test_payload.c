/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix_trace_payload_begin_np() and related functions, which do the same as the macros of fields.
 */
#include <string.h>

#include "support/stream.h"

START_TEST(functions_make_the_payload_that_the_macros_make)
{
	const struct posix_trace_arg_np arg[] = {
		POSIX_TRACE_U8_NP(255), POSIX_TRACE_S16_NP(-2), POSIX_TRACE_F32_NP(0.5),
		POSIX_TRACE_F64_NP(-1e300), POSIX_TRACE_BOOL_NP(7), POSIX_TRACE_STR_NP("text"),
		POSIX_TRACE_STR_N_NP("ab", 4), POSIX_TRACE_BYTES_NP("xyz", 3),
		POSIX_TRACE_BYTES_N_NP("12345678", 8), POSIX_TRACE_STR_NP(NULL),
		POSIX_TRACE_TIME_NP(INT64_MIN)
	};
	unsigned char due[200];
	size_t len = posix_trace_fields_pack_np(due, sizeof(due), arg, sizeof(arg) / sizeof(*arg));
	struct posix_trace_payload_np payload;

	posix_trace_payload_begin_np(&payload, sizeof(payload));
	posix_trace_payload_number_np(&payload, POSIX_TRACE_TYPE_U8_NP, 255);
	posix_trace_payload_number_np(&payload, POSIX_TRACE_TYPE_S16_NP, (uint64_t)-2);
	posix_trace_payload_real_np(&payload, POSIX_TRACE_TYPE_F32_NP, 0.5);
	posix_trace_payload_real_np(&payload, POSIX_TRACE_TYPE_F64_NP, -1e300);
	posix_trace_payload_number_np(&payload, POSIX_TRACE_TYPE_BOOL_NP, 7);
	posix_trace_payload_str_np(&payload, "text", 0);
	posix_trace_payload_str_np(&payload, "ab", 4);
	posix_trace_payload_bytes_np(&payload, "xyz", 3);
	posix_trace_payload_array_np(&payload, "12345678", 8);
	posix_trace_payload_str_np(&payload, NULL, 0);
	posix_trace_payload_number_np(&payload, POSIX_TRACE_TYPE_TIME_NP, (uint64_t)INT64_MIN);
	ck_assert_int_eq(payload.full, 0);
	ck_assert_uint_eq(payload.len, len);
	ck_assert_mem_eq(payload.bytes, due, len);
}
END_TEST

START_TEST(a_payload_becomes_an_event)
{
	trace_event_id_t id = type_of("n");
	struct posix_trace_payload_np payload;
	trace_id_t trid;

	ck_assert_int_eq(posix_trace_is_active_np(), 0);
	trid = STARTED();
	ck_assert_int_ne(posix_trace_is_active_np(), 0);
	posix_trace_payload_begin_np(&payload, sizeof(payload));
	posix_trace_payload_number_np(&payload, POSIX_TRACE_TYPE_S32_NP, 4711);
	posix_trace_payload_event_np(&payload, id);
	ck_assert_events(trid, "START n=4711");
	shut(trid);
}
END_TEST

START_TEST(items_that_do_not_fit_are_omitted_with_all_behind_them)
{
	struct posix_trace_payload_np payload;
	char text[POSIX_TRACE_FIELDS_BYTES_NP];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	posix_trace_payload_begin_np(&payload, sizeof(payload));
	posix_trace_payload_number_np(&payload, POSIX_TRACE_TYPE_U64_NP, 1);
	posix_trace_payload_str_np(&payload, text, 0); /* truncated to the free bytes */
	ck_assert_int_eq(payload.full, 0);
	ck_assert_uint_eq(payload.len, sizeof(payload.bytes));
	ck_assert_int_eq(payload.bytes[sizeof(payload.bytes) - 1], '\0');
	posix_trace_payload_number_np(&payload, POSIX_TRACE_TYPE_U8_NP, 1);
	ck_assert_int_ne(payload.full, 0);
	ck_assert_uint_eq(payload.len, sizeof(payload.bytes));

	posix_trace_payload_begin_np(&payload, offsetof(struct posix_trace_payload_np, bytes) + 6);
	posix_trace_payload_number_np(&payload, POSIX_TRACE_TYPE_U32_NP, 1);
	posix_trace_payload_number_np(&payload, POSIX_TRACE_TYPE_U32_NP, 1);
	posix_trace_payload_number_np(&payload, POSIX_TRACE_TYPE_U8_NP, 1);
	ck_assert_uint_eq(payload.len, 4);
	ck_assert_int_ne(payload.full, 0);
	posix_trace_payload_begin_np(&payload, 1);
	posix_trace_payload_number_np(&payload, POSIX_TRACE_TYPE_U8_NP, 1);
	ck_assert_uint_eq(payload.len, 0);
}
END_TEST

START_TEST(a_value_of_another_type_is_left_out)
{
	struct posix_trace_payload_np payload;

	posix_trace_payload_begin_np(&payload, sizeof(payload));
	posix_trace_payload_number_np(&payload, POSIX_TRACE_TYPE_F32_NP, 1);
	ck_assert_int_ne(payload.full, 0);
	posix_trace_payload_begin_np(&payload, sizeof(payload));
	posix_trace_payload_real_np(&payload, POSIX_TRACE_TYPE_U32_NP, 1);
	ck_assert_int_ne(payload.full, 0);
	posix_trace_payload_begin_np(&payload, sizeof(payload));
	posix_trace_payload_number_np(&payload, (enum posix_trace_type_np)99, 1);
	posix_trace_payload_number_np(&payload, POSIX_TRACE_TYPE_STR_NP, 1);
	ck_assert_int_ne(payload.full, 0);
	ck_assert_uint_eq(payload.len, 0);
}
END_TEST

START_TEST(typed_items_begin_with_a_function)
{
	trace_event_id_t id = type_of("items");
	struct posix_trace_user_np user;
	struct history *history;
	trace_id_t trid = STARTED();

	posix_trace_user_begin_np(&user, sizeof(user));
	posix_trace_user_number_np(&user, POSIX_TRACE_ITEM_U8_NP, 0, 7);
	posix_trace_user_event_np(&user, id);
	TRACE_USER_BEGIN_NP(id);
	TRACE_U8_NP(0, 7);
	TRACE_USER_END_NP();
	history = read_all(trid);
	ck_assert_uint_eq(history->n, 3);
	ck_assert_uint_eq(history->event[1].len, history->event[2].len);
	ck_assert_mem_eq(history->event[1].data, history->event[2].data, history->event[1].len);
	history_free(history);
	/* The payload has no more items than fit into the memory of the program. */
	posix_trace_user_begin_np(&user, offsetof(struct posix_trace_user_np, bytes) + 3);
	posix_trace_user_number_np(&user, POSIX_TRACE_ITEM_U8_NP, 0, 7);
	posix_trace_user_number_np(&user, POSIX_TRACE_ITEM_U8_NP, 0, 8);
	ck_assert_uint_eq(user.used, 2);
	ck_assert_int_ne(user.full, 0);
	shut(trid);
}
END_TEST

SUITE_MAIN("posix_trace_payload_begin_np", functions_make_the_payload_that_the_macros_make,
	   a_payload_becomes_an_event, items_that_do_not_fit_are_omitted_with_all_behind_them,
	   a_value_of_another_type_is_left_out, typed_items_begin_with_a_function)
