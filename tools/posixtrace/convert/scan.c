/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * scan.c - reads the input for the first time, into a sink that makes the plan.
 *
 * Spans come from spans/pairing.h, as for posixtrace latency. Two types are a pair by their names
 * only if both exist. A source that defines types as they appear may pass events of one type of the
 * pair before it defines the other type. In this case the input is read once more, now with all
 * names from the beginning.
 */
#include "convert/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/vec.h"
#include "convert/choice.h"
#include "convert/paired.h"
#include "convert/threads.h"
#include "spans/by_name.h"
#include "spans/lanes.h"
#include "spans/roles.h"
#include "symbols/symbols.h"

/*
 * The lanes of one thread, or of one group. A group is all spans of a process that have a key and
 * the same name.
 */
struct scan_lanes {
	struct lanes nested;
	struct flat_lanes flat;
	/* for each source: how many of its losses these lanes have handled */
	uint64_t cuts[];
};

/*
 * The state of one source, such as one of several logs. Spans and losses of a source are
 * independent of other sources.
 */
struct scan_source {
	struct paired paired;
	/* the number of losses; each loss leaves the open spans without an end */
	uint64_t cuts;
};

struct scan { /* the context of the sink */
	struct fmt_flow *flow;
	struct plan *plan;
	struct scan_source *source;
	struct threads threads, groups;
	/* the index is the mark of an entry of "threads" or "groups", minus 1 */
	struct scan_lanes **lanes;
	size_t lanes_count;
	struct scan_names *names;
	/*
	 * number of spans whose thread or group has no lanes; each of these spans has a separate
	 * lane
	 */
	unsigned crowd;
	/* The current event, for the functions that pairing calls back. */
	const struct fmt_event *event;
	const struct plan_kind *kind;
	uint64_t number;
	int err;
};

/*
 * read_once() passes these arguments to open_scan(). They are variables, because the parameters of
 * open() are the same in every sink.
 */
static struct plan *made;
static const struct fmt_flow *known;
static bool nests;
static bool (*takes)(const struct fmt_type *type); /* the sink's function of this name, or NULL */

/* ------------------------------------------------------------------ lanes */

/*
 * Returns the lanes of a thread or group. A loss only increments the member "cuts" of its source,
 * so that the cost of a loss does not depend on the number of threads. This function applies the
 * loss to the lanes at their next use. Returns NULL if there are too many threads. If memory is
 * lacking, sets err and returns NULL.
 */
static struct scan_lanes *lanes_of(struct scan *scan, struct thread *owner)
{
	unsigned source = scan->event->source;
	struct scan_lanes *lanes;

	if (!owner)
		return NULL;
	if (!owner->mark) {
		lanes = calloc(1, sizeof(*lanes) + scan->flow->sources * sizeof(lanes->cuts[0]));
		if (!lanes || !vec_grow(&scan->lanes, scan->lanes_count, 1)) {
			free(lanes);
			scan->err = ENOMEM;
			return NULL;
		}
		lanes->nested.nests_calls = nests;
		scan->lanes[scan->lanes_count++] = lanes;
		owner->mark = scan->lanes_count;
	}
	lanes = scan->lanes[owner->mark - 1];
	if (lanes->cuts[source] != scan->source[source].cuts) {
		lanes_cut(&lanes->nested);
		flat_lanes_cut(&lanes->flat, source);
		lanes->cuts[source] = scan->source[source].cuts;
	}
	return lanes;
}

static struct scan_lanes *thread_lanes(struct scan *scan)
{
	return lanes_of(scan, threads_of(&scan->threads, scan->event->pid, scan->event->tid,
					 scan->event->thread));
}

/*
 * Spans with a key belong to their process and name, not to a thread. In the table "groups", the
 * number of the series + 1 is used as the number of the thread.
 */
static struct scan_lanes *group_lanes(struct scan *scan)
{
	return lanes_of(scan,
			threads_of(&scan->groups, scan->event->pid, scan->kind->series + 1, 0));
}

/* Makes a moment: a time and the number of its record, which orders equal times. */
static struct moment scan_moment(int64_t ns, uint64_t number)
{
	return (struct moment){ ns, number };
}

/*
 * Handles an event that begins a span. A span without a key may contain other spans. Such a span
 * gets its lane at its end, when the spans that it contains are known. A span with a key gets a
 * free lane now, and the record of the beginning stores the lane until the span ends.
 */
