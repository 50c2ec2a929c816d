/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bands.c - the times of which a log has no events, or not all. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "picture/picture.h"

const char *bands_name(enum picture_band_kind kind)
{
	static const char *const name[] = {
		[BAND_LOST] = "events were lost", [BAND_STOPPED] = "the stream was stopped",
		[BAND_FULL] = "the stream was full", [BAND_DAMAGED] = "the log is damaged",
	};

	return name[kind];
}

static void add(struct picture *picture, const struct picture_band *band)
{
	struct picture_band *last = picture->bands ? &picture->band[picture->bands - 1] : NULL;
	struct picture_band *more;

	if (last && (picture->bands == PICTURE_BANDS ||
		     (last->kind == band->kind && last->end_ns >= band->begin_ns))) {
		if (band->end_ns > last->end_ns)
			last->end_ns = band->end_ns;
		return;
	}
	if (picture->bands % 64 == 0) {
		more = realloc(picture->band, (picture->bands + 64) * sizeof(*more));
		if (!more) {
			picture->err = ENOMEM;
			return;
		}
		picture->band = more;
	}
	picture->band[picture->bands++] = *band;
}

static void begin(struct picture *picture, enum picture_band_kind kind, int64_t time_ns)
{
	/* A stream that stops itself because it is full also tells that events are lost. */
	if (picture->is_open) {
		if (picture->open.kind != BAND_STOPPED)
			picture->open.kind = kind == BAND_FULL ? kind : picture->open.kind;
		return;
	}
	picture->is_open = true;
	picture->open = (struct picture_band){ time_ns, time_ns, kind };
}

static void end(struct picture *picture, int64_t time_ns)
{
	if (!picture->is_open)
		return;
	picture->is_open = false;
	picture->open.end_ns = time_ns > picture->open.begin_ns ? time_ns : picture->open.begin_ns;
	add(picture, &picture->open);
}

static bool is_automatic(const struct posix_trace_event_np *event)
{
	int automatic = 0;

	if (event->data_len >= sizeof(automatic))
		memcpy(&automatic, event->data, sizeof(automatic));
	return automatic != 0;
}

void bands_event(struct picture *picture, const struct posix_trace_event_np *event)
{
	if (event->flags & POSIX_TRACE_EVENT_GAP_NP) {
		int64_t before = picture->open.end_ns > event->time_ns || !picture->open.end_ns ?
				 event->time_ns : picture->open.end_ns;

		add(picture, &(struct picture_band){ before, event->time_ns, BAND_DAMAGED });
	}
	switch (event->info.posix_event_id) {
	case POSIX_TRACE_STOP:
		begin(picture, is_automatic(event) ? BAND_FULL : BAND_STOPPED, event->time_ns);
		break;
	case POSIX_TRACE_OVERFLOW:
		begin(picture, BAND_LOST, event->time_ns);
		break;
	case POSIX_TRACE_RESUME:
		if (picture->is_open && picture->open.kind != BAND_LOST)
			break; /* START ends it */
		if (!picture->is_open)
			begin(picture, BAND_LOST, event->time_ns);
		end(picture, event->time_ns);
		break;
	case POSIX_TRACE_START:
		end(picture, event->time_ns);
		break;
	}
	if (!picture->is_open)
		picture->open.end_ns = event->time_ns; /* of the event before a damaged part */
}

/* The stop at a log's end leaves nothing out. */
void bands_end(struct picture *picture)
{
	if (picture->is_open && picture->open.kind != BAND_STOPPED)
		end(picture, INT64_MAX);
	for (size_t i = 0; i < picture->bands; i++)
		if (picture->band[i].end_ns == INT64_MAX)
			picture->band[i].end_ns = picture->last_ns;
}
