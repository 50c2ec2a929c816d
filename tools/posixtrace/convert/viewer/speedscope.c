/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * speedscope.c - the file format of speedscope (speedscope.app/file-format-schema.json): for each
 * lane of a thread its spans as an "evented" profile, and further profiles for spans with a key.
 *
 * The format wants all events of a profile in one place, but a trace has the threads mixed, so
 * nesting.h collects them. Times are nanoseconds since the first event or begin of a span, as
 * readers keep numbers in doubles.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/table.h"
#include "base/vec.h"
#include "convert/format.h"
#include "convert/nesting.h"
#include "convert/plan.h"
#include "convert/threads.h"

extern const struct format format_speedscope;

#define FRAME_NAME_BYTES 4096       /* longer names of spans are cut */
#define TRACKS_MAX       (1u << 22) /* more end the conversion: each costs memory */

/* One lane: a profile of the file. */
struct track {
	uint32_t pid, tid;
	uint64_t thread;
	unsigned lane;
	bool keyed;
	char *name;            /* of spans with a key */
	int64_t last_ns;
	struct nesting_lane nesting;
};

struct speedscope {
	struct fmt_flow *flow;
	struct json json;
	struct threads places;         /* finds tracks: the handle is a hash, the mark index + 1 */
	struct track **track;
	size_t tracks;
	uint32_t *frame;               /* by series of spans: index of the name + 1 */
	size_t series;
	char **name;                   /* of frames, as "shared" lists them */
	size_t frames;
	struct plan_name *thread;      /* the names of threads */
	size_t threads;
	struct nesting nesting;
	int64_t base_ns, last_ns;
	uint64_t lost;
	char *trace;
	int err;
};

static int speedscope_open(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	struct speedscope *s = calloc(1, sizeof(*s));
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
	s->json = json_begin(output->out);
	*context = s;
	return 0;
}

