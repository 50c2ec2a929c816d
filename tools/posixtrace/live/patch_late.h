/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * patch_late.h - the options --function and --probe for libraries that a process loads later.
 *
 * A process patches those of its plan itself if it has one thread. All others are noticed here,
 * some milliseconds after dlopen(), and patched as those of a process that runs already. Calls
 * before that are not recorded.
 */
#ifndef POSIXTRACE_LIVE_PATCH_LATE_H
#define POSIXTRACE_LIVE_PATCH_LATE_H

#include "functions/patches.h"
#include "inject/watch.h"

#define PATCH_LATE_LOOK_MS 20 /* between two looks */

struct patch_late {
	const struct patches *plan; /* its patterns; NULL: nothing is looked for */
	bool quiet;
	/* Has the shim a plan from its start? Its modules are left to the shim. */
	bool has_plan;
	struct patch_late_process *process;
	size_t processes;
	int64_t members_ns;         /* when the members of the stream were looked up */
};

/*
 * Begins to watch a process, and all members of this process's stream. is_started: the process is
 * started with the plan; else it was patched when it ran.
 */
void patch_late_begin(struct patch_late *late, const struct patches *plan, pid_t pid,
		      bool is_started, bool quiet);

/*
 * To be called from time to time: patches libraries that were loaded since. It may take a second.
 */
void patch_late_look(struct patch_late *late);
void patch_late_end(struct patch_late *late);

#endif
