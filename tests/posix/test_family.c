/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inheritance: the processes that are traced together with another process, through fork, exec,
 * spawn and programs between them.
 */
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/memory_file.h"
#include "support/puppet.h"
#include "support/stream.h"

#define INHERITED .inheritance = POSIX_TRACE_INHERITED

/* FORK-01, FORK-02, FORK-03, FORK-04, FORK-08 */
START_TEST(a_child_is_traced_into_the_streams_that_are_inherited)
{
	trace_event_id_t u = type_of("u");
	trace_id_t both = STARTED(INHERITED), alone = STARTED();
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
	ck_assert_int_eq(read_one(both, &seen), 1);
	free(seen.data);
	for (int i = 1; i <= 3; i++) {
		ck_assert_int_eq(read_one(both, &seen), 1);
		ck_assert_int_eq(number_of(&seen), i);
		ck_assert_int_eq(seen.info.posix_pid, i == 2 ? child : getpid());
		free(seen.data);
	}
	ck_assert_events(alone, "START u=1 u=3");
	shut(both);
	shut(alone);
}
END_TEST

/* FORK-01: the child is traced from its first instruction, even if no handler of fork() runs */
START_TEST(a_child_by_a_raw_system_call_is_traced_too)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(INHERITED);
	pid_t child;

	trace_number(u, 1);
	child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (child == 0) {
		trace_number(u, 2);
		trace_number(u, 3);
		syscall(SYS_exit_group, 0);
	}
	wait_well(child);
	ck_assert_events(trid, "START u=1 u=2 u=3");
	shut(trid);
}
END_TEST

/* FORK-05, FORK-06, FORK-11, EVID-15 */
START_TEST(descendants_share_names_and_outlive_the_target)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid = stream_attach_started(puppet.pid, &(struct wish){ INHERITED });
	trace_event_id_t v, w;
	char name[TRACE_EVENT_NAME_MAX + 1];

	puppet_tell(&puppet, PUPPET_ONE);
	puppet_tell(&puppet, PUPPET_FORK);
	puppet_tell(&puppet, PUPPET_ONE);
	puppet_tell(&puppet, PUPPET_FORK);
	puppet_tell(&puppet, PUPPET_NAME);
	ck_assert_events(trid, "START u=1 u=2 v=3");
	OK(posix_trace_trid_eventid_open(trid, "v", &v));
	OK(posix_trace_trid_eventid_open(trid, "w", &w));
	ck_assert_uint_ne(v, w);
	OK(posix_trace_eventid_get_name(trid, v, name));
	ck_assert_str_eq(name, "v");
	kill(puppet.pid, SIGKILL);
	ck_assert_int_eq(waitpid(puppet.pid, NULL, 0), puppet.pid);
	puppet_tell(&puppet, PUPPET_ONE);
	ck_assert_events(trid, "u=4");
	shut(trid);
	puppet_tell(&puppet, PUPPET_ONE);
	close(puppet.command);
	close(puppet.answer);
}
END_TEST

/* FORK-12 */
START_TEST(start_stop_and_filter_act_on_all)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid = stream_attach_started(puppet.pid, &(struct wish){ INHERITED });
	trace_event_set_t set;
	trace_event_id_t u;

	puppet_tell(&puppet, PUPPET_FORK);
	puppet_tell(&puppet, PUPPET_ONE);
	stop(trid);
	puppet_tell(&puppet, PUPPET_ONE);
	start(trid);
	puppet_tell(&puppet, PUPPET_ONE);
	OK(posix_trace_trid_eventid_open(trid, "u", &u));
	OK(posix_trace_eventset_empty(&set));
	OK(posix_trace_eventset_add(u, &set));
	OK(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	puppet_tell(&puppet, PUPPET_ONE);
	ck_assert_events(trid, "START u=1 STOP(0) START u=3 FILTER{->u}");
	shut(trid);
	puppet_tell(&puppet, PUPPET_ONE);
	puppet_end(&puppet);
}
END_TEST

/* SPAWN-01, SPAWN-03, EXEC-01, EXEC-02 */
START_TEST(spawned_and_executed_programs_are_traced_too)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid = stream_attach_started(puppet.pid, &(struct wish){ INHERITED });

	puppet_tell(&puppet, PUPPET_ONE);
	puppet_tell(&puppet, PUPPET_SPAWN);
	puppet_tell(&puppet, PUPPET_ONE);
	puppet_tell(&puppet, PUPPET_FORK);
	puppet_tell(&puppet, PUPPET_EXEC);
	puppet_tell(&puppet, PUPPET_ONE);
	puppet_tell(&puppet, PUPPET_NAME);
	ck_assert_events(trid, "START u=1 u=1 u=1 v=2");
	shut(trid);
	puppet_end(&puppet);
}
END_TEST

