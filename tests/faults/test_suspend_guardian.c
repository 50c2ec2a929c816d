/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The guardian of a log is suspended. No other process waits for it, and when it continues, it
 * completes the log.
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults/suspended.h"
#include "support/log.h"

#define MANY  20000
#define LOOKS 500 /* finds a guardian in /proc */

static bool has_file(const char *pid, const struct stat *log)
{
	char path[300];
	struct stat file;

	snprintf(path, sizeof(path), "/proc/%s/fd/4", pid);
	return stat(path, &file) == 0 && file.st_dev == log->st_dev && file.st_ino == log->st_ino;
}

static bool is_guardian(const char *pid)
{
	char path[300], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(name, sizeof(name), file))
		name[0] = '\0';
	fclose(file);
	return strncmp(name, "posixtrace-guar", 15) == 0;
}

/* Returns the guardian of the log in fd; 0 if there is none. */
static pid_t find_guardian(int fd)
{
	DIR *folder = opendir("/proc");
	struct stat log = log_stat(fd);
	struct dirent *entry;
	pid_t found = 0;

	while (folder && !found && (entry = readdir(folder)))
		if (is_guardian(entry->d_name) && has_file(entry->d_name, &log))
			found = (pid_t)atoi(entry->d_name);
	if (folder)
		closedir(folder);
	return found;
}

static pid_t suspend_guardian(int fd)
{
	pid_t guardian;

	for (int n = 0; n < LOOKS && !(guardian = find_guardian(fd)); n++)
		usleep(1000);
	ck_assert_msg(guardian > 0, "there is no guardian");
	ck_assert_int_eq(kill(guardian, SIGSTOP), 0);
	return guardian;
}

static bool is_complete(int fd)
{
	struct posix_trace_check_np check;

	return posix_trace_check_np(fd, NULL, NULL, &check) == 0 && check.complete &&
	       check.faults == 0;
}

START_TEST(a_suspended_guardian_delays_no_process)
{
	int fd = log_file();
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_FLUSH);
	trace_event_id_t id = type_of("n");
	pid_t guardian = suspend_guardian(fd);

	for (int n = 0; n < MANY; n++)
		trace_number(id, n);
	OK(posix_trace_flush(trid));
	stop(trid);
	shut(trid);
	assert_log_whole(fd);
	ck_assert_int_eq(kill(guardian, SIGCONT), 0);
	wait_until(find_guardian(fd) == 0);
	assert_log_whole(fd);
	close(fd);
}
END_TEST

/* EXIT-01, EXIT-02: after the suspension */
START_TEST(a_guardian_that_was_suspended_completes_the_log_all_the_same)
{
	for (int round = 0; round < 3; round++) {
		int fd = log_file();
		struct posix_trace_ledger_np ledger;
		trace_event_id_t id = type_of("n");
		pid_t guardian, writer;
		trace_id_t trid;

		memset(shared, 0, sizeof(*shared));
		writer = fork();
		if (writer == 0) {
			LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL);
			for (int n = 0; n < 500; n++)
				trace_next(id);
			atomic_store(&shared->read, 1);
			pause();
		}
		while (!atomic_load(&shared->read))
			usleep(100);
		guardian = suspend_guardian(fd);
		ck_assert_int_eq(kill(writer, SIGKILL), 0);
		ck_assert_int_eq(waitpid(writer, NULL, 0), writer);
		usleep(20000);
		ck_assert(!is_complete(fd));
		ck_assert_int_eq(kill(guardian, SIGCONT), 0);
		wait_until(find_guardian(fd) == 0);
		assert_log_whole(fd);
		trid = log_open(fd);
		OK(posix_trace_get_ledger_type_np(trid, id, &ledger));
		ck_assert_uint_eq(ledger.called, 500);
		ck_assert_uint_eq(ledger.reported, 500);
		log_close(trid);
		close(fd);
	}
}
END_TEST

SUITE_NEEDS("guardian");

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("suspended guardians", &tc);

	tcase_set_timeout(tc, 1800);
	tcase_add_checked_fixture(tc, suspended_begin, suspended_end);
	tcase_add_test(tc, a_suspended_guardian_delays_no_process);
	tcase_add_test(tc, a_guardian_that_was_suspended_completes_the_log_all_the_same);
	return suite;
}

SUITE_MAIN_OF(build)
