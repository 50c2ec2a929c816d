/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* moved.h - finds a file of an installation that was moved to another folder as a whole. */
#ifndef POSIXTRACE_BASE_MOVED_H
#define POSIXTRACE_BASE_MOVED_H

#include <limits.h>
#include <stdbool.h>

/*
 * Finds the file that the installation should have at the absolute path "configured". The function
 * assumes that the file and this program still have the same position relative to each other. It
 * stores the file's path, without symbolic links. Returns false if access(2) permits the mode for
 * the configured path, if the path of this program does not end as configured, if access(2) refuses
 * the mode for the found file, or if that file may come from another user: the file, and the
 * folders and symbolic links that lead to it from the moved folder, must belong to root or to the
 * owner of this program's file.
 */
bool moved_find(const char *configured, int mode, char path[PATH_MAX]);

#endif