static void begin_span(struct scan *scan)
{
	struct moment now = scan_moment(scan->event->time_ns, scan->number);
	struct scan_lanes *lanes = scan->kind->keyed ? group_lanes(scan) : thread_lanes(scan);
	struct plan_record record = { .apart = 0 };
	unsigned lane;

	if (!lanes)
		return;
	if (!scan->kind->keyed) {
		lanes_begin(&lanes->nested, now);
		return;
	}
	scan->err = flat_lanes_take(&lanes->flat, now, scan->event->source, &lane);
	/*
	 * The record has lane + 1, because 0 means that there is no lane. lane_of() subtracts the
	 * 1. If the span has no end, plan_span() ignores the record.
	 */
	record.lane = lane + 1;
	if (!scan->err)
		scan->err = plan_change(scan->plan, scan->number, &record);
}

/*
 * Stores the lane of a span that has ended. The lane of a span with a key was chosen when the span
 * began. Returns 0 or an error number.
 */
static int lane_of(struct scan *scan, const struct span *span, uint64_t begin, unsigned *lane)
{
	struct moment end = scan_moment(span->end_ns, scan->number);
	struct scan_lanes *lanes;
	struct plan_record record;
	int err;

	if (!scan->kind->keyed) {
		lanes = thread_lanes(scan);
		if (lanes)
			return lanes_place(&lanes->nested, scan_moment(span->begin_ns, begin), end,
					   lane);
	} else {
		lanes = group_lanes(scan);
		err = plan_look(scan->plan, begin, &record);
		*lane = record.lane - 1;
		if (err || (lanes && record.lane)) {
			if (!err)
				flat_lanes_leave(&lanes->flat, *lane, end);
			return err;
		}
	}
	/*
	 * If this thread or group has no lanes, or if the begin got no lane, the span gets a
	 * separate lane, so that it crosses no other span.
	 */
	*lane = LANES_MAX + scan->crowd++;
	return scan->err;
}

/*
 * Called for a span that is a call of the function with this name. If has_function is true, the
 * plan has a record for the function before the record of the span's beginning, and another one
 * before the record of its end. Stores the number of the function in these two records. Returns 0
 * or an error number.
 */
static int name_span(struct scan *scan, const char *name, uint64_t begin)
{
	struct plan_record record = { .apart = 0 };
	int err = plan_function(scan->plan, name, &record.lane);

	if (!scan->kind->has_function)
		return err;
	if (!err)
		err = plan_change(scan->plan, scan->number - 1, &record);
	if (!err && begin != scan->number)
		err = plan_change(scan->plan, begin - 1, &record);
	return err;
}

/*
 * Receives a span from pairing, at the event that ends it. Completes the records of the beginning
 * and the end; each record gets the time of the other event. span->begin_ordinal is the number of
 * the beginning's record + 1, because pair_event() passes this number as the ordinal of an event. A
 * span of one event has only one record.
 */
static void add_span(void *arg, const struct span *span, const struct posix_trace_event_np *event)
{
	struct scan *scan = arg;
	uint64_t begin = scan->kind->use == PLAN_WHOLE ? scan->number : span->begin_ordinal - 1;
	uint64_t apart = scan->number - begin + 1;
	struct plan_record record = { .apart = (uint32_t)apart, .other_ns = span->begin_ns };
	unsigned lane = 0;
	int err = scan->err;

	(void)event;
	if (!err)
		err = lane_of(scan, span, begin, &lane);
	if (!err && span->series->of != span->series)
		err = name_span(scan, span->series->name, begin);
	if (err || apart >= PLAN_APART) {
		scan->err = err;
		return;
	}
	record.lane = lane;
	err = plan_change(scan->plan, scan->number, &record);
	record.other_ns = span->end_ns;
	record.apart = 1;
	if (!err && begin != scan->number)
		err = plan_change(scan->plan, begin, &record);
	/* A span of one event may begin before the first event of the trace. */
	if (span->begin_ns < scan->plan->begin_ns)
		scan->plan->begin_ns = span->begin_ns;
	scan->err = err;
}

/* ------------------------------------------------------------------ types */

/*
 * Returns the number of a span's name. The pairing of each log numbers the names of its own spans.
 * If there are several logs, this function assigns new numbers, so that spans of equal name and
 * kind have the same number. The number of types bounds the search.
 */
