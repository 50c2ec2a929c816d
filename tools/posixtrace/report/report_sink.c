/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_sink.c - the sink of a flow, which selects the events of a trace of any format and prints
 * them as a table or by templates. The flow calls it from one thread, in the order of the trace.
 * Numbers, names and times may come from a hostile file. The flow has only checked that each event
 * has a known type.
 */
#include "report/report_sink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/text.h"
#include "base/vec.h"

/*
 * A type of the flow, as the sink needs it. Each struct is allocated singly and does not move,
 * because kept events and sink->log.list point to it. The array of pointers to these structs may
 * move when it grows.
 */
struct report_type {
	const struct fmt_type *from;
	struct log_type shown;           /* has the schema only if the report can use it */
	const struct template *template; /* NULL: the built-in form */
	uint32_t number;
};

/* An event that a tail keeps until it is printed. */
struct kept {
	struct posix_trace_event_np event;
	const struct report_type *type;
};

/*
 * The sink that open_sink() uses, which has no argument for it. One variable is enough, because a
 * process prints only one report.
 */
static struct report_sink *used;

void report_sink_use(struct report_sink *sink)
{
	used = sink;
}

/*
 * Begins the sink. The sink computes durations from the first event of the flow on, because the
 * event that begins a span may be unwanted. The tail is allocated only if --tail was given.
 */
static int open_sink(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	(void)output;
	used->flow = flow;
	*context = used;
	durations_begin_open(&used->durations, used->wanted);
	pairing_names(&used->durations.pairing, &used->log);
	if (used->wanted->tail && !tail_init(&used->tail, used->wanted->tail, sizeof(struct kept)))
		return ENOMEM;
	return 0;
}

static void show_tail(struct report_sink *sink);

/*
 * Ends the flow before the end of the trace. The import function treats the returned -1 as a
 * failure and returns. The members "done" and "status" have the true result. This function prints
 * the tail, because the flow no longer calls report_sink_end().
 */
static int report_sink_stop(struct report_sink *sink, int status)
{
	meter_end(&sink->meter);
	show_tail(sink);
	sink->done = true;
	sink->status = tool_worse(sink->flow->status, status);
	return -1;
}

/* ------------------------------------------------------------------ times */

/*
 * Returns the time at which a source that can seek may begin. This time is never later than the
 * first wanted event. The function ignores a start that does not fit in 64 bits. That does no harm,
 * because select_event() compares 128 bits and applies the start to each event.
 */
static int64_t seek_time(const struct report_sink *sink)
{
	int64_t begin_ns = sink->wanted->choose.begin_ns, start_ns;

	if (sink->select->has_start &&
	    !__builtin_add_overflow(sink->first_ns, sink->select->start_ns, &start_ns) &&
	    start_ns > begin_ns)
		begin_ns = start_ns;
	return begin_ns;
}

/*
 * Returns the time after which no event is wanted. A source that uses this time stops reading
 * there.
 */
static int64_t until_time(const struct report_sink *sink)
{
	int64_t until_ns = sink->wanted->choose.end_ns, end_ns;

	if (sink->select->has_end &&
	    !__builtin_add_overflow(sink->first_ns, sink->select->end_ns, &end_ns) &&
	    end_ns < until_ns)
		until_ns = end_ns;
	return until_ns;
}

/*
 * Called with the time of the first event that arrives. In most formats, the times of the first and
 * last event are not known before the events. In such a format, elapsed time counts from this
 * event. A time that the user gave relative to the last event is an error, because the last event
 * is not known.
 */
static int set_first_time(struct report_sink *sink, int64_t time_ns)
{
	sink->any = true;
	sink->first_ns = time_ns;
	sink->columns.first_ns = time_ns;
	if (sink->has_span)
		return 0;
	wanted_begin(sink->wanted, time_ns, time_ns);
	if (sink->wanted->begin.kind != BOUND_BEFORE_LAST &&
	    sink->wanted->end.kind != BOUND_BEFORE_LAST)
		return 0;
	say("%s: a time such as -200ms counts from the last event, which is known only at the end",
	    fmt_input_name(sink->flow->input));
	return report_sink_stop(sink, TOOL_USAGE);
}

