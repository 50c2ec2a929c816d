/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stack_plan.h - the option --stack of record and attach: which events have a call stack. */
#ifndef POSIXTRACE_LIVE_STACK_PLAN_H
#define POSIXTRACE_LIVE_STACK_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/option.h"

struct stack_plan {
	const char **glob; /* patterns of event types, in the array of the command line */
	size_t globs;      /* 0: no stacks */
	size_t bytes;      /* of a stack that are copied; 0: the default */
};

/* The options. Their values are above those of the commands and of kernel_rows. */
extern const struct option_row stack_rows[];

/* Processes an option: 1 done, 0 it is not of stack_rows, -1 after an error was printed. */
int stack_take_option(struct stack_plan *plan, int option, const char *arg);

/* Returns whether events of the type have a stack. */
bool stack_is_planned(const struct stack_plan *plan, const char *type);

/*
 * Adds the plan to the list of families, which is NULL for the default ones; the preload library
 * reads it there. The events of the capture become longer, and the stream gets room for them unless
 * the user gave it a size. Returns false after an error was printed.
 */
struct capture_plan;
bool stack_add(const struct stack_plan *plan, const char **families, struct capture_plan *capture);

#endif
