/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfetto.c - the sink "perfetto": a trace for ui.perfetto.dev and its trace processor. The
 * messages are described at perfetto.dev/docs/reference/trace-packet-proto.
 */
#include "convert/viewer/perfetto.h"

#include <errno.h>
#include <stdio.h>

#include "base/vec.h"
#include "convert/paired.h"
#include "convert/plain.h"

extern const struct format format_perfetto;

/* greatest number of tracks of spans that are kept as described */
#define PERFETTO_LANES  (1u << 22)
#define SPAN_NAME_BYTES 256        /* longer names of spans are shortened */

enum { /* ClockSnapshot, InternedData, TracePacketDefaults */
	SNAPSHOT_CLOCK = 1,
	SNAPSHOT_PRIMARY = 2,
	CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,
	INTERNED_EVENT_NAME = 2,
	INTERNED_ANNOTATION_NAME = 3,
	INTERNED_IID = 1,
	INTERNED_NAME = 2,
	DEFAULTS_CLOCK_ID = 58,
};

static const char *const names[NAMES] = {
	[NAME_DATA] = "data", [NAME_HEX] = "hex", [NAME_ADDRESS] = "address",
	[NAME_TRUNCATED] = "truncated", [NAME_LATE] = "late", [NAME_AFTER_DAMAGE] = "after_damage",
	[NAME_CPU] = "cpu", [NAME_THREAD] = "thread", [NAME_TID] = "tid",
};

/*
 * All packets belong to one sequence. A packet with a time has the flag NEEDS_STATE, because it
 * uses names that were interned earlier in this sequence.
 */
size_t perfetto_begin(struct perfetto *perfetto, int64_t time_ns)
{
	struct proto *p = &perfetto->packet;
	size_t packet;
	uint8_t *to;

	p->used = 0;
	to = proto_room(p, PERFETTO_PIECE);
	if (!to)
		return 0;
	to = proto_put_tag(to, TRACE_PACKET << 3 | 2) + 4;
	packet = (size_t)(to - p->bytes);
	to = proto_put_varint(proto_put_tag(to, PACKET_TIMESTAMP << 3), (uint64_t)time_ns);
	to = proto_put_varint(proto_put_tag(to, PACKET_SEQUENCE_ID << 3), SEQUENCE_ID);
	to = proto_put_varint(proto_put_tag(to, PACKET_SEQUENCE_FLAGS << 3), NEEDS_STATE);
	p->used = (size_t)(to - p->bytes);
	return packet;
}

/*
 * Ends the packet and writes it. packet.failed is set if memory was lacking while the packet was
 * made. This function checks it for all functions that add to the packet.
 */
int perfetto_end(struct perfetto *perfetto, size_t packet)
{
	proto_end(&perfetto->packet, packet);
	if (perfetto->packet.failed)
		return ENOMEM;
	out_bytes(perfetto->out, perfetto->packet.bytes, perfetto->packet.used);
	return perfetto->out->err;
}

size_t perfetto_begin_untimed(struct perfetto *perfetto)
{
	size_t packet;

	perfetto->packet.used = 0;
	packet = proto_begin(&perfetto->packet, TRACE_PACKET);
	proto_number(&perfetto->packet, PACKET_SEQUENCE_ID, SEQUENCE_ID);
	return packet;
}

static int perfetto_open(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	struct perfetto *perfetto = calloc(1, sizeof(*perfetto));

	if (!perfetto)
		return ENOMEM;
	perfetto->flow = flow;
	perfetto->next_iid = NAMES;
	threads_init(&perfetto->lanes, true, PERFETTO_LANES);
	perfetto->out = output->out;
	*context = perfetto;
	return 0;
}

static void perfetto_close(void *context)
{
	struct perfetto *perfetto = context;

	for (size_t i = 0; i < perfetto->kinds; i++) {
		free(perfetto->kind[i].name);
		free(perfetto->kind[i].integer);
		free(perfetto->kind[i].span_name);
		free(perfetto->kind[i].as);
	}
	perfetto_sched_fini(&perfetto->sched);
	perfetto_stacks_fini(&perfetto->stacks);
	perfetto_flows_fini(&perfetto->flows);
	free(perfetto->kind);
	free(perfetto->packet.bytes);
	threads_fini(&perfetto->threads);
	threads_fini(&perfetto->lanes);
	free(perfetto);
}