/*
 * Called if the source knows the times of its first and last event. In this case, the options may
 * have a time relative to the last event, and the source may seek. If the source seeks past the
 * first event, elapsed time counts from first_ns. Otherwise elapsed time counts from the first
 * event that arrives.
 */
static void set_time_span(struct report_sink *sink, int64_t first_ns, int64_t last_ns)
{
	int64_t seek_ns;

	sink->has_span = true;
	sink->first_ns = first_ns;
	wanted_begin(sink->wanted, first_ns, last_ns);
	sink->flow->until_ns = until_time(sink);
	seek_ns = seek_time(sink);
	if (seek_ns <= first_ns)
		return;
	sink->flow->seek_ns = seek_ns;
	sink->columns.first_ns = first_ns;
	sink->any = true;
}

/* The flow calls this function once, before types and events. A first_ns of 0 counts as unknown. */
static int report_sink_begin(void *context, const struct fmt_facts *facts)
{
	struct report_sink *sink = context;

	sink->big_endian = facts->big_endian;
	meter_begin(&sink->meter, facts->has_events ? facts->events : 0, false);
	if (facts->has_span && facts->first_ns)
		set_time_span(sink, facts->first_ns, facts->last_ns);
	if (sink->header && sink->templates)
		columns_header(sink->out, &sink->columns);
	else if (sink->header)
		report_table_header(sink->out, &sink->table);
	return sink->out->err;
}

/* ------------------------------------------------------------------ types */

/* Stores the escaped name in the type, so that it is computed once and not for each event. */
static bool show_name(struct log_type *shown, const struct fmt_type *type)
{
	static struct out scratch = { .fd = -1 };

	scratch.used = 0;
	text_name(&scratch, type->name, type->name_len);
	shown->shown_len = scratch.used;
	shown->shown = malloc(scratch.used + 1);
	if (shown->shown)
		memcpy(shown->shown, scratch.bytes, scratch.used);
	return shown->shown != NULL;
}

/*
 * Uses the schema of a type only if the trace has the byte order of this machine, because fields
 * are read in that order. The schema belongs to the flow and is valid as long as the flow.
 */
