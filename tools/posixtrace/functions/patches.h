/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * patches.h - the functions that a user selects, and the plan of their patches for the shim.
 */
#ifndef POSIXTRACE_FUNCTIONS_PATCHES_H
#define POSIXTRACE_FUNCTIONS_PATCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/option.h"
#include "functions/described.h"
#include "functions/patchable.h"
#include "functions/probes.h"
#include "functions/traps.h"

struct patches_pattern {
	/* for names of functions, either the linker's names or their C++ forms */
	char *glob;
	const char *module; /* a glob of the name or path of the file; NULL: every file */
	bool is_matched;    /* a function matches, which may be refused */
	bool is_awaited;    /* no loaded file matches the module */
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
	unsigned vectors;           /* the longest vector registers that a planned file uses */
	size_t functions;           /* sites that record events */
	struct patches_refusals refused, refused_probes;
	struct probes probes;
	struct described described; /* functions with arguments */
	/* functions that the kernel records; they are counted in the member "functions", too */
	struct traps traps;
	/*
	 * All files that were planned, also those without sites, with their real paths and their
	 * sites.
	 */
	struct patches_file {
		char *path;
		size_t first, sites;
		bool is_stripped;
	} *file;
	/*
	 * "linked" is the number of files that the program has at its start. They are the first
	 * files in the array.
	 */
	size_t files, linked;
	/* 1 + the descriptor that open_calls_make() has returned; 0: no descriptor */
	int open_file;
	bool is_later;              /* the patterns belong to another plan */
	/* --function or --probe has a pattern for a file that the program has not loaded yet */
	bool waits_for_functions, waits_for_probes;
};

/*
 * The rows for --function, --args and --probe. Their values are above those of the commands' own
 * options.
 */
extern const struct option_row patches_rows[];

/*
 * Processes an option. Returns 1 if the option was processed, 0 if it is not one of patches_rows,
 * or -1 after an error was printed.
 */
int patches_take_option(struct patches *plan, int option, const char *arg);

/*
 * Plans the selected functions and probes of a file. If no function of the file can ever be
 * patched, its functions are counted as refused only for patterns that name the file. Returns false
 * if memory is lacking.
 */
bool patches_file(struct patches *plan, const char *path);

/*
 * Returns whether the path or the name of a file matches this pattern of modules; NULL matches
 * every file.
 */
bool patches_is_of(const char *module, const char *path);

/*
 * Returns whether a pattern selects functions or probes of a file that a process has loaded later.
 * If by_name is true, only patterns that name the module count. The libraries of libposixtrace are
 * never selected.
 */
bool patches_selects_file(const struct patches *plan, const char *path, bool by_name);

/*
 * Begins an empty plan for files that are loaded later. The new plan "later" uses the patterns of
 * "plan", which must exist as long as "later".
 */
void patches_later(struct patches *later, const struct patches *plan);

/* Returns the file with this real path, or NULL if it was not planned. */
const struct patches_file *patches_find_file(const struct patches *plan, const char *path);

/* Completes the plan after the last file. Returns false after it printed an error. */
bool patches_finish(struct patches *plan);

/*
 * Returns the descriptor of a memory file with the plan, which execve(2) closes. After an error,
 * returns -1 and sets errno.
 */
int patches_write(const struct patches *plan);

/* Frees the plan. The plan may be incomplete. */
void patches_fini(struct patches *plan);

/*
 * Returns whether a glob matches the linker's name of a function, or the C++ form of this name. A
 * function without a symbol, whose name begins with a plus sign, matches only globs that begin with
 * this sign.
 */
bool patches_matches(const char *glob, const char *name);

#endif