/* Adds an entry to InternedData: a name that later packets refer to by its number. */
static void intern_name(struct proto *packet, unsigned field, uint64_t iid, const char *name)
{
	size_t entry = proto_begin(packet, field);

	proto_number(packet, INTERNED_IID, iid);
	proto_text(packet, INTERNED_NAME, name);
	proto_end(packet, entry);
}

/*
 * Writes the first packet. The packet clears the state of the sequence, interns the names that
 * every trace has, and makes CLOCK_REALTIME the clock of all timestamps.
 */
static int begin_sequence(struct perfetto *perfetto)
{
	struct proto *p = &perfetto->packet;
	size_t packet = perfetto_begin_untimed(perfetto), inner;

	proto_number(p, PACKET_SEQUENCE_FLAGS, STATE_CLEARED);
	inner = proto_begin(p, PACKET_DEFAULTS);
	proto_number(p, DEFAULTS_CLOCK_ID, CLOCK_ID_REALTIME);
	proto_end(p, inner);
	inner = proto_begin(p, PACKET_INTERNED_DATA);
	for (unsigned i = 1; i < NAMES; i++)
		intern_name(p, INTERNED_ANNOTATION_NAME, i, names[i]);
	proto_end(p, inner);
	return perfetto_end(perfetto, packet);
}

/* Adds the time of a clock to a ClockSnapshot. */
static void put_clock(struct proto *p, unsigned id, int64_t time_ns)
{
	size_t clock = proto_begin(p, SNAPSHOT_CLOCK);

	proto_number(p, CLOCK_ID, id);
	proto_number(p, CLOCK_TIMESTAMP, (uint64_t)time_ns);
	proto_end(p, clock);
}

int perfetto_snapshot(struct perfetto *perfetto, int64_t time_ns, unsigned equal)
{
	struct proto *p = &perfetto->packet;
	size_t packet = perfetto_begin_untimed(perfetto);
	size_t inner = proto_begin(p, PACKET_CLOCK_SNAPSHOT);

	put_clock(p, CLOCK_ID_REALTIME, time_ns);
	if (equal)
		put_clock(p, equal, time_ns);
	else
		proto_number(p, SNAPSHOT_PRIMARY, CLOCK_ID_REALTIME);
	proto_end(p, inner);
	return perfetto_end(perfetto, packet);
}

/* Writes the facts as an event on the track of the stream. */
static int put_facts(struct perfetto *perfetto, const struct fmt_facts *facts, int64_t time_ns)
{
	struct proto *p = &perfetto->packet;
	size_t packet = perfetto_begin(perfetto, time_ns);
	size_t event = perfetto_begin_event(perfetto, TYPE_INSTANT, PERFETTO_TRACK_STREAM);
	char name[PLAIN_FACTOR * sizeof(facts->name)];

	plain_text(name, facts->name, strlen(facts->name), NULL);
	proto_text(p, EVENT_NAME, "trace");
	perfetto_annotate_text(p, "name", name);
	plain_text(name, facts->host, strnlen(facts->host, sizeof(facts->host)), NULL);
	perfetto_annotate_text(p, "host", name);
	plain_text(name, facts->generation, strlen(facts->generation), NULL);
	perfetto_annotate_text(p, "generation", name);
	plain_text(name, facts->clock, strnlen(facts->clock, sizeof(facts->clock)), NULL);
	perfetto_annotate_text(p, "clock", name);
	perfetto_annotate_number(p, "pid", ANNOTATION_UINT, facts->pid);
	if (facts->has_creation)
		perfetto_annotate_number(p, "creation_ns", ANNOTATION_INT,
					 (uint64_t)facts->creation_ns);
	proto_end(p, event);
	return perfetto_end(perfetto, packet);
}

