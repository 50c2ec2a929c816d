/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * inject.h - loads the preload library into a process that runs already, so that its calls of the C
 * library can be traced, and detaches it.
 *
 * DESIGN explains why this is safe. If this program is killed at any moment, the process continues
 * as if nothing had happened. After inject_end() the library remains loaded, but no call reaches
 * it.
 */
#ifndef POSIXTRACE_INJECT_INJECT_H
#define POSIXTRACE_INJECT_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct inject {
	pid_t pid;
	bool is_attached;    /* inject_end() has something to do */
	const char *library;
};

/*
 * Returns whether inject_begin() may have something to do. Returns false for a process that is
 * linked with libposixtrace, and for a process that cannot be examined.
 */
bool inject_is_needed(pid_t pid);

/*
 * Loads the library and redirects the calls of these families, a list as for record --trace. Does
 * nothing if the process uses libposixtrace already, linked or preloaded. Returns TOOL_OK. If it
 * fails, prints the reason, leaves the process unchanged and returns TOOL_FAILURE. "library" is an
 * absolute path. Both strings must exist until inject_end().
 */
int inject_begin(struct inject *inject, pid_t pid, const char *library, const char *families);

/*
 * The function is for a process of which the user requests no calls. It warns if the process
 * nevertheless records the data of calls.
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
 * function loads it first. All threads are stopped for a moment. Stores the number of places to be
 * patched, including places that record no event and only serve others. Returns TOOL_OK. If it
 * fails, prints the reason, leaves the code of the process unchanged and returns TOOL_FAILURE.
 */
int inject_patch(pid_t pid, const struct inject_plan *plan, size_t *jumps);

/*
 * Restores the code of the process. The function must be called after inject_end(). It prints a
 * message if the code cannot be restored. Does nothing if the process has no patches, or another
 * tracer is attached to it.
 */
void inject_unpatch(pid_t pid);

/*
 * Restores the process, unless another tracer has a stream of it. The function must be called after
 * the stream was shut down. It prints a message if the process could not be restored. Does nothing
 * if the process has ended or executes another program.
 */
void inject_end(struct inject *inject);

#endif
