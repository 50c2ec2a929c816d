/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_attr_init() and its page: the object, its name, version and clock. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <trace.h>

#include "support/support.h"

static trace_attr_t fresh(void)
{
	trace_attr_t attr;

	OK(posix_trace_attr_init(&attr));
	return attr;
}

/* ATTR-01, ATTR-17, POLICY-01, POLICY-02, POLICY-05 */
START_TEST(init_gives_every_attribute_its_default)
{
	trace_attr_t attr;
	char text[TRACE_NAME_MAX + 1] = "x";
	struct timespec resolution = { -1, -1 };
	size_t size;
	int value;

	memset(&attr, 0xa5, sizeof(attr)); /* posix_trace_attr_init() must not read the object */
	OK(posix_trace_attr_init(&attr));
	OK(posix_trace_attr_getname(&attr, text));
	ck_assert_str_eq(text, "");
	OK(posix_trace_attr_getgenversion(&attr, text));
	ck_assert_str_ne(text, "");
	OK(posix_trace_attr_getclockres(&attr, &resolution));
	ck_assert_int_gt(resolution.tv_nsec + resolution.tv_sec, 0);
	OK(posix_trace_attr_getinherited(&attr, &value));
	ck_assert_int_eq(value, POSIX_TRACE_CLOSE_FOR_CHILD);
	OK(posix_trace_attr_getlogfullpolicy(&attr, &value));
	ck_assert_int_eq(value, POSIX_TRACE_LOOP);
	OK(posix_trace_attr_getstreamfullpolicy(&attr, &value));
	ck_assert_int_eq(value, POSIX_TRACE_LOOP);
	OK(posix_trace_attr_getstreamsize(&attr, &size));
	ck_assert_uint_eq(size, 65536); /* CH-07 */
	OK(posix_trace_attr_getmaxdatasize(&attr, &size));
	ck_assert_uint_eq(size, 1024); /* CH-08 */
	OK(posix_trace_attr_getlogsize(&attr, &size));
	ck_assert_uint_eq(size, 1048576); /* CH-09 */
}
END_TEST

/* ATTR-03 */
START_TEST(a_destroyed_object_can_be_initialised_again)
{
	trace_attr_t attr = fresh();
	char name[TRACE_NAME_MAX + 1];

	OK(posix_trace_attr_setname(&attr, "old"));
	OK(posix_trace_attr_destroy(&attr));
	OK(posix_trace_attr_init(&attr));
	OK(posix_trace_attr_getname(&attr, name));
	ck_assert_str_eq(name, "");
	OK(posix_trace_attr_setname(&attr, "new"));
	OK(posix_trace_attr_getname(&attr, name));
	ck_assert_str_eq(name, "new");
	OK(posix_trace_attr_destroy(&attr));
}
END_TEST

/* ATTR-04 */
START_TEST(destroy_refuses_an_object_that_is_not_initialised)
{
	trace_attr_t attr = fresh();

	OK(posix_trace_attr_destroy(&attr));
	FAILS(EINVAL, posix_trace_attr_destroy(&attr));
	memset(&attr, 0, sizeof(attr));
	FAILS(EINVAL, posix_trace_attr_destroy(&attr));
	FAILS(EINVAL, posix_trace_attr_destroy(NULL));
}
END_TEST

/* ATTR-06 */
START_TEST(init_resets_an_initialised_object)
{
	trace_attr_t attr = fresh();
	char name[TRACE_NAME_MAX + 1];
	size_t size;
	int policy;

	OK(posix_trace_attr_setname(&attr, "a name"));
	OK(posix_trace_attr_setstreamsize(&attr, 4711));
	OK(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH));
	OK(posix_trace_attr_init(&attr));
	OK(posix_trace_attr_getname(&attr, name));
	ck_assert_str_eq(name, "");
	OK(posix_trace_attr_getstreamsize(&attr, &size));
	ck_assert_uint_ne(size, 4711);
	OK(posix_trace_attr_getstreamfullpolicy(&attr, &policy));
	ck_assert_int_eq(policy, POSIX_TRACE_LOOP);
}
END_TEST

