/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* formats/flow.c - what flows from a source to a sink. */
#include "formats/flow.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "say.h"

void flow_init(struct fmt_flow *flow, const struct format *from, const struct format *to)
{
	memset(flow, 0, sizeof(*flow));
	flow->from = from;
	flow->to = to;
	flow->status = TOOL_OK;
	flow->until_ns = INT64_MAX;
	flow->meter.next = UINT64_MAX;
}

void flow_fini(struct fmt_flow *flow)
{
	meter_end(&flow->meter);
	for (size_t i = 0; i < flow->types; i++) {
		free((void *)(uintptr_t)flow->type[i]->fields);
		free(flow->type[i]);
	}
	free(flow->type);
	free(flow->place);
	free(flow->fault);
}

bool flow_answer(struct fmt_flow *flow, int err)
{
	if (!err)
		return !flow->stopped;
	if (err > 0 && !flow->stopped)
		say("%s: %s", flow->output->shown, strerror(err));
	flow->stopped = true;
	flow->status = tool_worse(flow->status, TOOL_FAILURE);
	return false;
}

/* A sink's function, if it has one. */
#define TELL(function, what) \
	(flow->to->function && !flow->stopped \
		? flow_answer(flow, flow->to->function(flow->context, (what))) : !flow->stopped)

bool fmt_begin(struct fmt_flow *flow, const struct fmt_facts *facts)
{
	bool go = TELL(begin, facts);

	if (flow->is_metered)
		meter_begin(&flow->meter, facts->has_events ? facts->events : 0,
			    flow->output->fd != STDOUT_FILENO);
	flow->begun = true;
	for (size_t i = 0; go && i < flow->types; i++)
		go = TELL(type, flow->type[i]);
	return go;
}

bool fmt_event(struct fmt_flow *flow, const struct fmt_event *event)
{
	int err;

	if (__builtin_expect(flow->stopped, false))
		return false;
	err = flow->to->event(flow->context, event);
	if (__builtin_expect(err, 0))
		return flow_answer(flow, err);
	flow->events++;
	meter_step(&flow->meter);
	return true;
}

bool fmt_thread(struct fmt_flow *flow, const struct fmt_thread *thread)
{
	return TELL(thread, thread);
}

bool fmt_object(struct fmt_flow *flow, const struct fmt_object *object)
{
	return TELL(object, object);
}

bool fmt_lost(struct fmt_flow *flow, const struct fmt_lost *lost)
{
	flow->lost |= lost->cause != POSIX_TRACE_LOST_CLEARED_NP;
	return TELL(lost, lost);
}

bool fmt_note(struct fmt_flow *flow, const char *format, ...)
{
	char *text;
	va_list args;
	bool go;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	go = text ? TELL(note, text) : flow_answer(flow, ENOMEM);
	free(text);
	return go;
}

bool fmt_line(struct fmt_flow *flow, const char *line, size_t len)
{
	if (!flow->to->line)
		return !flow->stopped;
	return !flow->stopped && flow_answer(flow, flow->to->line(flow->context, line, len));
}

bool fmt_wants_lines(const struct fmt_flow *flow)
{
	return flow->to->line != NULL;
}

bool fmt_idle(struct fmt_flow *flow)
{
	if (!flow->to->idle)
		return !flow->stopped;
	return !flow->stopped && flow_answer(flow, flow->to->idle(flow->context));
}

bool fmt_finish(struct fmt_flow *flow, const struct fmt_end *end)
{
	for (int i = 0; end->has_ledger && i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		flow->lost |= i != POSIX_TRACE_LOST_CLEARED_NP && end->ledger.lost[i];
	return TELL(end, end);
}

bool fmt_object_name(struct fmt_flow *flow, uint32_t pid, uint64_t pointer, int64_t time_ns,
		     char name[POSIX_TRACE_OBJECT_NAME_MAX_NP + 1])
{
	struct posix_trace_object_np object;

	if (!flow->objects || posix_trace_object_find_np(flow->objects, (pid_t)pid, pointer,
							 time_ns, &object))
		return false;
	memcpy(name, object.name, sizeof(object.name));
	return true;
}

bool fmt_is_damaged(const struct fmt_flow *flow)
{
	return flow->status == TOOL_DAMAGED;
}
