/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bands.c - the bands of pictures: times for which a log lacks all or some events. */
#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "picture/picture.h"

/* Returns the title of a band of this kind, which is a static text. */
const char *bands_name(enum gap_kind kind)
{
	static const char *const name[] = {
		[GAP_LOST] = "events were lost", [GAP_STOPPED] = "the stream was stopped",
		[GAP_FULL] = "the stream was full", [GAP_DAMAGED] = "the log is damaged",
	};

	return name[kind];
}

/*
 * Adds a band of the current log. Adjoining bands of one kind become one band. If there are
 * PICTURE_BANDS bands, the function extends the log's last band instead. The first band of each log
 * is added even beyond this limit. Logs are read one after another, so the last band of the log is
 * the last of all bands.
 */
static void add_band(struct picture *picture, const struct gap *gap)
{
	const struct picture_band band = {
		.gap = { picture_time(picture, gap->begin_ns), picture_time(picture, gap->end_ns),
			 gap->kind },
		.log = picture_current(picture),
	};
	struct picture_band *last = picture->bands ? &picture->band[picture->bands - 1] : NULL;

	if (last && last->log == band.log &&
	    (picture->bands >= PICTURE_BANDS ||
	     (last->gap.kind == band.gap.kind && last->gap.end_ns >= band.gap.begin_ns))) {
		if (band.gap.end_ns > last->gap.end_ns)
			last->gap.end_ns = band.gap.end_ns;
		return;
	}
	if (vec_grow(&picture->band, picture->bands, 1))
		picture->band[picture->bands++] = band;
	else
		picture->err = ENOMEM;
}

/* Adds the bands that end with this event. */
void bands_event(struct picture *picture, const struct posix_trace_event_np *event)
{
	struct gap gap[GAPS_OF_AN_EVENT];
	unsigned count = gaps_event(&picture->current->gaps, event, gap);

	for (unsigned i = 0; i < count; i++)
		add_band(picture, &gap[i]);
}

/* Adds the band of a gap that no event has ended. The band ends with the last event of the log. */
void bands_end(struct picture *picture, int64_t last_ns)
{
	struct gap gap;

	if (gaps_end(&picture->current->gaps, last_ns, &gap))
		add_band(picture, &gap);
}
