/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ctf.c - the sink "ctf": writes the Common Trace Format 1.8 (diamon.org/ctf/v1.8.3), for
 * Babeltrace, Trace Compass and others.
 */
#include "convert/viewer/ctf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/vec.h"
#include "convert/explained.h"

#define SECOND_NS INT64_C(1000000000)

extern const struct format format_ctf;

/*
 * Opens the folder that output.c has made. All files are opened relative to the folder's
 * descriptor, so the folder may be renamed during the conversion.
 */
static int ctf_sink_open(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	struct ctf *ctf = calloc(1, sizeof(*ctf));

	if (!ctf)
		return ENOMEM;
	ctf->flow = flow;
	ctf->path = output->path;
	ctf->folder = open(output->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ctf->folder < 0) {
		int err = errno;

		free(ctf);
		return err;
	}
	/*
	 * The UUID shows that metadata and packets belong together. It need not be secret. So if
	 * getrandom() fails, an address is good enough.
	 */
	if (getrandom(ctf->uuid, sizeof(ctf->uuid), 0) != (ssize_t)sizeof(ctf->uuid))
		memcpy(ctf->uuid, &ctf, sizeof(ctf));
	/* RFC 9562, section 5.4, defines the bits for version 4 and its variant. */
	ctf->uuid[6] = (uint8_t)((ctf->uuid[6] & 0x0f) | 0x40);
	ctf->uuid[8] = (uint8_t)((ctf->uuid[8] & 0x3f) | 0x80);
	*context = ctf;
	return 0;
}

/*
 * Files without metadata cannot be read, so a failed conversion removes them. Afterwards output.c
 * removes the folder.
 */
static void remove_files(struct ctf *ctf)
{
	char name[32];

	for (unsigned i = 0; i < ctf->streams; i++) {
		snprintf(name, sizeof(name), "stream_%u", i);
		unlinkat(ctf->folder, name, 0);
	}
	unlinkat(ctf->folder, "metadata", 0);
}

static void ctf_sink_close(void *context)
{
	struct ctf *ctf = context;

	for (unsigned i = 0; i < ctf->streams; i++)
		ctf_stream_close(&ctf->stream[i]);
	if (!ctf->ended)
		remove_files(ctf);
	close(ctf->folder);
	free(ctf->kind);
	free(ctf);
}

/*
 * Sets the offset of the trace's clock from 1970. If least_ns is not before 1970, the offset is 0,
 * and all times are below 2^63. Some readers require this, because they treat times as signed.
 * Otherwise the offset is least_ns, rounded to whole seconds: down, or up if the lower second does
 * not fit into 64 bits.
 */
static void set_offset(struct ctf *ctf, int64_t least_ns)
{
	int64_t offset_s = least_ns / SECOND_NS;

	if (least_ns >= 0)
		offset_s = 0;
	else if (least_ns % SECOND_NS && offset_s > INT64_MIN / SECOND_NS)
		offset_s--;
	ctf->offset_s = offset_s;
	ctf->has_offset = true;
}

/*
 * If there was a first reading, the least time is known here. Otherwise clock_of() sets the offset
 * at the first event.
 */
static int ctf_begin(void *context, const struct fmt_facts *facts)
{
	struct ctf *ctf = context;

	ctf->facts = *facts;
	if (facts->has_scan)
		set_offset(ctf, facts->least_ns);
	return ctf_stream_open(ctf, &ctf->stream[0]);
}

static int ctf_type(void *context, const struct fmt_type *type)
{
	struct ctf *ctf = context;
	if (!vec_reach(&ctf->kind, &ctf->kinds, type->index))
		return ENOMEM;
	ctf->kind[type->index] = (struct ctf_kind){ .type = type };
	return 0;
}

/* Warns, only once, that an event has another time in the output than in the input. */
static void warn_clamped(struct ctf *ctf)
{
	if (!ctf->clamped)
		fmt_fault(ctf->flow, FMT_WARN, FMT_NO_OFFSET, NULL,
			  "times decrease too often for CTF: some events have a later time there "
			  "than in the log");
	ctf->clamped = true;
}

