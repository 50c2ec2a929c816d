/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_attr_getlogsize() and its page: sizes, and the maximum size of an event. */
#include <errno.h>
#include <stdint.h>
#include <trace.h>

#include "support/support.h"

static const struct size {
	int (*get)(const trace_attr_t *, size_t *);
	int (*set)(trace_attr_t *, size_t);
} sizes[] = {
	{ posix_trace_attr_getlogsize, posix_trace_attr_setlogsize },
	{ posix_trace_attr_getmaxdatasize, posix_trace_attr_setmaxdatasize },
	{ posix_trace_attr_getstreamsize, posix_trace_attr_setstreamsize },
};
#define SIZES 3

static const size_t values[] = { 0, 1, 7, 8192, 65537, UINT32_MAX, (size_t)UINT32_MAX + 1,
				 SIZE_MAX - 1, SIZE_MAX };
#define VALUES (sizeof(values) / sizeof(values[0]))

/* SIZE-01, SIZE-02 */
START_TEST(any_size_comes_back_exactly)
{
	trace_attr_t attr;
	size_t got;

	OK(posix_trace_attr_init(&attr));
	for (size_t i = 0; i < VALUES; i++) {
		OK(sizes[_i].set(&attr, values[i]));
		OK(sizes[_i].get(&attr, &got));
		ck_assert_uint_eq(got, values[i]);
	}
}
END_TEST

/* SIZE-01 */
START_TEST(setting_one_size_leaves_the_others)
{
	trace_attr_t attr;
	size_t before[SIZES], got;

	OK(posix_trace_attr_init(&attr));
	for (int i = 0; i < SIZES; i++)
		OK(sizes[i].get(&attr, &before[i]));
	OK(sizes[_i].set(&attr, 4711));
	for (int i = 0; i < SIZES; i++) {
		OK(sizes[i].get(&attr, &got));
		ck_assert_uint_eq(got, i == _i ? 4711 : before[i]);
	}
}
END_TEST

/* SIZE-17, GEN-05, GEN-09 */
START_TEST(a_bad_object_or_a_null_result_is_refused)
{
	trace_attr_t attr;
	size_t got = 4711;

	OK(posix_trace_attr_init(&attr));
	FAILS(EINVAL, sizes[_i].get(&attr, NULL));
	FAILS(EINVAL, sizes[_i].get(NULL, &got));
	FAILS(EINVAL, sizes[_i].set(NULL, 1));
	FAILS(EINVAL, posix_trace_attr_getmaxsystemeventsize(&attr, NULL));
	FAILS(EINVAL, posix_trace_attr_getmaxsystemeventsize(NULL, &got));
	FAILS(EINVAL, posix_trace_attr_getmaxusereventsize(&attr, 1, NULL));
	FAILS(EINVAL, posix_trace_attr_getmaxusereventsize(NULL, 1, &got));
	OK(posix_trace_attr_destroy(&attr));
	FAILS(EINVAL, sizes[_i].get(&attr, &got));
	FAILS(EINVAL, sizes[_i].set(&attr, 1));
	FAILS(EINVAL, posix_trace_attr_getmaxsystemeventsize(&attr, &got));
	FAILS(EINVAL, posix_trace_attr_getmaxusereventsize(&attr, 1, &got));
	ck_assert_uint_eq(got, 4711);
}
END_TEST

static size_t user_size(const trace_attr_t *attr, size_t len)
{
	size_t size = 0;

	OK(posix_trace_attr_getmaxusereventsize(attr, len, &size));
	return size;
}

/* SIZE-05, SIZE-06: a FILTER event has two event sets */
START_TEST(a_system_event_may_be_as_large_as_two_event_sets)
{
	trace_attr_t attr;
	size_t size = 0, again = 0;

	OK(posix_trace_attr_init(&attr));
	OK(posix_trace_attr_getmaxsystemeventsize(&attr, &size));
	ck_assert_uint_gt(size, 2 * sizeof(trace_event_set_t));
	/* SIZE-13: max-data-size applies only to user events */
	OK(posix_trace_attr_setmaxdatasize(&attr, 0));
	OK(posix_trace_attr_getmaxsystemeventsize(&attr, &again));
	ck_assert_uint_eq(size, again);
}
END_TEST

/* SIZE-07, SIZE-09 */
START_TEST(a_user_event_with_more_data_is_never_smaller)
{
	trace_attr_t attr;
	size_t last = 0;

	OK(posix_trace_attr_init(&attr));
	ck_assert_uint_gt(user_size(&attr, 0), 0);
	for (size_t len = 0; len <= 2048; len++) {
		size_t size = user_size(&attr, len);

		ck_assert_uint_ge(size, last);
		ck_assert_uint_gt(size, len < 1024 ? len : 1024);
		last = size;
	}
}
END_TEST

/* SIZE-07, SIZE-08 */
START_TEST(data_beyond_the_maximum_counts_no_more)
{
	static const size_t maxima[] = { 0, 1, 8, 100, 1024, 1 << 20 };
	trace_attr_t attr;

	OK(posix_trace_attr_init(&attr));
	for (size_t i = 0; i < sizeof(maxima) / sizeof(maxima[0]); i++) {
		size_t max = maxima[i], at_max;

		OK(posix_trace_attr_setmaxdatasize(&attr, max));
		at_max = user_size(&attr, max);
		ck_assert_uint_gt(at_max, max);
		ck_assert_uint_eq(user_size(&attr, max + 1), at_max);
		ck_assert_uint_eq(user_size(&attr, max + 4096), at_max);
		ck_assert_uint_eq(user_size(&attr, SIZE_MAX), at_max);
	}
}
END_TEST

/* SIZE-08, SIZE-09: no size overflows, with any maximum */
START_TEST(no_maximum_makes_a_size_wrap)
{
	static const size_t lens[] = { 0, 1, 4096, SIZE_MAX / 2, SIZE_MAX - 7, SIZE_MAX };
	trace_attr_t attr;
	size_t last = 0;

	OK(posix_trace_attr_init(&attr));
	OK(posix_trace_attr_setmaxdatasize(&attr, SIZE_MAX));
	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		size_t size = user_size(&attr, lens[i]);

		ck_assert_uint_ge(size, last);
		last = size;
	}
}
END_TEST

static Suite *size_suite(void)
{
	TCase *tc;
	Suite *suite = support_suite("posix_trace_attr_getlogsize", &tc);

	tcase_add_loop_test(tc, any_size_comes_back_exactly, 0, SIZES);
	tcase_add_loop_test(tc, setting_one_size_leaves_the_others, 0, SIZES);
	tcase_add_loop_test(tc, a_bad_object_or_a_null_result_is_refused, 0, SIZES);
	tcase_add_test(tc, a_system_event_may_be_as_large_as_two_event_sets);
	tcase_add_test(tc, a_user_event_with_more_data_is_never_smaller);
	tcase_add_test(tc, data_beyond_the_maximum_counts_no_more);
	tcase_add_test(tc, no_maximum_makes_a_size_wrap);
	return suite;
}

SUITE_MAIN_OF(size_suite)
