/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * patches.h - the functions that a user selects, and the plan of their patches for the shim.
 */
#ifndef POSIXTRACE_FUNCTIONS_PATCHES_H
#define POSIXTRACE_FUNCTIONS_PATCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "functions/patchable.h"
#include "functions/probes.h"

struct patches_pattern {
	char *glob;         /* of names, as the linker or as C++ has them */
	const char *module; /* of the name or path of the file; NULL: every file */
};

/* The reasons for refusals, with their numbers. */
struct patches_refusals {
	struct patches_reason {
		const char *why;
		size_t count;
	} *reason;
	size_t reasons, count;
};

struct patches {
	struct patches_pattern *pattern;
	size_t patterns;
	struct shim_plan_module *module;
	size_t modules;
	struct shim_plan_site *site;
	size_t sites;
	unsigned vectors;           /* the longest registers that a planned file uses */
	size_t functions;           /* sites that record events */
	struct patches_refusals refused, refused_probes;
	struct probes probes;
	/* All files that were planned, also those without sites: real paths, and their sites. */
	struct patches_file {
		char *path;
		size_t first, sites;
	} *file;
	size_t files, linked;       /* the first ones are those with which the program starts */
	bool is_later;              /* the patterns are those of another plan */
};

/* Adds a value of --function, GLOB or GLOB@MODULE. Returns false after it printed an error. */
bool patches_add(struct patches *plan, const char *text);

/*
 * Plans the selected functions and probes of a file. A file of which no function can be patched is
 * noted only if a pattern names it. Returns false without memory.
 */
bool patches_file(struct patches *plan, const char *path);

/*
 * Returns whether a file, by its path or its name, has this pattern of modules; NULL: every file.
 */
bool patches_is_of(const char *module, const char *path);

/*
 * Begins an empty plan with the patterns of another one, which must remain as long as this one: for
 * files that are loaded later.
 */
void patches_later(struct patches *later, const struct patches *plan);

/* Returns a file by its real path; NULL: it was not planned. */
const struct patches_file *patches_find_file(const struct patches *plan, const char *path);

/* Completes the plan after the last file. Returns false after it printed an error. */
bool patches_finish(struct patches *plan);

/*
 * Returns a descriptor of a memory file with the plan, closed by execve(2); -1 and errno after an
 * error.
 */
int patches_write(const struct patches *plan);

/* Frees the plan, also one that is not complete. */
void patches_fini(struct patches *plan);

/* Returns whether a function's name matches a glob, as it is or as C++ has it. */
bool patches_matches(const char *glob, const char *name);

#endif
