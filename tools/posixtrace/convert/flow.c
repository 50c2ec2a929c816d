/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flow.c - the calls from a source to a sink.
 *
 * The functions from fmt_begin() to fmt_finish() apply the choice of events and, for a sink that
 * scans, the plan of the first reading. Each then calls the sink's function of the same name;
 * fmt_finish() calls end(). If the source must stop, such a function returns false after an error
 * was printed. After the first failure, only the sink's function close() is called.
 */
#include "convert/flow.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "convert/choice.h"
#include "convert/plan.h"
#include "log/descriptors.h"
#include "log/value.h"

/*
 * meter.next becomes UINT64_MAX, so that meter_step() does not update the meter before fmt_begin()
 * starts the meter.
 */
void flow_init(struct fmt_flow *flow, const struct format *from, const struct format *to)
{
	memset(flow, 0, sizeof(*flow));
	flow->from = from;
	flow->to = to;
	flow->status = TOOL_OK;
	flow->until_ns = INT64_MAX;
	flow->sources = 1;
	flow->meter.next = UINT64_MAX;
}

/*
 * The member "fields" of a type is const for the sinks, but the flow owns it and frees it here. The
 * name and the text of the schema are in the memory of the type.
 */
void flow_fini(struct fmt_flow *flow)
{
	meter_end(&flow->meter);
	for (size_t i = 0; i < flow->types; i++) {
		free((void *)(uintptr_t)flow->type[i]->fields);
		free(flow->type[i]);
	}
	free(flow->type);
	table_fini(&flow->table);
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

/*
 * Calls the sink's function with the name "function", if the sink has it. The value of the macro is
 * false if the source must stop.
 */
#define CALL_SINK(function, what) \
	(flow->to->function && !flow->stopped \
		? flow_answer(flow, flow->to->function(flow->context, (what))) : !flow->stopped)

/*
 * Passes the names of threads and processes that the first reading has found. The names precede the
 * first event, because several formats of viewers need the name of a track when the track begins.
 * Returns false if the source must stop.
 */
static bool pass_names(struct fmt_flow *flow)
{
	bool go = true;

	for (size_t i = 0; go && i < flow->plan->names; i++) {
		const struct plan_name *name = &flow->plan->name[i];

		go = fmt_thread(flow, &(struct fmt_thread){
					      .pid = name->pid,
					      .tid = name->tid,
					      .thread = name->thread,
					      .name = name->name,
					      .name_len = strlen(name->name),
				      });
	}
	return go;
}

/*
 * Calls the sink's begin() with the facts and those of the first reading: least and greatest time,
 * gaps and losses. Then passes the names. Returns false if the source must stop.
 */
static bool begin_planned(struct fmt_flow *flow, const struct fmt_facts *facts)
{
	struct fmt_facts known = *facts;

	plan_facts(flow->plan, &known);
	return CALL_SINK(begin, &known) && pass_names(flow);
}

bool fmt_begin(struct fmt_flow *flow, const struct fmt_facts *facts)
{
	struct fmt_facts chosen = *facts;
	bool go;

	/*
	 * choice_begin() changes the facts, for example because the number of selected events is
	 * not known yet.
	 */
	if (flow->choice && !choice_begin(flow->choice, &chosen))
		return false;
	go = flow->plan ? begin_planned(flow, &chosen) : CALL_SINK(begin, &chosen);
	if (flow->is_metered)
		meter_begin(&flow->meter, facts->has_events ? facts->events : 0,
			    flow->output->fd != STDOUT_FILENO);
	flow->begun = true;
	/* A source may register types before fmt_begin(). The sink gets them now. */
	for (size_t i = 0; go && i < flow->types; i++)
		go = CALL_SINK(type, flow->type[i]);
	return go;
}

/*
 * Passes the event with its span, and returns the result of the sink. The span is valid during this
 * call only. The function sets the span in the source's event and does not copy the event. A copy
 * would be slower, because it would load fields that the source has just stored, and the processor
 * would wait for these stores.
 */
static int planned_event(struct fmt_flow *flow, struct fmt_event *event)
{
	struct fmt_span span;
	int err;

	if (!plan_span(flow->plan, event, &span))
		return flow->to->event(flow->context, event);
	event->span = &span;
	err = flow->to->event(flow->context, event);
	event->span = NULL;
	return err;
}

bool fmt_event(struct fmt_flow *flow, struct fmt_event *event)
{
	int err;

	if (__builtin_expect(flow->stopped, false))
		return false;
	flow->read++;
	meter_step(&flow->meter);
	/* The choice gets every event, because an unwanted event may begin or end a span. */
	if (flow->choice) {
		flow->is_wanted = choice_event(flow->choice, event);
		if (flow->stopped)
			return false;
		if (!flow->is_wanted && !flow->sees_unwanted)
			return CALL_SINK(unwanted, event);
	}
	err = flow->plan ? planned_event(flow, event) : flow->to->event(flow->context, event);
	if (__builtin_expect(err, 0))
		return flow_answer(flow, err);
	flow->events++;
	return true;
}

bool fmt_thread(struct fmt_flow *flow, const struct fmt_thread *thread)
{
	return CALL_SINK(thread, thread);
}

bool fmt_object(struct fmt_flow *flow, const struct fmt_object *object)
{
	return CALL_SINK(object, object);
}

bool fmt_lost(struct fmt_flow *flow, const struct fmt_lost *lost)
{
	if (flow->choice && !choice_lost(flow->choice, lost))
		return !flow->stopped;
	flow->lost |= lost->cause != POSIX_TRACE_LOST_CLEARED_NP;
	return CALL_SINK(lost, lost);
}

bool fmt_note(struct fmt_flow *flow, const char *format, ...)
{
	char *text;
	va_list args;
	bool go;

	/*
	 * A note may have any length, so its text is allocated. The text need not be escaped here,
	 * because the sink escapes it.
	 */
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	go = text ? CALL_SINK(note, text) : flow_answer(flow, ENOMEM);
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

bool fmt_source_is(const struct fmt_flow *flow, const char *name)
{
	return !strcmp(flow->from->name, name);
}

bool fmt_sink_is(const struct fmt_flow *flow, const char *name)
{
	return !strcmp(flow->to->name, name);
}

bool fmt_idle(struct fmt_flow *flow)
{
	if (!flow->to->idle)
		return !flow->stopped;
	return !flow->stopped && flow_answer(flow, flow->to->idle(flow->context));
}

bool fmt_finish(struct fmt_flow *flow, const struct fmt_end *end)
{
	struct fmt_end chosen = *end;
	bool go = !flow->choice || choice_end(flow->choice, &chosen);

	/*
	 * The gaps have the losses of all types. If events are chosen, only the ledger shows
	 * whether a wanted type or thread has lost events. So in this case flow->lost depends only
	 * on the ledger.
	 */
	if (flow->choice && end->has_ledger)
		flow->lost = false;
	for (int i = 0; end->has_ledger && i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		flow->lost |= i != POSIX_TRACE_LOST_CLEARED_NP && chosen.ledger.lost[i];
	go = go && CALL_SINK(end, &chosen);
	if (flow->choice)
		choice_free_end(&chosen);
	return go;
}

/*
 * If a gap without a count is the only gap of its cause, all losses of this cause must be in this
 * gap. So its count is the ledger's total of the cause. The first reading has counted the gaps of
 * each cause.
 */
bool fmt_lost_count(const struct fmt_facts *facts, const struct fmt_lost *lost, uint64_t *count)
{
	if (lost->counted) {
		*count = lost->count;
		return true;
	}
	*count = facts->lost_of[lost->cause];
	return lost->has_interval && facts->has_scan && facts->gaps_of[lost->cause] == 1 && *count;
}

const char *fmt_source_name(const struct fmt_flow *flow, unsigned source)
{
	/* The inputs are linked in the order of their source numbers. */
	const struct fmt_input *input = flow->input;

	if (flow->sources == 1)
		return NULL;
	while (source-- && input->next)
		input = input->next;
	return input->name;
}

bool fmt_object_name(struct fmt_flow *flow, uint32_t pid, uint64_t pointer, int64_t time_ns,
		     char name[POSIX_TRACE_OBJECT_NAME_MAX_NP + 1])
{
	struct posix_trace_object_np object;

	/* Any log may have the objects of the process, so the function searches all logs. */
	for (size_t i = 0; i < flow->object_logs; i++) {
		if (posix_trace_object_find_np(flow->objects[i], (pid_t)pid, pointer, time_ns,
					       &object))
			continue;
		memcpy(name, object.name, sizeof(object.name));
		return true;
	}
	return false;
}

bool fmt_may_have_name(const struct posix_trace_field_np *field)
{
	switch (field->type) {
	case POSIX_TRACE_TYPE_PTR_NP:
	case POSIX_TRACE_TYPE_PTR32_NP:
	case POSIX_TRACE_TYPE_ERRNO_NP:
	case POSIX_TRACE_TYPE_SIGNAL_NP:
	case POSIX_TRACE_TYPE_WAIT_NP:
	case POSIX_TRACE_TYPE_FD_NP:
		return true;
	default:
		return field->value_names;
	}
}

/* Returns the name that a descriptor had before the event, or NULL. */
static const char *descriptor_name(struct fmt_flow *flow, const struct fmt_event *event,
				   const struct posix_trace_value_np *value)
{
	const struct posix_trace_event_np same = {
		.info = { .posix_event_id = event->type->id, .posix_pid = (pid_t)event->pid },
		.tid = (pid_t)event->tid, .time_ns = event->time_ns,
		.data = event->data, .data_len = event->data_len
	};

	return descriptors_find(flow->descriptors, &same, value->field->name, value->s64);
}

/*
 * If the schema has a name for a value, such as AT_FDCWD, this name has priority over the name of
 * an open descriptor.
 */
bool fmt_value_name(struct fmt_flow *flow, const struct fmt_event *event,
		    const struct posix_trace_value_np *value, char name[FMT_NAME_BYTES])
{
	const char *found = NULL;

	if (value_is_pointer(value->field) &&
	    fmt_object_name(flow, event->pid, value->u64, event->time_ns, name))
		return true;
	if (posix_trace_value_label_np(value, name, FMT_NAME_BYTES))
		return true;
	if (value->field->type == POSIX_TRACE_TYPE_FD_NP)
		found = descriptor_name(flow, event, value);
	if (found)
		snprintf(name, FMT_NAME_BYTES, "%s", found);
	return found;
}

bool fmt_is_damaged(const struct fmt_flow *flow)
{
	return flow->status == TOOL_DAMAGED;
}
