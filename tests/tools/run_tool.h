/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/run_tool.h - runs posixtrace from a Check program, in a directory of its own.
 *
 * Every function asserts its success. A program that a signal ends is a failure.
 */
#ifndef PTX_TESTS_RUN_TOOL_H
#define PTX_TESTS_RUN_TOOL_H

#include <stddef.h>

struct text {
	char *bytes; /* len and a NUL, malloc'ed */
	size_t len;
};

/* Called once, before any test. */
void find_programs(void);

/* A fixture. */
void make_directory(void);
void remove_directory(void);

/* The file's path in the directory; valid to the end of the process. */
const char *in_directory(const char *name);

struct text read_file(const char *path);
void write_file(const char *path, const void *bytes, size_t len);

/* Returns the exit status. The output is in the files "out" and "err" of the directory. */
int posixtrace(const char *command, const char *option, const char *log);

#endif
