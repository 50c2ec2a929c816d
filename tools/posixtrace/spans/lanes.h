/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lanes.h - arranges spans on lanes, so that no two spans on a lane cross. A viewer can then draw
 * each lane as one track of nested slices.
 *
 * Spans arrive in the order of their ends. A span gets the first lane of its thread on which it
 * crosses no other span. Lane 0 is the thread's own track. If the new span would cross a span on
 * lane 0 that is still open, the new span gets another lane. Spans with a key belong to no thread.
 * Spans with a key that have the same name and process share flat lanes. On a flat lane spans do
 * not nest, but follow each other.
 *
 * Moments are ordered by time, and moments of equal times by the number of the event. A viewer gets
 * this same order if it sorts events by time and leaves events of equal times in the order of the
 * file.
 *
 * A call is one event, which is recorded at its end. The begin of the call has no event and so no
 * number, so it could have any place among moments of the same time. If nests_calls is true, the
 * begin gets the place at which the call nests: after spans that ended, inside of spans that are
 * open, and around spans that began at the same time. If two calls have the same times, the call
 * with the later event is the outer one. A viewer must compute these places itself, because they
 * differ from the order of the file.
 *
 * The memory of a thread is limited. When a lane has LANES_KEPT outermost spans, the spans of the
 * older half are joined into groups, and only the begin and end of each group are kept. If a span
 * begins within a group, it may get a higher lane than necessary.
 */
#ifndef POSIXTRACE_SPANS_LANES_H
#define POSIXTRACE_SPANS_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LANES_KEPT 512
#define LANES_OPEN 64      /* the most begins of open spans that are kept for each thread */
#define LANES_MAX  1024    /* the most lanes of a thread; a further span gets a lane of its own */

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
	bool nests_calls;          /* set by the caller before the first span */
	unsigned next;             /* number of spans that found all LANES_MAX lanes occupied */
	struct moment open[LANES_OPEN]; /* the latest begins whose ends have not arrived yet */
	size_t opened;
};

/* Frees the memory. Lanes of all zeros are empty. */
void lanes_fini(struct lanes *lanes);

/* Adds the begin of a span that is open. */
void lanes_begin(struct lanes *lanes, struct moment begin);

/* Forgets all open begins, because their ends are lost. */
void lanes_cut(struct lanes *lanes);

/*
 * Finds a lane for a span that has ended and stores its number in *lane. The span's begin may have
 * been added by lanes_begin(). Returns 0 or ENOMEM.
 */
int lanes_place(struct lanes *lanes, struct moment begin, struct moment end, unsigned *lane);

/* Flat lanes, on which spans do not nest. A span occupies its lane from its begin to its end. */
struct flat_lanes {
	struct flat_lane {
		struct moment end;
		unsigned source;   /* the number of the log that the open span comes from */
		bool is_open;
	} *lane;
	/* heap of the free lanes; the first is the one with the least number */
	uint32_t *free;
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
