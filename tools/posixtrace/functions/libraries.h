/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libraries.h - the files that a program consists of. */
#ifndef POSIXTRACE_FUNCTIONS_LIBRARIES_H
#define POSIXTRACE_FUNCTIONS_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct libraries {
	char **path;
	size_t count;
};

/*
 * Finds the file of a program as execvp(3) does, and the libraries that the dynamic linker would
 * load. If the program is a script, the file is the script's interpreter. The file of the program
 * is the first in the list. The function does not execute the program. Returns false after it
 * printed an error.
 */
bool libraries_of_program(struct libraries *libraries, const char *name);

/*
 * Adds a shared object that a program may load, and the libraries that it needs, as the dynamic
 * linker of the program would find them. Returns false if memory is lacking.
 */
bool libraries_of_object(struct libraries *libraries, const char *program, const char *object);

/* Adds a copy of a path, once. Returns false if memory is lacking. */
bool libraries_add(struct libraries *libraries, const char *path);

/* Finds the files that a process has mapped with code. Returns 0 or an error number. */
int libraries_of_process(struct libraries *libraries, pid_t pid);

/*
 * Finds the file of a program, by the variable PATH if its name has no slash. Stores the real path,
 * because the dynamic linker searches libraries relative to it. "path" has PATH_MAX bytes. Returns
 * false, with errno, if no folder of PATH has the file, or if the path is too long. If the name has
 * a slash, the function does not check whether the file exists.
 */
bool libraries_find_program(const char *name, char *path);

/* Frees the paths and makes the list empty. */
void libraries_fini(struct libraries *libraries);

#endif
