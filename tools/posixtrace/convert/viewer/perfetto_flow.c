/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfetto_flow.c - flows: arrows from the thread that ended a wait to the thread that waited.
 *
 * The rules are the same as in the command why: links.h finds the holders of locks, and ender.h
 * finds the write that ended a read. A flow joins two instants: one in the call of the first
 * thread, and one at the end of the wait. A flow cannot join the slices of the two calls directly.
 * Readers join slices in the order in which they begin, but a wait usually begins before the call
 * that ends it.
 */
#include "convert/viewer/perfetto.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "convert/paired.h"

#define WAITED_NS 10000 /* a read that is shorter has probably not waited */
#define KEPT      (4 * ENDER_LOOK_AT) /* greatest number of calls in memory */

/* One of the two threads that a flow joins, and its call. */
struct flow_side {
	uint32_t pid, tid;
	int64_t begin_ns, end_ns;
};

/*
 * Returns the last nanosecond of a call, or the limit if it is earlier. The result is never before
 * the begin of the call. An instant at the time of the call's end would be behind the call.
 */
static int64_t inside_ns(const struct flow_side *side, int64_t limit_ns)
{
	int64_t ns = side->end_ns > side->begin_ns ? side->end_ns - 1 : side->end_ns;

	ns = ns < limit_ns ? ns : limit_ns;
	return ns > side->begin_ns ? ns : side->begin_ns;
}

static int put_side(struct perfetto *perfetto, const struct flow_side *side, int64_t time_ns,
		    const char *text, const struct flow_side *other, const char *call,
		    unsigned field)
{
	struct proto *p = &perfetto->packet;
	size_t packet = perfetto_begin(perfetto, time_ns);
	size_t event = perfetto_begin_event(perfetto, TYPE_INSTANT,
					    perfetto_thread_uuid(side->pid, side->tid));
	char name[80];

	snprintf(name, sizeof(name), "%s thread %u", text, other->tid);
	proto_text(p, EVENT_NAME, name);
	if (call)
		perfetto_annotate_text(p, "call", call);
	proto_number(p, field, perfetto->flows.flows);
	proto_end(p, event);
	return perfetto_end(perfetto, packet);
}

/*
 * Writes a flow from a call that ended a wait. "call" is the name of the type of the waiting call,
 * or NULL. The first instant is not later than the second instant, and precedes it in the file.
 */
static int put_flow(struct perfetto *perfetto, const struct flow_side *from,
		    const struct flow_side *to, bool is_guess, const char *call)
{
	const int64_t to_ns = inside_ns(to, INT64_MAX);
	const int64_t from_ns = inside_ns(from, to_ns);
	int err;

	perfetto->flows.flows++;
	err = put_side(perfetto, from, from_ns, is_guess ? "probably ends the wait of" :
		       "ends the wait of", to, call, EVENT_FLOW);
	return err ? err : put_side(perfetto, to, from_ns > to_ns ? from_ns : to_ns, is_guess ?
				    "probably waited for" : "waited for", from, call,
				    EVENT_FLOW_END);
}

/* ------------------------------------------------------------------ locks */

static int note_lock(struct perfetto *perfetto, const struct fmt_event *event)
{
	const struct perfetto_kind *kind = &perfetto->kind[event->type->index];
	struct links *links = &perfetto->flows.links;
	struct posix_trace_event_np of;

	if (!vec_reach(&links->plan, &links->plans, event->type->index))
		return ENOMEM;
	links->plan[event->type->index] = kind->plan;
	paired_event(event, kind->as, &of);
	links_event(links, kind->as, &of, 0);
	return links->err;
}

static struct flow_side side_of_hold(const struct hold *hold)
{
	return (struct flow_side){ (uint32_t)hold->pid, hold->thread, hold->begin_ns,
				   hold->end_ns };
}

/* Writes the flows to the waits for locks. */
static int put_locks(struct perfetto *perfetto)
{
	struct links *links = &perfetto->flows.links;
	int err = 0;

	holds_sort(&links->holds);
	for (size_t i = 0; !err && i < links->waits.count; i++) {
		const struct hold *wait = &links->waits.hold[i], *hold[LINKS_EACH];
		const struct flow_side to = side_of_hold(wait);
		const unsigned count = links_holders(links, wait, hold);

		for (unsigned k = 0; !err && k < count; k++) {
			const struct flow_side from = side_of_hold(hold[k]);

			err = put_flow(perfetto, &from, &to, false, NULL);
		}
	}
	return err;
}

