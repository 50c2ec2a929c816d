/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * patch.c - plans the patches of a program before record starts it, or of a process that runs.
 */
#include "live/patch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/out.h"
#include "base/say.h"
#include "base/tool.h"
#include "functions/libraries.h"
#include "inject/inject.h"
#include "live/preload.h"
#include "live/process.h"

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

/* Plans all these files and those of patterns. Returns false after it printed an error. */
static bool plan_all(struct patches *plan, struct libraries *libraries)
{
	bool good = true;

	for (size_t i = 0; i < libraries->count && good; i++)
		good = patches_file(plan, libraries->path[i]);
	for (size_t i = 0; i < plan->patterns && good; i++)
		good = plan_module(plan, libraries, plan->pattern[i].module);
	for (size_t i = 0; i < plan->probes.patterns && good; i++)
		good = plan_module(plan, libraries, plan->probes.pattern[i].module);
	libraries_fini(libraries);
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

/*
 * Prints the plan and returns a descriptor of it, -1 after an error or if a kind that the user
 * selects has nothing that can be patched.
 */
static int finish_plan(struct patches *plan, const char *program, bool quiet)
{
	bool is_empty = (plan->patterns && !plan->functions) ||
			(plan->probes.patterns && !plan->probes.places);
	int fd;

	if (has_no_match(plan, program))
		return -1;
	if (!quiet || is_empty)
		say_plan(plan);
	if (is_empty)
		return -1;
	fd = patches_write(plan);
	if (fd < 0)
		say("the plan of functions and probes: %s", strerror(errno));
	return fd;
}

bool patch_plan(struct patches *plan, const char *program, bool quiet, const char **path)
{
	struct libraries libraries;
	char *made;
	int fd = -1;

	if (libraries_of_program(&libraries, program) && plan_all(plan, &libraries))
		fd = finish_plan(plan, program, quiet);
	if (fd < 0)
		return false;
	if (asprintf(&made, "/proc/%d/fd/%d", (int)getpid(), fd) < 0) {
		say("%s", strerror(ENOMEM));
		close(fd);
		return false;
	}
	*path = made;
	return true;
}

/* Maps the plan and carries it out in the process. Returns an exit status. */
static int carry_out(pid_t pid, int fd)
{
	struct inject_plan inject = { .library = preload_path() };
	off_t bytes = lseek(fd, 0, SEEK_END);
	int status = TOOL_FAILURE;
	void *memory;
	size_t jumps;

	if (!inject.library)
		return TOOL_FAILURE;
	memory = bytes > 0 ? mmap(NULL, (size_t)bytes, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
	if (memory == MAP_FAILED) {
		say("the plan of functions and probes: %s", strerror(errno));
		return TOOL_FAILURE;
	}
	inject.plan = memory;
	inject.bytes = (size_t)bytes;
	status = inject_patch(pid, &inject, &jumps);
	if (!status && !jumps) {
		say("process %d: none of its functions and probes can be patched: its code in "
		    "memory is not that of the files, or there is no memory near it", (int)pid);
		status = TOOL_FAILURE;
	}
	munmap(memory, (size_t)bytes);
	return status;
}

int patch_process(struct patches *plan, pid_t pid, bool quiet)
{
	struct libraries libraries;
	char program[32];
	int fd = -1, err = libraries_of_process(&libraries, pid), status;

	if (err) {
		libraries_fini(&libraries);
		return process_say_why(pid, err);
	}
	snprintf(program, sizeof(program), "process %d", (int)pid);
	if (plan_all(plan, &libraries))
		fd = finish_plan(plan, program, quiet);
	if (fd < 0)
		return TOOL_FAILURE;
	status = carry_out(pid, fd);
	close(fd);
	return status;
}