static int perfetto_sink_begin(void *context, const struct fmt_facts *facts)
{
	struct perfetto *perfetto = context;
	/*
	 * A reader sorts packets by time. The packet with the facts must be the first, so its time
	 * must not be later than the first event.
	 */
	int64_t time_ns = facts->has_scan ? facts->least_ns : facts->creation_ns;
	int err = begin_sequence(perfetto);

	perfetto->last_ns = time_ns;
	perfetto->facts = *facts;
	if (!err)
		err = perfetto_mapped_read(perfetto);
	if (!err)
		err = perfetto_snapshot(perfetto, time_ns, 0);
	if (!err)
		err = perfetto_plain_track(perfetto, PERFETTO_TRACK_STREAM, "stream");
	return err ? err : put_facts(perfetto, facts, time_ns);
}

/*
 * Returns the type as a type of a log, with its plan in *plan. The caller frees it. Returns NULL if
 * memory is lacking.
 */
static struct log_type *plan_type(const struct fmt_type *type, struct plan *plan)
{
	struct log_type *as = paired_new(type);

	if (!as)
		return NULL;
	as->index = type->index;
	classify_type(as, plan);
	return as;
}

static int perfetto_type(void *context, const struct fmt_type *type)
{
	struct perfetto *perfetto = context;
	struct perfetto_kind *kind;

	if (!vec_reach(&perfetto->kind, &perfetto->kinds, type->index))
		return ENOMEM;
	kind = &perfetto->kind[type->index];
	kind->type = type;
	kind->name = plain_copy(type->name, type->name_len < 4096 ? type->name_len : 4096);
	/*
	 * The names of the fields get consecutive numbers, so that the number follows from the
	 * field's index.
	 */
	kind->field_iid = perfetto->next_iid;
	perfetto->next_iid += type->fields ? type->fields->fields : 0;
	for (unsigned i = 0; type->fields && i < type->fields->fields; i++)
		kind->has_counters |= type->fields->field[i].is_counter != 0;
	kind->stack = -1;
	if (type->fields) {
		kind->as = plan_type(type, &kind->plan);
		if (!kind->as)
			return ENOMEM;
		kind->stack = stacks_field(kind->as->name, type->fields);
		kind->is_stack = stacks_is_type(type->name, type->fields);
	}
	return kind->name ? perfetto_prepare(kind) : ENOMEM;
}

/*
 * Returns whether the events of a type are switches, wake-ups or ends of threads for this sink,
 * although they may begin or end spans for other sinks.
 */
static bool perfetto_takes(const struct fmt_type *type)
{
	struct log_type *as;
	struct plan plan;
	bool takes;

	if (!type->fields || type->name_len < 6 || memcmp(type->name, "sched.", 6) != 0)
		return false;
	as = plan_type(type, &plan);
	takes = as && perfetto_sched_takes(&plan);
	free(as);
	return takes;
}

/*
 * Interns the names of a type and its fields in the packet of its first event. So a type without
 * events does not enlarge the trace.
 */
static void intern_names(struct proto *p, struct perfetto_kind *kind, uint64_t iid)
{
	size_t interned = proto_begin(p, PACKET_INTERNED_DATA);

	intern_name(p, INTERNED_EVENT_NAME, iid, kind->name);
	for (unsigned i = 0; kind->type->fields && i < kind->type->fields->fields; i++)
		intern_name(p, INTERNED_ANNOTATION_NAME, kind->field_iid + i,
			    kind->type->fields->field[i].name);
	proto_end(p, interned);
	kind->is_interned = true;
}

/*
 * Writes the name of a span. The name may have any bytes if it comes from a pair of types, so it is
 * converted to UTF-8, which protobuf strings require. For each type, the function keeps the last
 * converted name, because the spans of most types have only one name. The bytes at a name's address
 * do not change as long as the flow exists, so a comparison of addresses is enough.
 */
static void put_span_name(struct proto *p, struct perfetto_kind *kind, const char *name)
{
	if (name != kind->span) {
		size_t len = strlen(name);

		free(kind->span_name);
		kind->span_name = plain_copy(name, len < SPAN_NAME_BYTES ? len : SPAN_NAME_BYTES);
		kind->span = kind->span_name ? name : NULL;
		kind->span_len = kind->span_name ? strlen(kind->span_name) : 0;
		p->failed |= !kind->span_name;
	}
	proto_bytes(p, EVENT_NAME, kind->span_name, kind->span_len);
}

