/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * listing.c - the sink "listing": lines that explain each part of the input. The source makes these
 * lines only for a sink that has the function line().
 */
#include <errno.h>
#include <stdlib.h>

#include "base/say.h"
#include "convert/flow.h"
#include "convert/format.h"

extern const struct format format_listing;

struct listing {
	struct fmt_flow *flow;
	struct out *out;
	bool has_lines;
};

static int open_sink(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	struct listing *listing = calloc(1, sizeof(*listing));

	if (!listing)
		return ENOMEM;
	listing->flow = flow;
	listing->out = output->out;
	*context = listing;
	return 0;
}

static int listing_line(void *context, const char *line, size_t len)
{
	struct listing *listing = context;

	listing->has_lines = true;
	out_bytes(listing->out, line, len);
	out_char(listing->out, '\n');
	return listing->out->err;
}

/*
 * Most sources make no lines. If no line precedes the first event, the source makes none. So the
 * function fails, and the conversion ends early and not after a long input.
 */
static int listing_event(void *context, const struct fmt_event *event)
{
	struct listing *listing = context;

	(void)event;
	if (listing->has_lines)
		return 0;
	say("%s: the format %s has no listing", fmt_input_name(listing->flow->input),
	    listing->flow->from->name);
	return -1;
}

static int listing_idle(void *context)
{
	return out_flush(((struct listing *)context)->out);
}

static int listing_end(void *context, const struct fmt_end *end)
{
	/* An input without events may still have lines. */
	(void)end;
	return ((struct listing *)context)->has_lines ? 0 : listing_event(context, NULL);
}

static void close_sink(void *context)
{
	free(context);
}

const struct format format_listing = {
	.name = "listing",
	.summary = "explanation of an input in a foreign format, one line for each record",
	.output = FMT_TO_BYTES,
	.open = open_sink,
	.line = listing_line,
	.event = listing_event,
	.idle = listing_idle,
	.end = listing_end,
	.close = close_sink,
};
