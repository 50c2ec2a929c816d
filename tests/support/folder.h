/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/folder.h - a runtime folder of a suite's own, so that it counts its own streams only.
 *
 * The library reads POSIXTRACE_RUNTIME_DIR when a program starts. So main() of such a suite begins
 *
 *	if (!folder_is_own())
 *		return folder_run_again(argv);
 */
#ifndef PTX_TESTS_FOLDER_H
#define PTX_TESTS_FOLDER_H

#include <stdbool.h>

bool folder_is_own(void);

/* Runs the program again with a folder of its own and removes that; its exit status. */
int folder_run_again(char **argv);

/* The folder. It can be made, but is not there yet; the second makes it so again. */
const char *folder_path(void);
void folder_clear(void);

#endif