/* ------------------------------------------------------------------ pipes and sockets */

static struct flow_side side_of_call(const struct perfetto_flows *flows, const struct call *call)
{
	return (struct flow_side){ flows->pid[call - flows->call], call->thread, call->begin_ns,
				   call->end_ns };
}

/*
 * Returns whether a call is a read or a poll that may have waited. A call that failed or reached
 * its time limit was not ended by a thread.
 */
static bool may_have_waited(const struct call *call)
{
	return call->cause != CAUSE_WRITE && call->result &&
	       (uint64_t)call->end_ns - (uint64_t)call->begin_ns >= WAITED_NS;
}

/*
 * Writes the flows to the kept waits, except the last "behind" calls, because the call that ended
 * such a wait may still follow. Then removes the calls that no later search examines.
 */
static int put_transfers(struct perfetto *perfetto, size_t behind)
{
	struct perfetto_flows *flows = &perfetto->flows;
	size_t drop;
	int err = 0;

	for (; !err && flows->done + behind < flows->calls; flows->done++) {
		const struct call *wait = &flows->call[flows->done];
		const struct call *found = may_have_waited(wait) ?
					   ender_among(flows->call, flows->calls, wait) : NULL;
		struct flow_side from, to = side_of_call(flows, wait);

		if (!found)
			continue;
		from = side_of_call(flows, found);
		err = put_flow(perfetto, &from, &to, true, perfetto->kind[wait->type->index].name);
	}
	drop = flows->done > ENDER_LOOK_AT ? flows->done - ENDER_LOOK_AT : 0;
	flows->calls -= drop;
	flows->done -= drop;
	memmove(flows->call, flows->call + drop, flows->calls * sizeof(*flows->call));
	memmove(flows->pid, flows->pid + drop, flows->calls * sizeof(*flows->pid));
	return err;
}

/* Returns whether the descriptor of a call has the name of a file. */
static bool is_file(struct perfetto *perfetto, const struct fmt_event *event, int field)
{
	struct posix_trace_value_np value;
	char name[FMT_NAME_BYTES];

	return field >= 0 && posix_trace_field_get_np(event->type->fields, (unsigned)field, 0,
						      event->data, event->data_len, 0, &value) &&
	       fmt_value_name(perfetto->flow, event, &value, name) && *name == '/';
}

static int note_transfer(struct perfetto *perfetto, const struct fmt_event *event)
{
	const struct perfetto_kind *kind = &perfetto->kind[event->type->index];
	const struct plan *plan = &kind->plan;
	struct perfetto_flows *flows = &perfetto->flows;
	const int64_t result = (int64_t)perfetto_field(perfetto, event, plan->result);

	if (is_file(perfetto, event, plan->key))
		return 0;
	if (!flows->call)
		flows->call = calloc(KEPT, sizeof(*flows->call));
	if (!flows->pid)
		flows->pid = calloc(KEPT, sizeof(*flows->pid));
	if (!flows->call || !flows->pid)
		return ENOMEM;
	flows->pid[flows->calls] = event->pid;
	flows->call[flows->calls++] = (struct call){
		.begin_ns = event->span->begin_ns, .end_ns = event->time_ns,
		.result = result > 0 ? (uint64_t)result : 0, .type = kind->as,
		.thread = event->tid, .cause = (uint8_t)plan->cause,
	};
	return flows->calls == KEPT ? put_transfers(perfetto, ENDER_LOOK_AT) : 0;
}

/* ------------------------------------------------------------------ the interface */

int perfetto_flow_event(struct perfetto *perfetto, const struct fmt_event *event)
{
	if (!event->tid || !event->pid || !perfetto->kind[event->type->index].as)
		return 0;
	switch (perfetto->kind[event->type->index].plan.cause) {
	case CAUSE_LOCK:
	case CAUSE_HELD:
		return note_lock(perfetto, event);
	case CAUSE_READ:
	case CAUSE_WRITE:
	case CAUSE_POLL:
		return note_transfer(perfetto, event);
	default:
		return 0;
	}
}

int perfetto_flow_end(struct perfetto *perfetto)
{
	int err = put_locks(perfetto);

	return err || !perfetto->flows.calls ? err : put_transfers(perfetto, 0);
}

void perfetto_flows_fini(struct perfetto_flows *flows)
{
	links_fini(&flows->links);
	free(flows->call);
	free(flows->pid);
}