static unsigned series_of(const struct scan *scan, const struct plan_kind *kind,
			  const struct series *series)
{
	const struct plan *plan = scan->plan;
	unsigned next = 0;

	if (scan->flow->sources == 1)
		return (unsigned)series->index;
	for (size_t i = 0; i < plan->kinds; i++) {
		const struct plan_kind *other = &plan->kind[i];

		if (!other->use || other == kind)
			continue;
		if (other->is_event == (series->kind == SERIES_EVENT) &&
		    !strcmp(other->name, series->name))
			return other->series;
		if (other->series >= next)
			next = other->series + 1;
	}
	return next;
}

/*
 * Returns the kind of a type, or NULL if memory is lacking. The role of a type is found at its
 * first event. Without --pair a type has at most one role. If a type has no role, or the sink takes
 * its events, the function sets was_early. check_late_role() later checks whether the type has a
 * role because of a type that was defined afterwards.
 */
static struct plan_kind *kind_of(struct scan *scan, const struct fmt_type *from,
				 const struct log_type *type)
{
	struct plan *plan = scan->plan;
	struct plan_kind *kind = from->index < plan->kinds ? &plan->kind[from->index]
							   : plan_kind(plan, from->index);
	const struct role *role;

	/*
	 * The role of a kind does not change during a reading. A type that has no role now gets
	 * none later in this reading, because its earlier events have no records.
	 */
	if (!kind || kind->use || kind->was_early)
		return kind;
	role = roles_of(&scan->source[scan->event->source].paired.pairing, type);
	kind->was_early = true;
	kind->is_taken = takes && takes(from);
	if (!role || kind->is_taken)
		return kind;
	kind->name = strdup(role->series->name);
	if (!kind->name)
		return NULL;
	kind->is_event = role->series->kind == SERIES_EVENT;
	kind->series = series_of(scan, kind, role->series);
	kind->use = role->phase == POSIX_TRACE_BEGIN_NP ? PLAN_BEGIN :
		    role->phase == POSIX_TRACE_END_NP ? PLAN_END : PLAN_WHOLE;
	kind->keyed = role->keys != 0;
	kind->has_function = role->has_function;
	kind->was_early = false;
	return kind;
}

/*
 * Returns the name of a function, from the mappings of the first log that has its address, or NULL.
 */
static const char *function_name(void *arg, pid_t pid, uint64_t address, int64_t time_ns)
{
	const struct fmt_flow *flow = arg;
	const char *name = NULL;

	for (size_t i = 0; i < flow->object_logs && !name; i++)
		name = symbols_function(flow->objects[i], pid, address, time_ns);
	return name;
}

/*
 * Returns the symbol of a frame, and stores the log that has the symbol in *log. Returns NULL if no
 * log has it.
 */
static const struct symbol *find_frame(const struct fmt_flow *flow, uint32_t pid,
				       const struct stacks_found *stack, size_t index,
				       int64_t time_ns, trace_id_t *log)
{
	const struct symbol *symbol = NULL;

	for (size_t i = 0; i < flow->object_logs && !symbol; i++) {
		*log = flow->objects[i];
		symbol = symbols_of_frame(*log, (pid_t)pid, stack, index, time_ns);
	}
	return symbol;
}

const char *fmt_function(const struct fmt_flow *flow, uint32_t pid,
			 const struct stacks_found *stack, size_t index, int64_t time_ns)
{
	trace_id_t log;
	const struct symbol *symbol = find_frame(flow, pid, stack, index, time_ns, &log);

	return symbol ? symbol->whole : NULL;
}

void fmt_frame(const struct fmt_flow *flow, uint32_t pid, const struct stacks_found *stack,
	       size_t index, int64_t time_ns, struct fmt_frame *frame)
{
	trace_id_t log;
	const struct symbol *symbol = find_frame(flow, pid, stack, index, time_ns, &log);

	*frame = (struct fmt_frame){ .function = NULL };
	if (!symbol)
		return;
	frame->function = symbol->whole;
	frame->file = symbol->file;
	frame->line = symbol->line;
	frame->is_mapped = !stacks_is_kernel(stack->frame[index]) &&
			   !posix_trace_mapping_find_np(log, (pid_t)pid, stack->frame[index],
							time_ns, &frame->mapping);
}

/* ------------------------------------------------------------------ the sink */

