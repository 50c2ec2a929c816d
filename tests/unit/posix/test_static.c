/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/process.c: a program that is linked with the static library has the constructor and the
 * fork handlers, although it calls none of them. This suite is such a program.
 */
#include <unistd.h>

#include "support/stream.h"

/* Creates a stream, closes all great numbers, which are those of the library, and forks. */
static void trace_child(void)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.inheritance = POSIX_TRACE_INHERITED);
	struct posix_trace_ledger_np ledger;
	pid_t child;

	for (int fd = 100; fd < 1024; fd++)
		close(fd);
	trace_number(u, 1);
	child = fork();
	if (!child) {
		trace_number(u, 2);
		_exit(0);
	}
	wait_well(child);
	OK(posix_trace_get_ledger_np(trid, &ledger));
	ck_assert_uint_eq(ledger.called, 3);
	for (int cause = 0; cause < POSIX_TRACE_LOST_CAUSES_NP; cause++)
		ck_assert_uint_eq(ledger.lost[cause], 0);
	ck_assert_events(trid, "START u=1 u=2");
	shut(trid);
}

/* FORK-01. The child cannot map the stream again, so it needs the mapping of its parent. */
START_TEST(a_child_of_a_program_without_descriptors_is_traced)
{
	pid_t creator = fork();

	if (!creator) {
		trace_child();
		_exit(0);
	}
	wait_well(creator);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("static library", &tc);

	tcase_add_test(tc, a_child_of_a_program_without_descriptors_is_traced);
	return s;
}

SUITE_MAIN_OF(suite)
