/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs with more rights than the process that executes them.
 *
 * Each test runs with three copies of support/secure. The first copy has no such rights and shows
 * that the program would be traced. The second copy is set-group-id; user and runtime folder remain
 * the same. The third copy is set-user-id to root, and another user executes it. The test skips
 * copies that this machine does not permit, with a message.
 */
#include <fcntl.h>
#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/secure.h"
#include "support/stream.h"

#define INHERITED .inheritance = POSIX_TRACE_INHERITED
#define NOBODY    65534
#define ORDER_FD  8 /* a shell can only redirect descriptors below 10 */
#define REPORT_FD 9
#define ARENA_FD  200 /* posixtrace(7) */
#define REPORT    "9"

enum rights { PLAIN, GROUP, USER, RIGHTS };

static char folder[] = "/tmp/posixtrace-test-XXXXXX";
static char program[sizeof(folder) + 16], runtime[sizeof(folder) + 16];

/* Makes the folder for the tests, in the main process, before the tests run. */
static void make_folder(void)
{
	char bytes[4096];
	int from, to;
	ssize_t n;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chmod(folder, 0711), 0);
	snprintf(program, sizeof(program), "%s/secure", folder);
	snprintf(runtime, sizeof(runtime), "%s/run", folder);
	ck_assert_int_eq(mkdir(runtime, 0700), 0);
	from = open(SECURE_PROGRAM, O_RDONLY | O_CLOEXEC);
	to = open(program, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	ck_assert_int_ge(from, 0);
	ck_assert_int_ge(to, 0);
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		ck_assert_int_eq(write(to, bytes, (size_t)n), n);
	ck_assert_int_eq(n, 0);
	close(from);
	close(to);
}

static void remove_folder(void)
{
	char count[sizeof(runtime) + 16];

	/* The folder in which a program counts its streams if it uses the environment. */
	snprintf(count, sizeof(count), "%s/trace_sys_max", runtime);
	unlink(count);
	rmdir(runtime);
	unlink(program);
	rmdir(folder);
}

/* Returns another group of this user than the first one. Root may use any group. */
static gid_t other_group(void)
{
	gid_t group[64];
	int count = getgroups(64, group);

	for (int i = 0; i < count; i++)
		if (group[i] != getegid())
			return group[i];
	return geteuid() == 0 ? NOBODY : getegid();
}

