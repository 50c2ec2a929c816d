/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Targets and controllers in other namespaces: namespaces of time, in which clocks and start
 * times differ, and of process ids, while /proc is that of the outer namespace.
 *
 * Only a privileged process can make such namespaces. Without privileges each test reports this
 * and ends.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/log.h"
#include "support/mapped.h"
#include "support/puppet.h"
#include "support/stream.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

#define INHERITED .inheritance = POSIX_TRACE_INHERITED

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return done;
}

/* Enters new namespaces, which hold for the children that this process creates from now on. */
static bool enter(int spaces, const char *offsets)
{
	return unshare(spaces) == 0 &&
	       (!(spaces & CLONE_NEWTIME) || write_text("/proc/self/timens_offsets", offsets));
}

/* Tries in a child of this process, so that this process remains in its namespaces. */
static bool may_enter(int spaces, const char *offsets)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(enter(spaces, offsets) ? 0 : 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (status)
		printf("no privileges for namespaces %#x: nothing to test\n", (unsigned)spaces);
	return status == 0;
}

/*
 * Starts a puppet in new namespaces. The member `pid` is its number in this namespace. A child of
 * this process, the keeper, is the parent of the puppet.
 */
static struct puppet puppet_in(int spaces, const char *offsets, pid_t *keeper)
{
	struct puppet puppet;
	int commands[2], answers[2], status;

