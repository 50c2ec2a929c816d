/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Executed programs find the streams that trace them, after any other processes have started and
 * ended.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/puppet.h"
#include "support/stream.h"

#define INHERITED .inheritance = POSIX_TRACE_INHERITED

/* The only child of a process that waits for it. */
static pid_t child_of(pid_t pid)
{
	char path[64];
	int child = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%d", &child), 1);
	fclose(file);
	return child;
}

/* SPAWN-01, EXEC-01: the target called no trace point between the attachment and the exec */
START_TEST(a_silent_target_hands_its_streams_on)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid;

	puppet_tell(&puppet, PUPPET_ONE);
	trid = stream_attach_started(puppet.pid, &(struct wish){ INHERITED });
	puppet_tell(&puppet, PUPPET_SPAWN);
	puppet_tell(&puppet, PUPPET_ONE);
	puppet_tell(&puppet, PUPPET_FORK);
	puppet_tell(&puppet, PUPPET_EXEC);
	puppet_tell(&puppet, PUPPET_ONE);
	ck_assert_events(trid, "START u=1 u=1");
	shut(trid);
	puppet_end(&puppet);
}
END_TEST

/* SPAWN-02 */
START_TEST(a_silent_target_hands_on_inherited_streams_only)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid, alone;

	puppet_tell(&puppet, PUPPET_ONE);
	trid = stream_attach_started(puppet.pid, &(struct wish){ INHERITED });
	alone = stream_attach_started(puppet.pid, &(struct wish){ 0 });
	puppet_tell(&puppet, PUPPET_SPAWN);
	puppet_tell(&puppet, PUPPET_ONE);
	ck_assert_events(trid, "START u=1");
	ck_assert_events(alone, "START");
	shut(trid);
	shut(alone);
	puppet_end(&puppet);
}
END_TEST

/* SPAWN-04, CREATE-22: the target is a shell, and the program is its child */
START_TEST(programs_of_a_target_that_does_not_know_the_library_are_traced)
{
	struct puppet puppet = puppet_start_shell();
	trace_id_t trid, alone;

	usleep(50000); /* probably a shell by now; if not, the checks hold as well */
	trid = stream_attach_started(puppet.pid, &(struct wish){ INHERITED });
	alone = stream_attach_started(puppet.pid, &(struct wish){ 0 });
	puppet_tell(&puppet, PUPPET_EXEC);
	puppet_tell(&puppet, PUPPET_ONE);
	puppet_tell(&puppet, PUPPET_SPAWN);
	puppet_tell(&puppet, PUPPET_NAME);
	ck_assert_events(trid, "START u=1 v=1");
	ck_assert_events(alone, "START");
	shut(trid);
	shut(alone);
	puppet_end(&puppet);
}
END_TEST

