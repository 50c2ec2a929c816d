/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lanes.h - spans side by side: on one lane no two spans cross, so that a viewer can draw each lane
 * as one track of nested slices.
 *
 * Spans come in the order of their ends. A span takes the first lane of its thread on which it
 * crosses no other span; lane 0 is the thread's own track, which is left to spans that are open
 * where it can. Spans with a key belong to no thread: those of one name and process share lanes on
 * which they do not even nest.
 *
 * Moments are totally ordered: by time, and where times are equal by the event's number. A viewer
 * that sorts events by time, and keeps the file's order where times are equal, sees what lanes.c
 * saw.
 *
 * Memory    bounded for each thread: of a lane's outermost spans the latest LANES_KEPT are known
 * one by
 *           one, and the older ones in groups. A span that begins within such a group may get a
 * lane that
 *           it would not have needed.
 */
#ifndef POSIXTRACE_SPANS_LANES_H
#define POSIXTRACE_SPANS_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LANES_KEPT 512
#define LANES_OPEN 64      /* begins of a thread that groups do not hide */
#define LANES_MAX  1024    /* of a thread; further spans get a lane each */

struct moment {
	int64_t ns;
	uint64_t number;
};

struct lanes {
	struct lane {
		struct kept {
			struct moment begin, end;
		} *kept;           /* the outermost spans, in their order */
		size_t count, room;
	} *lane;
	size_t lanes;
	unsigned next;             /* of those beyond LANES_MAX */
	struct moment open[LANES_OPEN]; /* begins without an end so far, the latest ones */
	size_t opened;
};

void lanes_fini(struct lanes *lanes);

/* A begin whose end may come. */
void lanes_begin(struct lanes *lanes, struct moment begin);

/* What is open has no end. */
void lanes_cut(struct lanes *lanes);

/* The lane of a span. 0 or ENOMEM. */
int lanes_place(struct lanes *lanes, struct moment begin, struct moment end, unsigned *lane);

/* Lanes of spans that do not nest: a lane is taken when the span begins. */
struct flat_lanes {
	struct flat_lane {
		struct moment end;
		unsigned source;   /* the log of the span that took it */
		bool is_open;
	} *lane;
	uint32_t *free;            /* a heap: the least number first */
	size_t lanes, room, count;
};

void flat_lanes_fini(struct flat_lanes *flat);

/* 0 or ENOMEM. */
int flat_lanes_take(struct flat_lanes *flat, struct moment begin, unsigned source, unsigned *lane);
void flat_lanes_leave(struct flat_lanes *flat, unsigned lane, struct moment end);
/* What is open of that log has no end. */
void flat_lanes_cut(struct flat_lanes *flat, unsigned source);

#endif
