/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* formats/perfetto.c - for ui.perfetto.dev and its trace processor. */
#include "formats/perfetto.h"

#include <errno.h>
#include <stdio.h>

#include "formats/plain.h"

extern const struct format format_perfetto;

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
	[NAME_CPU] = "cpu", [NAME_THREAD] = "thread", [NAME_CUT] = "cut_by_lost_events",
};

size_t perfetto_begin(struct perfetto *perfetto, int64_t time_ns)
{
	size_t packet;

	perfetto->packet.used = 0;
	packet = proto_begin(&perfetto->packet, TRACE_PACKET);
	proto_number(&perfetto->packet, PACKET_TIMESTAMP, (uint64_t)time_ns);
	proto_number(&perfetto->packet, PACKET_SEQUENCE_ID, SEQUENCE_ID);
	proto_number(&perfetto->packet, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
	return packet;
}

int perfetto_end(struct perfetto *perfetto, size_t packet)
{
	proto_end(&perfetto->packet, packet);
	if (perfetto->packet.failed)
		return ENOMEM;
	out_bytes(perfetto->out, perfetto->packet.bytes, perfetto->packet.used);
	return perfetto->out->err;
}

static int open_sink(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	struct perfetto *perfetto = calloc(1, sizeof(*perfetto));

	if (!perfetto)
		return ENOMEM;
	perfetto->flow = flow;
	perfetto->next_iid = NAMES;
	perfetto->out = output->out;
	*context = perfetto;
	return 0;
}

static void close_sink(void *context)
{
	struct perfetto *perfetto = context;

	for (size_t i = 0; i < perfetto->kinds; i++)
		free(perfetto->kind[i].name);
	free(perfetto->kind);
	free(perfetto->packet.bytes);
	spans_fini(&perfetto->spans);
	free(perfetto);
}

static void intern(struct proto *packet, unsigned field, uint64_t iid, const char *name)
{
	size_t entry = proto_begin(packet, field);

	proto_number(packet, INTERNED_IID, iid);
	proto_text(packet, INTERNED_NAME, name);
	proto_end(packet, entry);
}

/* The first packet: names and defaults of the sequence. */
static int begin_sequence(struct perfetto *perfetto)
{
	struct proto *p = &perfetto->packet;
	size_t packet, inner;

	p->used = 0;
	packet = proto_begin(p, TRACE_PACKET);
	proto_number(p, PACKET_SEQUENCE_ID, SEQUENCE_ID);
	proto_number(p, PACKET_SEQUENCE_FLAGS, STATE_CLEARED);
	inner = proto_begin(p, PACKET_DEFAULTS);
	proto_number(p, DEFAULTS_CLOCK_ID, CLOCK_ID_REALTIME);
	proto_end(p, inner);
	inner = proto_begin(p, PACKET_INTERNED_DATA);
	for (unsigned i = 1; i < NAMES; i++)
		intern(p, INTERNED_ANNOTATION_NAME, i, names[i]);
	proto_end(p, inner);
	return perfetto_end(perfetto, packet);
}

/* The clock of the trace is that of its events: their times come through as they are. */
static int snapshot(struct perfetto *perfetto, int64_t time_ns)
{
	struct proto *p = &perfetto->packet;
	size_t packet, inner, clock;

	p->used = 0;
	packet = proto_begin(p, TRACE_PACKET);
	proto_number(p, PACKET_SEQUENCE_ID, SEQUENCE_ID);
	inner = proto_begin(p, PACKET_CLOCK_SNAPSHOT);
	clock = proto_begin(p, SNAPSHOT_CLOCK);
	proto_number(p, CLOCK_ID, CLOCK_ID_REALTIME);
	proto_number(p, CLOCK_TIMESTAMP, (uint64_t)time_ns);
	proto_end(p, clock);
	proto_number(p, SNAPSHOT_PRIMARY, CLOCK_ID_REALTIME);
	proto_end(p, inner);
	return perfetto_end(perfetto, packet);
}

/* What is known of the whole trace, as an event of the stream. */
static int tell_facts(struct perfetto *perfetto, const struct fmt_facts *facts, int64_t time_ns)
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
		perfetto_annotate_number(p, "creation_ns", ANNOTATION_INT, (uint64_t)facts->creation_ns);
	proto_end(p, event);
	return perfetto_end(perfetto, packet);
}

static int begin(void *context, const struct fmt_facts *facts)
{
	struct perfetto *perfetto = context;
	int64_t time_ns = facts->has_scan ? facts->least_ns : facts->creation_ns;
	int err = begin_sequence(perfetto);

	perfetto->last_ns = time_ns;
	if (!err)
		err = snapshot(perfetto, time_ns);
	if (!err)
		err = perfetto_plain_track(perfetto, PERFETTO_TRACK_STREAM, "stream");
	return err ? err : tell_facts(perfetto, facts, time_ns);
}

static int type(void *context, const struct fmt_type *type)
{
	struct perfetto *perfetto = context;
	struct perfetto_kind *more = realloc(perfetto->kind, (type->index + 1) * sizeof(*more));

	if (!more)
		return ENOMEM;
	memset(&more[type->index], 0, sizeof(*more));
	more[type->index].type = type;
	more[type->index].name = plain_copy(type->name,
					    type->name_len < 4096 ? type->name_len : 4096);
	perfetto->kind = more;
	perfetto->kinds = type->index + 1;
	more[type->index].field_iid = perfetto->next_iid;
	perfetto->next_iid += type->fields ? type->fields->fields : 0;
	return more[type->index].name ? 0 : ENOMEM;
}

