/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Processes that execute another program: before they are traced, while they are traced, and while
 * they trace others.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/puppet.h"
#include "support/stream.h"

/* EXEC-01, EXEC-03, EXEC-04, EXEC-05 */
START_TEST(a_program_that_is_executed_goes_on_being_traced)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid = stream_attach(puppet.pid, &(struct wish){ 0 });
	trace_event_id_t v;
	trace_event_set_t set;

	OK(posix_trace_trid_eventid_open(trid, "v", &v));
	OK(posix_trace_eventset_empty(&set));
	OK(posix_trace_eventset_add(v, &set));
	OK(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	start(trid);
	puppet_tell(&puppet, PUPPET_ONE);
	puppet_tell(&puppet, PUPPET_EXEC);
	puppet_tell(&puppet, PUPPET_ONE);
	puppet_tell(&puppet, PUPPET_NAME);
	puppet_tell(&puppet, PUPPET_ONE);
	puppet_tell(&puppet, PUPPET_EXEC);
	puppet_tell(&puppet, PUPPET_ONE);
	ck_assert_events(trid, "START{v} u=1 u=1 u=3 u=1");
	shut(trid);
	puppet_end(&puppet);
}
END_TEST

/* CREATE-22, EXEC-09 */
START_TEST(a_process_can_be_traced_before_it_knows_the_library)
{
	struct puppet puppet = puppet_start_plain();
	trace_id_t trid, other;

	usleep(50000); /* probably a shell by now; if not, the checks hold as well */
	trid = stream_attach(puppet.pid, &(struct wish){ 0 });
	other = stream_attach(puppet.pid, &(struct wish){ 0 });
	start(trid);
	puppet_tell(&puppet, PUPPET_EXEC);
	puppet_tell(&puppet, PUPPET_ONE);
	ck_assert_events(trid, "START u=1");
	start(other);
	puppet_tell(&puppet, PUPPET_ONE);
	ck_assert_events(trid, "u=2");
	ck_assert_events(other, "START u=2");
	shut(trid);
	shut(other);
	puppet_end(&puppet);
}
END_TEST

/* EXEC-06, EXEC-07 */
START_TEST(a_process_that_traced_itself_is_not_traced_as_another_program)
{
	int in[2], out[2];
	char c;
	pid_t child;

	ck_assert_int_eq(pipe(in), 0);
	ck_assert_int_eq(pipe(out), 0);
	child = fork();
	if (child == 0) {
		char text[2][16];
		trace_id_t trid;
		trace_attr_t attr;

		wish_attr(&attr, &(struct wish){ .inheritance = POSIX_TRACE_INHERITED });
		if (posix_trace_create(0, &attr, &trid) || posix_trace_start(trid))
			_exit(1);
		snprintf(text[0], sizeof(text[0]), "%d", in[0]);
		snprintf(text[1], sizeof(text[1]), "%d", out[1]);
		execl(PUPPET_PROGRAM, PUPPET_PROGRAM, text[0], text[1], "x", NULL);
		_exit(2);
	}
	ck_assert_int_eq(read(out[0], &c, 1), 1);
	ck_assert_int_eq(write(in[1], "e", 1), 1);
	ck_assert_int_eq(read(out[0], &c, 1), 1);
	ck_assert_int_eq(kill(child, SIGKILL), 0);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	for (int i = 0; i < 2; i++) {
		close(in[i]);
		close(out[i]);
	}
}
END_TEST

SUITE_NEEDS("exec stat pidfd");

SUITE_MAIN("exec",
	   a_program_that_is_executed_goes_on_being_traced,
	   a_process_can_be_traced_before_it_knows_the_library,
	   a_process_that_traced_itself_is_not_traced_as_another_program)
