/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * scan.c - the sink of the first reading: it makes the plan.
 *
 * Pairs come from spans/pairing.h, as for posixtrace latency. A pair of types by their names asks
 * for both types: of a source that tells its types as they come, the first events of one may have
 * passed before the other came. Then the input is read once more, with all names known.
 */
#include "convert/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "convert/choice.h"
#include "convert/paired.h"
#include "convert/threads.h"
#include "spans/by_name.h"
#include "spans/lanes.h"
#include "spans/roles.h"

struct scan_lanes { /* of a thread, or of the spans of a name in a process */
	struct lanes nested;
	struct flat_lanes flat;
	uint64_t cuts[]; /* by source: those that were made here */
};

/* One of several logs: its begins, its ends and its losses have to do with no other log. */
struct scan_source {
	struct paired paired;
	uint64_t cuts;
};

struct scan {
	struct fmt_flow *flow;
	struct plan *plan;
	struct scan_source *source;
	struct threads threads, groups;
	struct scan_lanes **lanes;     /* by mark - 1 of either */
	size_t lanes_count;
	struct scan_names *names;
	unsigned crowd;                /* spans of threads that are too many to be known */
	/* The event at hand. */
	const struct fmt_event *event;
	const struct plan_kind *kind;
	uint64_t number;
	int err;
};

static struct plan *made;              /* by the scan that begins */
static const struct fmt_flow *known;

/* ------------------------------------------------------------------ lanes */

/* NULL with err 0: there are too many of them. */
static struct scan_lanes *lanes_of(struct scan *scan, struct thread *owner)
{
	unsigned source = scan->event->source;
	struct scan_lanes *lanes, **more;

	if (!owner)
		return NULL;
	if (!owner->mark) {
		lanes = calloc(1, sizeof(*lanes) + scan->flow->sources * sizeof(lanes->cuts[0]));
		more = realloc(scan->lanes, (scan->lanes_count + 1) * sizeof(*more));
		if (more)
			scan->lanes = more;
		if (!lanes || !more) {
			free(lanes);
			scan->err = ENOMEM;
			return NULL;
		}
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

static struct scan_lanes *group_lanes(struct scan *scan)
{
	return lanes_of(scan,
			threads_of(&scan->groups, scan->event->pid, scan->kind->series + 1, 0));
}

static struct moment moment(int64_t ns, uint64_t number)
{
	return (struct moment){ ns, number };
}

static void begin_span(struct scan *scan)
{
	struct moment now = moment(scan->event->time_ns, scan->number);
	struct scan_lanes *lanes = scan->kind->keyed ? group_lanes(scan) : thread_lanes(scan);
	struct plan_record record = { .has_lane = scan->kind->keyed };
	unsigned lane;

	if (!lanes)
		return;
	if (!scan->kind->keyed) {
		lanes_begin(&lanes->nested, now);
		return;
	}
	scan->err = flat_lanes_take(&lanes->flat, now, scan->event->source, &lane);
	record.lane = lane;
	if (!scan->err)
		scan->err = plan_change(scan->plan, scan->number, &record);
}

/* Of a span with a key it was chosen when it began. */
static int lane_of(struct scan *scan, const struct span *span, uint64_t begin, unsigned *lane)
{
	struct moment end = moment(span->end_ns, scan->number);
	struct scan_lanes *lanes;
	struct plan_record record;
	int err;

	if (!scan->kind->keyed) {
		lanes = thread_lanes(scan);
		if (lanes)
			return lanes_place(&lanes->nested, moment(span->begin_ns, begin), end,
					   lane);
	} else {
		lanes = group_lanes(scan);
		err = plan_look(scan->plan, begin, &record);
		*lane = record.lane;
		if (err || (lanes && record.has_lane)) {
			if (!err)
				flat_lanes_leave(&lanes->flat, *lane, end);
			return err;
		}
	}
	*lane = LANES_MAX + scan->crowd++;
	return scan->err;
}

static void take(void *arg, const struct span *span, const struct posix_trace_event_np *event)
{
	struct scan *scan = arg;
	uint64_t begin = scan->kind->use == PLAN_WHOLE ? scan->number : span->begin_ordinal - 1;
	struct plan_record record = { .begin = begin + 1, .other_ns = span->begin_ns };
	unsigned lane = 0;
	int err = scan->err;

	(void)event;
	if (!err)
		err = lane_of(scan, span, begin, &lane);
	record.lane = lane;
	if (!err)
		err = plan_change(scan->plan, scan->number, &record);
	record.other_ns = span->end_ns;
	if (!err && begin != scan->number)
		err = plan_change(scan->plan, begin, &record);
	if (span->begin_ns < scan->plan->begin_ns)
		scan->plan->begin_ns = span->begin_ns;
	scan->err = err;
}

/* ------------------------------------------------------------------ types */

/* Each log numbers its series itself: of several logs, those of one name have one number. */
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
		if ((other->use == PLAN_WHOLE) == (series->kind == SERIES_EVENT) &&
		    !strcmp(other->name, series->name))
			return other->series;
		if (other->series >= next)
			next = other->series + 1;
	}
	return next;
}

