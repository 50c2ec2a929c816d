/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * search.h - files that a program may load while it runs, such as plugins and modules of Python.
 *
 * Only names are read. Links to folders are not followed, and the number of names is limited, so
 * that a search needs a fraction of a second.
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
 * LD_LIBRARY_PATH and PYTHONPATH. If a pattern has no file there, it also searches the folders of
 * the program. If a pattern still has no file, it also searches ~/.local/lib and the folders of the
 * system. argv is that of the program and includes its file. Returns false if memory is lacking.
 */
bool search_files(struct search *search, const char *program, char *const argv[]);

/*
 * Does the same for a process, with its arguments, current folder and environment. A part that
 * cannot be read counts as empty.
 */
bool search_files_of_process(struct search *search, pid_t pid);

#endif
