/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * patch.h - the options --function and --probe of record: plans patches for the program that it
 * starts.
 */
#ifndef POSIXTRACE_LIVE_PATCH_H
#define POSIXTRACE_LIVE_PATCH_H

#include <stdbool.h>

#include "functions/patches.h"

/*
 * Plans the functions and probes that the patterns select in the program and its libraries, and
 * prints how many can be patched and why others cannot, unless quiet. *path receives the plan's
 * path for the program's environment, in memory that remains; it exists as long as this process.
 * Returns false after it printed an error, also if nothing that one of the options selects can be
 * patched.
 */
bool patch_plan(struct patches *plan, const char *program, bool quiet, const char **path);

#endif
