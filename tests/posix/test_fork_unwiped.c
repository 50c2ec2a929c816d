/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fork() on a system that ignores MADV_WIPEONFORK. Emulators accept the advice and do nothing, and
 * Linux before 4.14 does not have it. In this program the library calls the madvise() below, which
 * ignores the advice.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/stream.h"

static int advised;

int madvise(void *address, size_t length, int advice)
{
	if (advice != MADV_WIPEONFORK)
		return (int)syscall(SYS_madvise, address, length, advice);
	advised++;
	return 0;
}

/* FORK-02, FORK-08, FORK-10 */
START_TEST(a_child_has_streams_of_its_own)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(), own;
	pid_t child;

	ck_assert_int_gt(advised, 0);
	trace_number(u, 1);
	child = fork();
	if (child == 0) {
		trace_number(u, -1);
		FAILS(EINVAL, posix_trace_stop(trid));
		own = STARTED();
		trace_number(u, 2);
		ck_assert_events(own, "START u=2");
		shut(own);
		trace_number(u, -1);
		exit(0); /* with all handlers and destructors */
	}
	wait_well(child);
	trace_number(u, 3);
	ck_assert_status(trid, RUNNING, NOT_FULL);
	ck_assert_events(trid, "START u=1 u=3");
	shut(trid);
}
END_TEST

/* FORK-01, FORK-04 */
START_TEST(a_child_is_traced_under_its_own_id_where_that_is_inherited)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.inheritance = POSIX_TRACE_INHERITED);
	struct seen seen;
	pid_t child;

	trace_number(u, 1);
	child = fork();
	if (child == 0) {
		trace_number(u, 2);
		_exit(0);
	}
	wait_well(child);
	trace_number(u, 3);
	ck_assert_int_eq(read_one(trid, &seen), 1); /* START */
	free(seen.data);
	for (int i = 1; i <= 3; i++) {
		ck_assert_int_eq(read_one(trid, &seen), 1);
		ck_assert_int_eq(number_of(&seen), i);
		ck_assert_int_eq(seen.info.posix_pid, i == 2 ? child : getpid());
		free(seen.data);
	}
	shut(trid);
}
END_TEST

SUITE_MAIN("fork without wiping", a_child_has_streams_of_its_own,
	   a_child_is_traced_under_its_own_id_where_that_is_inherited)
