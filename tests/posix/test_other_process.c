/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tracing another process: found by its id, attached while it runs, and either one's death. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/puppet.h"
#include "support/stream.h"

static trace_id_t attach_to(pid_t pid, const struct wish *wish)
{
	trace_attr_t attr;
	trace_id_t trid;

	wish_attr(&attr, wish);
	OK(posix_trace_create(pid, &attr, &trid));
	OK(posix_trace_attr_destroy(&attr));
	return trid;
}

/* CREATE-04, CREATE-10, EVID-06 */
START_TEST(a_running_process_is_traced_without_its_help)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid;

	puppet_tell(&puppet, PUPPET_ONE);
	trid = attach_to(puppet.pid, &(struct wish){ 0 });
	puppet_tell(&puppet, PUPPET_ONE); /* suspended */
	start(trid);
	puppet_tell(&puppet, PUPPET_ONE);
	puppet_tell(&puppet, PUPPET_ONE);
	stop(trid);
	puppet_tell(&puppet, PUPPET_ONE);
	ck_assert_events(trid, "START u=3 u=4 STOP(0)");
	start(trid);
	puppet_tell(&puppet, PUPPET_ONE);
	ck_assert_events(trid, "START u=6");
	shut(trid);
	puppet_tell(&puppet, PUPPET_ONE);
	puppet_end(&puppet);
}
END_TEST

/* CREATE-04, EVENT-11 */
START_TEST(its_events_bear_its_id_and_the_controllers_bear_the_controllers)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid = attach_to(puppet.pid, &(struct wish){ 0 });
	struct seen seen;

	start(trid);
	puppet_tell(&puppet, PUPPET_ONE);
	ck_assert_int_eq(read_one(trid, &seen), 1);
	ck_assert_int_eq(seen.info.posix_pid, getpid());
	free(seen.data);
	ck_assert_int_eq(read_one(trid, &seen), 1);
	ck_assert_int_eq(seen.info.posix_pid, puppet.pid);
	free(seen.data);
	shut(trid);
	puppet_end(&puppet);
}
END_TEST

/* CREATE-11, TRID-01 to TRID-03, TRID-07, EVID-07 */
START_TEST(names_are_the_targets)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid = attach_to(puppet.pid, &(struct wish){ 0 });
	trace_id_t other = attach_to(puppet.pid, &(struct wish){ 0 });
	trace_event_id_t mine, v, again;
	trace_event_set_t set;
	char name[TRACE_EVENT_NAME_MAX + 1];

	OK(posix_trace_eventid_open("only the controller knows it", &mine));
	OK(posix_trace_trid_eventid_open(trid, "v", &v));
	OK(posix_trace_trid_eventid_open(other, "v", &again));
	ck_assert_uint_eq(v, again);
	OK(posix_trace_eventid_get_name(trid, v, name));
	ck_assert_str_eq(name, "v");
	OK(posix_trace_eventset_empty(&set));
	OK(posix_trace_eventset_add(v, &set));
	OK(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	start(trid);
	start(other);
	puppet_tell(&puppet, PUPPET_NAME);
	puppet_tell(&puppet, PUPPET_ONE);
	ck_assert_events(trid, "START{v} u=2");
	ck_assert_events(other, "START v=1 u=2");
	shut(trid);
	shut(other);
	puppet_end(&puppet);
}
END_TEST

/* EXIT-05, FORK-11 */
START_TEST(what_a_killed_target_recorded_can_be_read)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid = attach_to(puppet.pid, &(struct wish){ .size = 1 << 20 });
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

/* EXIT-01, EXIT-03, CREATE-13: the target goes on, and the places of the dead are free again */
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
	trid = attach_to(puppet.pid, &(struct wish){ 0 });
	start(trid);
	puppet_tell(&puppet, PUPPET_ONE);
	ck_assert_events(trid, "START u=201");
	shut(trid);
	puppet_end(&puppet);
}
END_TEST

/* GETNEXT-01 across processes */
START_TEST(a_reader_waits_for_another_process)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid = attach_to(puppet.pid, &(struct wish){ 0 });
	struct posix_trace_event_info info;
	const char one = PUPPET_ONE;
	int unavailable, number;
	size_t len;

	start(trid);
	OK(posix_trace_getnext_event(trid, &info, &number, sizeof(number), &len, &unavailable));
	ck_assert_int_eq(info.posix_event_id, POSIX_TRACE_START);
	for (int i = 1; i <= 200; i++) {
		ck_assert_int_eq(write(puppet.command, &one, 1), 1);
		OK(posix_trace_getnext_event(trid, &info, &number, sizeof(number), &len,
					     &unavailable));
		ck_assert_int_eq(unavailable, 0);
		ck_assert_int_eq(number, i);
	}
	shut(trid);
	for (int i = 0; i < 200; i++) {
		char c;

		ck_assert_int_eq(read(puppet.answer, &c, 1), 1);
	}
	puppet_end(&puppet);
}
END_TEST

/* CREATE-17 to CREATE-19, CREATE-25 */
START_TEST(what_is_no_process_is_not_traced)
{
	trace_id_t trid = 4711;
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	FAILS(ESRCH, posix_trace_create(child, NULL, &trid));
	FAILS(ESRCH, posix_trace_create(-1, NULL, &trid));
	ck_assert_uint_eq(trid, 4711);
}
END_TEST

/* EXEC-01, EXEC-03, EXEC-04, EXEC-05 */
START_TEST(a_program_that_is_executed_goes_on_being_traced)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid = attach_to(puppet.pid, &(struct wish){ 0 });
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

	usleep(50000); /* most probably it is a shell by now; if not, all is true as well */
	trid = attach_to(puppet.pid, &(struct wish){ 0 });
	other = attach_to(puppet.pid, &(struct wish){ 0 });
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

SUITE_MAIN("tracing another process",
	   a_running_process_is_traced_without_its_help,
	   its_events_bear_its_id_and_the_controllers_bear_the_controllers,
	   names_are_the_targets,
	   what_a_killed_target_recorded_can_be_read,
	   killed_controllers_leave_nothing_behind,
	   a_reader_waits_for_another_process,
	   what_is_no_process_is_not_traced,
	   a_program_that_is_executed_goes_on_being_traced,
	   a_process_can_be_traced_before_it_knows_the_library)
