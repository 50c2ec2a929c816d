/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lanes.h - arranges spans on lanes, such that no two spans on a lane cross. A viewer can then draw
 * each lane as one track of nested slices.
 *
 * Spans arrive in the order of their ends. A span gets the first lane of its thread on which it
 * crosses no other span. Lane 0 is the thread's own track. If a span that is still open would cross
 * the new span there, the new span gets another lane. Spans with a key belong to no thread. The
 * spans of one name and process share flat lanes, on which spans do not even nest.
 *
 * Moments have a total order: by time, and for equal times by the number of the event. A viewer
 * that sorts events by time, and keeps the order of the file for equal times, sees the same order.
 *
 * The memory of a thread is bounded. The latest LANES_KEPT outermost spans of a lane are known one
 * by one, the older ones in groups. A span that begins within a group may get a lane that it would
 * not need.
 */
#ifndef POSIXTRACE_SPANS_LANES_H
#define POSIXTRACE_SPANS_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LANES_KEPT 512
#define LANES_OPEN 64      /* open begins of a thread that limit the grouping */
#define LANES_MAX  1024    /* of a thread; further spans get a lane each */

struct moment {
	int64_t ns;
	uint64_t number;
};

struct lanes {
	struct lane {
		struct kept {
			struct moment begin, end;
		} *kept;           /* the outermost spans in order of time */
		size_t count, room;
	} *lane;
	size_t lanes;
	unsigned next;             /* number of spans beyond LANES_MAX */
	struct moment open[LANES_OPEN]; /* the latest begins whose ends have not arrived yet */
	size_t opened;
};

/* Frees the memory. Lanes of all zeros are empty. */
void lanes_fini(struct lanes *lanes);

/* Adds a begin whose end may arrive later. */
void lanes_begin(struct lanes *lanes, struct moment begin);

/* Forgets all open begins, because their ends are lost. */
void lanes_cut(struct lanes *lanes);

/*
 * Stores the number of the span's lane in *lane. The span's begin may have been added before.
 * Returns 0 or ENOMEM.
 */
int lanes_place(struct lanes *lanes, struct moment begin, struct moment end, unsigned *lane);

/* Lanes of spans that do not nest. A span occupies its lane from its begin on. */
struct flat_lanes {
	struct flat_lane {
		struct moment end;
		unsigned source;   /* the log of the span that occupies it */
		bool is_open;
	} *lane;
	uint32_t *free;            /* heap of free lanes, the least number first */
	size_t lanes, count;
};

/* Frees the memory. */
void flat_lanes_fini(struct flat_lanes *flat);

/*
 * flat_lanes_take() stores the lane of a new span in *lane and returns 0, or returns ENOMEM.
 * flat_lanes_leave() frees the lane at the end of the span.
 */
int flat_lanes_take(struct flat_lanes *flat, struct moment begin, unsigned source, unsigned *lane);
void flat_lanes_leave(struct flat_lanes *flat, unsigned lane, struct moment end);
/* Frees the lanes of all open spans of a log, because their ends are lost. */
void flat_lanes_cut(struct flat_lanes *flat, unsigned source);

#endif
