/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * patch.c - plans the patches of a program before record starts it, or of a process that runs.
 */
#include "live/patch.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/out.h"
#include "base/path.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"
#include "functions/libraries.h"
#include "functions/search.h"
#include "functions/unmatched.h"
#include "inject/inject.h"
#include "live/open_calls.h"
#include "live/preload.h"
#include "live/process.h"

#define UNWINDER "libgcc_s.so.1"

/* Compares two reasons, for qsort(): the most frequent reason comes first. */
static int by_count(const void *a, const void *b)
{
	const struct patches_reason *x = a, *y = b;

	return x->count < y->count ? 1 : x->count > y->count ? -1 : strcmp(x->why, y->why);
}

/*
 * Prints the end of a line: for each reason, the number of functions or probes that are not traced.
 * no_uprobes is the reason why the kernel does not trace them, or NULL.
 */
static void say_refused(struct out *err, struct patches_refusals *refused, const char *no_uprobes)
{
	if (refused->reasons)
		qsort(refused->reason, refused->reasons, sizeof(*refused->reason), by_count);
	if (refused->count)
		out_printf(err, ", %zu refused:", refused->count);
	for (size_t i = 0; i < refused->reasons; i++) {
		out_printf(err, "%s %zu (", i ? "," : "", refused->reason[i].count);
		text_safe(err, refused->reason[i].why, strlen(refused->reason[i].why));
		out_char(err, ')');
	}
	if (refused->count && no_uprobes)
		out_printf(err, "; no uprobes: %s", no_uprobes);
	out_char(err, '\n');
}

/*
 * The function prints a line for functions and a line for probes. A line has the number of
 * functions or probes that are traced, and the number of those that are not traced.
 */
void patch_say(struct patches *plan, const char *where)
{
	static struct out err = { .fd = STDERR_FILENO };
	size_t places = plan->probes.places, types = plan->probes.types;

	if (plan->patterns) {
		out_printf(&err, "posixtrace: --function: %zu function%s%s %s traced",
			   plan->functions, plan->functions == 1 ? "" : "s", where,
			   plan->functions == 1 ? "is" : "are");
		if (plan->traps.functions == plan->functions && plan->functions)
			out_str(&err, " by uprobes of the kernel");
		else if (plan->traps.functions)
			out_printf(&err, ", %zu by uprobes of the kernel", plan->traps.functions);
		if (plan->described.is_wanted)
			out_printf(&err, ", %zu with arguments or result",
				   plan->described.functions);
		if (plan->described.left_out)
			out_printf(&err, " (%zu more for which there is no event type)",
				   plan->described.left_out);
		say_refused(&err, &plan->refused, plan->traps.why);
	}
	if (plan->probes.patterns) {
		out_printf(&err, "posixtrace: --probe: %zu probe%s%s %s traced at %zu place%s",
			   types, types == 1 ? "" : "s", where, types == 1 ? "is" : "are", places,
			   places == 1 ? "" : "s");
		if (plan->traps.probes == places && places)
			out_str(&err, " by uprobes of the kernel");
		else if (plan->traps.probes)
			out_printf(&err, ", %zu by uprobes of the kernel", plan->traps.probes);
		say_refused(&err, &plan->refused_probes, NULL);
	}
	out_flush(&err);
}

static bool has_module(const struct libraries *libraries, const char *module)
{
	for (size_t i = 0; i < libraries->count; i++)
		if (patches_is_of(module, libraries->path[i]))
			return true;
	return false;
}

/*
 * Adds the library that unwinds the stack, next to the C library. Only C++ programs are linked with
 * it, but the C library loads it for pthread_exit() and for a cancellation, and the shim loads it
 * before it patches functions. The library has the hook of these ends of a thread. Returns false if
 * memory is lacking.
 */
