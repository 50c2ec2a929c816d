/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* unmatched.h - reports patterns of functions and probes that select nothing. */
#ifndef POSIXTRACE_FUNCTIONS_UNMATCHED_H
#define POSIXTRACE_FUNCTIONS_UNMATCHED_H

#include <stdbool.h>

#include "functions/patches.h"

/*
 * Prints a line for each pattern of --function, or of --probe, that matches no function or probe of
 * the planned files, with the most similar name. A pattern for a file that is not loaded yet is
 * omitted. "program" names the program or process. Returns whether a line was printed.
 */
bool unmatched_functions(const struct patches *plan, const char *program);
bool unmatched_probes(const struct patches *plan, const char *program);

#endif
