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
	char *bytes; /* len bytes and a NUL, allocated by malloc() */
	size_t len;
};

/* Finds the programs that tests run. It is called once, before any test. */
void find_programs(void);

/* A fixture that gives each test an empty directory. */
void make_directory(void);
void remove_directory(void);

/* Returns the path of a file in the directory. It is valid until the process ends. */
const char *in_directory(const char *name);

struct text read_file(const char *path);
void write_file(const char *path, const void *bytes, size_t len);

/* Runs a command and returns its exit status. Its output is in the files "out" and "err" there. */
int posixtrace(const char *command, const char *option, const char *log);

#endif
