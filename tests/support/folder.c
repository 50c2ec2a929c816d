/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/folder.h"

#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define VARIABLE "POSIXTRACE_RUNTIME_DIR"
#define MARK     "PTX_TESTS_FOLDER_IS_OWN"

static bool is_own(void)
{
	return getenv(VARIABLE) && getenv(MARK);
}

const char *folder_path(void)
{
	return getenv(VARIABLE);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	return remove(path);
}

static void remove_all(const char *path)
{
	nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void folder_clear(void)
{
	remove_all(folder_path());
}

/* Runs the program again, in a runtime folder of its own. Returns the exit status of that run. */
static int run_again(char **argv)
{
	char around[] = "/tmp/posixtrace-test-XXXXXX", path[sizeof(around) + 4];
	int status = -1;
	pid_t child;

	/* The suite may change to another user, who must have access to the inner folder. */
	if (!mkdtemp(around) || chmod(around, 0711))
		return 99;
	snprintf(path, sizeof(path), "%s/run", around);
	setenv(VARIABLE, path, 1);
	setenv(MARK, "1", 1);
	child = fork();
	if (child == 0) {
		execv("/proc/self/exe", argv);
		_exit(99);
	}
	if (child > 0)
		waitpid(child, &status, 0);
	remove_all(around);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

int folder_run(Suite *(*build)(void), char **argv)
{
	return is_own() ? support_run(build()) : run_again(argv);
}
