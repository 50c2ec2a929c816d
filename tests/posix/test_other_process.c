/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tracing another process: found by its id, attached while it runs, and either one's death. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/stream.h"

/* A process that traces when told to: each byte written to it is a command, each answered by one. */
struct puppet {
	pid_t pid;
	int command, answer;
};

enum command { TRACE_ONE = 'e', TRACE_MANY = 'm', OPEN_NAME = 'n', LEAVE = 'x' };

#define MANY 1000

static void obey(int in, int out)
{
	trace_event_id_t u, v;
	int number = 0;
	char command;

	if (posix_trace_eventid_open("u", &u))
		_exit(2);
	while (read(in, &command, 1) == 1) {
		switch (command) {
		case TRACE_ONE:
			number++;
			posix_trace_event(u, &number, sizeof(number));
			break;
		case TRACE_MANY:
			for (int i = 0; i < MANY; i++) {
				number++;
				posix_trace_event(u, &number, sizeof(number));
			}
			break;
		case OPEN_NAME:
			if (posix_trace_eventid_open("v", &v))
				_exit(3);
			number++;
			posix_trace_event(v, &number, sizeof(number));
			break;
		default:
			_exit(0);
		}
		if (write(out, &command, 1) != 1)
			_exit(4);
	}
	_exit(0);
}

static struct puppet start_puppet(void)
{
	struct puppet puppet;
	int in[2], out[2];

	ck_assert_int_eq(pipe(in), 0);
	ck_assert_int_eq(pipe(out), 0);
	puppet.pid = fork();
	ck_assert_int_ge(puppet.pid, 0);
	if (puppet.pid == 0) {
		close(in[1]);
		close(out[0]);
		obey(in[0], out[1]);
	}
	close(in[0]);
	close(out[1]);
	puppet.command = in[1];
	puppet.answer = out[0];
	return puppet;
}

static void tell(const struct puppet *puppet, enum command command)
{
	char c = (char)command;

	ck_assert_int_eq(write(puppet->command, &c, 1), 1);
	ck_assert_int_eq(read(puppet->answer, &c, 1), 1);
}

static void end_puppet(struct puppet *puppet)
{
	int status;

	close(puppet->command);
	ck_assert_int_eq(waitpid(puppet->pid, &status, 0), puppet->pid);
	ck_assert_int_eq(status, 0);
	close(puppet->answer);
}

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
	struct puppet puppet = start_puppet();
	trace_id_t trid;

	tell(&puppet, TRACE_ONE);
	trid = attach_to(puppet.pid, &(struct wish){ 0 });
	tell(&puppet, TRACE_ONE); /* suspended */
	start(trid);
	tell(&puppet, TRACE_ONE);
	tell(&puppet, TRACE_ONE);
	stop(trid);
	tell(&puppet, TRACE_ONE);
	ck_assert_events(trid, "START u=3 u=4 STOP(0)");
	start(trid);
	tell(&puppet, TRACE_ONE);
	ck_assert_events(trid, "START u=6");
	shut(trid);
	tell(&puppet, TRACE_ONE);
	end_puppet(&puppet);
}
END_TEST

/* CREATE-04, EVENT-11 */
START_TEST(its_events_bear_its_id_and_the_controllers_bear_the_controllers)
{
	struct puppet puppet = start_puppet();
	trace_id_t trid = attach_to(puppet.pid, &(struct wish){ 0 });
	struct seen seen;

	start(trid);
	tell(&puppet, TRACE_ONE);
	ck_assert_int_eq(read_one(trid, &seen), 1);
	ck_assert_int_eq(seen.info.posix_pid, getpid());
	free(seen.data);
	ck_assert_int_eq(read_one(trid, &seen), 1);
	ck_assert_int_eq(seen.info.posix_pid, puppet.pid);
	free(seen.data);
	shut(trid);
	end_puppet(&puppet);
}
END_TEST

/* CREATE-11, TRID-01 to TRID-03, TRID-07, EVID-07 */
START_TEST(names_are_the_targets)
{
	struct puppet puppet = start_puppet();
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
	tell(&puppet, OPEN_NAME);
	tell(&puppet, TRACE_ONE);
	ck_assert_events(trid, "START{v} u=2");
	ck_assert_events(other, "START v=1 u=2");
	shut(trid);
	shut(other);
	end_puppet(&puppet);
}
END_TEST

/* EXIT-05, FORK-11 */
START_TEST(what_a_killed_target_recorded_can_be_read)
{
	struct puppet puppet = start_puppet();
	trace_id_t trid = attach_to(puppet.pid, &(struct wish){ .size = 1 << 20 });
	struct posix_trace_ledger_np ledger;
	int status;

	start(trid);
	tell(&puppet, TRACE_MANY);
	kill(puppet.pid, SIGKILL);
	ck_assert_int_eq(waitpid(puppet.pid, &status, 0), puppet.pid);
	ck_assert_status(trid, RUNNING, NOT_FULL);
	OK(posix_trace_get_ledger_np(trid, &ledger));
	ck_assert_uint_eq(ledger.called, MANY + 1);
	ck_assert_uint_eq(ledger.unread, MANY + 1);
	stop(trid);
	shut(trid);
	close(puppet.command);
	close(puppet.answer);
}
END_TEST

/* EXIT-01, EXIT-03, CREATE-13: the target goes on, and the places of the dead are free again */
START_TEST(killed_controllers_leave_nothing_behind)
{
	struct puppet puppet = start_puppet();
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
		tell(&puppet, TRACE_ONE);
	}
	trid = attach_to(puppet.pid, &(struct wish){ 0 });
	start(trid);
	tell(&puppet, TRACE_ONE);
	ck_assert_events(trid, "START u=201");
	shut(trid);
	end_puppet(&puppet);
}
END_TEST

/* GETNEXT-01 across processes */
START_TEST(a_reader_waits_for_another_process)
{
	struct puppet puppet = start_puppet();
	trace_id_t trid = attach_to(puppet.pid, &(struct wish){ 0 });
	struct posix_trace_event_info info;
	const char one = TRACE_ONE;
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
	end_puppet(&puppet);
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

SUITE_MAIN("tracing another process",
	   a_running_process_is_traced_without_its_help,
	   its_events_bear_its_id_and_the_controllers_bear_the_controllers,
	   names_are_the_targets,
	   what_a_killed_target_recorded_can_be_read,
	   killed_controllers_leave_nothing_behind,
	   a_reader_waits_for_another_process,
	   what_is_no_process_is_not_traced)
