/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/folder.h - a runtime folder for one suite, so that it counts its own streams only.
 *
 * The library reads POSIXTRACE_RUNTIME_DIR when a program starts. So main() of such a suite is
 *
 *	return folder_run(build, argv);
 *
 * A suite that creates streams up to the limit TRACE_SYS_MAX needs such a folder. In the folder of
 * the user, the suite and other processes would occupy the same places of TRACE_SYS_MAX.
 */
#ifndef PTX_TESTS_FOLDER_H
#define PTX_TESTS_FOLDER_H

#include "support/support.h"

/* Runs the suite in a folder of its own, which is removed at the end. Returns the exit status for
 * main(). */
int folder_run(Suite *(*build)(void), char **argv);

/* SUITE_MAIN() for a suite in a folder of its own */
#define SUITE_MAIN_IN_FOLDER(name, ...)                                                           \
	static Suite *build_suite_(void)                                                          \
	{                                                                                         \
		const TTest *const tests_[] = { __VA_ARGS__ };                                    \
		return support_suite_of(name, tests_, sizeof(tests_) / sizeof(tests_[0]));        \
	}                                                                                         \
	int main(int argc, char **argv)                                                           \
	{                                                                                         \
		(void)argc;                                                                       \
		return folder_run(build_suite_, argv);                                            \
	}

/* folder_path() returns the path of the folder, which at first does not exist. folder_clear()
 * removes the folder if the library has made it. */
const char *folder_path(void);
void folder_clear(void);

#endif
