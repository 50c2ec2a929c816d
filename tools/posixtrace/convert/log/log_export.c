/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log_export.c - writes logs of libposixtrace by the functions of trace_np.h that compose a log.
 *
 * The composer computes the ledger from the events and the losses that it gets. A log has one
 * stream, and one number and one description for each type name. Therefore a merge of several logs
 * into one log may lose some of their contents. Functions that return int return 0, an error
 * number, or -1 after a message.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/table.h"
#include "base/text.h"
#include "base/vec.h"
#include "convert/flow.h"
#include "convert/log/log.h"
#include "log/losses.h"
#include "log/stacks.h"
#include "log/value.h"

/* greatest number of data bytes of an event, if the source does not have this size */
#define DATA_MAX (1u << 20)

struct writing { /* the context of the sink */
	struct fmt_flow *flow;
	int fd;
	struct posix_trace_composer_np *composer;
	trace_event_id_t *type; /* at the type's index: the number of the type in the log */
	size_t types;
	size_t data_max;
	enum { UNSEEN, RUNS, STOPPED } *state; /* for each source: the state of the log's stream */
	bool too_many; /* the fault about types was reported */
	/*
	 * For a conversion of several logs: the stack with the index i gets the number i in the new
	 * log.
	 */
	struct writing_stack {
		unsigned source;
		uint32_t number; /* the stack's number in its log */
	} *stack;
	size_t stacks;
	struct table of_stack;
	/* copy of an event's data, in which the number of the stack is replaced */
	unsigned char *data;
	size_t room;
};

int log_sink_open(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	struct writing *writing = calloc(1, sizeof(*writing));

	if (!writing)
		return ENOMEM;
	writing->flow = flow;
	writing->state = calloc(flow->sources, sizeof(*writing->state));
	writing->fd = output->fd;
	*context = writing;
	return writing->state ? 0 : ENOMEM;
}

void log_sink_close(void *context)
{
	struct writing *writing = context;

	/* After log_sink_end(), the composer is NULL, and this call has no effect. */
	posix_trace_compose_abandon_np(writing->composer);
	free(writing->type);
	free(writing->state);
	free(writing->stack);
	table_fini(&writing->of_stack);
	free(writing->data);
	free(writing);
}

/*
 * Makes the attributes for a source that does not have them. With the policy APPEND the log grows
 * as needed, so that the conversion loses no event.
 */
static int make_attr(const struct fmt_facts *facts, trace_attr_t *attr)
{
	int err = posix_trace_attr_init(attr);

	if (!err && *facts->name)
		err = posix_trace_attr_setname(attr, facts->name);
	if (!err)
		err = posix_trace_attr_setlogfullpolicy(attr, POSIX_TRACE_APPEND);
	if (!err)
		err = posix_trace_attr_setmaxdatasize(attr, facts->data_max ? facts->data_max
									   : DATA_MAX);
	return err;
}

/*
 * If the events are from logs, copies the notes of the files that processes had mapped. If the new
 * log's list of these files is full, the function omits further files without an error. The new log
 * then has names for fewer functions.
 */
static int copy_mappings(struct writing *writing)
{
	const struct fmt_flow *flow = writing->flow;
	int err = 0;

	for (size_t i = 0; !err && i < flow->object_logs; i++) {
		struct posix_trace_mapping_np mapping;
		int unavailable = 0;

		err = posix_trace_mapping_rewind_np(flow->objects[i]);
		while (!err) {
			err = posix_trace_mapping_getnext_np(flow->objects[i], &mapping,
							     &unavailable);
			if (err || unavailable)
				break;
			err = posix_trace_compose_mapping_np(writing->composer, &mapping);
		}
		err = err == ENOSPC ? 0 : err;
	}
	return err;
}

int log_sink_begin(void *context, const struct fmt_facts *facts)
{
	struct writing *writing = context;
	struct posix_trace_origin_np origin = { .pid = (pid_t)facts->pid };
	trace_attr_t attr = facts->attr;
	int err = facts->has_attr ? 0 : make_attr(facts, &attr);

	/*
	 * If the name is empty, the library writes the name of this machine. But the trace may be
	 * from another machine, so an unknown host gets the name "unknown".
	 */
	if (*facts->host)
		memcpy(origin.host, facts->host, sizeof(origin.host));
	else
		snprintf(origin.host, sizeof(origin.host), "unknown");
	memcpy(origin.clock, facts->clock, sizeof(origin.clock));
	memcpy(origin.generation, facts->generation, sizeof(origin.generation));
	origin.clock_hz = facts->clock_hz;
	origin.resolution_ns = facts->resolution_ns;
	origin.creation_ns = facts->has_creation ? facts->creation_ns : 0;
	if (!err)
		err = posix_trace_attr_getmaxdatasize(&attr, &writing->data_max);
	if (!err)
		err = posix_trace_compose_np(writing->fd, &attr, &origin, &writing->composer);
	return err ? err : copy_mappings(writing);
}

