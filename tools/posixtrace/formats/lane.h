/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lane.h - the spans of a thread and what took how long on it, put into the one order that nesting.h wants.
 *
 * A lane's time never goes back: what does stands where the one before stood. Spans are proven to nest
 * (spans.h); what took long is left out where it crosses one.
 */
#ifndef POSIXTRACE_FORMATS_LANE_H
#define POSIXTRACE_FORMATS_LANE_H

#include "formats/nesting.h"
#include "formats/spans.h"

#define LANE_ENDED 64 /* spans that are remembered; what crosses an older one takes its place */

struct lane {
	int64_t last_ns;
	int64_t begun_ns[SPANS_DEPTH]; /* of the spans that are open */
	struct {
		int64_t begin_ns, end_ns;
	} ended[LANE_ENDED];
	size_t next_ended;
	struct nesting_lane nesting;
};

void lane_init(struct lane *lane);

/* depth: how many spans were open before. */
void lane_begin_span(struct lane *lane, unsigned depth, int64_t at_ns);
int lane_end_span(struct lane *lane, struct nesting *nesting, uint32_t frame, unsigned depth,
		  int64_t at_ns);

/* Took so long up to there; what began before first_ns begins then. */
int lane_add(struct lane *lane, struct nesting *nesting, uint32_t frame, unsigned depth, int64_t at_ns,
	     uint64_t took_ns, int64_t first_ns);

#endif
