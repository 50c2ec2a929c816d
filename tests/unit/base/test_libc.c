/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The names of errors and signals for a C library that has none. This suite compiles these tables
 * with the headers of glibc, and compares them with the functions of glibc.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#include "support/support.h"

#ifdef __GLIBC__
/* The headers above define no further names for base/libc.h, which they were included for. */
#undef __GLIBC__
#include "../lib/base/libc.c"

#define NUMBERS 4096 /* the kernel uses no greater error */

static void assert_same(int number, const char *name, const char *expected)
{
	ck_assert_msg(!name == !expected && (!name || !strcmp(name, expected)), "%d is %s, not %s",
		      number, name ? name : "unknown", expected ? expected : "unknown");
}

START_TEST(each_error_has_the_name_of_glibc)
{
	for (int number = 1; number < NUMBERS; number++)
		assert_same(number, ptx_libc_error_name(number), strerrorname_np(number));
	assert_same(-1, ptx_libc_error_name(-1), NULL);
}
END_TEST

START_TEST(each_signal_has_the_name_of_glibc)
{
	for (int number = -1; number < NSIG; number++)
		assert_same(number, ptx_libc_signal_name(number), sigabbrev_np(number));
}
END_TEST

SUITE_MAIN("names of errors and signals", each_error_has_the_name_of_glibc,
	   each_signal_has_the_name_of_glibc)
#else
START_TEST(this_library_has_the_tables)
{
	ck_assert_ptr_nonnull(strerror(ENOENT));
}
END_TEST

SUITE_MAIN("names of errors and signals", this_library_has_the_tables)
#endif
