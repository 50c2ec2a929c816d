/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nesting.c - turns intervals in the order of their ends into edges in the order of time.
 *
 * The intervals are read backwards, from the last to the first. A stack has the intervals whose
 * beginning this backward walk has not passed yet. The walk finds the edges from the youngest to
 * the oldest. So it writes the edges to a second temporary file, which is then read backwards, too.
 */
#include "convert/nesting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/spool.h"
#include "base/vec.h"
#include "base/whole.h"

#define EDGES 1024 /* number of edges in memory, and in each block of the file */

int nesting_init(struct nesting *nesting)
{
	int err;

	memset(nesting, 0, sizeof(*nesting));
	err = spool_create_or_say(&nesting->intervals);
	if (err)
		return err;
	err = spool_create_or_say(&nesting->edges);
	if (err)
		close(nesting->intervals);
	return err;
}

void nesting_fini(struct nesting *nesting)
{
	close(nesting->intervals);
	close(nesting->edges);
}

void nesting_lane_fini(struct nesting_lane *lane)
{
	free(lane->block);
}

int nesting_add(struct nesting *nesting, struct nesting_lane *lane, const struct interval *interval)
{
	int err;

	lane->interval[lane->intervals++] = *interval;
	if (lane->intervals < NESTING_BLOCK)
		return 0;
	/* Only the list of blocks grows in memory: 8 bytes for 32 intervals. */
	if (!vec_grow(&lane->block, lane->blocks, 1))
		return ENOMEM;
	err = whole_pwrite(nesting->intervals, lane->interval, sizeof(lane->interval),
			  nesting->blocks * sizeof(lane->interval));
	if (err)
		return err;
	lane->block[lane->blocks++] = nesting->blocks++;
	lane->intervals = 0;
	return 0;
}

/* ------------------------------------------------------------------ from the last one back */

struct backward {
	struct nesting *nesting;
	/* intervals whose beginning the backward walk has not passed yet */
	struct interval *open;
	size_t depth, room;
	struct edge edge[EDGES];
	size_t edges;
	/* number of blocks in the file; the first has the latest edges */
	uint64_t written;
	int err;
};

/* Adds an edge. When the array of edges is full, it is written to the file as one block. */
static void put_edge(struct backward *b, int64_t at_ns, uint64_t frame, bool closes)
{
	struct edge *edge;

	/* After an error no further block is written, so there is no room for further edges. */
	if (b->err)
		return;
	edge = &b->edge[b->edges++];
	memset(edge, 0, sizeof(*edge));
	edge->at_ns = at_ns;
	edge->frame = (uint32_t)frame;
	edge->closes = closes;
	if (b->edges < EDGES)
		return;
	b->err = whole_pwrite(b->nesting->edges, b->edge, sizeof(b->edge),
			     b->written * sizeof(b->edge));
	b->written++;
	b->edges = 0;
}

/* Removes the interval on top of the stack, because the backward walk has passed its beginning. */
static void pop_interval(struct backward *b)
{
	const struct interval *top = &b->open[--b->depth];

	put_edge(b, top->begin_ns, top->frame, false);
}

/*
 * Returns whether an interval ends before the top of the stack begins. For equal times, the numbers
 * of the events are compared, so that an empty interval stays inside of the interval that contains
 * it.
 */
static bool is_before(const struct interval *one, const struct interval *top)
{
	return one->end_ns != top->begin_ns ? one->end_ns < top->begin_ns : one->end < top->begin;
}

/*
 * Handles the next interval of the backward walk: removes from the stack the intervals that begin
 * after the end of this interval, and adds this interval to the stack. The depth of the stack is
 * the depth of nested intervals.
 */
static void push_interval(struct backward *b, const struct interval *one)
{
	while (b->depth && is_before(one, &b->open[b->depth - 1]))
		pop_interval(b);
	if (!vec_reserve(&b->open, &b->room, b->depth, 1)) {
		b->err = ENOMEM;
		return;
	}
	b->open[b->depth++] = *one;
	put_edge(b, one->end_ns, one->frame, true);
}

static void push_intervals(struct backward *b, const struct interval *interval, size_t count)
{
	while (count-- && !b->err)
		push_interval(b, &interval[count]);
}

/*
 * Calls "visit" for the edges, from the last added edge to the first, which is the order of time.
 * The edges in memory are first, then the blocks of the file from the last to the first.
 */
static int visit_edges(struct backward *b, void (*visit)(void *arg, const struct edge *edge),
		       void *arg)
{
	for (;;) {
		int err;

		while (b->edges)
			visit(arg, &b->edge[--b->edges]);
		if (!b->written)
			return 0;
		b->written--;
		err = whole_pread(b->nesting->edges, b->edge, sizeof(b->edge),
				 b->written * sizeof(b->edge));
		if (err)
			return err;
		b->edges = EDGES;
	}
}

int nesting_report(struct nesting *nesting, const struct nesting_lane *lane,
		   void (*visit)(void *arg, const struct edge *edge), void *arg)
{
	struct backward *b = calloc(1, sizeof(*b));
	struct interval block[NESTING_BLOCK];
	int err;

	if (!b)
		return ENOMEM;
	b->nesting = nesting;
	/*
	 * The intervals that are not in the file are the youngest, so the backward walk begins with
	 * them.
	 */
	push_intervals(b, lane->interval, lane->intervals);
	for (size_t i = lane->blocks; i-- && !b->err;) {
		b->err = whole_pread(nesting->intervals, block, sizeof(block),
				    lane->block[i] * sizeof(block));
		if (!b->err)
			push_intervals(b, block, NESTING_BLOCK);
	}
	/*
	 * Intervals that are still on the stack begin before all other intervals, so their begins
	 * are last in the backward walk.
	 */
	while (b->depth)
		pop_interval(b);
	err = b->err ? b->err : visit_edges(b, visit, arg);
	free(b->open);
	free(b);
	return err;
}
