/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/timescale.h - ticks to CLOCK_REALTIME, by anchors taken while a stream lives.
 *
 * Between two anchors the scale is a straight line, so it follows the clock as it is slewed, and
 * no time is ever extrapolated: the reader takes an anchor before it converts. Two neighbours
 * whose slope is absurd have a step of the clock between them; the older line is then drawn on
 * and the step falls on the younger anchor.
 *
 * Owner     one stream's reader; no lock.
 * Errors    none: when memory is short the oldest anchors are thinned out.
 */
#ifndef PTX_BASE_TIMESCALE_H
#define PTX_BASE_TIMESCALE_H

#include <stddef.h>

#include "base/clock.h"

#define PTX_TIMESCALE_ANCHORS 1024

/* Holds for from <= ticks < to. */
struct ptx_timeline {
	uint64_t from;
	uint64_t to;
	int64_t base_ns;
	uint64_t slope; /* nanoseconds a tick, 32 bits of fraction */
};

struct ptx_timescale {
	struct ptx_timeline line; /* the one in use */
	uint64_t nominal_slope;
	size_t count;
	struct ptx_anchor anchor[PTX_TIMESCALE_ANCHORS];
};

void ptx_timescale_init(struct ptx_timescale *scale, struct ptx_anchor first);

/* The newest moment. It replaces its predecessor if that is within a tenth of a second of its own:
 * short lines would amplify the jitter of the readings. */
void ptx_timescale_add(struct ptx_timescale *scale, struct ptx_anchor anchor);

/* Finds the line for ticks and leaves it in use. */
void ptx_timescale_select(struct ptx_timescale *scale, uint64_t ticks);

static inline bool ptx_timeline_covers(const struct ptx_timeline *line, uint64_t ticks)
{
	return ticks - line->from < line->to - line->from;
}

static inline int64_t ptx_timeline_ns(const struct ptx_timeline *line, uint64_t ticks)
{
	/* ticks may lie before the first anchor: the difference is signed */
	return line->base_ns +
	       (int64_t)(((__int128)(int64_t)(ticks - line->from) * line->slope) >> 32);
}

/* The line for ticks; it is to be asked for again once it does not cover the next. */
static inline struct ptx_timeline ptx_timescale_line(struct ptx_timescale *scale, uint64_t ticks)
{
	if (ptx_unlikely(!ptx_timeline_covers(&scale->line, ticks)))
		ptx_timescale_select(scale, ticks);
	return scale->line;
}

static inline int64_t ptx_timescale_ns(struct ptx_timescale *scale, uint64_t ticks)
{
	struct ptx_timeline line = ptx_timescale_line(scale, ticks);

	return ptx_timeline_ns(&line, ticks);
}

#endif
