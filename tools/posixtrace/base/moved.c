/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* moved.c - finds a file by its position relative to the file of this program. */
#include "base/moved.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The Makefile defines the folder of the installed program. A build by hand has none. */
#ifndef PROGRAM_FOLDER
# define PROGRAM_FOLDER ""
#endif

/* Returns whether a file or folder belongs to a user, or to root. */
static bool belongs_to(const char *path, uid_t user)
{
	struct stat st;

	return !stat(path, &st) && (st.st_uid == user || !st.st_uid);
}

/*
 * Returns whether the file and its folder belong to root or to the owner of this program's file.
 * Any user can make a folder beside a program in /tmp/bin. The path has no symbolic links, which
 * their owner could change after the check.
 */
static bool is_trusted(char *path)
{
	char *last = strrchr(path, '/');
	struct stat program;
	bool is;

	if (stat("/proc/self/exe", &program) || !belongs_to(path, program.st_uid))
		return false;
	*last = '\0';
	is = belongs_to(*path ? path : "/", program.st_uid);
	*last = '/';
	return is;
}

/*
 * The configured paths of the program's folder and of the file begin with a common folder. The
 * function replaces the part of the program's actual path that is behind this folder.
 */
bool moved_find(const char *configured, int mode, char path[PATH_MAX])
{
	static const char program[] = PROGRAM_FOLDER "/";
	char own[PATH_MAX], beside[2 * PATH_MAX];
	const ssize_t got = readlink("/proc/self/exe", own, sizeof(own) - 1);
	size_t common = 0, len, tail; /* "common" is the length of the common folder, without / */

	own[got > 0 ? got : 0] = '\0';
	if (*own != '/' || *configured != '/' || !program[1])
		return false;
	for (size_t i = 0; program[i] && program[i] == configured[i]; i++)
		if (program[i] == '/')
			common = i;
	len = (size_t)(strrchr(own, '/') + 1 - own);
	tail = strlen(program + common);
	if (len < tail || memcmp(own + len - tail, program + common, tail) ||
	    strlen(configured) > PATH_MAX)
		return false;
	snprintf(beside, sizeof(beside), "%.*s%s", (int)(len - tail), own, configured + common);
	return realpath(beside, path) && !access(path, mode) && is_trusted(path);
}