/*
 * Assigns a number in the log to the type. A variant gets no number, because its events are
 * refused. A name that is longer than the standard allows is shortened.
 */
static int name_type(struct writing *writing, const struct fmt_type *type, trace_event_id_t *id)
{
	char name[TRACE_EVENT_NAME_MAX + 1] = "";
	int err;

	*id = 0;
	if (type->variant)
		return 0;
	memcpy(name, type->name, type->name_len < sizeof(name) ? type->name_len : sizeof(name) - 1);
	/*
	 * A number from the source is kept. If the source has none (0), the composer chooses a
	 * number.
	 */
	*id = type->id;
	err = posix_trace_compose_name_np(writing->composer, name, id);
	if (err == ENOSPC) {
		if (!writing->too_many)
			fmt_fault(writing->flow, FMT_WARN, FMT_NO_OFFSET, NULL,
				  "a log has room for %d event types: the rest have no name",
				  TRACE_USER_EVENT_MAX);
		writing->too_many = true;
		*id = POSIX_TRACE_UNNAMED_USER_EVENT;
		return 0;
	}
	/*
	 * A damaged log may have predefined types without names. The composer has named these types
	 * itself, so EEXIST is no error for them.
	 */
	return err == EEXIST && type->id <= POSIX_TRACE_UNNAMED_USER_EVENT ? 0 : err;
}

int log_sink_type(void *context, const struct fmt_type *type)
{
	struct writing *writing = context;
	trace_event_id_t *id;
	int err;

	if (!vec_reach(&writing->type, &writing->types, type->index))
		return ENOMEM;
	id = &writing->type[type->index];
	err = name_type(writing, type, id);
	/*
	 * Several types of the source may share the unnamed type, so it has no schema. A text that
	 * is not a schema is not written, because the composer would refuse it.
	 */
	if (!err && type->fields && !type->variant &&
	    *id != POSIX_TRACE_UNNAMED_USER_EVENT)
		err = posix_trace_compose_schema_np(writing->composer, *id, type->schema);
	/* EEXIST means that the number already has a description, which the log keeps. */
	return err == EEXIST ? 0 : err;
}

int log_sink_object(void *context, const struct fmt_object *object)
{
	struct writing *writing = context;
	struct posix_trace_object_np to = {
		/* Some sources have only the name of the kind. */
		.kind = object->number ? object->number : value_object_kind(object->kind),
		.pid = (pid_t)object->pid, .pointer = object->pointer,
		.time_ns = object->has_since ? object->since_ns : INT64_MIN,
	};

	memcpy(to.name, object->name,
	       object->name_len < sizeof(to.name) ? object->name_len : sizeof(to.name) - 1);
	return posix_trace_compose_object_np(writing->composer, &to);
}

/*
 * Refuses an event of a variant: its type is a second description of a type name, but a log
 * describes each name only once. Returns -1 after a message.
 */
static int refuse_variant(const struct fmt_type *type)
{
	say("event type %s: two of the logs describe its data differently, and a log has one "
	    "description of each type: 'posixtrace convert -x %s' merges the logs without it, and "
	    "formats other than log can have both", type->name, type->name);
	return -1;
}

/*
 * Returns whether the merged log must not have this event. Readers assume that no event is recorded
 * after a stop. Therefore the merged log gets the stop of one stream only if no other stream runs,
 * or if the stop event states that the stream was full.
 */
static bool leaves_out(struct writing *writing, const struct fmt_event *event,
		       const struct posix_trace_event_np *as_log)
{
	bool stops = event->type->id == POSIX_TRACE_STOP;

	/*
	 * The end of a flush, and events of suspended writers, may follow the stop. Such an event
	 * does not start the stream again.
	 */
	if (stops)
		writing->state[event->source] = STOPPED;
	else if (event->type->id == POSIX_TRACE_START || writing->state[event->source] == UNSEEN)
		writing->state[event->source] = RUNS;
	if (!stops || losses_is_automatic(as_log))
		return false;
	for (unsigned i = 0; i < writing->flow->sources; i++)
		if (writing->state[i] == RUNS)
			return true;
	return false;
}