	ck_assert_int_eq(pipe2(commands, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(answers, O_CLOEXEC), 0);
	*keeper = fork();
	ck_assert_int_ge(*keeper, 0);
	if (*keeper == 0) {
		pid_t pid;

		close(commands[1]);
		if (!enter(spaces, offsets))
			_exit(20);
		pid = fork();
		if (pid == 0) {
			/* A puppet passes its descriptors on to the programs that it executes. */
			fcntl(commands[0], F_SETFD, 0);
			fcntl(answers[1], F_SETFD, 0);
			puppet_obey(commands[0], answers[1]);
		}
		if (write(answers[1], &pid, sizeof(pid)) != sizeof(pid))
			_exit(21);
		close(answers[1]);
		_exit(waitpid(pid, &status, 0) == pid && status == 0 ? 0 : 22);
	}
	close(commands[0]);
	close(answers[1]);
	puppet.command = commands[1];
	puppet.answer = answers[0];
	ck_assert_int_eq(read(answers[0], &puppet.pid, sizeof(puppet.pid)), sizeof(puppet.pid));
	return puppet;
}

static void end(const struct puppet *puppet, pid_t keeper)
{
	close(puppet->command);
	close(puppet->answer);
	wait_well(keeper);
}

/* Asserts that all events of the stream are between `since_ns` and now, by the clock of events. */
static void assert_times(trace_id_t trid, int64_t since_ns, size_t count)
{
	struct history *history = read_all(trid);

	ck_assert_uint_eq(history->n, count);
	for (size_t i = 0; i < history->n; i++) {
		int64_t time = nanoseconds(&history->event[i].info.posix_timestamp);

		/* The clocks of two processors may differ by a little. */
		ck_assert_int_gt(time, since_ns - 1000000);
		ck_assert_int_lt(time, now_ns() + 1000000);
	}
	history_free(history);
}

static void assert_account(trace_id_t trid, uint64_t called, uint64_t lost)
{
	struct posix_trace_ledger_np ledger;
	uint64_t sum = 0;

	OK(posix_trace_get_ledger_np(trid, &ledger));
	for (int i = 0; i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		sum += ledger.lost[i];
	ck_assert_uint_eq(ledger.called, called);
	ck_assert_uint_eq(sum, lost);
	ck_assert_uint_eq(ledger.reported + ledger.unread + sum, called);
}

static const struct {
	const char *clock, *offsets;
	int spaces;
} places[] = {
	{ NULL, "boottime 100000 0\n", CLONE_NEWTIME },
	{ NULL, "boottime -20 0\nmonotonic -10 0\n", CLONE_NEWTIME },
	{ "monotonic", "boottime 100000 0\nmonotonic 100000 500\n", CLONE_NEWTIME },
	{ "monotonic", "boottime 70 0\nmonotonic -10 0\n", CLONE_NEWTIME },
	{ NULL, NULL, CLONE_NEWPID },
	{ "monotonic", "boottime 5000 0\nmonotonic 5000 0\n", CLONE_NEWTIME | CLONE_NEWPID },
};

#define PLACES (int)(sizeof(places) / sizeof(places[0]))

/*
 * Selects the namespaces of the puppets that this process starts from now on. Returns false if the
 * system does not allow it.
 */
static bool choose(int place)
{
	if (!may_enter(places[place].spaces, places[place].offsets))
		return false;
	if (places[place].clock)
		setenv("POSIXTRACE_CLOCK", places[place].clock, 1);
	return true;
}

static void tell_ones(const struct puppet *puppet, int times)
{
	while (times--)
		puppet_tell(puppet, PUPPET_ONE);
}

/* CREATE-04, EVENT-11, EXEC-01 */
START_TEST(a_target_in_other_name_spaces_is_traced_and_its_times_are_right)
{
	struct puppet puppet;
	int64_t since_ns;
	trace_id_t trid;
	pid_t keeper;

	if (!choose(_i))
		return;
	puppet = puppet_in(places[_i].spaces, places[_i].offsets, &keeper);
	puppet_tell(&puppet, PUPPET_ONE);
	trid = stream_attach(puppet.pid, &(struct wish){ 0 });
	since_ns = now_ns();
	start(trid);
	tell_ones(&puppet, 2);
	assert_account(trid, 3, 0);
	assert_times(trid, since_ns, 3);
	/* The executed program finds the stream again. */
	puppet_tell(&puppet, PUPPET_EXEC);
	tell_ones(&puppet, 2);
	assert_account(trid, 5, 0);
	ck_assert_events(trid, "u=1 u=2");
	shut(trid);
	end(&puppet, keeper);
}
END_TEST

/* CREATE-04, FORK-01, EXEC-01 */
START_TEST(so_are_its_children_and_the_programs_that_they_execute)
{
	static const enum puppet_command ways[] = { PUPPET_FORK, PUPPET_SPAWN };

	if (!choose(_i))
		return;
	for (int way = 0; way < 2; way++) {
		struct puppet puppet;
		int64_t since_ns;
		trace_id_t trid;
		pid_t keeper;

		puppet = puppet_in(places[_i].spaces, places[_i].offsets, &keeper);
		trid = stream_attach(puppet.pid, &(struct wish){ INHERITED });
		since_ns = now_ns();
		start(trid);
		puppet_tell(&puppet, PUPPET_ONE);
		puppet_tell(&puppet, ways[way]);
		tell_ones(&puppet, 2);
		assert_account(trid, 4, 0);
		assert_times(trid, since_ns, 4);
		shut(trid);
		end(&puppet, keeper);
	}
}
END_TEST

/* FORK-01 */
START_TEST(a_child_that_goes_into_other_name_spaces_stays_in_the_stream)
{
	struct puppet puppet;
	int64_t since_ns;
	trace_id_t trid;
	pid_t keeper;

	if (!choose(_i))
		return;
	trid = STARTED(INHERITED);
	since_ns = now_ns() - INT64_C(1000000000);
	puppet = puppet_in(places[_i].spaces, places[_i].offsets, &keeper);
	tell_ones(&puppet, 2);
	assert_account(trid, 3, 0);
	puppet_tell(&puppet, PUPPET_EXEC);
	puppet_tell(&puppet, PUPPET_ONE);
	assert_account(trid, 4, 0);
	assert_times(trid, since_ns, 4);
	shut(trid);
	end(&puppet, keeper);
}
END_TEST

/* The target reports its own mappings only at its end, so the controller must look at them. */
START_TEST(the_mappings_of_a_target_that_runs_are_in_the_log)
{
	struct posix_trace_mapping_np mapping;
	int fd = log_file();
	char path[PATH_MAX];
	struct puppet puppet;
	trace_id_t trid;
	pid_t keeper;

	if (!choose(_i))
		return;
	puppet = puppet_in(places[_i].spaces, places[_i].offsets, &keeper);
	trid = log_attach_started(puppet.pid, fd,
				  &(struct log_wish){ .log_policy = POSIX_TRACE_APPEND });
	puppet_tell(&puppet, PUPPET_ONE);
	shut(trid);
	ck_assert(mapping_of(fd, 1, &mapping, path));
	ck_assert_str_eq(path, program_path());
	/* In a new namespace of process ids the target is process 1. */
	ck_assert_int_eq(mapping.pid, places[_i].spaces & CLONE_NEWPID ? 1 : puppet.pid);
	end(&puppet, keeper);
	close(fd);
}
END_TEST

/* The controller and its target are process 1, each in its own namespace. */
START_TEST(a_target_with_the_id_of_its_controller_is_another_process)
{
	int status;
	pid_t keeper;

	if (!may_enter(CLONE_NEWPID, NULL))
		return;
	keeper = fork();
	if (keeper == 0) {
		pid_t controller;

		if (!enter(CLONE_NEWPID, NULL))
			_exit(1);
		controller = fork();
		if (controller == 0) {
			struct posix_trace_mapping_np mapping;
			struct plugin plugin;
			struct puppet puppet;
			int fd = log_file(), end_of_list = 0;
			char path[PATH_MAX];
			trace_id_t trid;
			pid_t inner;

			puppet = puppet_in(CLONE_NEWPID, NULL, &inner);
			plugin = plugin_load("first");
			trid = log_attach_started(
				puppet.pid, fd,
				&(struct log_wish){ .log_policy = POSIX_TRACE_APPEND });
			puppet_tell(&puppet, PUPPET_ONE);
			shut(trid);
			ck_assert(mapping_of(fd, 1, &mapping, path));
			ck_assert_str_eq(path, program_path());
			trid = log_open(fd);
			OK(posix_trace_mapping_rewind_np(trid));
			for (;;) {
				OK(posix_trace_mapping_getnext_np(trid, &mapping, &end_of_list));
				if (end_of_list)
					break;
				/* The file is one of the controller. */
				ck_assert(!mapping.path || strcmp(mapping.path, plugin.path) != 0);
			}
			log_close(trid);
			end(&puppet, inner);
			_exit(0);
		}
		_exit(waitpid(controller, &status, 0) == controller && status == 0 ? 0 : 2);
	}
	wait_well(keeper);
}
END_TEST

/* The ids that this controller knows are not the numbers in /proc. CREATE-04, EXEC-01 */
START_TEST(a_controller_in_another_name_space_traces_the_process_that_it_named)
{
	int status;
	pid_t keeper;

	if (!may_enter(CLONE_NEWPID, NULL))
		return;
	keeper = fork();
	if (keeper == 0) {
		pid_t controller;

		if (!enter(CLONE_NEWPID, NULL))
			_exit(1);
		controller = fork();
		if (controller == 0) {
			struct puppet puppet = puppet_start();
			trace_id_t trid = stream_attach(puppet.pid, &(struct wish){ 0 });

			ck_assert_int_lt(puppet.pid, 10);
			start(trid);
			puppet_tell(&puppet, PUPPET_ONE);
			assert_account(trid, 2, 0);
			ck_assert_events(trid, "START u=1");
			/* The link that the program follows leads to the controller's number. */
			puppet_tell(&puppet, PUPPET_EXEC);
			puppet_tell(&puppet, PUPPET_ONE);
			assert_account(trid, 3, 0);
			ck_assert_events(trid, "u=1");
			FAILS(ESRCH, posix_trace_create(1000000, NULL, &trid));
			_exit(0);
		}
		_exit(waitpid(controller, &status, 0) == controller && status == 0 ? 0 : 2);
	}
	wait_well(keeper);
}
END_TEST

/* Returns when the process started, in clock ticks; the name of the program has no blanks. */
static unsigned long long start_of(pid_t pid)
{
	unsigned long long start;
	char path[64];
	FILE *file;
	int n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	n = fscanf(file, "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			 "%*s %*s %*s %*s %*s %*s %llu", &start);
	fclose(file);
	ck_assert_int_eq(n, 1);
	return start;
}

/* Processes of the second puppet have the pipes of the first one open, so the second ends first. */
static void end_twins(const struct puppet *twin, const pid_t *keeper)
{
	for (int i = 1; i >= 0; i--)
		end(&twin[i], keeper[i]);
}

/*
 * Starts two puppets that are process 1 of their namespaces and began in the same clock tick.
 * Returns false if no two of many did; usually the first two do.
 */
static bool start_twins(struct puppet *twin, pid_t *keeper)
{
	for (int try = 0; try < 100; try++) {
		for (int i = 0; i < 2; i++)
			twin[i] = puppet_in(CLONE_NEWPID, NULL, &keeper[i]);
		if (start_of(twin[0].pid) == start_of(twin[1].pid))
			return true;
		end_twins(twin, keeper);
	}
	return false;
}

/* The links for both are in one folder, and only the namespaces in their names differ. EXEC-01 */
START_TEST(processes_with_equal_ids_and_start_times_are_traced_each_for_itself)
{
	struct puppet twin[2];
	trace_id_t trid[2];
	pid_t keeper[2];

	if (!may_enter(CLONE_NEWPID, NULL))
		return;
	if (!start_twins(twin, keeper)) {
		printf("no two processes began in the same clock tick: nothing to test\n");
		return;
	}
	for (int i = 0; i < 2; i++)
		trid[i] = stream_attach_started(twin[i].pid, &(struct wish){ 0 });
	for (int i = 0; i < 2; i++)
		puppet_tell(&twin[i], PUPPET_EXEC);
	for (int i = 0; i < 2; i++)
		tell_ones(&twin[i], 1 + i);
	assert_account(trid[0], 2, 0);
	ck_assert_events(trid[0], "START u=1");
	assert_account(trid[1], 3, 0);
	ck_assert_events(trid[1], "START u=1 u=2");
	/* The end of one stream leaves the link of the other one. */
	shut(trid[0]);
	puppet_tell(&twin[1], PUPPET_EXEC);
	puppet_tell(&twin[1], PUPPET_ONE);
	assert_account(trid[1], 4, 0);
	ck_assert_events(trid[1], "u=1");
	shut(trid[1]);
	end_twins(twin, keeper);
}
END_TEST

/*
 * Both children are process 2, each in its own namespace. A program that starts examines the links
 * of all inherited streams. The child that is no member began before the other one became a member.
 * FORK-01, EXEC-01
 */
START_TEST(a_process_with_the_id_of_a_member_is_no_member_in_another_name_space)
{
	struct puppet stranger, puppet;
	pid_t keeper[2];
	trace_id_t trid;

	if (!may_enter(CLONE_NEWPID, NULL))
		return;
	stranger = puppet_in(CLONE_NEWPID, NULL, &keeper[0]);
	puppet_tell(&stranger, PUPPET_FORK);
	puppet = puppet_in(CLONE_NEWPID, NULL, &keeper[1]);
	trid = stream_attach_started(puppet.pid, &(struct wish){ INHERITED });
	puppet_tell(&puppet, PUPPET_FORK);
	puppet_tell(&puppet, PUPPET_ONE);
	assert_account(trid, 2, 0);
	puppet_tell(&stranger, PUPPET_EXEC);
	tell_ones(&stranger, 3);
	assert_account(trid, 2, 0);
	ck_assert_events(trid, "START u=1");
	shut(trid);
	end(&puppet, keeper[1]);
	end(&stranger, keeper[0]);
}
END_TEST

SUITE_NEEDS("exec stat pidfd");

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("namespaces", &tc);

	tcase_add_loop_test(tc, a_target_in_other_name_spaces_is_traced_and_its_times_are_right, 0,
			    PLACES);
	tcase_add_loop_test(tc, so_are_its_children_and_the_programs_that_they_execute, 0, PLACES);
	tcase_add_loop_test(tc, a_child_that_goes_into_other_name_spaces_stays_in_the_stream, 0,
			    PLACES);
	tcase_add_loop_test(tc, the_mappings_of_a_target_that_runs_are_in_the_log, 0, PLACES);
	tcase_add_test(tc, a_target_with_the_id_of_its_controller_is_another_process);
	tcase_add_test(tc, a_controller_in_another_name_space_traces_the_process_that_it_named);
	tcase_add_test(tc, processes_with_equal_ids_and_start_times_are_traced_each_for_itself);
	tcase_add_test(tc, a_process_with_the_id_of_a_member_is_no_member_in_another_name_space);
	return suite;
}

/* In a folder of its own, so that only the processes of this suite have links in it. */
int main(int argc, char **argv)
{
	(void)argc;
	return folder_run(build, argv);
}