/* What a type does: without --pair it has one role at most. */
static struct plan_kind *kind_of(struct scan *scan, const struct fmt_type *from,
				 const struct log_type *type)
{
	struct plan_kind *kind = plan_kind(scan->plan, from->index);
	const struct role *role;

	if (!kind || kind->use || kind->was_early)
		return kind;
	role = roles_of(&scan->source[scan->event->source].paired.pairing, type);
	kind->was_early = true;
	if (!role)
		return kind;
	kind->name = strdup(role->series->name);
	if (!kind->name)
		return NULL;
	kind->series = series_of(scan, kind, role->series);
	kind->use = role->phase == POSIX_TRACE_BEGIN_NP ? PLAN_BEGIN :
		    role->phase == POSIX_TRACE_END_NP ? PLAN_END : PLAN_WHOLE;
	kind->keyed = role->keys != 0;
	kind->was_early = false;
	return kind;
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

		err = paired_init(paired, flow, take, scan);
		paired->before = known;
		if (flow->wanted)
			paired->pairing.takes_back = wanted_asks_duration(flow->wanted);
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

static void look_at_time(struct plan *plan, int64_t time_ns)
{
	if (!plan->any)
		plan->least_ns = plan->greatest_ns = plan->begin_ns = time_ns;
	if (time_ns < plan->least_ns)
		plan->least_ns = time_ns;
	if (time_ns > plan->greatest_ns)
		plan->greatest_ns = time_ns;
	plan->any = true;
}

static void pair(struct scan *scan, const struct fmt_event *from, const struct log_type *type)
{
	struct scan_source *source = &scan->source[from->source];
	struct posix_trace_event_np event;

	paired_event(from, type, &event);
	if (pairing_is_loss(&event))
		source->cuts++;
	if (scan->kind->use == PLAN_BEGIN)
		begin_span(scan);
	pairing_event(&source->paired.pairing, type, &event, scan->number + 1, true);
	if (!scan->err)
		scan->err = source->paired.pairing.err;
}

/* What is not wanted still tells where events are missing. */
static int pass(struct scan *scan, const struct fmt_event *from, const struct log_type *type)
{
	struct scan_source *source = &scan->source[from->source];
	struct posix_trace_event_np event;

	paired_event(from, type, &event);
	source->cuts += pairing_is_loss(&event);
	pairing_event(&source->paired.pairing, type, &event, 0, false);
	return source->paired.pairing.err;
}

static int event(void *context, const struct fmt_event *event)
{
	struct scan *scan = context;
	const struct log_type *type = paired_type(&scan->source[event->source].paired, event->type);

	if (type && scan->flow->choice && !scan->flow->is_wanted)
		return pass(scan, event, type);
	scan->event = event;
	scan->kind = type ? kind_of(scan, event->type, type) : NULL;
	if (!scan->kind)
		return ENOMEM;
	look_at_time(scan->plan, event->time_ns);
	if (scan->kind->use)
		scan->err = plan_add(scan->plan, &scan->number);
	if (!scan->err)
		pair(scan, event, type);
	return scan->err ? scan->err : scan_names_event(scan->names, event);
}

static int thread(void *context, const struct fmt_thread *thread)
{
	return scan_names_thread(((struct scan *)context)->names, thread);
}

static int lost(void *context, const struct fmt_lost *lost)
{
	struct scan *scan = context;

	scan->plan->gaps += lost->has_interval;
	scan->plan->gaps_of[lost->cause] += lost->has_interval;
	if (lost->counted && lost->cause != POSIX_TRACE_LOST_CLEARED_NP)
		scan->plan->lost += lost->count;
	pairing_cut(&scan->source[lost->source].paired.pairing);
	scan->source[lost->source].cuts++;
	return 0;
}

static int end(void *context, const struct fmt_end *end)
{
	struct scan *scan = context;

	if (end->has_ledger)
		scan->plan->lost = 0;
	for (int i = 0; end->has_ledger && i < POSIX_TRACE_LOST_CAUSES_NP; i++) {
		scan->plan->lost_of[i] = end->ledger.lost[i];
		if (i != POSIX_TRACE_LOST_CLEARED_NP)
			scan->plan->lost += end->ledger.lost[i];
	}
	return scan_names_tell(scan->names, scan->flow, scan->plan);
}

static const struct format format_scan = {
	.name = "scan",
	.output = FMT_TO_BYTES,
	.open = open_scan,
	.event = event,
	.thread = thread,
	.lost = lost,
	.end = end,
	.close = close_scan,
};

/* ------------------------------------------------------------------ the reading */

/* Types that turned out to be pairs after some of their events had passed. */
static bool came_late(const struct fmt_flow *flow, const struct plan *plan)
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

static int read_once(const struct fmt_flow *like, struct fmt_flow *flow, struct plan *plan,
		     const struct fmt_flow *before)
{
	static const struct fmt_output nowhere = { .fd = -1, .shown = "" };
	struct choice choice;
	int err = plan_init(plan);

	flow_init(flow, like->from, &format_scan);
	if (err)
		return err;
	flow->input = like->input;
	flow->given = like->given;
	flow->givens = like->givens;
	flow->sources = like->sources;
	flow->clocks = like->clocks;
	flow->output = &nowhere;
	flow->wanted = like->wanted;
	flow->sees_unwanted = true;
	if (like->wanted) {
		err = choice_init(&choice, flow, like->wanted);
		flow->choice = &choice;
	}
	made = plan;
	known = before;
	if (!err)
		err = flow->to->open(flow, &nowhere, &flow->context);
	if (!err)
		flow->from->import(flow, flow->input);
	if (flow->context && flow->to->close)
		flow->to->close(flow->context);
	if (flow->choice)
		choice_fini(&choice);
	flow->choice = NULL;
	if (flow->stopped)
		err = err ? err : ENOMEM;
	return err ? err : plan_finish(plan);
}

bool scan(const struct fmt_flow *like, struct plan *plan, bool *kept)
{
	struct fmt_flow first, second;
	bool good = input_keep(like->input);

	*kept = good;
	memset(plan, 0, sizeof(*plan));
	plan->fd = -1;
	if (!good)
		return false;
	say_nothing(true);
	good = !read_once(like, &first, plan, NULL) && input_again(like->input);
	if (good && came_late(&first, plan)) {
		plan_fini(plan);
		good = !read_once(like, &second, plan, &first) && input_again(like->input);
		flow_fini(&second);
	}
	say_nothing(false);
	flow_fini(&first);
	return good;
}