/* FORK-01, SPAWN-01 */
START_TEST(a_child_of_a_silent_target_passes_on_what_it_inherited)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid = stream_attach_started(puppet.pid, &(struct wish){ INHERITED });

	puppet_tell(&puppet, PUPPET_FORK);
	puppet_tell(&puppet, PUPPET_SPAWN);
	puppet_tell(&puppet, PUPPET_ONE);
	ck_assert_events(trid, "START u=1");
	shut(trid);
	puppet_end(&puppet);
}
END_TEST

static void record_two(trace_event_id_t u)
{
	trace_number(u, 2);
}

static void let_a_child_record_three(trace_event_id_t u)
{
	pid_t child = fork();

	if (child == 0) {
		trace_number(u, 3);
		_exit(0);
	}
	wait_well(child);
}

/*
 * This process has recorded into a stream of its own when it makes a child. The child calls run()
 * when it has the stream that is wanted, and ends. Asserts which events both streams have.
 */
static void assert_own_streams(const struct wish *wish, void (*run)(trace_event_id_t u),
			       const char *expected)
{
	trace_event_id_t u = type_of("u");
	trace_id_t own = STARTED(), trid;
	int gate[2];
	pid_t child;
	char byte;

	trace_number(u, 1);
	ck_assert_int_eq(pipe(gate), 0);
	child = fork();
	if (child == 0) {
		close(gate[1]);
		if (read(gate[0], &byte, 1) != 0)
			_exit(1);
		run(u);
		_exit(0);
	}
	close(gate[0]);
	trid = stream_attach_started(child, wish);
	close(gate[1]);
	wait_well(child);
	ck_assert_events(own, "START u=1");
	ck_assert_events(trid, expected);
	shut(own);
	shut(trid);
}

/*
 * The first stream of the child's arena has the place and the generation of the first stream of the
 * parent's arena, whose memory the child still has.
 */
START_TEST(a_child_records_into_a_stream_of_its_own_and_not_into_its_parents)
{
	assert_own_streams(&(struct wish){ 0 }, record_two, "START u=2");
}
END_TEST

/*
 * The child records nothing, so it still has the mapping of its parent's stream when it forks. Its
 * child inherits a stream with the same place and generation.
 */
START_TEST(a_grandchild_records_into_the_stream_that_it_inherits)
{
	assert_own_streams(&(struct wish){ INHERITED }, let_a_child_record_three, "START u=3");
}
END_TEST

/* SPAWN-02, FORK-02 */
START_TEST(nothing_is_inherited_of_a_stream_that_closes_for_children)
{
	struct puppet puppet = puppet_start();
	trace_id_t trid = stream_attach_started(puppet.pid, &(struct wish){ 0 });

	puppet_tell(&puppet, PUPPET_ONE);
	puppet_tell(&puppet, PUPPET_SPAWN);
	puppet_tell(&puppet, PUPPET_ONE);
	puppet_tell(&puppet, PUPPET_FORK);
	puppet_tell(&puppet, PUPPET_ONE);
	ck_assert_events(trid, "START u=1");
	shut(trid);
	puppet_end(&puppet);
}
END_TEST

/* SPAWN-03, SPAWN-04: a shell that does not use the library is between both programs */
START_TEST(the_program_behind_a_shell_is_traced)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(INHERITED);
	char command[600];

	trace_number(u, 1);
	snprintf(command, sizeof(command), "(printf ee | %s 0 1 x; true) | cat >/dev/null",
		 PUPPET_PROGRAM);
	ck_assert_int_eq(system(command), 0);
	ck_assert_events(trid, "START u=1 u=1 u=2");
	shut(trid);
}
END_TEST

#define ROUNDS 4

/* Runs the command in a shell and waits for its end. */
static bool by_system(const char *command)
{
	return system(command) == 0;
}

static bool by_popen(const char *command)
{
	FILE *pipe = popen(command, "w");

	return pipe && pclose(pipe) == 0;
}

