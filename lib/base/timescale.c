/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/timescale.h"

#include <string.h>

#define ANCHOR_DISTANCE_NS 100000000u
#define SLEW_SHIFT         9 /* a slope within 1/512 of the nominal one is no step */
#define TRUSTED_LINE_NS    1000000u

void ptx_timescale_init(struct ptx_timescale *scale, struct ptx_anchor first)
{
	scale->count = 1;
	scale->anchor[0] = first;
	scale->nominal_slope = (uint64_t)(((unsigned __int128)PTX_NS_PER_S << 32) / ptx_clock_hz);
	scale->line.from = scale->line.to = 0;
}

/* Keeps every second one of the older half. */
static void thin_out(struct ptx_timescale *scale)
{
	size_t half = PTX_TIMESCALE_ANCHORS / 2, kept = 0;

	for (size_t i = 0; i < half; i += 2)
		scale->anchor[kept++] = scale->anchor[i];
	memmove(&scale->anchor[kept], &scale->anchor[half],
		(scale->count - half) * sizeof scale->anchor[0]);
	scale->count -= half - kept;
}

void ptx_timescale_add(struct ptx_timescale *scale, struct ptx_anchor anchor)
{
	size_t n = scale->count;

	if (anchor.ticks <= scale->anchor[n - 1].ticks)
		return;
	if (n >= 2 &&
	    anchor.ticks - scale->anchor[n - 2].ticks < ptx_clock_ticks(ANCHOR_DISTANCE_NS))
		scale->anchor[n - 1] = anchor;
	else {
		if (n == PTX_TIMESCALE_ANCHORS)
			thin_out(scale);
		scale->anchor[scale->count++] = anchor;
	}
	scale->line.from = scale->line.to = 0; /* the line in use may have moved */
}

void ptx_timescale_select(struct ptx_timescale *scale, uint64_t ticks)
{
	size_t low = 0, high = scale->count;
	const struct ptx_anchor *a, *b;
	uint64_t slope, span;

	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (scale->anchor[middle].ticks <= ticks)
			low = middle;
		else
			high = middle;
	}
	if (low + 1 == scale->count && low > 0)
		low--; /* past the newest anchor: draw the last line on */
	a = &scale->anchor[low];
	scale->line.from = a->ticks;
	scale->line.to = UINT64_MAX;
	scale->line.base_ns = a->realtime_ns;
	scale->line.slope = scale->nominal_slope;
	if (low + 1 == scale->count)
		return;
	b = a + 1;
	if (low + 2 < scale->count)
		scale->line.to = b->ticks;
	span = b->realtime_ns > a->realtime_ns ? (uint64_t)(b->realtime_ns - a->realtime_ns) : 0;
	slope = (uint64_t)(((unsigned __int128)span << 32) / (b->ticks - a->ticks));
	if ((span && span < TRUSTED_LINE_NS) ||
	    (slope < scale->nominal_slope + (scale->nominal_slope >> SLEW_SHIFT) &&
	     slope > scale->nominal_slope - (scale->nominal_slope >> SLEW_SHIFT)))
		scale->line.slope = slope;
	else if (low + 2 == scale->count && ticks >= b->ticks) {
		scale->line.from = b->ticks; /* a step, and nothing beyond it yet */
		scale->line.base_ns = b->realtime_ns;
	} else if (low + 2 == scale->count)
		scale->line.to = b->ticks;
}
