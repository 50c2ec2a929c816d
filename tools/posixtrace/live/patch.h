/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * patch.h - the options --function and --probe: patches of the program that record starts, and of a
 * process that runs.
 */
#ifndef POSIXTRACE_LIVE_PATCH_H
#define POSIXTRACE_LIVE_PATCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "functions/patches.h"

/*
 * Plans the functions and probes that the patterns select in the program and its libraries. A
 * pattern with a module that the program does not have selects files that the program may load
 * later. If the function finds such a file now, the plan has it; patch_late.h patches the others.
 * *path receives the path of the plan for the program's environment, in memory that is never freed.
 * The plan exists as long as this process. *path remains as it was if there is nothing to patch
 * yet. Returns false after it printed an error. It is also an error if one of the options selects
 * nothing that can be patched.
 */
bool patch_plan(struct patches *plan, char *const argv[], const char **path);

/*
 * Prints how many functions and probes of a plan are traced, and why others are not. "where" is ""
 * or " of FILE".
 */
void patch_say(struct patches *plan, const char *where);
/*
 * Prints the same for the plan of patch_plan() or patch_process(), and the files for which the plan
 * waits. Must be called after the trace has begun: if it fails to begin, nothing is traced. Prints
 * nothing if the user selects no functions and probes, or if "quiet" is true.
 */
void patch_say_begun(struct patches *plan, bool quiet);

/*
 * Writes a plan into the process and carries it out. *jumps receives the number of places that are
 * patched now. Returns an exit status. The function prints all errors.
 */
int patch_carry_out(const struct patches *plan, pid_t pid, size_t *jumps);

/* Returns whether the user selects functions or probes. */
static inline bool patch_is_wanted(const struct patches *plan)
{
	return plan->patterns || plan->probes.patterns;
}

/*
 * Plans the functions and probes of a process that has the preload library, and patches the
 * process. If it returns TOOL_OK, inject_unpatch() must later restore the code of the process. If
 * it fails, it prints the error, leaves the code unchanged, and returns another exit status.
 */
int patch_process(struct patches *plan, pid_t pid);

#endif