static bool add_unwinder(struct libraries *libraries)
{
	for (size_t i = 0; i < libraries->count; i++) {
		const char *libc = libraries->path[i], *name = path_last(libc);
		char path[PATH_MAX];

		if (!strcmp(name, "libc.so.6") &&
		    snprintf(path, sizeof(path), "%.*s%s", (int)(name - libc), libc, UNWINDER) <
			    (int)sizeof(path) && !access(path, R_OK))
			return libraries_add(libraries, path);
	}
	return true;
}

/*
 * Adds a file. "argv" has the arguments of the program that is started. If it is not NULL, the
 * function also adds the libraries that the file needs, because hooks for exceptions may be in
 * those. argv is NULL if the kernel records the functions of a running process, for which a
 * breakpoint in the file is enough. Returns false if memory is lacking.
 */
static bool add_object(struct libraries *libraries, char *const argv[], const char *path)
{
	return argv ? libraries_of_object(libraries, argv[0], path) :
		      libraries_add(libraries, path);
}

/*
 * Finds files that the program may load later. Such a file matches the pattern of a module that the
 * program does not have yet. Adds each of them as add_object() does. A pattern that is a path needs
 * no search, because add_later() adds its file. Returns false if memory is lacking.
 */
static bool find_later(struct libraries *libraries, const char *const *module, size_t modules,
		       char *const argv[], pid_t pid)
{
	struct libraries found = { NULL, 0 };
	struct search search = { .found = &found, .glob = module, .globs = modules };
	char program[PATH_MAX];
	bool good = true;

	if (!argv)
		good = search_files_of_process(&search, pid);
	else if (libraries_find_program(argv[0], program))
		good = search_files(&search, program, argv);
	for (size_t i = 0; i < found.count && good; i++)
		good = add_object(libraries, argv, found.path[i]);
	libraries_fini(&found);
	return good;
}

/*
 * Adds the files for those patterns of modules that no file matches so far, and notes whether a
 * pattern still has no file. 'argv' has the arguments of the program that is started. If a running
 * process is traced, argv is NULL, and files are added only if the kernel shall record their
 * functions: breakpoints can be in a file that no process has mapped. Returns false if memory is
 * lacking.
 */
static bool add_later(struct patches *plan, struct libraries *libraries, char *const argv[],
		      pid_t pid)
{
	const bool is_ahead = argv || plan->traps.is_forced;
	size_t patterns = plan->patterns + plan->probes.patterns, count = 0;
	const char **module = calloc(patterns + 1, sizeof(*module));
	bool good = module;

	for (size_t i = 0; i < patterns && good; i++) {
		const char *name = i < plan->patterns ?
					   plan->pattern[i].module :
					   plan->probes.pattern[i - plan->patterns].module;

		if (!name || has_module(libraries, name))
			continue;
		if (is_ahead && strchr(name, '/') && !access(name, R_OK))
			good = add_object(libraries, argv, name);
		else
			module[count++] = name;
	}
	if (good && is_ahead && count)
		good = find_later(libraries, module, count, argv, pid);
	for (size_t i = 0; i < plan->patterns && good; i++) {
		struct patches_pattern *pattern = &plan->pattern[i];

		pattern->is_awaited = !has_module(libraries, pattern->module);
		plan->waits_for_functions |= pattern->is_awaited;
	}
	for (size_t i = 0; i < plan->probes.patterns && good; i++) {
		struct probes_pattern *pattern = &plan->probes.pattern[i];

		pattern->is_awaited = !has_module(libraries, pattern->module);
		plan->waits_for_probes |= pattern->is_awaited;
	}
	free(module);
	return good;
}

/*
 * Plans all files. The plans of files that are loaded later use the same memory file for active
 * calls. Returns false after it printed an error.
 */
static bool plan_all(struct patches *plan, struct libraries *libraries, char *const argv[],
		     pid_t pid)
{
	/* A running process has mapped this library after its first plan. Then it is planned. */
	bool good = !argv || !plan->patterns || has_module(libraries, UNWINDER) ||
		    add_unwinder(libraries);

	plan->linked = libraries->count;
	if (plan->patterns)
		plan->open_file = open_calls_make() + 1;
	good = good && add_later(plan, libraries, argv, pid);
	for (size_t i = 0; i < libraries->count && good; i++)
		good = patches_file(plan, libraries->path[i]);
	libraries_fini(libraries);
	if (!good)
		say("%s", strerror(ENOMEM));
	return good && patches_finish(plan);
}