/* Calls every function that has an attributes object. Each call must fail and write nothing. */
static void everything_is_refused(trace_attr_t *attr)
{
	struct timespec time = { 47, 11 };
	char text[TRACE_NAME_MAX + 1] = "untouched";
	size_t size = 4711;
	int value = 4711;

	FAILS(EINVAL, posix_trace_attr_getclockres(attr, &time));
	FAILS(EINVAL, posix_trace_attr_getcreatetime(attr, &time));
	FAILS(EINVAL, posix_trace_attr_getgenversion(attr, text));
	FAILS(EINVAL, posix_trace_attr_getname(attr, text));
	FAILS(EINVAL, posix_trace_attr_setname(attr, "name"));
	FAILS(EINVAL, posix_trace_attr_getinherited(attr, &value));
	FAILS(EINVAL, posix_trace_attr_setinherited(attr, POSIX_TRACE_INHERITED));
	FAILS(EINVAL, posix_trace_attr_getlogfullpolicy(attr, &value));
	FAILS(EINVAL, posix_trace_attr_setlogfullpolicy(attr, POSIX_TRACE_LOOP));
	FAILS(EINVAL, posix_trace_attr_getstreamfullpolicy(attr, &value));
	FAILS(EINVAL, posix_trace_attr_setstreamfullpolicy(attr, POSIX_TRACE_LOOP));
	FAILS(EINVAL, posix_trace_attr_getlogsize(attr, &size));
	FAILS(EINVAL, posix_trace_attr_setlogsize(attr, 1));
	FAILS(EINVAL, posix_trace_attr_getmaxdatasize(attr, &size));
	FAILS(EINVAL, posix_trace_attr_setmaxdatasize(attr, 1));
	FAILS(EINVAL, posix_trace_attr_getstreamsize(attr, &size));
	FAILS(EINVAL, posix_trace_attr_setstreamsize(attr, 1));
	FAILS(EINVAL, posix_trace_attr_getmaxsystemeventsize(attr, &size));
	FAILS(EINVAL, posix_trace_attr_getmaxusereventsize(attr, 1, &size));
	ck_assert_int_eq(time.tv_sec, 47);
	ck_assert_int_eq(time.tv_nsec, 11);
	ck_assert_str_eq(text, "untouched");
	ck_assert_uint_eq(size, 4711);
	ck_assert_int_eq(value, 4711);
}

/* ATTR-05, ATTR-21, POLICY-08, SIZE-17, GEN-01, GEN-02, GEN-05, GEN-09 */
START_TEST(a_null_object_is_refused)
{
	everything_is_refused(NULL);
	FAILS(EINVAL, posix_trace_attr_init(NULL));
}
END_TEST

/* ATTR-05, ATTR-21, POLICY-08, SIZE-17, GEN-09 */
START_TEST(a_destroyed_object_is_refused_and_stays_as_it_is)
{
	trace_attr_t attr = fresh(), before;

	OK(posix_trace_attr_destroy(&attr));
	before = attr;
	everything_is_refused(&attr);
	ck_assert_mem_eq(&attr, &before, sizeof(attr));
}
END_TEST

/* ATTR-05, ATTR-21, POLICY-08, SIZE-17 */
START_TEST(an_object_that_was_never_initialised_is_refused)
{
	trace_attr_t attr;

	memset(&attr, 0, sizeof(attr));
	everything_is_refused(&attr);
	memset(&attr, 0xff, sizeof(attr));
	everything_is_refused(&attr);
}
END_TEST

/* ATTR-21, GEN-05 */
START_TEST(a_null_result_pointer_is_refused)
{
	trace_attr_t attr = fresh();

	FAILS(EINVAL, posix_trace_attr_getclockres(&attr, NULL));
	FAILS(EINVAL, posix_trace_attr_getcreatetime(&attr, NULL));
	FAILS(EINVAL, posix_trace_attr_getgenversion(&attr, NULL));
	FAILS(EINVAL, posix_trace_attr_getname(&attr, NULL));
	FAILS(EINVAL, posix_trace_attr_setname(&attr, NULL));
}
END_TEST

/* ATTR-11, CLOCK-02 */
START_TEST(the_clock_resolution_is_positive_and_that_of_the_clock)
{
	trace_attr_t attr = fresh();
	struct timespec resolution, realtime;

	OK(posix_trace_attr_getclockres(&attr, &resolution));
	ck_assert_int_ge(resolution.tv_nsec, 0);
	ck_assert_int_lt(resolution.tv_nsec, 1000000000);
	ck_assert(resolution.tv_sec > 0 || (resolution.tv_sec == 0 && resolution.tv_nsec > 0));
	ck_assert_int_eq(clock_getres(CLOCK_REALTIME, &realtime), 0);
	ck_assert_int_eq(resolution.tv_sec, realtime.tv_sec);
	ck_assert_int_eq(resolution.tv_nsec, realtime.tv_nsec);
}
END_TEST

/* ATTR-13, GEN-09 */
START_TEST(an_object_that_never_came_from_a_stream_has_no_creation_time)
{
	trace_attr_t attr = fresh();
	struct timespec time = { 47, 11 };

	FAILS(EINVAL, posix_trace_attr_getcreatetime(&attr, &time));
	ck_assert_int_eq(time.tv_sec, 47);
	ck_assert_int_eq(time.tv_nsec, 11);
}
END_TEST

/* ATTR-14, ATTR-15 */
START_TEST(the_generation_version_fits_in_trace_name_max_bytes)
{
	trace_attr_t attr = fresh();
	char version[TRACE_NAME_MAX + 64];
	size_t len;

	memset(version, 0x5a, sizeof(version));
	OK(posix_trace_attr_getgenversion(&attr, version));
	len = strnlen(version, sizeof(version));
	ck_assert_uint_gt(len, 0);
	ck_assert_uint_le(len, TRACE_NAME_MAX - 1);
	for (size_t i = len + 1; i < sizeof(version); i++)
		ck_assert_int_eq(version[i], 0x5a);
	ck_assert_ptr_nonnull(strstr(version, "libposixtrace"));
}
END_TEST

