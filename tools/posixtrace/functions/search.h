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

#include "functions/libraries.h"

/* The folders that were searched already, and how many names may still be read. */
struct search {
	char **folder;
	size_t folders;
	size_t names;
	struct libraries *found; /* gets the files */
	const char *const *glob; /* patterns of names or paths */
	size_t globs;
};

/*
 * Adds the files that match a pattern to search->found, by their real paths: among the arguments of
 * the program, in their folders and the current one, and in those of LD_LIBRARY_PATH and
 * PYTHONPATH. If a pattern has no file there, it searches the folders of the program, and if that
 * finds none, ~/.local/lib and the system's. argv is that of the program, its file included.
 * Returns false without memory.
 */
bool search_files(struct search *search, const char *program, char *const argv[]);

#endif
