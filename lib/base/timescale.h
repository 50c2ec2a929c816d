/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/timescale.h - converts ticks to CLOCK_REALTIME by anchors that the reader makes.
 *
 * Between two anchors the scale is a straight line, so that it follows the clock while the clock is
 * slewed. The reader adds an anchor before it converts, so that most times are between two anchors.
 * If the slope between two neighbours is absurd, someone set the clock between them. The line of
 * the older anchor then continues with the nominal slope up to the younger anchor, where the time
 * jumps.
 *
 * Owner     one stream's reader; no locks.
 * Signals   async-signal-safe: plain memory.
 * Errors    none. If the array is full, the older anchors are thinned out.
 */
#ifndef PTX_BASE_TIMESCALE_H
#define PTX_BASE_TIMESCALE_H

#include <stddef.h>

#include "base/clock.h"

#define PTX_TIMESCALE_ANCHORS 1024

/* A line of the scale. It is valid for `from <= ticks < to`. */
struct ptx_timeline {
	uint64_t from;
	uint64_t to;
	int64_t base_ns;
	uint64_t slope; /* nanoseconds per tick, 32 bits of fraction */
};

struct ptx_timescale {
	struct ptx_timeline line; /* the line that the last conversion used; from == to: none */
	/* nanoseconds per tick by the rate of the clock, 32 bits of fraction */
	uint64_t nominal_slope;
	size_t count;
	struct ptx_anchor anchor[PTX_TIMESCALE_ANCHORS];
};

/* Begins a scale with one anchor. */
void ptx_timescale_init(struct ptx_timescale *scale, struct ptx_anchor first);

/*
 * Adds a younger anchor; an older anchor is ignored. The new anchor replaces the last anchor if it
 * is within a tenth of a second of the anchor before the last anchor: short lines would amplify the
 * jitter of the readings.
 */
void ptx_timescale_add(struct ptx_timescale *scale, struct ptx_anchor anchor);

/* Finds the line for `ticks` and makes it the line in use. */
void ptx_timescale_select(struct ptx_timescale *scale, uint64_t ticks);

static inline bool ptx_timeline_covers(const struct ptx_timeline *line, uint64_t ticks)
{
	return ticks - line->from < line->to - line->from;
}

static inline int64_t ptx_timeline_ns(const struct ptx_timeline *line, uint64_t ticks)
{
	/* ticks may be before the first anchor, therefore the difference is signed */
	return line->base_ns +
	       (int64_t)(((__int128)(int64_t)(ticks - line->from) * line->slope) >> 32);
}

/*
 * Returns the line for `ticks`. If the line is not valid for later ticks, the caller calls the
 * function again.
 */
static inline struct ptx_timeline ptx_timescale_line(struct ptx_timescale *scale, uint64_t ticks)
{
	if (ptx_unlikely(!ptx_timeline_covers(&scale->line, ticks)))
		ptx_timescale_select(scale, ticks);
	return scale->line;
}

/* Returns CLOCK_REALTIME in nanoseconds for `ticks`. */
static inline int64_t ptx_timescale_ns(struct ptx_timescale *scale, uint64_t ticks)
{
	struct ptx_timeline line = ptx_timescale_line(scale, ticks);

	return ptx_timeline_ns(&line, ticks);
}

#endif
