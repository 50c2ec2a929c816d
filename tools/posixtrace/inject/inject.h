/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * inject.h - loads the preload library into a process that runs already, and detaches it. The
 * library traces the calls of the C library that the process makes.
 *
 * DESIGN explains why this is safe. If this program is killed at any moment, the process continues
 * as if nothing had happened. After inject_end() the library remains loaded, but no call leads to
 * it.
 */
#ifndef POSIXTRACE_INJECT_INJECT_H
#define POSIXTRACE_INJECT_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct inject {
	pid_t pid;
	bool is_attached;    /* inject_end() must detach the library */
	/* EACCES or EPERM: the kernel refuses to show the process, so nothing is known; else 0 */
	int refused;
	const char *library;
};

/*
 * Returns whether inject_begin() may have to load the library or redirect calls. Returns false for
 * a process that is linked with libposixtrace, and for a process that cannot be examined.
 */
bool inject_is_needed(pid_t pid);

/*
 * Loads the library and redirects the calls of these families, a list as for record --trace. Does
 * nothing if the process uses libposixtrace already, linked or preloaded. If the kernel refuses to
 * show the process, sets inject->refused and prints nothing. Returns TOOL_OK. After a failure,
 * prints the reason, leaves the process unchanged and returns TOOL_FAILURE. "library" is an
 * absolute path. Both strings must exist until inject_end().
 */
int inject_begin(struct inject *inject, pid_t pid, const char *library, const char *families);

/*
 * The command calls this function if the user requests no calls of the process. Warns if the
 * process nevertheless records the data of calls.
 */
void inject_look(pid_t pid);

/* A plan of functions and probes: lib/preload/patch_plan.h. */
struct inject_plan {
	const void *plan;
	size_t bytes;
	const char *library; /* an absolute path */
};

/*
 * Patches functions and probes of the process. If the process does not have the library yet, this
 * function loads the library first. The function stops all threads for a moment. It stores in
 * *jumps the number of places to be patched, including places that record no event and only serve
 * other places. Returns TOOL_OK. After a failure, prints the reason, leaves the code of the process
 * unchanged and returns TOOL_FAILURE.
 */
int inject_patch(pid_t pid, const struct inject_plan *plan, size_t *jumps);

/*
 * Restores the code of the process. The caller must call inject_end() before. Prints a message if
 * the code cannot be restored. Does nothing if the process has no patches, or if another tracer is
 * attached to the process.
 */
void inject_unpatch(pid_t pid);

/*
 * Restores the process, unless another tracer has a stream of this process. The caller must have
 * shut down its own stream. Prints a message if the process could not be restored. Does nothing if
 * the process has ended or executes another program.
 */
void inject_end(struct inject *inject);

#endif