/* The name goes into the first packet that needs it. */
static void learn_name(struct proto *p, struct perfetto_kind *kind, uint64_t iid)
{
	size_t interned = proto_begin(p, PACKET_INTERNED_DATA);

	intern(p, INTERNED_EVENT_NAME, iid, kind->name);
	for (unsigned i = 0; kind->type->fields && i < kind->type->fields->fields; i++)
		intern(p, INTERNED_ANNOTATION_NAME, kind->field_iid + i,
		       kind->type->fields->field[i].name);
	proto_end(p, interned);
	kind->told = true;
}

static int event(void *context, const struct fmt_event *event)
{
	struct perfetto *perfetto = context;
	struct perfetto_kind *kind = &perfetto->kind[event->type->index];
	struct proto *p = &perfetto->packet;
	bool span = event->type->nests && spans_event(&perfetto->spans, event);
	bool ends = span && event->type->phase == FMT_END;
	size_t packet, inner;
	uint64_t track;
	int err = perfetto_track(perfetto, event, &track);

	if (err)
		return err;
	packet = perfetto_begin(perfetto, event->time_ns);
	if (!kind->told)
		learn_name(p, kind, event->type->index + 1);
	inner = perfetto_begin_event(perfetto, ends ? TYPE_SLICE_END : span ? TYPE_SLICE_BEGIN : TYPE_INSTANT,
			    track);
	if (span && !ends)
		proto_text(p, EVENT_NAME, event->type->span);
	else if (!ends)
		proto_number(p, EVENT_NAME_IID, event->type->index + 1);
	perfetto_annotations(p, event);
	if (event->type->fields)
		perfetto_fields(perfetto, event);
	proto_end(p, inner);
	perfetto->last_ns = event->time_ns;
	return perfetto_end(perfetto, packet);
}

struct cut {
	struct perfetto *perfetto;
	int64_t time_ns;
	int err;
};

/* Nobody knows when the spans that were open really ended. */
static void cut_spans(void *arg, const struct spans_thread *thread)
{
	struct cut *cut = arg;
	struct proto *p = &cut->perfetto->packet;
	uint64_t uuid = perfetto_thread_uuid(thread->pid, thread->tid, thread->thread);

	for (unsigned i = 0; i < thread->depth && !cut->err; i++) {
		size_t packet = perfetto_begin(cut->perfetto, cut->time_ns);
		size_t event = perfetto_begin_event(cut->perfetto, TYPE_SLICE_END, uuid);

		perfetto_annotate(p, NAME_CUT, ANNOTATION_BOOL, 1);
		proto_end(p, event);
		cut->err = perfetto_end(cut->perfetto, packet);
	}
}

/* On the track of losses. type INSTANT has a name and a count; SLICE_END neither. */
static int loss(struct perfetto *perfetto, int type, int64_t time_ns, int cause, bool counted,
		uint64_t count)
{
	struct proto *p = &perfetto->packet;
	size_t packet, inner;
	int err = perfetto->any ? 0
				: perfetto_plain_track(perfetto, PERFETTO_TRACK_LOSSES, "lost events");

	perfetto->any = true;
	if (err)
		return err;
	packet = perfetto_begin(perfetto, time_ns);
	inner = perfetto_begin_event(perfetto, (uint64_t)type, PERFETTO_TRACK_LOSSES);
	if (type != TYPE_SLICE_END) {
		proto_text(p, EVENT_NAME, "events lost");
		perfetto_annotate_text(p, "cause", posix_trace_lost_name_np(cause));
		if (counted)
			perfetto_annotate_number(p, "count", ANNOTATION_UINT, count);
	}
	proto_end(p, inner);
	return perfetto_end(perfetto, packet);
}

static int lost(void *context, const struct fmt_lost *lost)
{
	struct perfetto *perfetto = context;
	struct cut cut = { perfetto, perfetto->last_ns, 0 };
	int err;

	if (!lost->has_interval) {
		err = loss(perfetto, TYPE_INSTANT, perfetto->last_ns, lost->cause, lost->counted,
			   lost->count);
	} else {
		cut.time_ns = lost->end_ns;
		err = loss(perfetto, TYPE_SLICE_BEGIN, lost->begin_ns, lost->cause, lost->counted,
			   lost->count);
		if (!err)
			err = loss(perfetto, TYPE_SLICE_END, lost->end_ns, lost->cause, false, 0);
	}
	spans_clear(&perfetto->spans, cut_spans, &cut);
	return err ? err : cut.err;
}

static int thread(void *context, const struct fmt_thread *thread)
{
	return perfetto_name_track(context, thread);
}

static int end(void *context, const struct fmt_end *end)
{
	struct perfetto *perfetto = context;
	int err = 0;

	for (int i = 0; !err && end->has_ledger && i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		if (end->ledger.lost[i])
			err = loss(perfetto, TYPE_INSTANT, perfetto->last_ns, i, true,
				   end->ledger.lost[i]);
	return err;
}

static int idle(void *context)
{
	return out_flush(((struct perfetto *)context)->out);
}

const struct format format_perfetto = {
	.name = "perfetto",
	.summary = "trace of Perfetto (protobuf)",
	.suffix = "pftrace",
	.output = FMT_TO_BYTES,
	.open = open_sink,
	.begin = begin,
	.type = type,
	.thread = thread,
	.event = event,
	.lost = lost,
	.idle = idle,
	.end = end,
	.close = close_sink,
	.scans = true,
};
