/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "convert/nesting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/spool.h"

#define EDGES 1024 /* at once, between memory and the file */

int nesting_init(struct nesting *nesting)
{
	int err;

	memset(nesting, 0, sizeof(*nesting));
	err = spool_create(&nesting->intervals);
	if (err)
		return err;
	err = spool_create(&nesting->edges);
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

static int put(int fd, const void *bytes, size_t len, uint64_t at)
{
	return pwrite(fd, bytes, len, (off_t)at) == (ssize_t)len ? 0 : errno ? errno : ENOSPC;
}

static int get(int fd, void *bytes, size_t len, uint64_t at)
{
	return pread(fd, bytes, len, (off_t)at) == (ssize_t)len ? 0 : EIO;
}

int nesting_add(struct nesting *nesting, struct nesting_lane *lane, const struct interval *interval)
{
	int err;

	lane->interval[lane->intervals++] = *interval;
	if (lane->intervals < NESTING_BLOCK)
		return 0;
	if (lane->blocks == lane->room) {
		size_t room = lane->room ? 2 * lane->room : 16;
		uint64_t *more = realloc(lane->block, room * sizeof(*more));

		if (!more)
			return ENOMEM;
		lane->block = more;
		lane->room = room;
	}
	err = put(nesting->intervals, lane->interval, sizeof(lane->interval),
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
	struct interval *open;               /* whose beginning is still to come */
	size_t depth, room;
	struct edge edge[EDGES];
	size_t edges;
	uint64_t written;                    /* blocks of edges, the latest first */
	int err;
};

static void put_edge(struct backward *b, int64_t at_ns, uint64_t frame, bool closes)
{
	struct edge *edge = &b->edge[b->edges++];

	memset(edge, 0, sizeof(*edge));
	edge->at_ns = at_ns;
	edge->frame = (uint32_t)frame;
	edge->closes = closes;
	if (b->edges < EDGES || b->err)
		return;
	b->err = put(b->nesting->edges, b->edge, sizeof(b->edge), b->written * sizeof(b->edge));
	b->written++;
	b->edges = 0;
}

static void leave(struct backward *b)
{
	const struct interval *top = &b->open[--b->depth];

	put_edge(b, top->begin_ns, top->frame, false);
}

static bool is_before(const struct interval *one, const struct interval *top)
{
	return one->end_ns != top->begin_ns ? one->end_ns < top->begin_ns : one->end < top->begin;
}

static void take(struct backward *b, const struct interval *one)
{
	while (b->depth && is_before(one, &b->open[b->depth - 1]))
		leave(b);
	if (b->depth == b->room) {
		size_t room = b->room ? 2 * b->room : 64;
		struct interval *more = realloc(b->open, room * sizeof(*more));

		if (!more) {
			b->err = ENOMEM;
			return;
		}
		b->open = more;
		b->room = room;
	}
	b->open[b->depth++] = *one;
	put_edge(b, one->end_ns, one->frame, true);
}

static void take_all(struct backward *b, const struct interval *interval, size_t count)
{
	while (count-- && !b->err)
		take(b, &interval[count]);
}

static int tell(struct backward *b, void (*visit)(void *arg, const struct edge *edge), void *arg)
{
	for (;;) {
		int err;

		while (b->edges)
			visit(arg, &b->edge[--b->edges]);
		if (!b->written)
			return 0;
		b->written--;
		err = get(b->nesting->edges, b->edge, sizeof(b->edge),
			  b->written * sizeof(b->edge));
		if (err)
			return err;
		b->edges = EDGES;
	}
}

int nesting_tell(struct nesting *nesting, const struct nesting_lane *lane,
		 void (*visit)(void *arg, const struct edge *edge), void *arg)
{
	struct backward *b = calloc(1, sizeof(*b));
	struct interval block[NESTING_BLOCK];
	int err;

	if (!b)
		return ENOMEM;
	b->nesting = nesting;
	take_all(b, lane->interval, lane->intervals);
	for (size_t i = lane->blocks; i-- && !b->err;) {
		b->err = get(nesting->intervals, block, sizeof(block),
			     lane->block[i] * sizeof(block));
		if (!b->err)
			take_all(b, block, NESTING_BLOCK);
	}
	while (b->depth)
		leave(b);
	err = b->err ? b->err : tell(b, visit, arg);
	free(b->open);
	free(b);
	return err;
}
