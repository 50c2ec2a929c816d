/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * folded_stacks.c - writes a line for each distinct call stack of the chosen events. The line has
 * the functions from the outermost to the innermost, and the number of events with this stack or
 * the time of their calls.
 */
#include "convert/viewer/folded_stacks.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nameset.h"
#include "base/vec.h"
#include "convert/viewer/fold.h"
#include "log/stacks.h"

const struct option_row folded_stacks_rows[] = {
	{ "stacks", FMT_OPTION, "GLOB",
		"call stacks of the events whose type matches, instead of spans; cpu.sample: where "
		"CPU time was spent", OPTION_EVENT },
	{ "stack-times", FMT_OPTION, NULL,
		"with --stacks, how many nanoseconds the calls took, instead of their number" },
	OPTION_END
};

struct folded_stacks {
	struct fmt_flow *flow;
	struct out *out;
	const char *glob;
	bool by_time;
	struct stacks *stacks;     /* the stacks of each source */
	size_t sources;
	struct fold fold;
	/* the names of functions; a frame of "fold" is an index of this set */
	struct nameset functions;
	/* number of events with a stack, and of events with a stack and a duration */
	uint64_t events, timed;
};

int folded_stacks_open(struct fmt_flow *flow, const struct fmt_output *output,
		       struct folded_stacks **stacks)
{
	const char *glob = fmt_option(flow, "stacks");

	*stacks = glob ? calloc(1, sizeof(**stacks)) : NULL;
	if (!glob && fmt_option(flow, "stack-times"))
		fmt_fault(flow, FMT_NOTICE, FMT_NO_OFFSET, NULL,
			  "--stack-times has no effect without --stacks");
	if (!glob)
		return 0;
	if (!*stacks)
		return ENOMEM;
	**stacks = (struct folded_stacks){ .flow = flow, .out = output->out, .glob = glob,
					   .by_time = fmt_option(flow, "stack-times") };
	return fold_begin(&(*stacks)->fold) ? 0 : ENOMEM;
}

void folded_stacks_close(struct folded_stacks *stacks)
{
	if (!stacks)
		return;
	for (size_t i = 0; i < stacks->sources; i++)
		stacks_fini(&stacks->stacks[i]);
	free(stacks->stacks);
	nameset_fini(&stacks->functions);
	fold_fini(&stacks->fold);
	free(stacks);
}

/* Adds the value to the stack of an event. Returns 0 or ENOMEM. */
static int add_to_stack(struct folded_stacks *stacks, const struct fmt_event *event,
			const struct stacks_found *found, int64_t value)
{
	uint32_t node = 0;

	for (size_t i = found->count; i-- > 0;) {
		const char *name = fmt_function(stacks->flow, event->pid, found, i, event->time_ns);
		uint32_t frame;
		char text[24];

		if (!name) {
			snprintf(text, sizeof(text), "0x%llx",
				 (unsigned long long)found->frame[i]);
			name = text;
		}
		frame = nameset_index(&stacks->functions, name);
		if (frame == TABLE_NONE)
			return ENOMEM;
		node = fold_child(&stacks->fold, node, frame);
		if (stacks->fold.err)
			return stacks->fold.err;
	}
	if (node)
		stacks->fold.node[node].self += value;
	return 0;
}

int folded_stacks_event(struct folded_stacks *stacks, const struct fmt_event *event)
{
	const struct fmt_type *type = event->type;
	const struct fmt_span *span = event->span;
	struct stacks_found found;
	int64_t value = 1;

	if (!vec_reach(&stacks->stacks, &stacks->sources, event->source))
		return ENOMEM;
	if (stacks_is_type(type->name, type->fields))
		stacks_keep(&stacks->stacks[event->source], type->fields, event->data,
			    event->data_len);
	if (fnmatch(stacks->glob, type->name, 0) ||
	    !stacks_get(&stacks->stacks[event->source], type->name, type->fields,
			stacks_field(type->name, type->fields), event->data, event->data_len,
			&found))
		return 0;
	if (stacks->by_time)
		value = span && span->part == FMT_WHOLE ? span->end_ns - span->begin_ns : 0;
	stacks->events++;
	stacks->timed += value != 0;
	return add_to_stack(stacks, event, &found, value);
}

int folded_stacks_end(struct folded_stacks *stacks)
{
	/*
	 * A stack that is only the beginning of other stacks gets no line, because no event has
	 * exactly this stack.
	 */
	fold_put_own(&stacks->fold, stacks->out, stacks->functions.name);
	if (stacks->events && stacks->by_time && !stacks->timed)
		fmt_fault(stacks->flow, FMT_NOTICE, FMT_NO_OFFSET, NULL,
			  "the events of types that match %s took no time: leave out --stack-times",
			  stacks->glob);
	if (!stacks->events)
		fmt_fault(stacks->flow, FMT_NOTICE, FMT_NO_OFFSET, NULL,
			  "no event of a type that matches %s has a call stack: see --sample and "
			  "--stack of posixtrace record", stacks->glob);
	return stacks->fold.err ? stacks->fold.err : stacks->out->err;
}
