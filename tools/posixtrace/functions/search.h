/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * search.h - files that a program may load while it runs, such as plugins and modules of Python.
 *
 * A search reads only names, does not follow links to folders, and limits the number of names. So
 * it needs only a fraction of a second.
 */
#ifndef POSIXTRACE_FUNCTIONS_SEARCH_H
#define POSIXTRACE_FUNCTIONS_SEARCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "functions/libraries.h"

/* The folders that were searched already, and how many names may still be read. */
struct search {
	char **folder;
	size_t folders;
	size_t names;
	struct libraries *found; /* gets the files */
	const char *const *glob; /* patterns of names or paths */
	size_t globs;
	const char *here; /* the current folder of the program */
	/* the variables LD_LIBRARY_PATH, PYTHONPATH and HOME of the program; NULL: not set */
	const char *library_path, *python_path, *home;
};

/*
 * Adds the files that match a pattern to search->found, by their real paths. The function searches
 * the arguments of the program, their folders, the current folder, and the folders of
 * LD_LIBRARY_PATH and PYTHONPATH. If a pattern has no file in them, the function also searches the
 * folders of the program. If a pattern still has no file, the function also searches ~/.local/lib
 * and the folders of the system. "argv" has the arguments of the program, including its file.
 * Returns false if memory is lacking.
 */
bool search_files(struct search *search, const char *program, char *const argv[]);

/*
 * Like search_files(), for a running process with its arguments, current folder and environment. If
 * one of these cannot be read, it counts as empty.
 */
bool search_files_of_process(struct search *search, pid_t pid);

#endif
