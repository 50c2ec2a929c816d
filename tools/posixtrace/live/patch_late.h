/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * patch_late.h - the options --function and --probe for libraries that a process loads later.
 *
 * If a process has only one thread, it patches by itself the libraries that are in its plan. This
 * file notices all other libraries some milliseconds after dlopen(). It then patches them from
 * outside, as in a process that ran before the trace. Calls of their functions before that are not
 * recorded.
 */
#ifndef POSIXTRACE_LIVE_PATCH_LATE_H
#define POSIXTRACE_LIVE_PATCH_LATE_H

#include "functions/patches.h"
#include "inject/watch.h"

#define PATCH_LATE_LOOK_MS 20 /* between two looks */

struct patch_late {
	const struct patches *plan; /* has the patterns; NULL: no library is patched */
	bool quiet;
	/*
	 * The shim has a plan from the start of the program. It patches the modules of this plan
	 * itself.
	 */
	bool has_plan;
	struct patch_late_process *process;
	size_t processes;
	int64_t members_ns;         /* when the members of the stream were looked up */
};

/*
 * Begins to watch the process pid, and all members of the stream that the caller's process has
 * created. is_started is true if pid is started with the plan, and false if pid was patched while
 * it ran.
 */
void patch_late_begin(struct patch_late *late, const struct patches *plan, pid_t pid,
		      bool is_started, bool quiet);

/*
 * Patches the libraries that were loaded since the last call, which may take a second. The function
 * must be called from time to time.
 */
void patch_late_look(struct patch_late *late);
void patch_late_end(struct patch_late *late);

#endif
