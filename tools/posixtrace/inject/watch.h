/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * watch.h - detects whether a process with the preload library has loaded other libraries.
 *
 * The functions do not stop or change the process. They only read its memory.
 */
#ifndef POSIXTRACE_INJECT_WATCH_H
#define POSIXTRACE_INJECT_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct inject_watch {
	int memory;              /* -1: there is none */
	uint64_t jumps;          /* address of posixtrace_shim_jumps */
	/* the counts at the last check (lib/preload/patch_plan.h) */
	uint64_t count, opened, missed;
};

/*
 * Begins to watch a process, and opens its memory. Returns false if the process does not have the
 * library yet, or cannot be examined.
 */
bool inject_watch_begin(struct inject_watch *watch, pid_t pid);
/* Closes the descriptor. */
void inject_watch_end(struct inject_watch *watch);

enum inject_seen {
	INJECT_SAME,
	INJECT_OPENED, /* the process has called dlopen() since the last look */
	/*
	 * since the last look, the process has opened a library and could not patch it by the plan
	 */
	INJECT_MISSED,
	INJECT_GONE    /* the process has ended, or executes another program */
};
/* Returns the most important change since the last look. This needs one read of the memory. */
enum inject_seen inject_watch_look(struct inject_watch *watch);

/* Returns whether a look would return INJECT_GONE. */
bool inject_watch_is_gone(const struct inject_watch *watch);

/*
 * Returns an address at which a jump was written but is no longer in the code, because the library
 * was loaded again at the same place. Returns 0 if there is no such address.
 */
uint64_t inject_watch_lost(const struct inject_watch *watch);

/*
 * Returns whether the process has patched a module itself. In this case the memory at one of the
 * module's first sites has other bytes than the file. "begin" is the address at which the module's
 * first mapping begins.
 */
struct shim_plan_site;
bool inject_watch_is_patched(const struct inject_watch *watch, uint64_t begin,
			     const struct shim_plan_site *site, size_t sites);

#endif
