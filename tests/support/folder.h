/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/folder.h - a runtime folder for one suite, so that it counts its own streams only.
 *
 * The library reads POSIXTRACE_RUNTIME_DIR when a program starts. So main() of such a suite is
 *
 *	return folder_run(build, argv);
 */
#ifndef PTX_TESTS_FOLDER_H
#define PTX_TESTS_FOLDER_H

#include "support/support.h"

/* Runs the suite in a folder of its own, which is removed at the end. Returns the exit status for
 * main(). */
int folder_run(Suite *(*build)(void), char **argv);

/* folder_path() returns the path of the folder, which at first does not exist. folder_clear()
 * removes the folder if the library has made it. */
const char *folder_path(void);
void folder_clear(void);

#endif
