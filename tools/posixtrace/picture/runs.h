/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * runs.h - the items of a picture, sorted by row and time, in little memory.
 *
 * Items are added in any order. They are collected in a run of RUNS_HELD items. A full run is
 * sorted and kept as bytes. Most items differ little from the item before, so they need 4 to 8
 * bytes instead of the 24 bytes of the struct. runs_next() merges the runs, so an array of all
 * items is not needed.
 */
#ifndef POSIXTRACE_PICTURE_RUNS_H
#define POSIXTRACE_PICTURE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

#define RUNS_HELD 16384

struct item {
	uint64_t ns;           /* since the beginning of the axis */
	uint64_t value;        /* the length of a span, or another number of the item */
	uint32_t order;        /* set by runs.c: the order of items with one row and time */
	uint16_t row, kind;
};

/* A struct of all zeros is empty. Only one thread uses it. */
struct runs {
	/*
	 * The order of items with one row and time. If true, the greatest value is first, and of
	 * equal values the youngest item is first. If false, the oldest item is first.
	 */
	bool by_value;
	struct item *held;     /* the run that is not full */
	size_t count;
	struct bytes bytes;    /* the full runs */
	size_t *begin;         /* the beginning of each full run in "bytes" */
	size_t runs;
	uint64_t *of_row;      /* number of items of each row */
	size_t rows;
	uint64_t items;
	struct runs_cursor *cursor; /* a heap: the run with the first item is on top */
	size_t cursors;
};

/* Adds an item. Returns 0 or ENOMEM. */
int runs_add(struct runs *runs, const struct item *item);

/* Ends the last run. No item may be added afterwards. Returns 0 or ENOMEM. */
int runs_end(struct runs *runs);

/* Begins a walk over all items, after runs_end(). Returns 0 or ENOMEM. */
int runs_rewind(struct runs *runs);

/*
 * Stores the next item in the order of rows and times. Returns false if there is no further item.
 */
bool runs_next(struct runs *runs, struct item *item);

/* Returns the number of items of a row. */
static inline uint64_t runs_of_row(const struct runs *runs, size_t row)
{
	return row < runs->rows ? runs->of_row[row] : 0;
}

/* Frees the memory and makes the struct empty. */
void runs_fini(struct runs *runs);

#endif
