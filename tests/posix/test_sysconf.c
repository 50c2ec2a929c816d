/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_sysconf_np(). */
#include <errno.h>
#include <trace_np.h>
#include <unistd.h>

#include "support/support.h"

/* HDR-14 */
START_TEST(the_four_options_are_supported)
{
	ck_assert_int_eq(KEEPS_ERRNO(posix_trace_sysconf_np(_SC_TRACE)), 200809L);
	ck_assert_int_eq(KEEPS_ERRNO(posix_trace_sysconf_np(_SC_TRACE_EVENT_FILTER)), 200809L);
	ck_assert_int_eq(KEEPS_ERRNO(posix_trace_sysconf_np(_SC_TRACE_INHERIT)), 200809L);
	ck_assert_int_eq(KEEPS_ERRNO(posix_trace_sysconf_np(_SC_TRACE_LOG)), 200809L);
}
END_TEST

/* HDR-14, HDR-11 */
START_TEST(the_four_limits_are_those_of_the_header)
{
	ck_assert_int_eq(KEEPS_ERRNO(posix_trace_sysconf_np(_SC_TRACE_EVENT_NAME_MAX)),
			 TRACE_EVENT_NAME_MAX);
	ck_assert_int_eq(KEEPS_ERRNO(posix_trace_sysconf_np(_SC_TRACE_NAME_MAX)), TRACE_NAME_MAX);
	ck_assert_int_eq(KEEPS_ERRNO(posix_trace_sysconf_np(_SC_TRACE_SYS_MAX)), TRACE_SYS_MAX);
	ck_assert_int_eq(KEEPS_ERRNO(posix_trace_sysconf_np(_SC_TRACE_USER_EVENT_MAX)),
			 TRACE_USER_EVENT_MAX);
	ck_assert_int_ge(TRACE_EVENT_NAME_MAX, 30);
	ck_assert_int_ge(TRACE_NAME_MAX, 8);
	ck_assert_int_ge(TRACE_SYS_MAX, 64);
	ck_assert_int_ge(TRACE_USER_EVENT_MAX, 32);
}
END_TEST

/* HDR-14 */
START_TEST(other_names_are_those_of_sysconf)
{
	ck_assert_int_eq(posix_trace_sysconf_np(_SC_PAGESIZE), sysconf(_SC_PAGESIZE));
	ck_assert_int_eq(posix_trace_sysconf_np(_SC_OPEN_MAX), sysconf(_SC_OPEN_MAX));
}
END_TEST

/* HDR-14 */
START_TEST(an_unknown_name_is_an_error_as_it_is_for_sysconf)
{
	errno = 0;
	ck_assert_int_eq(posix_trace_sysconf_np(-1), -1);
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

/* The names of the ledger's columns: one for each cause, all different. */
START_TEST(every_cause_of_loss_has_a_name_of_its_own)
{
	for (int i = 0; i < POSIX_TRACE_LOST_CAUSES_NP; i++) {
		const char *name = posix_trace_lost_name_np(i);

		ck_assert_ptr_nonnull(name);
		ck_assert_str_ne(name, "");
		for (int j = 0; j < i; j++)
			ck_assert_str_ne(name, posix_trace_lost_name_np(j));
	}
	ck_assert_ptr_null(posix_trace_lost_name_np(-1));
	ck_assert_ptr_null(posix_trace_lost_name_np(POSIX_TRACE_LOST_CAUSES_NP));
}
END_TEST

SUITE_MAIN("posix_trace_sysconf_np",
	   the_four_options_are_supported,
	   the_four_limits_are_those_of_the_header,
	   other_names_are_those_of_sysconf,
	   an_unknown_name_is_an_error_as_it_is_for_sysconf,
	   every_cause_of_loss_has_a_name_of_its_own)