/*
 * Writes the event. The end of a slice gets no name, because the reader uses the name of the
 * beginning. stack_iid is 0 if the event has no call stack. Readers since 2025 support call stacks
 * of events. For all readers, an annotation has the stack, too.
 */
static void put_event(struct perfetto *perfetto, const struct fmt_event *event, uint64_t type,
		      uint64_t track, const struct stacks_found *stack, uint64_t stack_iid)
{
	struct perfetto_kind *kind = &perfetto->kind[event->type->index];
	struct proto *p = &perfetto->packet;
	size_t inner;

	if (!kind->is_interned)
		intern_names(p, kind, event->type->index + 1);
	inner = perfetto_begin_event(perfetto, type, track);
	if (event->span && event->span->part == FMT_OPENS)
		put_span_name(p, kind, event->span->name);
	else if (type != TYPE_SLICE_END)
		proto_number(p, EVENT_NAME_IID, event->type->index + 1);
	perfetto_annotations(p, kind, event);
	if (event->type->fields)
		perfetto_fields(perfetto, event);
	if (stack_iid) {
		proto_number(p, EVENT_CALLSTACK_IID, stack_iid);
		perfetto_stack_annotate(perfetto, event, stack);
	}
	proto_end(p, inner);
}

/* Writes the end of a slice that a single event with a duration has made, as a separate packet. */
static int put_end(struct perfetto *perfetto, uint64_t track, int64_t time_ns)
{
	size_t packet = perfetto_begin(perfetto, time_ns);

	proto_end(&perfetto->packet, perfetto_begin_event(perfetto, TYPE_SLICE_END, track));
	return perfetto_end(perfetto, packet);
}

/*
 * Handles a switch, a wake-up, the end of a thread, a CPU sample, or a stack, which is only kept.
 * If *is_done is false afterwards, the caller must write the event as an event of its thread. This
 * is so for the end of a thread and for all other events.
 */
static int put_kernel_event(struct perfetto *perfetto, const struct fmt_event *event, bool *is_done)
{
	const struct perfetto_kind *kind = &perfetto->kind[event->type->index];
	uint64_t track;
	int err;

	if (kind->is_stack) {
		*is_done = true;
		return perfetto_stack_keep(perfetto, event);
	}
	if (perfetto_sched_takes(&kind->plan)) {
		err = perfetto_sched_event(perfetto, event, is_done);
	} else if (kind->plan.kind == PLAN_SAMPLE && kind->plan.other >= 0 && event->tid &&
		   perfetto_field(perfetto, event, kind->plan.other) < PERFETTO_CPUS) {
		*is_done = true;
		err = perfetto_sample(perfetto, event);
	} else {
		return 0;
	}
	/* The reader finds the process of a thread in the description of the thread's track. */
	return err || !*is_done ? err : perfetto_track(perfetto, event, &track);
}

/* Writes an event of a thread. */
static int put_thread_event(struct perfetto *perfetto, const struct fmt_event *event)
{
	const struct fmt_span *span = event->span;
	bool is_whole = span && span->part == FMT_WHOLE;
	uint64_t type = !span ? TYPE_INSTANT :
			span->part == FMT_CLOSES ? TYPE_SLICE_END : TYPE_SLICE_BEGIN;
	struct stacks_found stack;
	uint64_t track, stack_iid = 0;
	size_t packet;
	int err = span ? perfetto_span_track(perfetto, event, &track)
		       : perfetto_track(perfetto, event, &track);

	/* A slice has the stack of its beginning. */
	if (!err && type != TYPE_SLICE_END)
		err = perfetto_stack(perfetto, event, &stack, &stack_iid);
	if (err)
		return err;
	packet = perfetto_begin(perfetto, is_whole ? span->begin_ns : event->time_ns);
	put_event(perfetto, event, type, track, &stack, stack_iid);
	err = perfetto_end(perfetto, packet);
	if (!err && is_whole)
		err = put_end(perfetto, track, event->time_ns);
	if (!err && perfetto->kind[event->type->index].has_counters)
		err = perfetto_counters(perfetto, event);
	return err || !is_whole ? err : perfetto_flow_event(perfetto, event);
}