static int open_scan(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	struct scan *scan = calloc(1, sizeof(*scan));
	int err = 0;

	(void)output;
	if (!scan)
		return ENOMEM;
	scan->flow = flow;
	scan->plan = made;
	scan->names = scan_names_new();
	scan->source = calloc(flow->sources, sizeof(*scan->source));
	*context = scan;
	for (unsigned i = 0; scan->source && !err && i < flow->sources; i++) {
		struct paired *paired = &scan->source[i].paired;

		err = paired_init(paired, flow, add_span, scan);
		/*
		 * In a repeated reading, the pairing also finds the names of types from the first
		 * reading.
		 */
		paired->before = known;
		paired->pairing.name = function_name;
		paired->pairing.name_arg = flow;
		if (flow->wanted)
			/*
			 * If the options ask for durations, an end that is not selected removes its
			 * begin.
			 */
			paired->pairing.takes_back = wanted_uses_duration(flow->wanted);
	}
	return scan->names && scan->source ? err : ENOMEM;
}

static void close_scan(void *context)
{
	struct scan *scan = context;

	for (size_t i = 0; i < scan->lanes_count; i++) {
		lanes_fini(&scan->lanes[i]->nested);
		flat_lanes_fini(&scan->lanes[i]->flat);
		free(scan->lanes[i]);
	}
	free(scan->lanes);
	threads_fini(&scan->threads);
	threads_fini(&scan->groups);
	for (unsigned i = 0; scan->source && i < scan->flow->sources; i++)
		paired_fini(&scan->source[i].paired);
	free(scan->source);
	scan_names_free(scan->names);
	free(scan);
}

/* Passes a selected event to pairing, which calls add_span() if the event ends a span. */
static void pair_event(struct scan *scan, const struct fmt_event *from, const struct log_type *type)
{
	struct scan_source *source = &scan->source[from->source];
	struct posix_trace_event_np event;

	/*
	 * An event whose type has no role changes nothing in the pairing, unless the event reports
	 * a loss.
	 */
	if (!scan->kind->use && type->id > POSIX_TRACE_UNNAMED_USER_EVENT && !from->flags)
		return;
	paired_event(from, type, &event);
	if (pairing_is_loss(&event))
		source->cuts++;
	if (scan->kind->use == PLAN_BEGIN)
		begin_span(scan);
	pairing_event(&source->paired.pairing, type, &event, scan->number + 1, true);
	if (!scan->err)
		scan->err = source->paired.pairing.err;
}

/*
 * Handles an event that makes no span, because it is not selected or the sink shows it in another
 * way. The event may report losses. After a loss the open spans get no end. Returns 0 or an error
 * number.
 */
static int pass_without_span(struct scan *scan, const struct fmt_event *from,
			     const struct log_type *type)
{
	struct scan_source *source = &scan->source[from->source];
	struct posix_trace_event_np event;

	paired_event(from, type, &event);
	source->cuts += pairing_is_loss(&event);
	pairing_event(&source->paired.pairing, type, &event, 0, false);
	return source->paired.pairing.err;
}

static int scan_event(void *context, const struct fmt_event *event)
{
	struct scan *scan = context;
	const struct log_type *type = paired_type(&scan->source[event->source].paired, event->type);

	if (type && scan->flow->choice && !scan->flow->is_wanted)
		return pass_without_span(scan, event, type);
	scan->event = event;
	scan->kind = type ? kind_of(scan, event->type, type) : NULL;
	if (!scan->kind)
		return ENOMEM;
	scan_time(scan->plan, event->time_ns);
	if (scan->kind->is_taken) {
		scan->err = pass_without_span(scan, event, type);
		return scan->err ? scan->err : scan_names_event(scan->names, event);
	}
	/*
	 * Only events of types with a role have a record. plan_span() skips all other events by the
	 * same rule.
	 */
	if (scan->kind->use && scan->kind->has_function)
		scan->err = plan_add(scan->plan, &scan->number);
	if (scan->kind->use && !scan->err)
		scan->err = plan_add(scan->plan, &scan->number);
	if (!scan->err)
		pair_event(scan, event, type);
	return scan->err ? scan->err : scan_names_event(scan->names, event);
}

static int scan_thread(void *context, const struct fmt_thread *thread)
{
	return scan_names_thread(((struct scan *)context)->names, thread);
}

