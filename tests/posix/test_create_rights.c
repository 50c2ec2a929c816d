/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The permission to trace another process depends on its real, effective and saved ids, and on
 * whether it is dumpable. The results are the same if /proc hides the processes of other users.
 */
#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/stream.h"

#define NOBODY 65534
#define OTHER  12345

struct ids {
	uid_t user[3];  /* real, effective, saved */
	gid_t group[3];
	bool dumpable;
	int expected;
};

#define CASES (int)(sizeof(cases) / sizeof(cases[0]))
#define ALIKE { NOBODY, NOBODY, NOBODY }

static const struct ids cases[] = {
	{ ALIKE, ALIKE, true, 0 },
	{ { NOBODY, NOBODY, 0 }, ALIKE, true, EPERM },
	{ { 0, NOBODY, NOBODY }, ALIKE, true, EPERM },
	{ { NOBODY, NOBODY, OTHER }, ALIKE, true, EPERM },
	{ { OTHER, OTHER, OTHER }, ALIKE, true, EPERM },
	{ ALIKE, { NOBODY, NOBODY, OTHER }, true, EPERM },
	{ ALIKE, { OTHER, NOBODY, NOBODY }, true, EPERM },
	{ ALIKE, ALIKE, false, EPERM },
};

/*
 * Makes a process with these ids that waits to be killed. If `closes` is true, the process closes
 * all descriptors first.
 */
static pid_t target_with(const struct ids *ids, bool closes)
{
	int ready[2];
	pid_t pid;
	char c;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		if (setgroups(0, NULL) ||
		    setresgid(ids->group[0], ids->group[1], ids->group[2]) ||
		    setresuid(ids->user[0], ids->user[1], ids->user[2]) ||
		    prctl(PR_SET_DUMPABLE, ids->dumpable, 0, 0, 0))
			_exit(1);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		if (closes)
			for (int fd = 0; fd < 1024; fd++)
				close(fd);
		for (;;)
			pause();
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

/*
 * Mounts an instance of /proc that hides the processes of other users, only for this process.
 * Kernels before 5.8 have one instance for all mounts of /proc. They refuse the word "invisible",
 * so the machine's /proc is never changed.
 */
static bool hide_others(void)
{
	return !unshare(CLONE_NEWNS) && !mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) &&
	       !mount("proc", "/proc", "proc", 0, "hidepid=invisible");
}

static bool may_hide_others(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(hide_others() ? 0 : 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (status)
		puts("no privileges for a /proc that hides processes");
	return status == 0;
}

static int create_as_nobody(pid_t target, bool with_log, bool hidden)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		FILE *log = tmpfile();
		trace_id_t trid;

		if (!log || (hidden && !hide_others()) || setgroups(0, NULL) ||
		    setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
			_exit(255);
		_exit(with_log ? posix_trace_create_withlog(target, NULL, fileno(log), &trid) :
				 posix_trace_create(target, NULL, &trid));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void check_case(const struct ids *ids, bool hidden)
{
	for (int closes = 0; closes < 2; closes++) {
		pid_t target = target_with(ids, closes);

		ck_assert_int_eq(create_as_nobody(target, false, hidden), ids->expected);
		ck_assert_int_eq(create_as_nobody(target, true, hidden), ids->expected);
		ck_assert_int_eq(kill(target, SIGKILL), 0);
		ck_assert_int_eq(waitpid(target, NULL, 0), target);
		ck_assert_int_eq(create_as_nobody(target, false, hidden), ESRCH);
	}
}

START_TEST(a_process_with_other_ids_is_refused)
{
	NEEDS("ids");
	if (geteuid() != 0) {
		puts("only root can make processes with other ids");
		return;
	}
	check_case(&cases[_i], false);
}
END_TEST

/* CREATE-16 */
START_TEST(a_hidden_process_is_refused_likewise)
{
	if (geteuid() != 0 || !may_hide_others())
		return;
	check_case(&cases[_i], true);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("posix_trace_create: rights", &tc);

	tcase_add_loop_test(tc, a_process_with_other_ids_is_refused, 0, CASES);
	tcase_add_loop_test(tc, a_hidden_process_is_refused_likewise, 0, CASES);
	return s;
}

SUITE_MAIN_OF(suite)
