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

/* Prints one line: how many functions are traced, and for each reason how many are not. */
static void say_plan(struct patches *plan)
{
	static struct out err = { .fd = STDERR_FILENO };

	if (plan->reasons)
		qsort(plan->reason, plan->reasons, sizeof(*plan->reason), by_count);
	out_printf(&err, "posixtrace: --function: %zu function%s traced", plan->functions,
		   plan->functions == 1 ? " is" : "s are");
	if (plan->refused)
		out_printf(&err, ", %zu refused:", plan->refused);
	for (size_t i = 0; i < plan->reasons; i++)
		out_printf(&err, "%s %zu (%s)", i ? "," : "", plan->reason[i].count,
			   plan->reason[i].why);
	out_char(&err, '\n');
	out_flush(&err);
}

static bool has_path(const struct libraries *libraries, const char *path)
{
	for (size_t i = 0; i < libraries->count; i++)
		if (!strcmp(libraries->path[i], path))
			return true;
	return false;
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
	/* A module that a pattern names by its path may be executed or loaded later. */
	for (size_t i = 0; i < plan->patterns && good; i++) {
		const char *path = plan->pattern[i].module;

		if (path && strchr(path, '/') && !access(path, R_OK) &&
		    !has_path(&libraries, path))
			good = patches_file(plan, path);
	}
	libraries_fini(&libraries);
	if (!good)
		say("--function: %s", strerror(ENOMEM));
	return good;
}

bool patch_plan(struct patches *plan, const char *program, bool quiet, const char **path)
{
	char *made;
	int fd;

	if (!plan_all(plan, program))
		return false;
	if (!plan->functions && !plan->refused) {
		say("--function: no function of %s and its libraries matches", program);
		return false;
	}
	if (!quiet || !plan->functions)
		say_plan(plan);
	if (!plan->functions)
		return false;
	fd = patches_write(plan);
	if (fd < 0 || asprintf(&made, "/proc/%d/fd/%d", (int)getpid(), fd) < 0) {
		say("--function: %s", strerror(errno));
		return false;
	}
	*path = made;
	return true;
}