/* If --function or --probe waits for a file that the program may load later, prints this. */
static void say_waits(const struct patches *plan)
{
	static const char text[] = "no loaded file has the name after @; tracing begins there "
				   "when the program loads one";

	if (plan->waits_for_functions)
		say("--function: %s", text);
	if (plan->waits_for_probes)
		say("--probe: %s", text);
}

/*
 * Prints the patterns of --function and --probe that match nothing. Returns false after it printed
 * that one of the two options has nothing that can be traced now or later.
 */
static bool accept_plan(struct patches *plan, const char *program)
{
	bool is_empty = (plan->patterns && !plan->functions && !plan->waits_for_functions) ||
			(plan->probes.patterns && !plan->probes.places && !plan->waits_for_probes);
	bool has_lines;

	/* The other names are traced, but the user must know of a mistyped one. */
	has_lines = unmatched_functions(plan, program);
	has_lines |= unmatched_probes(plan, program);
	if (is_empty && (!has_lines || plan->refused.count || plan->refused_probes.count))
		patch_say(plan, "");
	return !is_empty;
}

void patch_say_begun(struct patches *plan, bool quiet)
{
	if (!patch_is_wanted(plan) || quiet)
		return;
	patch_say(plan, "");
	say_waits(plan);
}

/* Returns a descriptor of the plan, or -1 after it printed an error. */
static int write_plan(const struct patches *plan)
{
	int fd = patches_write(plan);

	if (fd < 0)
		say("the list of functions and probes cannot be passed on: %s",
		    say_strerror(errno));
	return fd;
}

bool patch_plan(struct patches *plan, char *const argv[], const char **path)
{
	struct libraries libraries;
	char *made;
	int fd;

	if (!libraries_of_program(&libraries, argv[0]) || !plan_all(plan, &libraries, argv, 0) ||
	    !accept_plan(plan, argv[0]))
		return false;
	if (!plan->sites)
		return true;
	fd = write_plan(plan);
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

int patch_carry_out(const struct patches *plan, pid_t pid, size_t *jumps)
{
	struct inject_plan inject = { .library = preload_path() };
	int status = TOOL_FAILURE, fd = inject.library ? write_plan(plan) : -1;
	void *memory = MAP_FAILED;
	off_t bytes;

	if (fd < 0)
		return TOOL_FAILURE;
	bytes = lseek(fd, 0, SEEK_END);
	if (bytes > 0)
		memory = mmap(NULL, (size_t)bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	if (memory == MAP_FAILED) {
		say("the list of functions and probes cannot be passed on: %s",
		    say_strerror(errno));
		close(fd);
		return TOOL_FAILURE;
	}
	inject.plan = memory;
	inject.bytes = (size_t)bytes;
	status = inject_patch(pid, &inject, jumps);
	munmap(memory, (size_t)bytes);
	close(fd);
	return status;
}

int patch_process(struct patches *plan, pid_t pid)
{
	struct libraries libraries;
	char program[32];
	int err = libraries_of_process(&libraries, pid), status;
	size_t jumps;

	if (err) {
		libraries_fini(&libraries);
		return process_say_why(pid, err);
	}
	snprintf(program, sizeof(program), "process %d", (int)pid);
	if (!plan_all(plan, &libraries, NULL, pid) || !accept_plan(plan, program))
		return TOOL_FAILURE;
	if (!plan->sites)
		return TOOL_OK;
	status = patch_carry_out(plan, pid, &jumps);
	if (!status && !jumps) {
		say("process %d: none of its functions and probes can be traced: its code in "
		    "memory differs from the files, or there is no free memory near its code",
		    (int)pid);
		status = TOOL_FAILURE;
	}
	return status;
}
