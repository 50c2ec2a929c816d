/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * speedscope.c - the file format of speedscope (speedscope.app/file-format-schema.json): each lane
 * of a thread, and each lane of spans with a key, becomes an "evented" profile.
 *
 * The format requires all events of a profile in one place, so tracks.h collects them first. Times
 * are nanoseconds since the first event or begin of a span. Times since 1970 would not be exact,
 * because readers keep numbers in doubles.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "convert/viewer/tracks.h"

extern const struct format format_speedscope;

/* The output while it is written. */
struct speedscope {
	struct tracks *tracks;
	struct json json;
	int err;
};

/*
 * Writes an event of a profile: O opens a frame, C closes it. The format requires that frames nest
 * and that no event is earlier than the event before it. nesting.h guarantees both.
 */
static void put_edge(void *arg, const struct edge *edge)
{
	struct speedscope *s = arg;

	json_new_line(&s->json);
	json_object(&s->json, NULL);
	json_word(&s->json, "type", edge->closes ? "C" : "O");
	json_unsigned(&s->json, "frame", edge->frame);
	json_unsigned(&s->json, "at", (uint64_t)edge->at_ns - (uint64_t)s->tracks->base_ns);
	json_end_object(&s->json);
}

/* Returns the last name that the thread got, or NULL if it has none. */
static const char *name_of(const struct tracks *s, const struct track *track)
{
	for (size_t i = s->threads; i--;)
		if (s->thread[i].pid == track->pid && s->thread[i].tid == track->tid &&
		    (track->tid || s->thread[i].thread == track->thread))
			return s->thread[i].name;
	return NULL;
}

/*
 * Writes the name of a profile: the thread's name, and then its numbers, so that the names of
 * profiles differ.
 */
static void put_track_name(struct speedscope *s, const struct track *track)
{
	const char *name = track->keyed ? track->name : name_of(s->tracks, track);
	char *text, what[64] = "", lane[32] = "";
	int len;

	if (!track->keyed && track->tid)
		snprintf(what, sizeof(what), "thread %u of ", track->tid);
	else if (!track->keyed)
		snprintf(what, sizeof(what), "thread %#llx of ", (unsigned long long)track->thread);
	/*
	 * In the plan, the name of a thread may be only its number. Such a name is omitted, since
	 * the number follows anyway.
	 */
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

/* Writes a profile. The end of a profile must not precede its last event. */
static int put_track(struct speedscope *s, const struct track *track)
{
	int64_t last_ns = s->tracks->last_ns > track->last_ns ? s->tracks->last_ns : track->last_ns;
	int err;

	json_new_line(&s->json);
	json_object(&s->json, NULL);
	json_word(&s->json, "type", "evented");
	put_track_name(s, track);
	json_word(&s->json, "unit", "nanoseconds");
	json_unsigned(&s->json, "startValue", 0);
	json_unsigned(&s->json, "endValue", (uint64_t)last_ns - (uint64_t)s->tracks->base_ns);
	json_array(&s->json, "events");
	err = nesting_report(&s->tracks->nesting, &track->nesting, put_edge, s);
	json_end_array(&s->json);
	json_end_object(&s->json);
	return err ? err : s->err;
}

/*
 * Writes the name of the trace. The format has no place for losses, so their number becomes a part
 * of the name.
 */
static int put_name(struct speedscope *s)
{
	char *text;
	int len = s->tracks->lost ? asprintf(&text, "%s, %llu event%s lost", s->tracks->trace,
					     (unsigned long long)s->tracks->lost,
					     text_plural(s->tracks->lost))
			  : asprintf(&text, "%s", s->tracks->trace);

	if (len < 0)
		return ENOMEM;
	json_unicode(&s->json, "name", text, (size_t)len);
	free(text);
	return 0;
}

/* Writes the names of frames in the order of their numbers. */
static void put_frames(struct speedscope *s)
{
	json_new_line(&s->json);
	json_object(&s->json, "shared");
	json_array(&s->json, "frames");
	for (size_t i = 0; i < s->tracks->frames; i++) {
		json_new_line(&s->json);
		json_object(&s->json, NULL);
		json_unicode(&s->json, "name", s->tracks->name[i], strlen(s->tracks->name[i]));
		json_end_object(&s->json);
	}
	json_end_array(&s->json);
	json_end_object(&s->json);
}

static int speedscope_end(void *context, const struct fmt_end *end)
{
	struct tracks *tracks = context;
	struct speedscope speedscope = { .tracks = tracks, .json = json_begin(tracks->out) };
	struct speedscope *s = &speedscope;
	int err;

	tracks_end(tracks, end);
	json_object(&s->json, NULL);
	json_string_member(&s->json, "$schema",
			   "https://www.speedscope.app/file-format-schema.json");
	err = s->err ? s->err : put_name(s);
	json_word(&s->json, "exporter", "posixtrace");
	json_unsigned(&s->json, "activeProfileIndex", 0);
	json_array(&s->json, "profiles");
	for (size_t i = 0; i < tracks->tracks && !err; i++)
		err = put_track(s, tracks->track[i]);
	json_end_array(&s->json);
	put_frames(s);
	json_end_line(&s->json);
	/*
	 * Without a track, the output is valid but empty. A notice explains the reason, because
	 * speedscope does not.
	 */
	if (!tracks->tracks)
		fmt_fault(tracks->flow, FMT_NOTICE, FMT_NO_OFFSET, NULL,
			  "it has no spans, and no events with a duration: speedscope has nothing "
			  "to show");
	return err ? err : s->json.out->err;
}

const struct format format_speedscope = {
	.name = "speedscope",
	.summary = "flame graphs of spans for speedscope",
	.suffix = "speedscope",
	.output = FMT_TO_BYTES,
	.open = tracks_open,
	.begin = tracks_begin,
	.thread = tracks_thread,
	.event = tracks_event,
	.lost = tracks_lost,
	.end = speedscope_end,
	.close = tracks_close,
	.scans = FMT_SCANS_SPANS,
	.nests_calls = true,
};
