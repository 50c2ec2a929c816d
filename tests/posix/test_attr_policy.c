/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_attr_getinherited() and its page: inheritance and full policies. */
#include <errno.h>
#include <string.h>
#include <trace.h>

#include "support/support.h"

/* The policies have functions of the same type. Each row has the functions of one policy. */
static const struct policy {
	int (*get)(const trace_attr_t *, int *);
	int (*set)(trace_attr_t *, int);
	int initial;
	int allowed[3];
	int forbidden[3]; /* values of the other policies */
} policies[] = {
	{ posix_trace_attr_getinherited, posix_trace_attr_setinherited,
	  POSIX_TRACE_CLOSE_FOR_CHILD,
	  { POSIX_TRACE_INHERITED, POSIX_TRACE_CLOSE_FOR_CHILD, POSIX_TRACE_INHERITED },
	  { POSIX_TRACE_LOOP, POSIX_TRACE_FLUSH, POSIX_TRACE_APPEND } },
	{ posix_trace_attr_getlogfullpolicy, posix_trace_attr_setlogfullpolicy,
	  POSIX_TRACE_LOOP,
	  { POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND, POSIX_TRACE_LOOP },
	  { POSIX_TRACE_FLUSH, POSIX_TRACE_INHERITED, POSIX_TRACE_CLOSE_FOR_CHILD } },
	{ posix_trace_attr_getstreamfullpolicy, posix_trace_attr_setstreamfullpolicy,
	  POSIX_TRACE_LOOP,
	  { POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH, POSIX_TRACE_LOOP },
	  { POSIX_TRACE_APPEND, POSIX_TRACE_INHERITED, POSIX_TRACE_CLOSE_FOR_CHILD } },
};
#define POLICIES 3

/* POLICY-01, POLICY-02, POLICY-03, POLICY-05 */
START_TEST(every_value_of_an_attribute_comes_back)
{
	const struct policy *policy = &policies[_i];
	trace_attr_t attr;
	int value = -1;

	OK(posix_trace_attr_init(&attr));
	OK(policy->get(&attr, &value));
	ck_assert_int_eq(value, policy->initial);
	for (int i = 0; i < 3; i++) {
		OK(policy->set(&attr, policy->allowed[i]));
		OK(policy->get(&attr, &value));
		ck_assert_int_eq(value, policy->allowed[i]);
	}
}
END_TEST

/* POLICY-06, GEN-09: values of other attributes, and undefined values */
START_TEST(a_value_not_in_the_list_is_refused_and_changes_nothing)
{
	static const int nobody[] = { 0, 1, -1, 0x7fffffff, POSIX_TRACE_ALL_EVENTS };
	const struct policy *policy = &policies[_i];
	trace_attr_t attr, before;

	OK(posix_trace_attr_init(&attr));
	OK(policy->set(&attr, policy->allowed[0]));
	before = attr;
	for (int i = 0; i < 3; i++)
		FAILS(EINVAL, policy->set(&attr, policy->forbidden[i]));
	for (size_t i = 0; i < sizeof(nobody) / sizeof(nobody[0]); i++)
		FAILS(EINVAL, policy->set(&attr, nobody[i]));
	ck_assert_mem_eq(&attr, &before, sizeof(attr));
}
END_TEST

/* POLICY-08, GEN-05, GEN-09 */
START_TEST(a_bad_object_or_a_null_result_is_refused)
{
	const struct policy *policy = &policies[_i];
	trace_attr_t attr;
	int value = 4711;

	OK(posix_trace_attr_init(&attr));
	FAILS(EINVAL, policy->get(&attr, NULL));
	FAILS(EINVAL, policy->get(NULL, &value));
	FAILS(EINVAL, policy->set(NULL, policy->allowed[0]));
	OK(posix_trace_attr_destroy(&attr));
	FAILS(EINVAL, policy->get(&attr, &value));
	FAILS(EINVAL, policy->set(&attr, policy->allowed[0]));
	ck_assert_int_eq(value, 4711);
}
END_TEST

/* POLICY-01, POLICY-02, POLICY-03 */
START_TEST(setting_one_attribute_leaves_the_others)
{
	const struct policy *policy = &policies[_i];
	trace_attr_t attr;
	int value;

	OK(posix_trace_attr_init(&attr));
	OK(policy->set(&attr, policy->allowed[0]));
	for (int i = 0; i < POLICIES; i++) {
		OK(policies[i].get(&attr, &value));
		ck_assert_int_eq(value, i == _i ? policy->allowed[0] : policies[i].initial);
	}
}
END_TEST

/* POLICY-07: only the creation of a stream without log refuses FLUSH */
START_TEST(flush_may_be_set_in_an_object)
{
	trace_attr_t attr;

	OK(posix_trace_attr_init(&attr));
	OK(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH));
}
END_TEST

static Suite *policy_suite(void)
{
	TCase *tc;
	Suite *suite = support_suite("posix_trace_attr_getinherited", &tc);

	tcase_add_loop_test(tc, every_value_of_an_attribute_comes_back, 0, POLICIES);
	tcase_add_loop_test(tc, a_value_not_in_the_list_is_refused_and_changes_nothing, 0,
			    POLICIES);
	tcase_add_loop_test(tc, a_bad_object_or_a_null_result_is_refused, 0, POLICIES);
	tcase_add_loop_test(tc, setting_one_attribute_leaves_the_others, 0, POLICIES);
	tcase_add_test(tc, flush_may_be_set_in_an_object);
	return suite;
}

SUITE_MAIN_OF(policy_suite)
