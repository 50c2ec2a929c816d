/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nesting.h - what took how long on each thread, for readers that want a thread in one piece and
 * its spans as they open and close.
 *
 * Intervals come in the order of their ends, those of all threads mixed. They go into a temporary
 * file in blocks of one lane each; read from its last one back, an interval comes after all that it
 * may stand in. No two of a lane cross.
 *
 * Memory    constant, and a few bytes for each block.
 * Errors    0 or an error number.
 */
#ifndef POSIXTRACE_CONVERT_NESTING_H
#define POSIXTRACE_CONVERT_NESTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NESTING_BLOCK 32

struct interval {
	int64_t begin_ns, end_ns;
	uint64_t begin, end; /* numbers of events: they decide where times do not */
	uint64_t frame;
};

struct edge { /* an interval opens or closes */
	int64_t at_ns;
	uint32_t frame;
	bool closes;
};

struct nesting_lane {
	struct interval interval[NESTING_BLOCK]; /* not yet in the file */
	size_t intervals;
	uint64_t *block;                         /* those in the file */
	size_t blocks, room;
};

struct nesting {
	int intervals, edges; /* files */
	uint64_t blocks;
};

int nesting_init(struct nesting *nesting);
void nesting_fini(struct nesting *nesting);

/* No interval of the lane before it ends later. */
int nesting_add(struct nesting *nesting, struct nesting_lane *lane,
		const struct interval *interval);

/* Calls visit for all of the lane, in the order of time. */
int nesting_tell(struct nesting *nesting, const struct nesting_lane *lane,
		 void (*visit)(void *arg, const struct edge *edge), void *arg);

void nesting_lane_fini(struct nesting_lane *lane);

#endif
