/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* folded_stacks.h - folded call stacks of samples and calls, for the format folded. */
#ifndef POSIXTRACE_CONVERT_VIEWER_FOLDED_STACKS_H
#define POSIXTRACE_CONVERT_VIEWER_FOLDED_STACKS_H

#include "convert/format.h"

struct folded_stacks;

extern const struct option_row folded_stacks_rows[];

/*
 * Stores a new object in *stacks, or NULL if the option --stacks was not given. This function and
 * the next two return 0 or an error number.
 */
int folded_stacks_open(struct fmt_flow *flow, const struct fmt_output *output,
		       struct folded_stacks **stacks);
/*
 * Keeps a stack for later events. Counts the event if its type matches --stacks and it has a stack.
 */
int folded_stacks_event(struct folded_stacks *stacks, const struct fmt_event *event);
/* Writes the lines. */
int folded_stacks_end(struct folded_stacks *stacks);
/* "stacks" may be NULL. */
void folded_stacks_close(struct folded_stacks *stacks);

#endif