static int perfetto_event(void *context, const struct fmt_event *event)
{
	struct perfetto *perfetto = context;
	bool is_done = false;
	int err = put_kernel_event(perfetto, event, &is_done);

	if (!err && !is_done)
		err = put_thread_event(perfetto, event);
	perfetto->last_ns = event->time_ns;
	return err;
}

/*
 * Writes a loss on the track of its cause. "count" is NULL if it is not known. If "type" is
 * TYPE_SLICE_END, the name and the count are omitted.
 */
static int put_loss(struct perfetto *perfetto, int type, int64_t time_ns, int cause,
		    const uint64_t *count)
{
	uint64_t track = PERFETTO_TRACK_LOSSES + (uint64_t)cause;
	struct proto *p = &perfetto->packet;
	size_t packet, inner;
	int err = perfetto->has_losses[cause]
			  ? 0
			  : perfetto_plain_track(perfetto, track, "lost events");

	perfetto->has_losses[cause] = true;
	if (err)
		return err;
	packet = perfetto_begin(perfetto, time_ns);
	inner = perfetto_begin_event(perfetto, (uint64_t)type, track);
	if (type != TYPE_SLICE_END) {
		proto_text(p, EVENT_NAME, "events lost");
		perfetto_annotate_text(p, "cause", posix_trace_lost_name_np(cause));
		if (count)
			perfetto_annotate_number(p, "count", ANNOTATION_UINT, *count);
	}
	proto_end(p, inner);
	return perfetto_end(perfetto, packet);
}

/*
 * A loss with an interval becomes a slice. If the loss has no count, fmt_lost_count() may return
 * the ledger's total of the cause. In this case perfetto_sink_end() must not write the total again.
 */
static int perfetto_lost(void *context, const struct fmt_lost *lost)
{
	struct perfetto *perfetto = context;
	uint64_t number, *count = fmt_lost_count(&perfetto->facts, lost, &number) ? &number : NULL;
	int err;

	perfetto->counted[lost->cause] |= count && !lost->counted;
	if (!lost->has_interval)
		return put_loss(perfetto, TYPE_INSTANT, perfetto->last_ns, lost->cause, count);
	err = put_loss(perfetto, TYPE_SLICE_BEGIN, lost->begin_ns, lost->cause, count);
	return err ? err : put_loss(perfetto, TYPE_SLICE_END, lost->end_ns, lost->cause, NULL);
}

static int perfetto_thread(void *context, const struct fmt_thread *thread)
{
	return perfetto_name_track(context, thread);
}

static int perfetto_sink_end(void *context, const struct fmt_end *end)
{
	struct perfetto *perfetto = context;
	int err = perfetto_sched_end(perfetto);

	if (!err)
		err = perfetto_flow_end(perfetto);
	/* Writes the losses that only the ledger has. */
	for (int i = 0; !err && end->has_ledger && i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		if (end->ledger.lost[i] && !perfetto->counted[i])
			err = put_loss(perfetto, TYPE_INSTANT, perfetto->last_ns, i,
				       &end->ledger.lost[i]);
	return err;
}

static int perfetto_idle(void *context)
{
	return out_flush(((struct perfetto *)context)->out);
}

const struct format format_perfetto = {
	.name = "perfetto",
	.summary = "trace of Perfetto (protobuf)",
	.suffix = "pftrace",
	.output = FMT_TO_BYTES,
	.open = perfetto_open,
	.begin = perfetto_sink_begin,
	.type = perfetto_type,
	.thread = perfetto_thread,
	.event = perfetto_event,
	.lost = perfetto_lost,
	.idle = perfetto_idle,
	.end = perfetto_sink_end,
	.close = perfetto_close,
	.scans = FMT_SCANS_SPANS,
	.takes = perfetto_takes,
};
