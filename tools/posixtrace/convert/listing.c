/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* listing.c - the lines that a source has of its own, each part of its input explained. */
#include <errno.h>
#include <stdlib.h>

#include "base/say.h"
#include "convert/format.h"

extern const struct format format_listing;

struct listing {
	struct out *out;
	bool has_lines;
};

static int open_sink(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	struct listing *listing = calloc(1, sizeof(*listing));

	(void)flow;
	if (!listing)
		return ENOMEM;
	listing->out = output->out;
	*context = listing;
	return 0;
}

static int put_line(void *context, const char *line, size_t len)
{
	struct listing *listing = context;

	listing->has_lines = true;
	out_bytes(listing->out, line, len);
	out_char(listing->out, '\n');
	return listing->out->err;
}

/* Most sources have none, and events come for nothing then. */
static int event(void *context, const struct fmt_event *event)
{
	struct listing *listing = context;

	(void)event;
	if (listing->has_lines)
		return 0;
	say("the input's format has no listing");
	return -1;
}

static int idle(void *context)
{
	return out_flush(((struct listing *)context)->out);
}

static int end(void *context, const struct fmt_end *end)
{
	(void)end;
	return ((struct listing *)context)->has_lines ? 0 : event(context, NULL);
}

static void close_sink(void *context)
{
	free(context);
}

const struct format format_listing = {
	.name = "listing",
	.summary = "what a foreign format's input holds, explained line by line",
	.output = FMT_TO_BYTES,
	.open = open_sink,
	.line = put_line,
	.event = event,
	.idle = idle,
	.end = end,
	.close = close_sink,
};
