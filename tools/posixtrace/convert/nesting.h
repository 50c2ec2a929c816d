/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nesting.h - the intervals of each thread in the order of time, as edges that open and close.
 * Formats that store the data of each thread in one piece need this order.
 *
 * The intervals of all threads arrive together, in the order of their ends. Full blocks are written
 * to a temporary file; each block has the intervals of one lane. nesting_report() reads a lane
 * backwards, because in this order an interval precedes all intervals that it contains. The
 * intervals of a lane must not cross.
 *
 * Memory    constant, and 8 bytes for each block.
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
	uint64_t begin, end; /* numbers of the two events, which order equal times */
	uint64_t frame;      /* the caller's number for the name; edges have its lower 32 bits */
};

struct edge { /* an interval opens or closes */
	int64_t at_ns;
	uint32_t frame;
	bool closes;
};

struct nesting_lane {
	struct interval interval[NESTING_BLOCK]; /* the intervals that are not yet in the file */
	size_t intervals;
	uint64_t *block;                         /* numbers of the lane's blocks in the file */
	size_t blocks;
};

struct nesting {
	int intervals, edges; /* descriptors of temporary files */
	uint64_t blocks;      /* number of blocks of all lanes */
};

/*
 * nesting_init() creates the temporary files. It returns 0, or -1 after a message; after -1 no file
 * is open. nesting_fini() closes the files, which removes them.
 */
int nesting_init(struct nesting *nesting);
void nesting_fini(struct nesting *nesting);

/*
 * Adds an interval to the lane. The interval must not end before the intervals that the lane
 * already has.
 */
int nesting_add(struct nesting *nesting, struct nesting_lane *lane,
		const struct interval *interval);

/* Calls "visit" for each edge of the lane, in the order of time. */
int nesting_report(struct nesting *nesting, const struct nesting_lane *lane,
		   void (*visit)(void *arg, const struct edge *edge), void *arg);

/* Frees the list of the lane's blocks. The lane itself belongs to the caller. */
void nesting_lane_fini(struct nesting_lane *lane);

#endif
