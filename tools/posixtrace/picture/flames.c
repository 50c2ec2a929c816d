/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* flames.c - resolves the stacks of events, each once, for the flame graph of a page. */
#include "picture/flames.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "symbols/symbols.h"

#define FLAMES_FRAMES (UINT32_C(1) << 24) /* greatest number of frames of all stacks */

/*
 * For table_find(): returns whether a stack and the wanted stack have the same log, process and
 * number. The same number belongs to another stack in another process.
 */
static bool is_stack_of(const void *array, uint32_t index, const void *key)
{
	const struct flame_stack *stack = (const struct flame_stack *)array + index, *wanted = key;

	return stack->number == wanted->number && stack->pid == wanted->pid &&
	       stack->log == wanted->log;
}

/* Returns the name of a frame's function, or its address. */
static const char *name_of_frame(const struct logfile *log,
				 const struct posix_trace_event_np *event,
				 const struct stacks_found *found, size_t index, char text[24])
{
	const struct symbol *symbol = symbols_of_frame(log->trid, event->info.posix_pid, found,
						       index, event->time_ns);

	if (symbol)
		return symbol->whole;
	snprintf(text, 24, "0x%llx", (unsigned long long)found->frame[index]);
	return text;
}

/* Returns the index of the event's stack, or TABLE_NONE if memory or room for frames is lacking. */
static uint32_t keep_stack_of(struct flames *flames, const struct logfile *log,
			      const struct posix_trace_event_np *event,
			      const struct stacks_found *found)
{
	struct flame_stack stack = {
		.log = log, .pid = event->info.posix_pid, .number = found->number,
		.first = flames->frames,
	};
	uint64_t hash = hash_number(hash_number(HASH_BEGIN, (unsigned)stack.pid), stack.number);
	uint32_t index = table_find(&flames->of_stack, hash, is_stack_of, flames->stack, &stack);
	char text[24];

	if (index != TABLE_NONE)
		return index;
	if (flames->frames + found->count > FLAMES_FRAMES ||
	    !vec_grow(&flames->frame, flames->frames, found->count + 1) ||
	    !vec_grow(&flames->stack, flames->stack_count, 1))
		return TABLE_NONE;
	for (size_t i = 0; i < found->count; i++) {
		uint32_t name = nameset_index(&flames->functions,
					      name_of_frame(log, event, found, i, text));

		if (name == TABLE_NONE)
			return TABLE_NONE;
		flames->frame[flames->frames + stack.count++] = name;
	}
	index = (uint32_t)flames->stack_count;
	if (!table_add(&flames->of_stack, hash, index))
		return TABLE_NONE;
	flames->frames += stack.count;
	flames->stack[flames->stack_count++] = stack;
	return index;
}

int flames_event(struct flames *flames, const struct logfile *log,
		 const struct posix_trace_event_np *event, const struct stacks_found *found,
		 const struct flame *flame)
{
	struct flame kept = *flame;

	if (flames->count == flames->limit) {
		flames->left_out++;
		return 0;
	}
	kept.stack = keep_stack_of(flames, log, event, found);
	if (kept.stack == TABLE_NONE || !vec_grow(&flames->flame, flames->count, 1))
		return ENOMEM;
	flames->flame[flames->count++] = kept;
	return 0;
}

void flames_fini(struct flames *flames)
{
	nameset_fini(&flames->functions);
	free(flames->stack);
	free(flames->frame);
	free(flames->flame);
	table_fini(&flames->of_stack);
}