/* A controller that traces pid until the test ends it. */
static pid_t other_controller(pid_t pid, int *command)
{
	int ready[2], order[2];
	pid_t child;
	char c;

	ck_assert_int_eq(pipe(ready), 0);
	ck_assert_int_eq(pipe(order), 0);
	child = fork();
	if (child == 0) {
		trace_id_t trid;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(order[1]);
		if (posix_trace_create(pid, NULL, &trid) || posix_trace_start(trid) ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		if (read(order[0], &c, 1) != 1 || posix_trace_shutdown(trid))
			_exit(2);
		_exit(0);
	}
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	close(ready[0]);
	close(ready[1]);
	close(order[0]);
	*command = order[1];
	return child;
}

static void dismiss(pid_t controller, int command, bool in_peace)
{
	int status;

	if (in_peace)
		ck_assert_int_eq(write(command, "", 1), 1);
	else
		kill(controller, SIGKILL);
	close(command);
	ck_assert_int_eq(waitpid(controller, &status, 0), controller);
	ck_assert_int_eq(status, in_peace ? 0 : SIGKILL);
}

/* CREATE-11, EXEC-01, EXIT-03: any of several controllers may end */
START_TEST(a_stream_is_found_when_the_first_controller_has_gone)
{
	for (int way = 0; way < 4; way++) {
		struct puppet puppet = way < 2 ? puppet_start() : puppet_start_plain();
		trace_id_t trid;
		pid_t first;
		int command;

		if (way >= 2)
			usleep(50000);
		first = other_controller(puppet.pid, &command);
		trid = stream_attach_started(puppet.pid, &(struct wish){ 0 });
		dismiss(first, command, way % 2);
		puppet_tell(&puppet, PUPPET_EXEC);
		puppet_tell(&puppet, PUPPET_ONE);
		ck_assert_events(trid, "START u=1");
		shut(trid);
		puppet_end(&puppet);
	}
}
END_TEST

/* CREATE-11: the controllers end in the other order, repeatedly */
START_TEST(controllers_come_and_go)
{
	struct puppet puppet = puppet_start_plain();
	int command[6];
	pid_t other[6];
	trace_id_t trid;

	usleep(50000);
	for (int i = 0; i < 6; i++)
		other[i] = other_controller(puppet.pid, &command[i]);
	trid = stream_attach_started(puppet.pid, &(struct wish){ 0 });
	for (int i = 0; i < 6; i++) {
		dismiss(other[i], command[i], i % 2);
		if (i < 3)
			other[i] = other_controller(puppet.pid, &command[i]);
	}
	puppet_tell(&puppet, PUPPET_EXEC);
	puppet_tell(&puppet, PUPPET_ONE);
	ck_assert_events(trid, "START u=1");
	for (int i = 0; i < 3; i++)
		dismiss(other[i], command[i], i % 2);
	puppet_tell(&puppet, PUPPET_EXEC);
	puppet_tell(&puppet, PUPPET_ONE);
	ck_assert_events(trid, "u=1");
	shut(trid);
	puppet_end(&puppet);
}
END_TEST

/* EXEC-01, FORK-06: a child that keeps its parent's arena can also be a target of its own */
START_TEST(a_child_that_is_traced_itself_goes_on_being_traced)
{
	struct puppet puppet = puppet_start();
	trace_id_t family = stream_attach_started(puppet.pid, &(struct wish){ INHERITED }), alone;

	puppet_tell(&puppet, PUPPET_FORK);
	alone = stream_attach_started(child_of(puppet.pid), &(struct wish){ 0 });
	shut(family);
	puppet_tell(&puppet, PUPPET_EXEC);
	puppet_tell(&puppet, PUPPET_ONE);
	ck_assert_events(alone, "START u=1");
	shut(alone);
	puppet_end(&puppet);
}
END_TEST

/* EXIT-03: even if no event is recorded any more because the stream is full */
START_TEST(a_target_is_rid_of_a_dead_creator_in_the_end)
{
	static const int policy[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL };

	for (int i = 0; i < 2; i++) {
		trace_event_id_t u = type_of("u");
		pid_t controller = fork();

		if (controller == 0) {
			trace_id_t trid = stream_attach_started(
				getppid(), &(struct wish){ .policy = policy[i] });

			(void)trid;
			kill(getpid(), SIGKILL);
		}
		ck_assert_int_eq(waitpid(controller, NULL, 0), controller);
		ck_assert_int_ne(*posix_trace_active_np, 0);
		for (int n = 0; *posix_trace_active_np; n++)
			trace_number(u, n);
	}
}
END_TEST

/* EXEC-06: also if the executed program does not use the library */
START_TEST(streams_of_a_process_that_executes_a_plain_program_are_shut_down)
{
	int ready[2];
	pid_t creator;
	char c;

	ck_assert_int_eq(pipe(ready), 0);
	creator = fork();
	if (creator == 0) {
		trace_event_id_t u = type_of("u");
		trace_id_t trid = STARTED(INHERITED);

		(void)trid;
		if (fork() == 0) {
			pid_t parent = getppid();

			prctl(PR_SET_PDEATHSIG, SIGKILL);
			trace_number(u, 1);
			/*
			 * Waits until no controller traces this process; a trace point checks this
			 * from time to time.
			 */
			while (*posix_trace_active_np && getppid() == parent)
				trace_number(u, 2);
			if (!*posix_trace_active_np && write(ready[1], "x", 1) == 1)
				pause();
			_exit(0);
		}
		close(ready[1]);
		execl("/bin/sleep", "sleep", "1000", NULL);
		_exit(1);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	kill(creator, SIGKILL);
	ck_assert_int_eq(waitpid(creator, NULL, 0), creator);
	close(ready[0]);
}
END_TEST

SUITE_NEEDS("exec stat pidfd");

SUITE_MAIN("programs that find who traces them",
	   a_silent_target_hands_its_streams_on,
	   a_silent_target_hands_on_inherited_streams_only,
	   programs_of_a_target_that_does_not_know_the_library_are_traced,
	   a_stream_is_found_when_the_first_controller_has_gone,
	   controllers_come_and_go,
	   a_child_that_is_traced_itself_goes_on_being_traced,
	   a_target_is_rid_of_a_dead_creator_in_the_end,
	   streams_of_a_process_that_executes_a_plain_program_are_shut_down)