/* Gives the program the rights. Returns NULL, or the reason why that is impossible. */
static const char *give_rights(enum rights rights)
{
	if (rights == PLAIN)
		return chmod(program, 0755) ? "the program is another user's" : NULL;
	if (rights == GROUP) {
		if (other_group() == getegid() || chown(program, (uid_t)-1, other_group()))
			return "there is no other group";
		return chmod(program, 02755) ? "it must not be made" : NULL;
	}
	if (geteuid() != 0)
		return "this is not root";
	if (chmod(program, 04755) || setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		return "there is no other user";
	prctl(PR_SET_DUMPABLE, 1); /* so that this process can read its own descriptors in /proc */
	return NULL;
}

struct run {
	pid_t child;
	int order, report;
};

static void exchange(struct run *run, int order[2], int report[2])
{
	ck_assert_int_eq(pipe(order), 0);
	ck_assert_int_eq(pipe(report), 0);
	run->order = order[1];
	run->report = report[0];
}

/* Returns the inode of the arena of this process, or 0 without an arena. */
static unsigned long memory_inode(void)
{
	struct stat file;

	return fstat(ARENA_FD, &file) == 0 ? file.st_ino : 0;
}

/* Executes the program immediately, or from a shell that waits for an order. */
static struct run run_program(bool in_shell, const char *variable)
{
	static char shell[] = "/bin/sh", option[] = "-c";
	char text[200], inode[24], *argv[] = { shell, option, text, NULL };
	int order[2], report[2];
	struct run run;

	snprintf(text, sizeof(text), "head -c 1 <&8 >/dev/null; exec %s " REPORT " %s 0", program,
		 runtime);
	snprintf(inode, sizeof(inode), "%lu", memory_inode());
	exchange(&run, order, report);
	run.child = fork();
	if (run.child == 0) {
		if (variable)
			setenv("POSIXTRACE_RUNTIME_DIR", variable, 1);
		/*
		 * The pipes may have the numbers that the test needs, so they get higher numbers.
		 */
		order[0] = fcntl(order[0], F_DUPFD_CLOEXEC, 20);
		report[1] = fcntl(report[1], F_DUPFD_CLOEXEC, 20);
		dup2(order[0], ORDER_FD);
		dup2(report[1], REPORT_FD);
		if (in_shell)
			execv(shell, argv);
		else
			execl(program, program, REPORT, runtime, inode, NULL);
		_exit(1);
	}
	close(order[0]);
	close(report[1]);
	return run;
}

static struct secure_report end(struct run *run)
{
	struct secure_report report;

	close(run->order);
	wait_well(run->child);
	ck_assert_int_eq(read(run->report, &report, sizeof(report)), sizeof(report));
	close(run->report);
	return report;
}

/* Returns false and prints a line if the machine does not permit such a program. */
static bool begin(enum rights rights)
{
	static const char *const words[] = { "plain", "set-group-id", "set-user-id" };
	const char *why = give_rights(rights);
	struct secure_report report = { 0 };
	struct run run;

	if (!why) {
		run = run_program(false, NULL);
		report = end(&run);
		if (rights != PLAIN && !report.privileged)
			why = "the folder is nosuid, or programs get no rights here";
	}
	if (why)
		fprintf(stderr, "test_secure: left out for a %s program: %s\n", words[rights], why);
	else
		ck_assert_int_eq(report.privileged, rights != PLAIN);
	return !why;
}

/* EXEC-08 */
START_TEST(a_privileged_program_is_not_traced_into_inherited_streams)
{
	struct secure_report report;
	trace_event_id_t u;
	trace_id_t trid;
	struct run run;

	if (!begin((enum rights)_i))
		return;
	u = type_of("u");
	trid = STARTED(INHERITED);
	trace_number(u, 1);
	run = run_program(false, NULL);
	report = end(&run);
	ck_assert_int_eq(report.traced, _i == PLAIN);
	ck_assert_int_eq(report.memory, _i == PLAIN);
	ck_assert_events(trid, _i == PLAIN ? "START u=1 s=1" : "START u=1");
	shut(trid);
}
END_TEST

/* EXEC-08: the program does not record into a stream that waits for it either */
START_TEST(a_privileged_program_does_not_look_for_its_controller)
{
	struct secure_report report;
	trace_attr_t attr;
	trace_id_t trid;
	struct run run;

	if (!begin((enum rights)_i))
		return;
	run = run_program(true, NULL);
	usleep(50000); /* probably a shell by now; if not, the checks hold as well */
	wish_attr(&attr, &(struct wish){ 0 });
	OK(posix_trace_create(run.child, &attr, &trid));
	OK(posix_trace_attr_destroy(&attr));
	start(trid);
	ck_assert_int_eq(write(run.order, "x", 1), 1);
	report = end(&run);
	ck_assert_int_eq(report.traced, _i == PLAIN);
	ck_assert_events(trid, _i == PLAIN ? "START s=1" : "START");
	shut(trid);
}
END_TEST

/* EXEC-08 */
START_TEST(a_privileged_program_ignores_the_environment)
{
	struct secure_report report;
	struct run run;

	if (!begin((enum rights)_i))
		return;
	run = run_program(false, runtime);
	report = end(&run);
	ck_assert_int_eq(report.obedient, _i == PLAIN);
}
END_TEST

SUITE_NEEDS("exec stat pidfd");

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("privileged programs", &tc);

	tcase_add_unchecked_fixture(tc, make_folder, remove_folder);
	tcase_add_loop_test(tc, a_privileged_program_is_not_traced_into_inherited_streams, 0,
			    RIGHTS);
	tcase_add_loop_test(tc, a_privileged_program_does_not_look_for_its_controller, 0, RIGHTS);
	tcase_add_loop_test(tc, a_privileged_program_ignores_the_environment, 0,
			    RIGHTS);
	return s;
}

SUITE_MAIN_OF(suite)