/*
 * For table_find(): returns whether a stack and the wanted stack have the same source and number.
 */
static bool is_stack(const void *array, uint32_t index, const void *key)
{
	const struct writing_stack *stack = (const struct writing_stack *)array + index;
	const struct writing_stack *wanted = key;

	return stack->source == wanted->source && stack->number == wanted->number;
}

/*
 * Returns the number in the new log for a stack of one of the logs. Returns TABLE_NONE if memory is
 * lacking or if there are too many stacks.
 */
static uint32_t number_of_stack(struct writing *writing, unsigned source, uint32_t number)
{
	const struct writing_stack wanted = { source, number };
	uint64_t hash = hash_number(hash_number(HASH_BEGIN, source), number);
	uint32_t index = table_find(&writing->of_stack, hash, is_stack, writing->stack, &wanted);

	if (index != TABLE_NONE)
		return index;
	if (writing->stacks >= STACKS_UNKNOWN || !vec_grow(&writing->stack, writing->stacks, 1) ||
	    !table_add(&writing->of_stack, hash, (uint32_t)writing->stacks))
		return TABLE_NONE;
	writing->stack[writing->stacks] = wanted;
	return (uint32_t)writing->stacks++;
}

/*
 * Stores the number of the stack in an event's data, and the offset of this number in the data.
 * Returns false if the data has no such number. Fields of variable length may precede the number.
 */
static bool find_stack(const struct fmt_event *event, size_t *offset, uint32_t *number)
{
	const struct posix_trace_schema_np *schema = event->type->fields;
	const int field = stacks_is_type(event->type->name, schema) ? 0 :
			  stacks_field(event->type->name, schema);
	struct posix_trace_values_np values;
	struct posix_trace_value_np value;

	if (field < 0 || schema->field[field].type != POSIX_TRACE_TYPE_U32_NP)
		return false;
	posix_trace_values_begin_np(&values, schema, event->data, event->data_len, 0);
	while (posix_trace_field_next_np(&values, &value))
		if (value.field == &schema->field[field]) {
			*number = (uint32_t)value.u64;
			*offset = (size_t)(values.data - (const unsigned char *)event->data) -
				  sizeof(*number);
			return true;
		}
	return false;
}

/*
 * A number of a stack is valid in one log only. So if several logs become one log, each stack gets
 * a new number. An event without a stack keeps the number STACKS_UNKNOWN. Returns 0 or ENOMEM.
 */
static int renumber_stack(struct writing *writing, const struct fmt_event *event,
			  struct posix_trace_event_np *to)
{
	uint32_t number;
	size_t offset;

	if (!find_stack(event, &offset, &number) || number == STACKS_UNKNOWN)
		return 0;
	number = number_of_stack(writing, event->source, number);
	if (number == TABLE_NONE ||
	    !vec_reserve(&writing->data, &writing->room, 0, event->data_len))
		return ENOMEM;
	memcpy(writing->data, event->data, event->data_len);
	memcpy(writing->data + offset, &number, sizeof(number));
	to->data = writing->data;
	return 0;
}

int log_sink_event(void *context, const struct fmt_event *event)
{
	struct writing *writing = context;
	struct posix_trace_event_np to;

	if (__builtin_expect(event->type->variant != 0, false))
		return refuse_variant(event->type);

	to.info.posix_event_id = writing->type[event->type->index];
	to.info.posix_pid = (pid_t)event->pid;
	to.info.posix_prog_address = (void *)(uintptr_t)event->address;
	to.info.posix_thread_id = (pthread_t)event->thread;
	to.info.posix_truncation_status = event->truncation;
	to.tid = (pid_t)event->tid;
	to.flags = event->flags;
	to.time_ns = event->time_ns;
	to.data = event->data;
	to.data_len = event->data_len;
	if (writing->flow->sources > 1) {
		if (leaves_out(writing, event, &to))
			return 0;
		if (renumber_stack(writing, event, &to))
			return ENOMEM;
	}
	/*
	 * If the data is too long, the composer first gets the whole event, which it may accept or
	 * truncate itself. If the composer refuses the event, the sink truncates the data, as a
	 * stream with this limit would have done, and reports this.
	 */
	if (__builtin_expect(event->data_len > writing->data_max, false)) {
		int err = posix_trace_compose_event_np(writing->composer, &to);

		if (err != EMSGSIZE)
			return err;
		fmt_fault(writing->flow, FMT_WARN, FMT_NO_OFFSET, "data",
			  "an event of %zu byte%s was cut to %zu", event->data_len,
			  text_plural(event->data_len), writing->data_max);
		to.data_len = writing->data_max;
		to.info.posix_truncation_status = POSIX_TRACE_TRUNCATED_RECORD;
	}
	return posix_trace_compose_event_np(writing->composer, &to);
}

