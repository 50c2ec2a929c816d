/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * weave_stacks.c - replaces the copy of a stack that an event has by the number of the stack.
 *
 * The number is the first field, because a call that failed may lack the last fields of its type.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "live/stack_unwind.h"
#include "live/weave.h"
#include "log/preload_types.h"
#include "log/stacks.h"

#define FIELD "u32 " STACKS_FIELD "{4294967295=none}"

int weave_stacked_type(struct weave *weave, trace_event_id_t id, const char *name,
		       char schema[POSIX_TRACE_SCHEMA_MAX_NP + 1])
{
	char text[POSIX_TRACE_SCHEMA_MAX_NP + 1];
	struct posix_trace_schema_np parsed;
	int len;

	if (!stack_is_planned(&weave->kernel->plan.stack, name) || !preload_types_has(name))
		return 0;
	if (!vec_reach(&weave->stacked, &weave->types, (size_t)id))
		return ENOMEM;
	len = snprintf(text, sizeof(text), FIELD "; %s", schema);
	/*
	 * If the schema has no room for a further field, the events lose the copy and get no
	 * number.
	 */
	weave->stacked[id] = WEAVE_NO_FIELD;
	if (len > 0 && (size_t)len < sizeof(text) && !posix_trace_schema_parse_np(text, &parsed)) {
		weave->stacked[id] = WEAVE_STACKED;
		memcpy(schema, text, (size_t)len + 1);
	}
	return 0;
}

/* Returns the number of the event's stack, or STACK_NONE if the event has no stack. */
static uint32_t stack_of(struct weave *weave, const struct posix_trace_event_np *event)
{
	uint64_t chain[STACK_FRAMES];
	size_t count = stack_unwind(weave->unwinder, event, chain);

	return count ? stack_store_keep(&weave->period->stacks, chain, count) :
		       STACK_NONE;
}

int weave_stacked(struct weave *weave, const struct posix_trace_event_np *event)
{
	const size_t id = (size_t)event->info.posix_event_id;
	struct posix_trace_event_np of = *event;
	unsigned char *data;
	uint32_t number;
	int err;

	if (weave->err)
		return 0;
	err = weave_jit_address(weave, event->info.posix_pid,
				(uintptr_t)event->info.posix_prog_address, event->time_ns, false);
	if (err)
		return err;
	if (id >= weave->types || weave->stacked[id] == WEAVE_NO_STACK)
		return weave_compose(weave, event);
	of.data_len = stack_unwind_fields(event);
	if (weave->stacked[id] == WEAVE_NO_FIELD)
		return weave_compose(weave, &of);
	data = malloc(sizeof(number) + of.data_len);
	if (!data)
		return ENOMEM;
	number = stack_of(weave, event);
	if (number != STACK_NONE)
		err = weave_stack(weave, number, event);
	memcpy(data, &number, sizeof(number));
	memcpy(data + sizeof(number), event->data, of.data_len);
	of.data = data;
	of.data_len += sizeof(number);
	if (!err)
		err = weave_compose(weave, &of);
	free(data);
	return err;
}
