/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracks.c - collects spans by thread and lane. In a trace the events of all threads are mixed, so
 * nesting.h keeps the spans until the end.
 */
#include "convert/viewer/tracks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/vec.h"

#define FRAME_NAME_BYTES 4096       /* longer names of spans are shortened */
/* the greatest number of tracks, because each needs memory; a further track ends the conversion */
#define TRACKS_MAX       (1u << 22)

int tracks_open(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	struct tracks *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return ENOMEM;
	err = nesting_init(&s->nesting);
	if (err) {
		free(s);
		return err;
	}
	threads_init(&s->places, true, TRACKS_MAX);
	s->flow = flow;
	s->out = output->out;
	*context = s;
	return 0;
}

void tracks_close(void *context)
{
	struct tracks *s = context;

	for (size_t i = 0; i < s->tracks; i++) {
		nesting_lane_fini(&s->track[i]->nesting);
		free(s->track[i]->name);
		free(s->track[i]);
	}
	for (size_t i = 0; i < s->frames; i++)
		free(s->name[i]);
	for (size_t i = 0; i < s->threads; i++)
		free(s->thread[i].name);
	free(s->track);
	free(s->name);
	free(s->frame);
	free(s->thread);
	free(s->trace);
	threads_fini(&s->places);
	nesting_fini(&s->nesting);
	free(s);
}

int tracks_begin(void *context, const struct fmt_facts *facts)
{
	struct tracks *s = context;

	s->base_ns = s->last_ns = facts->has_scan ? facts->least_ns : 0;
	s->trace = strndup(facts->name, sizeof(facts->name));
	return s->trace ? 0 : ENOMEM;
}

/* Keeps the names of threads for the end. The names of processes are not shown. */
int tracks_thread(void *context, const struct fmt_thread *thread)
{
	struct tracks *s = context;
	char *name;

	if (!thread->tid && !thread->thread)
		return 0;
	if (!vec_grow(&s->thread, s->threads, 1))
		return ENOMEM;
	name = strndup(thread->name, thread->name_len);
	if (!name)
		return ENOMEM;
	s->thread[s->threads++] = (struct plan_name){
		.pid = thread->pid, .tid = thread->tid, .thread = thread->thread, .name = name,
	};
	return 0;
}

/* ------------------------------------------------------------------ spans */

/*
 * Stores the frame of a span in *frame: the index of the span's name in the common list of all
 * profiles.
 */
static int frame_of(struct tracks *s, const struct fmt_span *span, uint32_t *frame)
{
	if (!vec_reach(&s->frame, &s->series, span->series))
		return ENOMEM;
	if (!s->frame[span->series]) {
		if (!vec_grow(&s->name, s->frames, 1))
			return ENOMEM;
		s->name[s->frames] = strndup(span->name, FRAME_NAME_BYTES);
		if (!s->name[s->frames])
			return ENOMEM;
		s->frame[span->series] = (uint32_t)++s->frames;
	}
	*frame = s->frame[span->series] - 1;
	return 0;
}

/* Makes a track for the lane of the event's span. Returns NULL if memory is lacking. */
static struct track *new_track(struct tracks *s, const struct fmt_event *event)
{
	struct track *track;

	if (!vec_grow(&s->track, s->tracks, 1))
		return NULL;
	track = calloc(1, sizeof(*track));
	if (!track)
		return NULL;
	track->pid = event->pid;
	track->tid = event->tid;
	track->thread = event->thread;
	track->lane = event->span->lane;
	track->keyed = event->span->keyed;
	track->last_ns = s->base_ns;
	s->track[s->tracks++] = track;
	track->name = track->keyed ? strdup(event->span->name) : NULL;
	return track->keyed && !track->name ? NULL : track;
}

/*
 * Returns the track of the event's span, and makes it if it does not exist. Tracks are found by a
 * hash of 64 bits of their facts. Tracks with an equal hash would become one profile. Returns NULL
 * if memory is lacking or if there are too many tracks.
 */
static struct track *track_of(struct tracks *s, const struct fmt_event *event)
{
	const struct fmt_span *span = event->span;
	uint64_t key =
		hash_number(hash_number(hash_number(HASH_BEGIN, span->lane), event->pid),
			    span->keyed);
	struct thread *place;

	if (span->keyed)
		key = hash_number(key, span->series);
	else
		key = hash_number(hash_number(key, event->tid), event->tid ? 0 : event->thread);
	place = threads_of(&s->places, 0, 0, key);
	if (!place)
		return NULL;
	if (!place->mark) {
		if (!new_track(s, event))
			return NULL;
		place->mark = s->tracks;
	}
	return s->track[place->mark - 1];
}

/* Adds a span that has ended to its track. The numbers of events order equal times. */
static int put_span(struct tracks *s, const struct fmt_event *event)
{
	const struct fmt_span *span = event->span;
	struct track *track = track_of(s, event);
	struct interval interval = {
		.begin_ns = span->begin_ns, .end_ns = span->end_ns, .begin = span->id,
		.end = span->number,
	};
	uint32_t frame;
	int err = track ? frame_of(s, span, &frame) : ENOMEM;

	if (err)
		return err;
	interval.frame = frame;
	track->last_ns = span->end_ns;
	return nesting_add(&s->nesting, &track->nesting, &interval);
}

int tracks_event(void *context, const struct fmt_event *event)
{
	struct tracks *s = context;

	if (event->time_ns > s->last_ns)
		s->last_ns = event->time_ns;
	/* A span is added at its end, because its duration is not known before. */
	return event->span && event->span->part != FMT_OPENS ? put_span(s, event) : 0;
}

int tracks_lost(void *context, const struct fmt_lost *lost)
{
	struct tracks *s = context;

	if (lost->counted && lost->cause != POSIX_TRACE_LOST_CLEARED_NP)
		s->lost += lost->count;
	return 0;
}

void tracks_end(struct tracks *s, const struct fmt_end *end)
{
	/* The gaps of a source with a ledger have no counts, so no loss is counted twice. */
	for (int i = 0; end->has_ledger && i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		s->lost += i == POSIX_TRACE_LOST_CLEARED_NP ? 0 : end->ledger.lost[i];
}