/*
 * Converts a time to the trace's clock. If there was no first reading, the first event sets the
 * offset so that times up to about 146 years before and after this event can be represented. A time
 * before the offset becomes 0.
 */
static uint64_t clock_of(struct ctf *ctf, int64_t time_ns)
{
	/* The difference is computed with unsigned numbers, so that it cannot overflow. */
	uint64_t offset_ns;

	if (!ctf->has_offset)
		set_offset(ctf, time_ns >= INT64_MIN / 2 ? time_ns - INT64_MAX / 2 : INT64_MIN);
	offset_ns = (uint64_t)ctf->offset_s * (uint64_t)SECOND_NS;
	if (time_ns / SECOND_NS < ctf->offset_s ||
	    (time_ns < 0 && (int64_t)offset_ns < 0 && time_ns < (int64_t)offset_ns)) {
		warn_clamped(ctf);
		return 0;
	}
	return (uint64_t)time_ns - offset_ns;
}

/*
 * Finds the stream for an event with this time, or makes a new one. If there are too many streams,
 * the event goes to the last stream and gets the time of the last event of that stream. Returns 0
 * or an error number.
 */
static int find_stream(struct ctf *ctf, uint64_t *time, struct ctf_stream **stream)
{
	for (unsigned i = 0; i < ctf->streams; i++) {
		*stream = &ctf->stream[i];
		if (*time >= (*stream)->last)
			return 0;
	}
	if (ctf->streams < CTF_STREAMS_MAX) {
		*stream = &ctf->stream[ctf->streams];
		return ctf_stream_open(ctf, *stream);
	}
	warn_clamped(ctf);
	*time = (*stream)->last;
	return 0;
}

/*
 * Fills the header and context of an event. The number of the class is even if the data is written
 * as bytes. If the data is written as fields, ctf_event() adds 1.
 */
static void put_head(struct ctf_event_head *head, const struct fmt_event *event, uint64_t time)
{
	head->id = (uint32_t)(2 * event->type->index);
	head->timestamp = time;
	head->pid = event->pid;
	head->tid = event->tid;
	head->thread = event->thread;
	head->address = event->address;
	head->cpu = event->cpu;
	head->truncated = event->truncation != POSIX_TRACE_NOT_TRUNCATED;
	head->late = (event->flags & POSIX_TRACE_EVENT_LATE_NP) != 0;
	head->after_damage = (event->flags & POSIX_TRACE_EVENT_GAP_NP) != 0;
}

/*
 * Copies the data. If "typed" is false, the length precedes the data. If add_nul is true, adds the
 * NUL that CTF requires after the str at the end of the data.
 */
static void put_data(uint8_t *to, const struct fmt_event *event, bool typed, bool add_nul)
{
	uint32_t len = (uint32_t)event->data_len;

	if (!typed) {
		memcpy(to, &len, sizeof(len));
		to += sizeof(len);
	}
	if (len)
		memcpy(to, event->data, len);
	if (typed && add_nul)
		to[len] = '\0';
}

/*
 * Ends the packet at an event after which events of the traced processes are missing. Readers
 * assume that the discarded events of the next packet were lost between the ends of the two
 * packets. Returns 0 or an error number.
 */
static int end_packet_at_gap(struct ctf *ctf, const struct fmt_event *event)
{
	bool was_in_gap = ctf->in_gap;

	if (!event->type->id || event->type->id > POSIX_TRACE_FLUSH_STOP)
		return 0;
	if (event->type->id == POSIX_TRACE_START || event->type->id == POSIX_TRACE_RESUME)
		ctf->in_gap = false;
	if (event->type->id == POSIX_TRACE_STOP || event->type->id == POSIX_TRACE_OVERFLOW)
		ctf->in_gap = true;
	return ctf->in_gap && !was_in_gap ? ctf_flush(ctf, &ctf->stream[0]) : 0;
}

