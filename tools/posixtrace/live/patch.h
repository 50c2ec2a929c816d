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
 * Plans the functions and probes that the patterns select in the program and its libraries, and
 * prints how many can be patched and why others cannot, unless quiet. *path receives the plan's
 * path for the program's environment, in memory that remains; it exists as long as this process.
 * Returns false after it printed an error, also if nothing that one of the options selects can be
 * patched.
 */
bool patch_plan(struct patches *plan, const char *program, bool quiet, const char **path);

/* Returns whether the user selects functions or probes. */
static inline bool patch_is_wanted(const struct patches *plan)
{
	return plan->patterns || plan->probes.patterns;
}

/*
 * Plans the functions and probes of a process that has the preload library, and patches the
 * process. Prints the same as patch_plan().
 * Returns an exit status after it printed the reason; the code of the process is unchanged then.
 * inject_unpatch() restores it.
 */
int patch_process(struct patches *plan, pid_t pid, bool quiet);

#endif