static void read_schema(struct report_sink *sink, struct log_type *shown,
			const struct fmt_type *type)
{
	if (!type->fields || sink->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
		return;
	shown->schema = (struct posix_trace_schema_np *)(uintptr_t)type->fields;
	if (sink->wanted->where)
		where_mark_names(sink->wanted->where, type->fields);
	if (sink->table.pick)
		pick_mark_fields(sink->table.pick, type->fields);
}

/* Returns the number that the trace itself gives to a type, or otherwise the id of the type. */
static uint32_t number_of(const struct fmt_type *type)
{
	return type->number ? (uint32_t)type->number : type->id;
}

/*
 * Makes the struct for a type. It also decides everything that depends only on the type: whether
 * the type is selected, and which template it has.
 */
static struct report_type *make_type(struct report_sink *sink, const struct fmt_type *from)
{
	struct report_type *type = calloc(1, sizeof(*type));

	if (!type || !show_name(&type->shown, from)) {
		free(type);
		return NULL;
	}
	type->from = from;
	type->number = number_of(from);
	type->shown.id = from->id;
	type->shown.listed = from->id != 0;
	snprintf(type->shown.name, sizeof(type->shown.name), "%s", from->name);
	type->shown.chosen = select_type(sink->select, from->name, type->number) &&
			     choose_type(&sink->wanted->choose, from->name) &&
			     (sink->wanted->choose.include.count || !logfile_hides(from->name));
	if (sink->templates)
		type->template = templates_for_event(sink->templates, from->name, type->number);
	read_schema(sink, &type->shown, from);
	return type;
}

/*
 * Adds a type to the list of sink->log. The data of an event may be a set of types, such as the
 * filter of a stream. The report looks up the names of these types in the list.
 */
static int list_type(struct logfile *log, struct log_type *shown)
{
	if (!vec_grow(&log->list, log->types, 1))
		return ENOMEM;
	log->list[log->types++] = shown;
	return 0;
}

/*
 * Receives a type of the flow. The flow passes the types in the order of their indexes, so the
 * array grows by one element. A type whose id is 0 has no number in the log, so it is not added to
 * the list.
 */
static int read_type(void *context, const struct fmt_type *type)
{
	struct report_sink *sink = context;
	struct report_type *made;

	if (!vec_grow(&sink->type, sink->types, 1))
		return ENOMEM;
	made = make_type(sink, type);
	if (!made)
		return ENOMEM;
	sink->type[sink->types++] = made;
	return type->id ? list_type(&sink->log, &made->shown) : 0;
}

/* ------------------------------------------------------------------ events */

/*
 * Prints an event by its template. Templates identify threads by posix_thread_id. An event of a
 * format without posix_thread_id has the kernel's thread number instead.
 */
static void by_template(struct report_sink *sink, const struct report_type *type,
			const struct posix_trace_event_np *event)
{
	const struct template_event shown = {
		.shown = type->from->name,
		.id = type->number,
		.pid = event->info.posix_pid,
		.tid = event->info.posix_thread_id ? (uint64_t)event->info.posix_thread_id
						   : (uint64_t)event->tid,
		.address = (uintptr_t)event->info.posix_prog_address,
		.time_ns = event->time_ns,
		.truncated = (unsigned)event->info.posix_truncation_status,
		.data = event->data,
		.data_len = event->data_len,
		.big_endian = sink->big_endian,
	};

	if (run_event(&sink->run, type->template, &shown))
		columns_event(sink->out, &sink->columns, &shown,
			      type->template ? type->template->level : LEVEL_APPL,
			      sink->run.prose.text, sink->run.prose.len);
}

static void report_sink_print(struct report_sink *sink, const struct report_type *type,
			      const struct posix_trace_event_np *event)
{
	/* The names of objects come from the flow's first log that has objects. */
	sink->log.trid = sink->flow->object_logs ? sink->flow->objects[0] : 0;
	sink->log.has_objects = sink->log.trid != 0;
	sink->log.descriptors = sink->flow->descriptors;
	if (sink->templates)
		by_template(sink, type, event);
	else
		report_table_event(sink->out, &sink->table, &sink->log, &type->shown,
				   event);
}

/*
 * --limit is applied before --tail. If both are given, the report first selects the first events,
 * and then prints the last of these events. A tail copies the data, because the flow's data is
 * valid only for this call.
 */
static int report_sink_show(struct report_sink *sink, const struct report_type *type,
			    const struct posix_trace_event_np *event)
{
	struct kept kept = { *event, type };

	if (sink->shown == sink->wanted->limit)
		return report_sink_stop(sink, TOOL_OK);
	sink->shown++;
	if (sink->tail.limit)
		return tail_add(&sink->tail, &kept, event->data, event->data_len) ? 0 : ENOMEM;
	report_sink_print(sink, type, event);
	return sink->run.stopped ? report_sink_stop(sink, TOOL_OK) : sink->out->err;
}

static struct posix_trace_event_np event_of(const struct fmt_event *from)
{
	struct posix_trace_event_np event = {
		.info = {
			.posix_event_id = from->type->id,
			.posix_pid = (pid_t)from->pid,
			.posix_prog_address = (void *)(uintptr_t)from->address,
			.posix_thread_id = (pthread_t)from->thread,
			.posix_truncation_status = from->truncation,
		},
		.tid = (pid_t)from->tid,
		.flags = from->flags,
		.time_ns = from->time_ns,
		.data = from->data,
		.data_len = from->data_len,
	};

	return event;
}

/*
 * Receives one event. The function passes every event to the durations, also unwanted events,
 * because the beginning of a span may be unwanted while its end is wanted. If the source does not
 * stop at the wanted end itself, the function ends the flow. It does so only WANTED_LATE_NS after
 * the wanted end, because late events with earlier times may follow.
 */
static int report_sink_take(void *context, const struct fmt_event *from)
{
	struct report_sink *sink = context;
	const struct report_type *type = sink->type[from->type->index];
	struct posix_trace_event_np event = event_of(from);
	__int128 elapsed_ns;

	meter_step(&sink->meter);
	durations_event(&sink->durations, &type->shown, &event);
	if (!sink->any && set_first_time(sink, from->time_ns))
		return -1;
	elapsed_ns = (__int128)from->time_ns - sink->first_ns;
	if (!sink->flow->knows_until &&
	    (wanted_is_past(sink->wanted, from->time_ns) ||
	     (sink->select->has_end &&
	      elapsed_ns > (__int128)sink->select->end_ns + WANTED_LATE_NS)))
		return report_sink_stop(sink, TOOL_OK);
	if (!type->shown.chosen ||
	    !select_event(sink->select, from->pid, from->thread ? from->thread : from->tid,
			  elapsed_ns) ||
	    !wanted_event(sink->wanted, &event, from->type->name, type->shown.schema,
			  &sink->durations))
		return 0;
	return report_sink_show(sink, type, &event);
}

/*
 * Shows the events that the tail keeps. A second call shows nothing. The function is called at the
 * end of the trace, or earlier if the rest of the trace does not matter.
 */
static void show_tail(struct report_sink *sink)
{
	const struct kept *kept;
	const void *data;

	for (size_t i = 0; sink->tail.limit && !sink->run.stopped &&
			   (kept = tail_at(&sink->tail, i, &data)); i++) {
		struct posix_trace_event_np event = kept->event;

		event.data = data;
		report_sink_print(sink, kept->type, &event);
	}
	sink->tail.count = 0;
}

/* ------------------------------------------------------------------ losses, the end */

/*
 * Warns about a loss at a place in the trace. Warnings go to standard error, so that they are not a
 * part of the report.
 */
static int report_sink_lost(void *context, const struct fmt_lost *lost)
{
	struct report_sink *sink = context;
	const char *cause = posix_trace_lost_name_np(lost->cause);
	const char *path = fmt_input_name(sink->flow->input);

	if (lost->counted)
		say_warning("%s: %llu event%s lost: %s", path, (unsigned long long)lost->count,
			    text_plural(lost->count), cause ? cause : "?");
	else
		say_warning("%s: events were lost: %s", path, cause ? cause : "?");
	return 0;
}

/*
 * Handles the end of the trace. The options may have a name that does not occur in the trace. The
 * function reports such a name only now, because types may appear up to the end.
 */
static int report_sink_end(void *context, const struct fmt_end *end)
{
	struct report_sink *sink = context;
	const struct posix_trace_ledger_np *ledger = &end->ledger;

	meter_end(&sink->meter);
	show_tail(sink);
	for (int i = 0; end->has_ledger && i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		if (ledger->lost[i])
			say_warning("%s: %llu of %llu events lost: %s",
				    fmt_input_name(sink->flow->input),
				    (unsigned long long)ledger->lost[i],
				    (unsigned long long)ledger->called,
				    posix_trace_lost_name_np(i));
	if (sink->table.pick && pick_say_unknown(sink->table.pick))
		return report_sink_stop(sink, TOOL_USAGE);
	sink->log.path = fmt_input_name(sink->flow->input);
	choose_say_unknown(&sink->wanted->choose, &(const struct logfile *){ &sink->log }, 1);
	if (!durations_fits(&sink->durations, sink->wanted, &sink->log))
		return report_sink_stop(sink, TOOL_USAGE);
	/* If a name in --where occurs nowhere in the whole trace, the name is probably mistyped. */
	if (sink->wanted->where && !sink->shown && where_say_unknown(sink->wanted->where))
		return report_sink_stop(sink, TOOL_USAGE);
	return sink->out->err;
}

/*
 * Frees the sink. The flow calls this function also after a failure in the middle of the trace. In
 * that case, the function first prints the tail of the events that arrived before the failure.
 */
static void close_sink(void *context)
{
	struct report_sink *sink = context;

	meter_end(&sink->meter);
	show_tail(sink);
	tail_fini(&sink->tail);
	durations_end(&sink->durations);
	for (size_t i = 0; i < sink->types; i++) {
		free(sink->type[i]->shown.shown);
		free(sink->type[i]);
	}
	free(sink->log.list);
	free(sink->type);
	sink->type = NULL;
	sink->types = 0;
}

const struct format report_format = {
	.name = "report",
	.output = FMT_TO_BYTES,
	.open = open_sink,
	.begin = report_sink_begin,
	.type = read_type,
	.event = report_sink_take,
	.lost = report_sink_lost,
	.end = report_sink_end,
	.close = close_sink,
};
