/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* moved.h - finds a file of an installation that was moved to another folder as a whole. */
#ifndef POSIXTRACE_BASE_MOVED_H
#define POSIXTRACE_BASE_MOVED_H

#include <limits.h>
#include <stdbool.h>

/*
 * "configured" is the absolute path for which configure has built the tool. The file and this
 * program still have the same position relative to each other. Stores the file's path, without
 * symbolic links. Returns false if this program is not in a moved installation, if access(2)
 * refuses the mode for the file, or if the file may come from another user: the file and its folder
 * must belong to the owner of the program or to root.
 */
bool moved_find(const char *configured, int mode, char path[PATH_MAX]);

#endif
