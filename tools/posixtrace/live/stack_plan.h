/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stack_plan.h - the option --stack of record and attach, which selects the events that have a call
 * stack.
 */
#ifndef POSIXTRACE_LIVE_STACK_PLAN_H
#define POSIXTRACE_LIVE_STACK_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/option.h"

struct stack_plan {
	const char **glob; /* patterns of event types, in the array of the command line */
	size_t globs;      /* 0: no stacks */
	size_t bytes;      /* number of bytes of a stack that are copied; 0: the default */
};

/* The options. Their values are above the values in the commands and in kernel_rows. */
extern const struct option_row stack_rows[];

/*
 * Processes an option. Returns 1 if the option was processed, 0 if it is not one of stack_rows, or
 * -1 after an error was printed.
 */
int stack_take_option(struct stack_plan *plan, int option, const char *arg);

/* Returns whether events of the type have a stack. */
bool stack_is_planned(const struct stack_plan *plan, const char *type);

/*
 * Adds the plan to the list of preload_take_families(), from which the preload library reads it. If
 * *families is NULL, the list has the default families. The events of the capture become longer,
 * and the stream becomes larger, unless the user gave its size. Returns false after it printed an
 * error.
 */
struct capture_plan;
bool stack_add(const struct stack_plan *plan, const char **families, struct capture_plan *capture);

#endif
