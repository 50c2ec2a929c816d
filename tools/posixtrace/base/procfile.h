/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * procfile.h - small text files of /proc and /sys, such as /proc/PID/status, whose lines are a name
 * with a colon and a value.
 *
 * Any thread may call these functions. They do not print.
 */
#ifndef POSIXTRACE_BASE_PROCFILE_H
#define POSIXTRACE_BASE_PROCFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PROCFILE_BYTES 8192 /* enough for each status file */

/*
 * Reads a file up to bytes - 1, with a NUL at the end. Returns false and sets errno if the file
 * cannot be opened, for example because the process has ended.
 */
bool procfile_read(const char *path, char *text, size_t bytes);

/* Returns the value in the line that begins with name, which has the colon; NULL: no such line. */
const char *procfile_field(const char *text, const char *name);

/*
 * Returns the number in that line, written in the given base, or the value otherwise if there is no
 * such line.
 */
unsigned long long procfile_number(const char *text, const char *name, int base,
				   unsigned long long otherwise);

struct procfile_stat {
	char state;               /* R, S, Z, ... */
	unsigned long long start; /* clock ticks after boot */
	int status;               /* of a zombie, as for wait(2); 0 also if it is hidden */
};

/* Reads /proc/PID/stat. Returns false and sets errno: that of the open, or EIO for its content. */
bool procfile_stat(pid_t pid, struct procfile_stat *stat);

#endif
