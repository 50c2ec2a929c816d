/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who may trace another process: real, effective and saved ids decide, and whether it is dumpable.
 */
#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
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

/* A process with these ids that waits to be killed; closes is all descriptors, too. */
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

static int create_as_nobody(pid_t target, bool with_log)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		FILE *log = tmpfile();
		trace_id_t trid;

		if (!log || setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
		    setresuid(NOBODY, NOBODY, NOBODY))
			_exit(255);
		_exit(with_log ? posix_trace_create_withlog(target, NULL, fileno(log), &trid) :
				 posix_trace_create(target, NULL, &trid));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

START_TEST(a_process_with_other_ids_is_refused)
{
	const struct ids *ids = &cases[_i];

	if (geteuid() != 0) {
		puts("only root can make processes with other ids");
		return;
	}
	for (int closes = 0; closes < 2; closes++) {
		pid_t target = target_with(ids, closes);

		ck_assert_int_eq(create_as_nobody(target, false), ids->expected);
		ck_assert_int_eq(create_as_nobody(target, true), ids->expected);
		ck_assert_int_eq(kill(target, SIGKILL), 0);
		ck_assert_int_eq(waitpid(target, NULL, 0), target);
		ck_assert_int_eq(create_as_nobody(target, false), ESRCH);
	}
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("posix_trace_create: rights", &tc);

	tcase_add_loop_test(tc, a_process_with_other_ids_is_refused, 0, CASES);
	return s;
}

SUITE_MAIN_OF(suite)
