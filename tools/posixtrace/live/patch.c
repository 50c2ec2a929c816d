/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* patch.c - plans the patches of a program before record starts it. */
#include "live/patch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "base/say.h"
#include "functions/libraries.h"

/* The most frequent reason first. */
static int by_count(const void *a, const void *b)
{
	const struct patches_reason *x = a, *y = b;

	return x->count < y->count ? 1 : x->count > y->count ? -1 : strcmp(x->why, y->why);
}

/* Prints the end of a line: for each reason how many functions or probes are not traced. */
static void say_refused(struct out *err, struct patches_refusals *refused)
{
	if (refused->reasons)
		qsort(refused->reason, refused->reasons, sizeof(*refused->reason), by_count);
	if (refused->count)
		out_printf(err, ", %zu refused:", refused->count);
	for (size_t i = 0; i < refused->reasons; i++)
		out_printf(err, "%s %zu (%s)", i ? "," : "", refused->reason[i].count,
			   refused->reason[i].why);
	out_char(err, '\n');
}

/* Prints a line for each kind: how many functions and probes are traced, and how many are not. */
static void say_plan(struct patches *plan)
{
	static struct out err = { .fd = STDERR_FILENO };
	size_t places = plan->probes.places, types = plan->probes.types;

	if (plan->patterns) {
		out_printf(&err, "posixtrace: --function: %zu function%s traced", plan->functions,
			   plan->functions == 1 ? " is" : "s are");
		say_refused(&err, &plan->refused);
	}
	if (plan->probes.patterns) {
		out_printf(&err, "posixtrace: --probe: %zu probe%s traced at %zu place%s", types,
			   types == 1 ? " is" : "s are", places, places == 1 ? "" : "s");
		say_refused(&err, &plan->refused_probes);
	}
	out_flush(&err);
}

static bool has_path(const struct libraries *libraries, const char *path)
{
	for (size_t i = 0; i < libraries->count; i++)
		if (!strcmp(libraries->path[i], path))
			return true;
	return false;
}

/*
 * Plans a file that a pattern names by its path: it may be executed or loaded later. Returns false
 * without memory.
 */
static bool plan_module(struct patches *plan, const struct libraries *libraries, const char *path)
{
	return !path || !strchr(path, '/') || access(path, R_OK) || has_path(libraries, path) ||
	       patches_file(plan, path);
}

/* Plans all files of the program. Returns false after it printed an error. */
static bool plan_all(struct patches *plan, const char *program)
{
	struct libraries libraries;
	bool good = true;

	if (!libraries_of_program(&libraries, program))
		return false;
	for (size_t i = 0; i < libraries.count && good; i++)
		good = patches_file(plan, libraries.path[i]);
	for (size_t i = 0; i < plan->patterns && good; i++)
		good = plan_module(plan, &libraries, plan->pattern[i].module);
	for (size_t i = 0; i < plan->probes.patterns && good; i++)
		good = plan_module(plan, &libraries, plan->probes.pattern[i].module);
	libraries_fini(&libraries);
	if (!good)
		say("%s", strerror(ENOMEM));
	return good && patches_finish(plan);
}

/* Returns whether a kind that the user selects has no match at all, after it printed that. */
static bool has_no_match(const struct patches *plan, const char *program)
{
	if (plan->patterns && !plan->functions && !plan->refused.count) {
		say("--function: no function of %s and its libraries matches", program);
		return true;
	}
	if (plan->probes.patterns && !plan->probes.places && !plan->refused_probes.count) {
		say("--probe: no probe of %s and its libraries matches; list --probes lists those "
		    "of a file",
		    program);
		return true;
	}
	return false;
}

bool patch_plan(struct patches *plan, const char *program, bool quiet, const char **path)
{
	bool is_empty;
	char *made;
	int fd;

	if (!plan_all(plan, program))
		return false;
	if (has_no_match(plan, program))
		return false;
	is_empty = (plan->patterns && !plan->functions) ||
		   (plan->probes.patterns && !plan->probes.places);
	if (!quiet || is_empty)
		say_plan(plan);
	if (is_empty)
		return false;
	fd = patches_write(plan);
	if (fd < 0 || asprintf(&made, "/proc/%d/fd/%d", (int)getpid(), fd) < 0) {
		say("the plan of functions and probes: %s", strerror(errno));
		return false;
	}
	*path = made;
	return true;
}