int log_sink_lost(void *context, const struct fmt_lost *lost)
{
	struct writing *writing = context;
	struct posix_trace_thread_np thread = {
		.pid = (pid_t)lost->pid, .tid = (pid_t)lost->tid, .thread = (pthread_t)lost->thread,
	};

	/*
	 * A loss without a count only marks a place in the trace. A log cannot mark a place without
	 * an event.
	 */
	if (!lost->counted)
		return 0;
	return posix_trace_compose_lost_np(writing->composer, lost->cause, lost->count,
					   lost->type ? writing->type[lost->type->index] : 0,
					   lost->pid ? &thread : NULL);
}

static uint64_t log_export_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Passes the losses of one cause to the composer, which requires the type and the thread of a loss
 * together. A ledger has only a list of losses by type and a list of losses by thread. Any table
 * with these sums of rows and columns leads to the same ledger. The function fills a table from the
 * first row and column on (the north-west corner rule), in linear time. In a damaged ledger the
 * totals of the two lists may differ. The function passes the rest of the greater list without a
 * type or without a thread.
 */
static int losses_of(struct writing *writing, const struct fmt_end *end, int cause)
{
	uint64_t left = end->ledger.lost[cause], of_type = 0, of_thread = 0;
	size_t type = 0, thread = 0;

	while (left) {
		uint64_t events = left;
		int err;

		while (!of_type && type < end->types)
			of_type = end->type[type++].ledger.lost[cause];
		while (!of_thread && thread < end->threads)
			of_thread = end->thread[thread++].ledger.lost[cause];
		if (of_type)
			events = log_export_least(events, of_type);
		if (of_thread)
			events = log_export_least(events, of_thread);
		err = posix_trace_compose_lost_np(
			writing->composer, cause, events,
			of_type ? writing->type[end->type[type - 1].type->index] : 0,
			of_thread ? &end->thread[thread - 1].thread : NULL);
		if (err)
			return err;
		left -= events;
		of_type -= of_type ? events : 0;
		of_thread -= of_thread ? events : 0;
	}
	return 0;
}

/*
 * The ledger of a damaged log reports events that no reader finds. The new log is sound, so its
 * ledger must have these events as lost. Their threads are not known.
 */
static int losses_of_damage(struct writing *writing, const struct fmt_end *end)
{
	const int cause = POSIX_TRACE_LOST_DAMAGED_NP;
	uint64_t left = end->unreadable;
	int err = 0;

	for (size_t i = 0; !err && i < end->types; i++) {
		uint64_t events = log_export_least(left, end->type[i].unreadable);

		if (!events)
			continue;
		err = posix_trace_compose_lost_np(writing->composer, cause, events,
						  writing->type[end->type[i].type->index], NULL);
		left -= events;
	}
	if (!err && left)
		err = posix_trace_compose_lost_np(writing->composer, cause, left, 0, NULL);
	return err;
}

int log_sink_end(void *context, const struct fmt_end *end)
{
	struct writing *writing = context;
	struct posix_trace_composer_np *composer = writing->composer;
	int err = 0;

	for (int i = 0; !err && end->has_ledger && i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		err = losses_of(writing, end, i);
	if (!err && end->has_ledger)
		err = losses_of_damage(writing, end);
	if (!err && end->has_ledger)
		err = posix_trace_compose_lost_np(composer, POSIX_TRACE_UNATTRIBUTED_NP,
						  end->ledger.unattributed, 0, NULL);
	if (err)
		return err;
	/*
	 * The next call frees the composer even after an error, so the composer must not be used
	 * again.
	 */
	writing->composer = NULL;
	return posix_trace_compose_finish_np(composer, end->has_status ? &end->status : NULL);
}
