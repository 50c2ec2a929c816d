/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program that traces one event "s". A test gives a copy of this program more rights than the
 * rights of the process that executes the copy. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <trace.h>
#include <trace_np.h>
#include <unistd.h>

#include "support/secure.h"

#define LAST_FD 999

static int has_open(ino_t inode)
{
	struct stat file;

	for (int fd = 0; fd <= LAST_FD; fd++)
		if (fstat(fd, &file) == 0 && file.st_ino == inode)
			return 1;
	return 0;
}

/* Returns whether this process uses the folder: a stream of another process then leaves a link in
 * the folder. */
static int uses(const char *folder)
{
	char path[PATH_MAX];
	trace_id_t trid;
	pid_t child;
	int there;

	child = fork();
	if (child == 0)
		for (;;)
			pause();
	if (child < 0 || posix_trace_create(child, NULL, &trid))
		_exit(3);
	snprintf(path, sizeof(path), "%s/traced", folder);
	there = access(path, F_OK) == 0;
	if (posix_trace_shutdown(trid))
		_exit(4);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return there;
}

int main(int argc, char **argv)
{
	struct secure_report report = { 0 };
	trace_event_id_t s;
	int number = 1;

	if (argc != 4)
		return 2;
	report.memory = has_open(strtoul(argv[3], NULL, 10));
	if (posix_trace_eventid_open("s", &s))
		return 2;
	report.privileged = getauxval(AT_SECURE) != 0;
	report.traced = *posix_trace_active_np != 0;
	posix_trace_event(s, &number, sizeof(number));
	report.obedient = uses(argv[2]);
	return write(atoi(argv[1]), &report, sizeof(report)) != sizeof(report);
}
