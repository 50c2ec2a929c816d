/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* paired.c - presents the types and events of any source as types and events of a log. */
#include "base/vec.h"
#include "convert/paired.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "convert/flow.h"
#include "spans/by_name.h"

/* the number of the type with index 0, if it is not a predefined type */
#define FIRST_ID (POSIX_TRACE_UNNAMED_USER_EVENT + 1)

bool paired_find(void *arg, const char *name, size_t len)
{
	const struct paired *paired = arg;
	const struct fmt_type *type = flow_find(paired->flow, name, len);

	if (!type && paired->before)
		type = flow_find(paired->before, name, len);
	return type && by_name_applies(type->id, type->fields);
}

int paired_init(struct paired *paired, struct fmt_flow *flow,
		void (*take)(void *arg, const struct span *span,
			     const struct posix_trace_event_np *end),
		void *arg)
{
	memset(paired, 0, sizeof(*paired));
	paired->flow = flow;
	pairing_init(&paired->pairing, take, arg);
	paired->pairing.find = paired_find;
	paired->pairing.find_arg = paired;
	return paired->pairing.err;
}

void paired_fini(struct paired *paired)
{
	for (size_t i = 0; i < paired->types; i++)
		free(paired->type[i]);
	free(paired->type);
	pairing_fini(&paired->pairing);
}

/*
 * Predefined types keep their numbers, because spans/pairing.h uses them. Other types get numbers
 * by their indexes, because several logs may use one number for different types.
 */
struct log_type *paired_new(const struct fmt_type *from)
{
	struct log_type *type = calloc(1, sizeof(*type));

	if (!type)
		return NULL;
	type->id = from->id && from->id < FIRST_ID ? from->id
						   : (trace_event_id_t)(FIRST_ID + from->index);
	/*
	 * The pairing has an array that is indexed by the type's number. Types with numbers from
	 * 65536 on are not listed and make no spans.
	 */
	type->listed = type->id < 65536;
	type->schema = (struct posix_trace_schema_np *)(uintptr_t)from->fields;
	/*
	 * A foreign format may have longer names than a log. Only the copy of the name in *type may
	 * be shortened.
	 */
	type->name_len =
		from->name_len < TRACE_EVENT_NAME_MAX ? from->name_len : TRACE_EVENT_NAME_MAX;
	memcpy(type->name, from->name, type->name_len);
	return type;
}

static struct log_type *paired_read_type(struct paired *paired, const struct fmt_type *from)
{
	if (!vec_reach(&paired->type, &paired->types, from->index))
		return NULL;
	paired->type[from->index] = paired_new(from);
	return paired->type[from->index];
}

struct log_type *paired_type(struct paired *paired, const struct fmt_type *from)
{
	return from->index < paired->types && paired->type[from->index]
		       ? paired->type[from->index]
		       : paired_read_type(paired, from);
}

void paired_event(const struct fmt_event *from, const struct log_type *type,
		  struct posix_trace_event_np *event)
{
	*event = (struct posix_trace_event_np){
		.info = {
			.posix_event_id = type->id, .posix_pid = (pid_t)from->pid,
			.posix_thread_id = (pthread_t)from->thread,
			.posix_truncation_status = from->truncation,
		},
		.tid = (pid_t)from->tid, .flags = from->flags, .time_ns = from->time_ns,
		.data = from->data, .data_len = from->data_len,
	};
}
