/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tracing another process: the controller or the target dies or is stopped. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/puppet.h"
#include "support/stream.h"

/* EXIT-05 */
START_TEST(events_of_a_killed_target_can_be_read)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid = stream_attach(puppet.pid, &(struct wish){ .size = 1 << 20 });
	struct posix_trace_ledger_np ledger;
	int status;

	start(trid);
	puppet_tell(&puppet, PUPPET_MANY);
	kill(puppet.pid, SIGKILL);
	ck_assert_int_eq(waitpid(puppet.pid, &status, 0), puppet.pid);
	ck_assert_status(trid, RUNNING, NOT_FULL);
	OK(posix_trace_get_ledger_np(trid, &ledger));
	ck_assert_uint_eq(ledger.called, PUPPET_MANY_EVENTS + 1);
	ck_assert_uint_eq(ledger.unread, PUPPET_MANY_EVENTS + 1);
	stop(trid);
	shut(trid);
	close(puppet.command);
	close(puppet.answer);
}
END_TEST

/*
 * EXIT-01, EXIT-03, CREATE-13: the target continues, and the places of the dead process are free
 * again
 */
START_TEST(killed_controllers_leave_nothing_behind)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid;

	for (int i = 0; i < 200; i++) {
		pid_t controller = fork();
		int status;

		if (controller == 0) {
			trace_id_t of_it;

			if (posix_trace_create(puppet.pid, NULL, &of_it) ||
			    posix_trace_start(of_it))
				_exit(1);
			kill(getpid(), SIGKILL);
		}
		ck_assert_int_eq(waitpid(controller, &status, 0), controller);
		ck_assert(WIFSIGNALED(status));
		puppet_tell(&puppet, PUPPET_ONE);
	}
	trid = stream_attach(puppet.pid, &(struct wish){ 0 });
	start(trid);
	puppet_tell(&puppet, PUPPET_ONE);
	ck_assert_events(trid, "START u=201");
	shut(trid);
	puppet_end(&puppet);
}
END_TEST

/* CREATE-17: a process that has ended exists until its parent waits for it (CH-13) */
START_TEST(a_process_that_has_ended_records_nothing)
{
	trace_id_t trid, other = 4711;
	pid_t child = fork();
	siginfo_t info;

	if (child == 0)
		_exit(0);
	ck_assert_int_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	trid = stream_attach(child, &(struct wish){ 0 });
	start(trid);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	ck_assert_events(trid, "START");
	FAILS(ESRCH, posix_trace_create(child, NULL, &other));
	shut(trid);
}
END_TEST

/*
 * EVENT-21, EXIT-05: the target dies at any instruction. At most the event that it was recording is
 * missing.
 */
START_TEST(a_target_that_is_killed_while_it_traces_harms_no_process)
{
	for (int i = 0; i < 60; i++) {
		struct puppet puppet = puppet_start();
		trace_id_t trid = stream_attach(puppet.pid, &(struct wish){ .size = 1 << 18 });
		const char many = PUPPET_MANY;
		struct posix_trace_ledger_np ledger;
		struct history *history;
		int last = 0;

		start(trid);
		puppet_tell(&puppet, PUPPET_ONE);
		for (int n = 0; n < 20; n++)
			ck_assert_int_eq(write(puppet.command, &many, 1), 1);
		usleep(i * 20);
		kill(puppet.pid, SIGKILL);
		ck_assert_int_eq(waitpid(puppet.pid, NULL, 0), puppet.pid);
		stop(trid);
		history = read_all(trid);
		for (size_t n = 0; n < history->n; n++) {
			const struct seen *seen = &history->event[n];

			if (seen->info.posix_pid != puppet.pid)
				continue;
			ck_assert_int_gt(number_of(seen), last);
			last = number_of(seen);
		}
		ck_assert_int_ge(last, 1);
		history_free(history);
		OK(posix_trace_get_ledger_np(trid, &ledger));
		ck_assert_uint_eq(ledger.unread, 0);
		shut(trid);
		close(puppet.command);
		close(puppet.answer);
	}
}
END_TEST

/* GETNEXT-14 */
START_TEST(waiting_goes_on_when_the_target_is_dead)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid = stream_attach(puppet.pid, &(struct wish){ 0 });
	struct posix_trace_event_info info;
	struct timespec until;
	int unavailable;
	size_t len;

	puppet_end(&puppet);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 50000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	FAILS(ETIMEDOUT, posix_trace_timedgetnext_event(trid, &info, NULL, 0, &len, &unavailable,
							&until));
	shut(trid);
}
END_TEST

/* SIGCAN-05 */
START_TEST(a_suspended_target_delays_no_process)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid = stream_attach(puppet.pid, &(struct wish){ 0 }), other;
	const char many = PUPPET_MANY;
	struct posix_trace_ledger_np ledger;

	start(trid);
	for (int n = 0; n < 50; n++)
		ck_assert_int_eq(write(puppet.command, &many, 1), 1);
	usleep(1000);
	kill(puppet.pid, SIGSTOP);
	stop(trid);
	history_free(read_all(trid));
	OK(posix_trace_get_ledger_np(trid, &ledger));
	other = stream_attach(puppet.pid, &(struct wish){ 0 });
	start(other);
	shut(trid);
	shut(other);
	kill(puppet.pid, SIGKILL);
	ck_assert_int_eq(waitpid(puppet.pid, NULL, 0), puppet.pid);
	close(puppet.command);
	close(puppet.answer);
}
END_TEST

/*
 * CREATE-24: the id belonged to another process, and its arena and link must not be used for this
 * process. The kernel stores the start of a process in hundredths of a second, and does not reuse
 * an id within that time.
 */
START_TEST(an_id_that_is_used_again_is_another_process)
{
	struct puppet first = puppet_start(), second;
	trace_id_t trid = stream_attach(first.pid, &(struct wish){ 0 }), other;
	pid_t pid = first.pid;
	FILE *last;

	start(trid);
	puppet_tell(&first, PUPPET_ONE);
	puppet_end(&first);
	usleep(30000);
	for (int i = 0; i < 100; i++) {
		last = fopen("/proc/sys/kernel/ns_last_pid", "w");
		if (!last || fprintf(last, "%d", (int)pid - 1) < 0 || fclose(last))
			break; /* the kernel does not permit to set the next id */
		second = puppet_start();
		if (second.pid == pid) {
			puppet_tell(&second, PUPPET_ONE);
			other = stream_attach(pid, &(struct wish){ 0 });
			start(other);
			puppet_tell(&second, PUPPET_ONE);
			puppet_tell(&second, PUPPET_EXEC);
			puppet_tell(&second, PUPPET_ONE);
			ck_assert_events(other, "START u=2 u=1");
			shut(other);
			puppet_end(&second);
			break;
		}
		puppet_end(&second);
	}
	ck_assert_events(trid, "START u=1");
	shut(trid);
}
END_TEST

SUITE_NEEDS("exec stat pidfd");

SUITE_MAIN("tracing another process: death",
	   events_of_a_killed_target_can_be_read,
	   killed_controllers_leave_nothing_behind,
	   a_process_that_has_ended_records_nothing,
	   a_target_that_is_killed_while_it_traces_harms_no_process,
	   waiting_goes_on_when_the_target_is_dead,
	   a_suspended_target_delays_no_process,
	   an_id_that_is_used_again_is_another_process)
