/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfetto.c - for ui.perfetto.dev and its trace processor. */
#include "convert/viewer/perfetto.h"

#include <errno.h>
#include <stdio.h>

#include "base/vec.h"
#include "convert/plain.h"

extern const struct format format_perfetto;

#define PERFETTO_LANES  (1u << 22)
#define SPAN_NAME_BYTES 256

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
	threads_init(&perfetto->lanes, true, PERFETTO_LANES);
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
	threads_fini(&perfetto->threads);
	threads_fini(&perfetto->lanes);
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
		perfetto_annotate_number(p, "creation_ns", ANNOTATION_INT,
					 (uint64_t)facts->creation_ns);
	proto_end(p, event);
	return perfetto_end(perfetto, packet);
}

static int begin(void *context, const struct fmt_facts *facts)
{
	struct perfetto *perfetto = context;
	int64_t time_ns = facts->has_scan ? facts->least_ns : facts->creation_ns;
	int err = begin_sequence(perfetto);

	perfetto->last_ns = time_ns;
	perfetto->facts = *facts;
	if (!err)
		err = snapshot(perfetto, time_ns);
	if (!err)
		err = perfetto_plain_track(perfetto, PERFETTO_TRACK_STREAM, "stream");
	return err ? err : tell_facts(perfetto, facts, time_ns);
}

static int type(void *context, const struct fmt_type *type)
{
	struct perfetto *perfetto = context;
	struct perfetto_kind *more;

	if (!vec_reach(&perfetto->kind, &perfetto->kinds, type->index))
		return ENOMEM;
	more = perfetto->kind;
	more[type->index].type = type;
	more[type->index].name = plain_copy(type->name,
					    type->name_len < 4096 ? type->name_len : 4096);
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

/* A pair of types may be called by any bytes. */
static void put_span_name(struct proto *p, const char *name)
{
	char plain[PLAIN_FACTOR * SPAN_NAME_BYTES + 1];
	size_t len = strlen(name);

	plain_text(plain, name, len < SPAN_NAME_BYTES ? len : SPAN_NAME_BYTES, NULL);
	proto_text(p, EVENT_NAME, plain);
}

/* All that is known of the event; its name, unless it ends a slice. */
static void put_event(struct perfetto *perfetto, const struct fmt_event *event, uint64_t type,
		      uint64_t track)
{
	struct perfetto_kind *kind = &perfetto->kind[event->type->index];
	struct proto *p = &perfetto->packet;
	size_t inner;

	if (!kind->told)
		learn_name(p, kind, event->type->index + 1);
	inner = perfetto_begin_event(perfetto, type, track);
	if (event->span && event->span->part == FMT_OPENS)
		put_span_name(p, event->span->name);
	else if (type != TYPE_SLICE_END)
		proto_number(p, EVENT_NAME_IID, event->type->index + 1);
	perfetto_annotations(p, event);
	if (event->type->fields)
		perfetto_fields(perfetto, event);
	proto_end(p, inner);
}

static int put_end(struct perfetto *perfetto, uint64_t track, int64_t time_ns)
{
	size_t packet = perfetto_begin(perfetto, time_ns);

	proto_end(&perfetto->packet, perfetto_begin_event(perfetto, TYPE_SLICE_END, track));
	return perfetto_end(perfetto, packet);
}

static int event(void *context, const struct fmt_event *event)
{
	struct perfetto *perfetto = context;
	const struct fmt_span *span = event->span;
	bool is_whole = span && span->part == FMT_WHOLE;
	uint64_t type = !span ? TYPE_INSTANT :
			span->part == FMT_CLOSES ? TYPE_SLICE_END : TYPE_SLICE_BEGIN;
	uint64_t track;
	size_t packet;
	int err = span ? perfetto_span_track(perfetto, event, &track)
		       : perfetto_track(perfetto, event, &track);

	if (err)
		return err;
	packet = perfetto_begin(perfetto, is_whole ? span->begin_ns : event->time_ns);
	put_event(perfetto, event, type, track);
	err = perfetto_end(perfetto, packet);
	if (!err && is_whole)
		err = put_end(perfetto, track, event->time_ns);
	perfetto->last_ns = event->time_ns;
	return err;
}

/*
 * On the track of the cause's losses; count NULL: it is not known. SLICE_END has neither name nor
 * count.
 */
static int loss(struct perfetto *perfetto, int type, int64_t time_ns, int cause,
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

static int lost(void *context, const struct fmt_lost *lost)
{
	struct perfetto *perfetto = context;
	uint64_t number, *count = fmt_lost_count(&perfetto->facts, lost, &number) ? &number : NULL;
	int err;

	perfetto->counted[lost->cause] |= count && !lost->counted;
	if (!lost->has_interval)
		return loss(perfetto, TYPE_INSTANT, perfetto->last_ns, lost->cause, count);
	err = loss(perfetto, TYPE_SLICE_BEGIN, lost->begin_ns, lost->cause, count);
	return err ? err : loss(perfetto, TYPE_SLICE_END, lost->end_ns, lost->cause, NULL);
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
		if (end->ledger.lost[i] && !perfetto->counted[i])
			err = loss(perfetto, TYPE_INSTANT, perfetto->last_ns, i,
				   &end->ledger.lost[i]);
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