static bool by_vfork(const char *command)
{
	int status;
	pid_t child = vfork();

	if (child == 0) {
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(1);
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static bool (*const ways[])(const char *command) = { by_system, by_popen, by_vfork };
#define WAYS (sizeof(ways) / sizeof(ways[0]))

static int program_of[WAYS][ROUNDS]; /* the process ids of the programs */

/*
 * Runs a program that traces two events, in a shell. Returns the process id of the program, which
 * the shell prints before it executes the program.
 */
static int run_one(bool (*way)(const char *command))
{
	int commands = memory_file("commands", 0), answers[2], pid = 0;
	char command[600], text[64] = "", end[8] = "";

	/* Close-on-exec, because other programs would hold the pipe open. */
	if (commands < 0 || pwrite(commands, "ee", 2, 0) != 2 || pipe(answers))
		return 0;
	snprintf(command, sizeof(command), "echo $$ >/dev/fd/%d; exec %s %d %d x", answers[1],
		 PUPPET_PROGRAM, commands, answers[1]);
	if (!way(command) || read(answers[0], text, sizeof(text) - 1) < 0 ||
	    sscanf(text, "%d %7s", &pid, end) != 2 || strcmp(end, "xee") != 0)
		pid = 0;
	close(commands);
	close(answers[0]);
	close(answers[1]);
	return pid;
}

static void *run_some(void *arg)
{
	int *pid = arg;
	trace_event_id_t t;

	if (posix_trace_eventid_open("t", &t))
		return NULL;
	for (int i = 0; i < ROUNDS; i++) {
		posix_trace_event(t, &i, sizeof(i));
		pid[i] = run_one(ways[(pid - program_of[0]) / ROUNDS]);
	}
	return NULL;
}

/* u=1 and u=2 of this process and no other event of it. */
static void assert_two_of(const struct history *history, trace_event_id_t u, pid_t pid)
{
	int next = 1;

	for (size_t i = 0; i < history->n; i++) {
		const struct seen *seen = &history->event[i];

		if (seen->info.posix_pid != pid)
			continue;
		ck_assert_uint_eq(seen->info.posix_event_id, u);
		ck_assert_int_eq(number_of(seen), next++);
	}
	ck_assert_int_eq(next, 3);
}

/* SPAWN-03: threads start programs in all ways at the same time */
START_TEST(programs_that_threads_start_by_all_means_are_traced_under_their_ids)
{
	trace_event_id_t u = type_of("u"), t = type_of("t");
	trace_id_t trid = STARTED(INHERITED, .size = 1 << 20);
	struct history *history;
	pthread_t thread[WAYS];
	size_t own = 0;

	for (size_t i = 0; i < WAYS; i++)
		thread[i] = spawn(run_some, program_of[i]);
	for (size_t i = 0; i < WAYS; i++)
		join(thread[i]);
	history = read_all(trid);
	for (size_t i = 0; i < WAYS * ROUNDS; i++) {
		ck_assert_int_gt(program_of[i / ROUNDS][i % ROUNDS], 0);
		assert_two_of(history, u, program_of[i / ROUNDS][i % ROUNDS]);
	}
	for (size_t i = 0; i < history->n; i++)
		own += history->event[i].info.posix_pid == getpid() &&
		       history->event[i].info.posix_event_id == t;
	ck_assert_uint_eq(own, WAYS * ROUNDS);
	ck_assert_uint_eq(history->n, 1 + 3 * WAYS * ROUNDS); /* START and the programs' events */
	history_free(history);
	shut(trid);
}
END_TEST

/* FORK-02, FORK-09, EXIT-05: many children start and end in one stream */
START_TEST(a_thousand_children_find_room_one_after_the_other)
{
	enum { CHILDREN = 1500 };
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(INHERITED, .size = 1 << 20);
	struct posix_trace_ledger_np ledger;

	for (int i = 0; i < CHILDREN; i++) {
		pid_t child = fork();

		if (child == 0) {
			trace_number(u, i);
			if (i % 2)
				kill(getpid(), SIGKILL);
			_exit(0);
		}
		ck_assert_int_eq(waitpid(child, NULL, 0), child);
	}
	OK(posix_trace_get_ledger_np(trid, &ledger));
	ck_assert_uint_eq(ledger.called, CHILDREN + 1);
	ck_assert_uint_eq(ledger.unread, CHILDREN + 1);
	shut(trid);
}
END_TEST

SUITE_NEEDS("exec stat pidfd");

SUITE_MAIN("inheritance", a_child_is_traced_into_the_streams_that_are_inherited,
	   a_child_by_a_raw_system_call_is_traced_too,
	   descendants_share_names_and_outlive_the_target, start_stop_and_filter_act_on_all,
	   spawned_and_executed_programs_are_traced_too,
	   a_child_of_a_silent_target_passes_on_what_it_inherited,
	   a_child_records_into_a_stream_of_its_own_and_not_into_its_parents,
	   a_grandchild_records_into_the_stream_that_it_inherits,
	   nothing_is_inherited_of_a_stream_that_closes_for_children,
	   the_program_behind_a_shell_is_traced,
	   programs_that_threads_start_by_all_means_are_traced_under_their_ids,
	   a_thousand_children_find_room_one_after_the_other)