static int ctf_event(void *context, const struct fmt_event *event)
{
	struct ctf *ctf = context;
	struct ctf_kind *kind = &ctf->kind[event->type->index];
	uint64_t time = clock_of(ctf, event->time_ns);
	struct ctf_stream *stream = &ctf->stream[0];
	bool add_nul = false;
	bool typed = event->type->fields && explained(event->type->fields, event->data,
						      event->data_len, &add_nul);
	size_t bytes = sizeof(struct ctf_event_head) + event->data_len + (typed ? add_nul : 4);
	uint8_t *room;
	int err = 0;

	/* Most events are not older than the event before, so they go to the first stream. */
	if (time < stream->last)
		err = find_stream(ctf, &time, &stream);
	if (!err)
		err = ctf_room(ctf, stream, time, bytes, &room);
	if (err)
		return err;
	put_head((struct ctf_event_head *)(void *)room, event, time);
	((struct ctf_event_head *)(void *)room)->id += typed;
	kind->used[typed] = true;
	put_data(room + sizeof(struct ctf_event_head), event, typed, add_nul);
	return end_packet_at_gap(ctf, event);
}

/*
 * Reports discarded events. If the gaps have counts, each gap reports its count. A log has gaps
 * without counts, and one total. For a log, each gap except the last reports one event of the
 * total, as long as the total is not used up. The last gap reports the rest of the total.
 */
static int ctf_lost(void *context, const struct fmt_lost *lost)
{
	struct ctf *ctf = context;
	struct ctf_stream *stream = &ctf->stream[0];
	uint64_t events = lost->counted ? lost->count : 0;
	uint64_t time = lost->has_interval ? clock_of(ctf, lost->end_ns) : stream->last;
	bool in_gap = ctf->in_gap && lost->has_interval;

	if (!lost->counted && ctf->facts.has_scan) {
		uint64_t left = ctf->facts.lost - ctf->discarded;

		ctf->gaps++;
		events = ctf->gaps == ctf->facts.gaps ? left : left > 0;
	}
	if (!events)
		return 0;
	ctf->discarded += events;
	return ctf_discard(ctf, stream, time, events, in_gap);
}

/*
 * Reports the losses that no gap has reported. Cleared events were removed on request and are not
 * losses.
 */
static int discard_rest(struct ctf *ctf, const struct fmt_end *end)
{
	uint64_t all = 0;

	for (int i = 0; end->has_ledger && i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		if (i != POSIX_TRACE_LOST_CLEARED_NP)
			all += end->ledger.lost[i];
	if (all <= ctf->discarded)
		return 0;
	return ctf_discard(ctf, &ctf->stream[0], ctf->stream[0].last, all - ctf->discarded, false);
}

static int ctf_end(void *context, const struct fmt_end *end)
{
	struct ctf *ctf = context;
	int err = discard_rest(ctf, end);

	for (unsigned i = 0; !err && i < ctf->streams; i++)
		err = ctf_flush(ctf, &ctf->stream[i]);
	/*
	 * If the first stream has no packet, an empty packet is written, because readers reject a
	 * stream file without a packet.
	 */
	if (!err && !ctf->stream[0].number)
		err = ctf_discard(ctf, &ctf->stream[0], 0, 0, false);
	if (!err)
		err = ctf_metadata(ctf);
	ctf->ended = !err;
	return err;
}

const struct format format_ctf = {
	.name = "ctf",
	.summary = "Common Trace Format 1.8, a folder",
	.suffix = "ctf",
	.output = FMT_TO_FOLDER,
	.open = ctf_sink_open,
	.begin = ctf_begin,
	.type = ctf_type,
	.event = ctf_event,
	.lost = ctf_lost,
	.end = ctf_end,
	.close = ctf_sink_close,
	.scans = FMT_SCANS_FACTS,
};