/* ATTR-18, ATTR-22: for every length that a name may have */
START_TEST(a_name_of_any_legal_length_comes_back)
{
	trace_attr_t attr = fresh();
	char name[TRACE_NAME_MAX + 1], got[TRACE_NAME_MAX + 2];
	size_t len = (size_t)_i;

	for (size_t i = 0; i < len; i++)
		name[i] = (char)(255 - i); /* bytes, not characters */
	name[len] = '\0';
	memset(got, 0x5a, sizeof(got));
	OK(posix_trace_attr_setname(&attr, name));
	OK(posix_trace_attr_getname(&attr, got));
	ck_assert_mem_eq(got, name, len + 1);
	for (size_t i = len + 1; i < sizeof(got); i++)
		ck_assert_int_eq(got[i], 0x5a);
}
END_TEST

/* ATTR-18: a shorter name replaces a longer one completely */
START_TEST(a_short_name_replaces_a_long_one)
{
	trace_attr_t attr = fresh();
	char got[TRACE_NAME_MAX + 1];

	OK(posix_trace_attr_setname(&attr, "a rather long name for a stream"));
	OK(posix_trace_attr_setname(&attr, "short"));
	OK(posix_trace_attr_getname(&attr, got));
	ck_assert_str_eq(got, "short");
}
END_TEST

/* ATTR-19, ATTR-22 */
START_TEST(a_longer_name_is_cut_to_one_byte_less_than_the_limit)
{
	static const size_t lengths[] = { TRACE_NAME_MAX + 1, TRACE_NAME_MAX + 2, 1000, 100000 };
	trace_attr_t attr = fresh();

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		/* The last byte of the block is the NUL, so ASan notices a read beyond it. */
		char *name = malloc(lengths[i] + 1);
		char got[TRACE_NAME_MAX];

		ck_assert_ptr_nonnull(name);
		memset(name, 'n', lengths[i]);
		name[lengths[i]] = '\0';
		OK(posix_trace_attr_setname(&attr, name));
		OK(posix_trace_attr_getname(&attr, got)); /* it fits: compare the length */
		ck_assert_uint_eq(strlen(got), TRACE_NAME_MAX - 1);
		ck_assert_mem_eq(got, name, TRACE_NAME_MAX - 1);
		free(name);
	}
}
END_TEST

/* ATTR-20 */
START_TEST(setname_copies)
{
	trace_attr_t attr = fresh();
	char name[] = "before", got[TRACE_NAME_MAX + 1];

	OK(posix_trace_attr_setname(&attr, name));
	memset(name, 'X', sizeof(name) - 1);
	OK(posix_trace_attr_getname(&attr, got));
	ck_assert_str_eq(got, "before");
}
END_TEST

/* GEN-08: independence of objects, not of streams */
START_TEST(two_objects_are_independent)
{
	trace_attr_t a = fresh(), b = fresh();
	char got[TRACE_NAME_MAX + 1];
	size_t size_a, size_b;

	OK(posix_trace_attr_setname(&a, "a"));
	OK(posix_trace_attr_setname(&b, "b"));
	OK(posix_trace_attr_setstreamsize(&a, 1));
	OK(posix_trace_attr_setstreamsize(&b, 2));
	OK(posix_trace_attr_getname(&a, got));
	ck_assert_str_eq(got, "a");
	OK(posix_trace_attr_getstreamsize(&a, &size_a));
	OK(posix_trace_attr_getstreamsize(&b, &size_b));
	ck_assert_uint_eq(size_a, 1);
	ck_assert_uint_eq(size_b, 2);
	OK(posix_trace_attr_destroy(&a));
	OK(posix_trace_attr_getname(&b, got));
	ck_assert_str_eq(got, "b");
}
END_TEST

static Suite *attr_suite(void)
{
	const TTest *const all[] = {
		init_gives_every_attribute_its_default,
		a_destroyed_object_can_be_initialised_again,
		destroy_refuses_an_object_that_is_not_initialised,
		init_resets_an_initialised_object,
		a_null_object_is_refused,
		a_destroyed_object_is_refused_and_stays_as_it_is,
		an_object_that_was_never_initialised_is_refused,
		a_null_result_pointer_is_refused,
		the_clock_resolution_is_positive_and_that_of_the_clock,
		an_object_that_never_came_from_a_stream_has_no_creation_time,
		the_generation_version_fits_in_trace_name_max_bytes,
		a_short_name_replaces_a_long_one,
		a_longer_name_is_cut_to_one_byte_less_than_the_limit,
		setname_copies,
		two_objects_are_independent,
	};
	TCase *tc;
	Suite *suite = support_suite("posix_trace_attr_init", &tc);

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		tcase_add_test(tc, all[i]);
	tcase_add_loop_test(tc, a_name_of_any_legal_length_comes_back, 0, TRACE_NAME_MAX + 1);
	return suite;
}

SUITE_MAIN_OF(attr_suite)
