/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_get_target_np(): a reader finds out that the traced process has ended. */
#include <signal.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/log.h"
#include "support/puppet.h"

static int target_of(trace_id_t trid)
{
	int state = -1;

	OK(posix_trace_get_target_np(trid, &state));
	return state;
}

/* Ends the puppet, which records no more events. Its end closes the pipe of its answers. */
static void kill_well(const struct puppet *puppet)
{
	ck_assert_int_eq(kill(puppet->pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(puppet->pid, NULL, 0), puppet->pid);
}

START_TEST(a_process_that_traces_itself_is_alive)
{
	trace_id_t trid = STARTED();

	ck_assert_int_eq(target_of(trid), POSIX_TRACE_TARGET_ALIVE_NP);
	shut(trid);
}
END_TEST

START_TEST(a_traced_process_is_alive_until_it_ends)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid = stream_attach_started(puppet.pid, &(struct wish){ 0 });

	puppet_tell(&puppet, PUPPET_ONE);
	ck_assert_int_eq(target_of(trid), POSIX_TRACE_TARGET_ALIVE_NP);
	kill_well(&puppet);
	ck_assert_int_eq(target_of(trid), POSIX_TRACE_TARGET_ENDED_NP);
	ck_assert_events(trid, "START u=1"); /* its events remain */
	assert_empty(trid);
	ck_assert_int_eq(target_of(trid), POSIX_TRACE_TARGET_ENDED_NP);
	shut(trid);
	close(puppet.command);
	close(puppet.answer);
}
END_TEST

START_TEST(a_process_that_was_not_waited_for_has_ended)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid = stream_attach_started(puppet.pid, &(struct wish){ 0 });
	siginfo_t info;

	ck_assert_int_eq(kill(puppet.pid, SIGKILL), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)puppet.pid, &info, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(target_of(trid), POSIX_TRACE_TARGET_ENDED_NP);
	ck_assert_int_eq(waitpid(puppet.pid, NULL, 0), puppet.pid);
	shut(trid);
	close(puppet.command);
	close(puppet.answer);
}
END_TEST

START_TEST(a_family_is_alive_until_its_last_process_ends)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid = stream_attach_started(
		puppet.pid, &(struct wish){ .inheritance = POSIX_TRACE_INHERITED });
	char byte;

	puppet_tell(&puppet, PUPPET_FORK);
	puppet_tell(&puppet, PUPPET_ONE);
	kill_well(&puppet);
	ck_assert_int_eq(target_of(trid), POSIX_TRACE_TARGET_ALIVE_NP);
	puppet_tell(&puppet, PUPPET_ONE); /* the child obeys the commands */
	ck_assert_int_eq(target_of(trid), POSIX_TRACE_TARGET_ALIVE_NP);
	close(puppet.command);
	ck_assert_int_eq(read(puppet.answer, &byte, 1), 0); /* it ends */
	while (target_of(trid) != POSIX_TRACE_TARGET_ENDED_NP)
		sched_yield();
	close(puppet.answer);
	ck_assert_int_eq(target_of(trid), POSIX_TRACE_TARGET_ENDED_NP);
	shut(trid);
}
END_TEST

START_TEST(only_active_streams_have_a_traced_process)
{
	int fd = log_file(), state = 77;
	trace_id_t trid = LOGGED(fd, .log_policy = POSIX_TRACE_APPEND);

	ck_assert_int_eq(target_of(trid), POSIX_TRACE_TARGET_ALIVE_NP);
	FAILS(EINVAL, posix_trace_get_target_np(trid, NULL));
	shut(trid);
	trid = log_open(fd);
	FAILS(EINVAL, posix_trace_get_target_np(trid, &state));
	log_close(trid);
	FAILS(EINVAL, posix_trace_get_target_np(trid, &state));
	ck_assert_int_eq(state, 77);
	close(fd);
}
END_TEST

SUITE_NEEDS("exec stat pidfd");

SUITE_MAIN("posix_trace_get_target_np", a_process_that_traces_itself_is_alive,
	   a_traced_process_is_alive_until_it_ends, a_process_that_was_not_waited_for_has_ended,
	   a_family_is_alive_until_its_last_process_ends, only_active_streams_have_a_traced_process)
