/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ctf.c - CTF 1.8, for Babeltrace, Trace Compass and others. */
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

static int open_sink(struct fmt_flow *flow, const struct fmt_output *output, void **context)
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
	if (getrandom(ctf->uuid, sizeof(ctf->uuid), 0) != (ssize_t)sizeof(ctf->uuid))
		memcpy(ctf->uuid, &ctf, sizeof(ctf));
	ctf->uuid[6] = (uint8_t)((ctf->uuid[6] & 0x0f) | 0x40);
	ctf->uuid[8] = (uint8_t)((ctf->uuid[8] & 0x3f) | 0x80);
	*context = ctf;
	return 0;
}

/* Without an end the files are no trace. */
static void remove_files(struct ctf *ctf)
{
	char name[32];

	for (unsigned i = 0; i < ctf->streams; i++) {
		snprintf(name, sizeof(name), "stream_%u", i);
		unlinkat(ctf->folder, name, 0);
	}
	unlinkat(ctf->folder, "metadata", 0);
}

static void close_sink(void *context)
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
 * The clock counts from 1970 if it can, for readers that take its numbers as signed. Times before
 * that ask for an offset below them all; where those are not known, for a wide one.
 */
static void settle_offset(struct ctf *ctf, int64_t least_ns)
{
	int64_t offset_s = least_ns / SECOND_NS;

	if (least_ns >= 0)
		offset_s = 0;
	else if (least_ns % SECOND_NS && offset_s > INT64_MIN / SECOND_NS)
		offset_s--;
	ctf->offset_s = offset_s;
	ctf->has_offset = true;
}

static int begin(void *context, const struct fmt_facts *facts)
{
	struct ctf *ctf = context;

	ctf->facts = *facts;
	if (facts->has_scan)
		settle_offset(ctf, facts->least_ns);
	return ctf_stream_open(ctf, &ctf->stream[0]);
}

static int type(void *context, const struct fmt_type *type)
{
	struct ctf *ctf = context;
	if (!vec_reach(&ctf->kind, &ctf->kinds, type->index))
		return ENOMEM;
	ctf->kind[type->index] = (struct ctf_kind){ .type = type };
	return 0;
}

static void warn_clamped(struct ctf *ctf)
{
	if (!ctf->clamped)
		fmt_fault(ctf->flow, FMT_WARN, FMT_NO_OFFSET, NULL,
			  "times fall too often for CTF: some events have a later time");
	ctf->clamped = true;
}

static uint64_t clock_of(struct ctf *ctf, int64_t time_ns)
{
	/* The difference is true modulo 2^64 whatever the two are. */
	uint64_t offset_ns;

	if (!ctf->has_offset)
		settle_offset(ctf, time_ns >= INT64_MIN / 2 ? time_ns - INT64_MAX / 2 : INT64_MIN);
	offset_ns = (uint64_t)ctf->offset_s * (uint64_t)SECOND_NS;
	if (time_ns / SECOND_NS < ctf->offset_s ||
	    (time_ns < 0 && (int64_t)offset_ns < 0 && time_ns < (int64_t)offset_ns)) {
		warn_clamped(ctf);
		return 0;
	}
	return (uint64_t)time_ns - offset_ns;
}

/* The stream for an event of that time. */
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
 * Readers take discarded events to be lost between the ends of two packets: the first one is here.
 */
static int look_for_gap(struct ctf *ctf, const struct fmt_event *event)
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

static int event(void *context, const struct fmt_event *event)
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
	return look_for_gap(ctf, event);
}

/*
 * Where a source counts its losses they stand in their places. A log knows its gaps, and their sum:
 * then each gap has one at least, and the last one the rest.
 */
static int lost(void *context, const struct fmt_lost *lost)
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

/* What no gap stands for. */
static int lose_rest(struct ctf *ctf, const struct fmt_end *end)
{
	uint64_t all = 0;

	for (int i = 0; end->has_ledger && i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		if (i != POSIX_TRACE_LOST_CLEARED_NP)
			all += end->ledger.lost[i];
	if (all <= ctf->discarded)
		return 0;
	return ctf_discard(ctf, &ctf->stream[0], ctf->stream[0].last, all - ctf->discarded, false);
}

static int end(void *context, const struct fmt_end *end)
{
	struct ctf *ctf = context;
	int err = lose_rest(ctf, end);

	for (unsigned i = 0; !err && i < ctf->streams; i++)
		err = ctf_flush(ctf, &ctf->stream[i]);
	/* A trace without events is one nevertheless. */
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
	.open = open_sink,
	.begin = begin,
	.type = type,
	.event = event,
	.lost = lost,
	.end = end,
	.close = close_sink,
	.scans = true,
};