static int scan_lost(void *context, const struct fmt_lost *lost)
{
	struct scan *scan = context;

	scan_facts_lost(scan->plan, lost);
	/*
	 * Events are missing here, so a later end may belong to a missing begin. Therefore the
	 * function drops all open spans.
	 */
	pairing_cut(&scan->source[lost->source].paired.pairing);
	scan->source[lost->source].cuts++;
	return 0;
}

static int scan_end(void *context, const struct fmt_end *end)
{
	struct scan *scan = context;

	scan_facts_end(scan->plan, end);
	/*
	 * The source is still open here, so scan_names_report() can find names of objects and
	 * mapped programs.
	 */
	return scan_names_report(scan->names, scan->flow, scan->plan);
}

static const struct format format_scan = {
	.name = "scan",
	.output = FMT_TO_BYTES,
	.open = open_scan,
	.event = scan_event,
	.thread = scan_thread,
	.lost = scan_lost,
	.end = scan_end,
	.close = close_scan,
};

/* ------------------------------------------------------------------ the reading */

/* Returns whether a type had events before its partner by name was defined. */
static bool check_late_role(const struct fmt_flow *flow, const struct plan *plan)
{
	struct paired all = { .flow = (struct fmt_flow *)(uintptr_t)flow };
	size_t stem;

	for (size_t i = 0; i < plan->kinds; i++) {
		const struct fmt_type *type = fmt_type_at(flow, i);

		if (plan->kind[i].was_early && by_name_applies(type->id, type->fields) &&
		    by_name(type->name, type->name_len, paired_find, &all, &stem))
			return true;
	}
	return false;
}

/*
 * Reads the input once. The sink is format_scan, or format_scan_facts if the conversion needs no
 * spans. "like" is the flow of the conversion; "before" is the flow of an earlier reading, or NULL.
 * Returns 0 or an error number.
 */
static int read_once(const struct fmt_flow *like, struct fmt_flow *flow, struct plan *plan,
		     const struct fmt_flow *before)
{
	static const struct fmt_output nowhere = { .fd = -1, .shown = "" };
	struct choice choice;
	bool spans = like->to->scans == FMT_SCANS_SPANS;
	int err = plan_init(plan);

	flow_init(flow, like->from, spans ? &format_scan : &format_scan_facts);
	if (err)
		return err;
	flow->input = like->input;
	flow->given = like->given;
	flow->givens = like->givens;
	flow->sources = like->sources;
	flow->clocks = like->clocks;
	flow->output = &nowhere;
	flow->wanted = like->wanted;
	flow->sees_unwanted = spans;
	if (like->wanted) {
		err = choice_init(&choice, flow, like->wanted);
		flow->choice = &choice;
	}
	made = plan;
	known = before;
	nests = like->to->nests_calls;
	takes = like->to->takes;
	flow->context = plan;
	if (!err && flow->to->open)
		err = flow->to->open(flow, &nowhere, &flow->context);
	/* The status of import() is ignored, since a damaged input has a plan, too. */
	if (!err)
		flow->from->import(flow, flow->input);
	if (flow->context && flow->to->close)
		flow->to->close(flow->context);
	if (flow->choice)
		choice_fini(&choice);
	flow->choice = NULL;
	/*
	 * If the sink has stopped, it has returned an error number that the flow does not keep. So
	 * the function returns ENOMEM instead.
	 */
	if (flow->stopped)
		err = err ? err : ENOMEM;
	return err ? err : plan_finish(plan);
}

int scan(const struct fmt_flow *like, struct plan *plan, bool *again)
{
	struct fmt_flow first, second;
	int err = input_keep(like->input), wound;

	*again = err == ENOTTY;
	memset(plan, 0, sizeof(*plan));
	plan->fd = -1;
	if (err)
		return err;
	/* This reading prints no messages, because the next reading prints them. */
	say_nothing(true);
	err = read_once(like, &first, plan, NULL);
	wound = input_again(like->input);
	if (!err && !wound && like->to->scans == FMT_SCANS_SPANS && check_late_role(&first, plan)) {
		/*
		 * The first flow must remain until the end, because the second flow uses its types.
		 */
		plan_fini(plan);
		err = read_once(like, &second, plan, &first);
		wound = input_again(like->input);
		flow_fini(&second);
	}
	say_nothing(false);
	flow_fini(&first);
	*again = !wound;
	return wound ? wound : err;
}