static void speedscope_close(void *context)
{
	struct speedscope *s = context;

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

static int speedscope_begin(void *context, const struct fmt_facts *facts)
{
	struct speedscope *s = context;

	s->base_ns = s->last_ns = facts->has_scan ? facts->least_ns : 0;
	s->trace = strndup(facts->name, sizeof(facts->name));
	return s->trace ? 0 : ENOMEM;
}

/* Keeps the names of threads for the end. The names of processes are not shown. */
static int speedscope_thread(void *context, const struct fmt_thread *thread)
{
	struct speedscope *s = context;
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

/* The frame of a span: the index of its name in the list that all profiles share. */
static int frame_of(struct speedscope *s, const struct fmt_span *span, uint32_t *frame)
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

/* Makes a track for the lane of the event's span. Returns NULL without memory. */
static struct track *new_track(struct speedscope *s, const struct fmt_event *event)
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
 * The track of the event's span, made if it is new. Tracks are found by a hash of 64 bits of their
 * facts; two tracks with the same hash would share a profile. Returns NULL without memory or if
 * there are too many.
 */
static struct track *track_of(struct speedscope *s, const struct fmt_event *event)
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
static int put_span(struct speedscope *s, const struct fmt_event *event)
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

static int speedscope_event(void *context, const struct fmt_event *event)
{
	struct speedscope *s = context;

	if (event->time_ns > s->last_ns)
		s->last_ns = event->time_ns;
	/* A span is added when it ends: only then its duration is known. */
	return event->span && event->span->part != FMT_OPENS ? put_span(s, event) : 0;
}

static int speedscope_lost(void *context, const struct fmt_lost *lost)
{
	struct speedscope *s = context;

	if (lost->counted && lost->cause != POSIX_TRACE_LOST_CLEARED_NP)
		s->lost += lost->count;
	return 0;
}

/* ------------------------------------------------------------------ writing */

/*
 * Writes an event of a profile: O opens a frame, C closes it. The format requires that they nest
 * and that times do not fall, as nesting.h guarantees.
 */
static void put_edge(void *arg, const struct edge *edge)
{
	struct speedscope *s = arg;

	json_new_line(&s->json);
	json_object(&s->json, NULL);
	json_word(&s->json, "type", edge->closes ? "C" : "O");
	json_unsigned(&s->json, "frame", edge->frame);
	json_unsigned(&s->json, "at", (uint64_t)edge->at_ns - (uint64_t)s->base_ns);
	json_end_object(&s->json);
}

/* The last name that the thread got; NULL if it has none. */
static const char *name_of(const struct speedscope *s, const struct track *track)
{
	for (size_t i = s->threads; i--;)
		if (s->thread[i].pid == track->pid && s->thread[i].tid == track->tid &&
		    (track->tid || s->thread[i].thread == track->thread))
			return s->thread[i].name;
	return NULL;
}

/*
 * Writes the name of a profile: the thread's name, then its numbers, so that no two profiles have
 * the same.
 */
static void put_track_name(struct speedscope *s, const struct track *track)
{
	const char *name = track->keyed ? track->name : name_of(s, track);
	char *text, what[64] = "", lane[32] = "";
	int len;

	if (!track->keyed && track->tid)
		snprintf(what, sizeof(what), "thread %u of ", track->tid);
	else if (!track->keyed)
		snprintf(what, sizeof(what), "thread %#llx of ", (unsigned long long)track->thread);
	/* A thread without a name has its number as a name. It is not repeated. */
	if (name && *what && !strncmp(what, name, strlen(name)) &&
	    !strcmp(what + strlen(name), " of "))
		name = NULL;
	if (track->lane)
		snprintf(lane, sizeof(lane), ", lane %u", track->lane);
	len = asprintf(&text, "%s%s%sprocess %u%s", name ? name : "", name ? ", " : "", what,
		       track->pid, lane);
	if (len < 0) {
		s->err = ENOMEM;
		return;
	}
	json_unicode(&s->json, "name", text, (size_t)len);
	free(text);
}

/* Writes a profile. It must not end before its last event. */
static int put_track(struct speedscope *s, const struct track *track)
{
	int64_t last_ns = s->last_ns > track->last_ns ? s->last_ns : track->last_ns;
	int err;

	json_new_line(&s->json);
	json_object(&s->json, NULL);
	json_word(&s->json, "type", "evented");
	put_track_name(s, track);
	json_word(&s->json, "unit", "nanoseconds");
	json_unsigned(&s->json, "startValue", 0);
	json_unsigned(&s->json, "endValue", (uint64_t)last_ns - (uint64_t)s->base_ns);
	json_array(&s->json, "events");
	err = nesting_tell(&s->nesting, &track->nesting, put_edge, s);
	json_end_array(&s->json);
	json_end_object(&s->json);
	return err ? err : s->err;
}

/*
 * The name of the trace. The format has no place for losses, so their number is a part of the name.
 */
static int put_name(struct speedscope *s)
{
	char *text;
	int len = s->lost ? asprintf(&text, "%s, %llu events lost", s->trace,
				     (unsigned long long)s->lost)
			  : asprintf(&text, "%s", s->trace);

	if (len < 0)
		return ENOMEM;
	json_unicode(&s->json, "name", text, (size_t)len);
	free(text);
	return 0;
}

/* The names of frames, in the order of their numbers. */
static void put_frames(struct speedscope *s)
{
	json_new_line(&s->json);
	json_object(&s->json, "shared");
	json_array(&s->json, "frames");
	for (size_t i = 0; i < s->frames; i++) {
		json_new_line(&s->json);
		json_object(&s->json, NULL);
		json_unicode(&s->json, "name", s->name[i], strlen(s->name[i]));
		json_end_object(&s->json);
	}
	json_end_array(&s->json);
	json_end_object(&s->json);
}

static int speedscope_end(void *context, const struct fmt_end *end)
{
	struct speedscope *s = context;
	int err;

	for (int i = 0; end->has_ledger && i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		/* With a ledger the source gave no counts before. */
		s->lost += i == POSIX_TRACE_LOST_CLEARED_NP ? 0 : end->ledger.lost[i];
	json_object(&s->json, NULL);
	json_string_member(&s->json, "$schema",
			   "https://www.speedscope.app/file-format-schema.json");
	err = s->err ? s->err : put_name(s);
	json_word(&s->json, "exporter", "posixtrace");
	json_unsigned(&s->json, "activeProfileIndex", 0);
	json_array(&s->json, "profiles");
	for (size_t i = 0; i < s->tracks && !err; i++)
		err = put_track(s, s->track[i]);
	json_end_array(&s->json);
	put_frames(s);
	json_end_line(&s->json);
	/* The output is valid but empty, and its reader would not explain why. */
	if (!s->tracks)
		fmt_fault(s->flow, FMT_NOTICE, FMT_NO_OFFSET, NULL,
			  "it has no spans, and no events with a duration: speedscope has nothing "
			  "to show");
	return err ? err : s->json.out->err;
}

const struct format format_speedscope = {
	.name = "speedscope",
	.summary = "flame graphs of spans for speedscope",
	.suffix = "speedscope",
	.output = FMT_TO_BYTES,
	.open = speedscope_open,
	.begin = speedscope_begin,
	.thread = speedscope_thread,
	.event = speedscope_event,
	.lost = speedscope_lost,
	.end = speedscope_end,
	.close = speedscope_close,
	.scans = FMT_SCANS_SPANS,
};
