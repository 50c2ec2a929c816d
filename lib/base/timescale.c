/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/timescale.c - a piecewise linear time scale through anchors.
 *
 * Only the reader of a stream uses a scale, so there are no atomics. Differences of ticks are
 * computed as unsigned numbers and used as signed ones, because a late event may be older than the
 * first anchor.
 */
#include "base/timescale.h"

#include <string.h>

/*
 * The desired length of a line between two anchors. The error of a reading is about a microsecond.
 * In a line of this length, this error changes the slope by about 1/100000.
 */
#define ANCHOR_DISTANCE_NS 100000000u
/*
 * NTP slews the clock by at most 1/2000; a slope within 1/512 of the nominal one is no step of the
 * clock.
 */
#define SLEW_SHIFT         9
/*
 * A line between anchors that are closer than this is used without the comparison of slopes,
 * because the errors of the readings may change its slope by more than 1/512.
 */
#define TRUSTED_LINE_NS    1000000u

/*
 * The nominal slope has 32 bits of fraction. The scale uses this slope until there is a second
 * anchor.
 */
void ptx_timescale_init(struct ptx_timescale *scale, struct ptx_anchor first)
{
	scale->count = 1;
	scale->anchor[0] = first;
	scale->nominal_slope = (uint64_t)(((unsigned __int128)PTX_NS_PER_S << 32) / ptx_clock_hz);
	scale->line.from = scale->line.to = 0;
}

/*
 * Discards every second anchor of the older half when the array is full. The resolution of the
 * past decreases with each round, and the memory of a stream stays bounded.
 */
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

	/*
	 * The caller's anchors may arrive out of order: an observer adds the anchors of the region,
	 * then its own anchor.
	 */
	if (anchor.ticks <= scale->anchor[n - 1].ticks)
		return;
	/* At most two anchors remain in any interval of ANCHOR_DISTANCE_NS. */
	if (n >= 2 &&
	    anchor.ticks - scale->anchor[n - 2].ticks < ptx_clock_ticks(ANCHOR_DISTANCE_NS))
		scale->anchor[n - 1] = anchor;
	else {
		if (n == PTX_TIMESCALE_ANCHORS)
			thin_out(scale);
		scale->anchor[scale->count++] = anchor;
	}
	/* the line that was used last may have changed, so it is looked up again */
	scale->line.from = scale->line.to = 0;
}

/* Binary search for the last anchor that is not younger than `ticks`. */
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
		low--; /* for times after the newest anchor, the last line is used */
	a = &scale->anchor[low];
	scale->line.from = a->ticks;
	scale->line.to = UINT64_MAX;
	scale->line.base_ns = a->realtime_ns;
	scale->line.slope = scale->nominal_slope;
	if (low + 1 == scale->count)
		return;
	b = a + 1;
	/*
	 * The line before the newest anchor has no end, so it is also used for events after that
	 * anchor.
	 */
	if (low + 2 < scale->count)
		scale->line.to = b->ticks;
	/*
	 * If someone set the clock back, the span is 0. The slope is then 0 as well, which the
	 * check below recognizes as a step.
	 */
	span = b->realtime_ns > a->realtime_ns ? (uint64_t)(b->realtime_ns - a->realtime_ns) : 0;
	slope = (uint64_t)(((unsigned __int128)span << 32) / (b->ticks - a->ticks));
	if ((span && span < TRUSTED_LINE_NS) ||
	    (slope < scale->nominal_slope + (scale->nominal_slope >> SLEW_SHIFT) &&
	     slope > scale->nominal_slope - (scale->nominal_slope >> SLEW_SHIFT)))
		scale->line.slope = slope;
	/*
	 * Otherwise the clock was set between the anchors a and b. If b is the newest anchor, the
	 * times of events after b are computed from b with the nominal slope.
	 */
	else if (low + 2 == scale->count && ticks >= b->ticks) {
		scale->line.from = b->ticks; /* this line is for events after b */
		scale->line.base_ns = b->realtime_ns;
	} else if (low + 2 == scale->count)
		scale->line.to = b->ticks;
}
