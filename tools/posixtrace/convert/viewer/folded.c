/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * folded.c - folded stacks, the text from which flame graphs are made: a line for each distinct
 * stack of spans. The line has the spans from the outermost to the innermost, and the time in this
 * stack without the time in deeper stacks.
 *
 * 	main;serve;parse 12345
 *
 * The times of equal stacks of all threads are added. With --stacks the lines are call stacks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "convert/viewer/fold.h"
#include "convert/viewer/folded_stacks.h"
#include "convert/viewer/tracks.h"
#include "log/stacks.h"

extern const struct format format_folded;

/* The context: the tracks of spans, or the call stacks. */
struct folded_context {
	struct tracks *tracks;
	struct folded_stacks *stacks; /* NULL: --stacks was not given */
	struct fmt_flow *flow;
	uint64_t samples;             /* events cpu.sample, which are in no stack of spans */
};

struct folded {
	struct fold fold;
	uint32_t now;            /* the stack between the last edge and the next */
	int64_t since_ns;
};

/*
 * Adds the time since the last edge to the present stack. The stack behind this edge becomes the
 * present stack. The intervals nest, as nesting.h guarantees.
 */
static void take_edge(void *arg, const struct edge *edge)
{
	struct folded *folded = arg;

	if (folded->fold.err)
		return;
	folded->fold.node[folded->now].self += edge->at_ns - folded->since_ns;
	folded->since_ns = edge->at_ns;
	folded->now = edge->closes ? folded->fold.node[folded->now].parent :
				     fold_child(&folded->fold, folded->now, edge->frame);
}

/*
 * Writes the stacks of all tracks. The format has no place for losses, so the function prints a
 * notice about them.
 */
static int folded_end_spans(struct tracks *tracks, const struct fmt_end *end)
{
	struct folded folded = { .now = 0 };
	int err = 0;

	tracks_end(tracks, end);
	if (!fold_begin(&folded.fold))
		return ENOMEM;
	for (size_t i = 0; i < tracks->tracks && !err && !folded.fold.err; i++) {
		folded.now = 0;
		folded.since_ns = tracks->base_ns;
		err = nesting_report(&tracks->nesting, &tracks->track[i]->nesting, take_edge,
				     &folded);
	}
	if (!err)
		fold_put(&folded.fold, tracks->out, tracks->name);
	if (!err)
		err = folded.fold.err;
	if (tracks->lost)
		fmt_fault(tracks->flow, FMT_NOTICE, FMT_NO_OFFSET, NULL,
			  "%llu event%s lost, so that times may be wrong",
			  (unsigned long long)tracks->lost, tracks->lost == 1 ? " is" : "s are");
	if (!tracks->tracks)
		fmt_fault(tracks->flow, FMT_NOTICE, FMT_NO_OFFSET, NULL,
			  "it has no spans, and no events with a duration: there are no stacks");
	fold_fini(&folded.fold);
	return err ? err : tracks->out->err;
}

/* ------------------------------------------------------------------ the format */

static void folded_close(void *context)
{
	struct folded_context *folded = context;

	tracks_close(folded->tracks);
	folded_stacks_close(folded->stacks);
	free(folded);
}

static int folded_open(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	struct folded_context *folded = calloc(1, sizeof(*folded));
	void *tracks = NULL;
	int err;

	if (!folded)
		return ENOMEM;
	err = tracks_open(flow, output, &tracks);
	if (err) {
		free(folded);
		return err;
	}
	folded->tracks = tracks;
	folded->flow = flow;
	*context = folded;
	return folded_stacks_open(flow, output, &folded->stacks);
}

static int folded_begin(void *context, const struct fmt_facts *facts)
{
	return tracks_begin(((struct folded_context *)context)->tracks, facts);
}

static int folded_event(void *context, const struct fmt_event *event)
{
	struct folded_context *folded = context;

	if (folded->stacks)
		return folded_stacks_event(folded->stacks, event);
	folded->samples += !strcmp(event->type->name, STACKS_SAMPLE);
	return tracks_event(folded->tracks, event);
}

static int folded_lost(void *context, const struct fmt_lost *lost)
{
	return tracks_lost(((struct folded_context *)context)->tracks, lost);
}

static int folded_end(void *context, const struct fmt_end *end)
{
	struct folded_context *folded = context;
	int err;

	if (folded->stacks)
		return folded_stacks_end(folded->stacks);
	err = folded_end_spans(folded->tracks, end);
	/* A user who recorded samples probably wants to see the functions that used the CPU. */
	if (folded->samples)
		fmt_fault(folded->flow, FMT_NOTICE, FMT_NO_OFFSET, NULL,
			  "%llu CPU sample%s not in the output: --stacks " STACKS_SAMPLE
			  " writes the call stacks of samples instead of spans",
			  (unsigned long long)folded->samples,
			  folded->samples == 1 ? " is" : "s are");
	return err;
}

const struct format format_folded = {
	.name = "folded",
	.summary = "folded stacks of spans, for flame graphs: a line for each stack",
	.suffix = "folded",
	.output = FMT_TO_BYTES,
	.options = folded_stacks_rows,
	.open = folded_open,
	.begin = folded_begin,
	.event = folded_event,
	.lost = folded_lost,
	.end = folded_end,
	.close = folded_close,
	.scans = FMT_SCANS_SPANS,
	.nests_calls = true,
};
