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

/* Returns whether a file, folder or symbolic link belongs to a user, or to root. */
static bool belongs_to(const char *path, uid_t user)
{
	struct stat st;

	return !lstat(path, &st) && (st.st_uid == user || !st.st_uid);
}

/*
 * Returns whether each part of the path behind its first "shared" bytes belongs to the user or to
 * root. The byte behind them is a slash.
 */
static bool is_trusted(char *path, size_t shared, uid_t user)
{
	bool is = true;

	for (char *end = path + shared; is && *end;) {
		char kept;

		end += 1 + strcspn(end + 1, "/");
		kept = *end;
		*end = '\0';
		is = belongs_to(path, user);
		*end = kept;
	}
	return is;
}

/*
 * The configured paths of the program's folder and of the file begin with a common folder. The
 * function replaces the part of the program's actual path that is behind this folder. A user who
 * controls this folder also controls the program. But any user can make a folder or a symbolic link
 * beside the folder of a program in /tmp/bin. So the parts of the path behind this folder are
 * examined. If one of them is a symbolic link, the target may be anywhere, and the parts of its
 * path are examined, too.
 */
bool moved_find(const char *configured, int mode, char path[PATH_MAX])
{
	static const char program[] = PROGRAM_FOLDER "/";
	char own[PATH_MAX], beside[2 * PATH_MAX];
	size_t common = 0, len, tail; /* "common" is the length of the common folder, without / */
	ssize_t got;
	struct stat st;

	if (!access(configured, mode))
		return false;
	got = readlink("/proc/self/exe", own, sizeof(own) - 1);
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
	len -= tail; /* the length of the moved folder's path */
	snprintf(beside, sizeof(beside), "%.*s%s", (int)len, own, configured + common);
	if (!realpath(beside, path) || access(path, mode) || stat("/proc/self/exe", &st) ||
	    !is_trusted(beside, len, st.st_uid))
		return false;
	return is_trusted(path, !strncmp(path, own, len) && path[len] == '/' ? len : 0, st.st_uid);
}
