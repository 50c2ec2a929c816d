/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * runs.h - the items of a picture, sorted by row and time, in little memory.
 *
 * Items are added in any order. They are collected in a run of RUNS_HELD items. A full run is
 * sorted and kept as bytes: most items differ little from the item before and need 4 to 8 bytes
 * where the struct has 24. runs_next() merges the runs, so no array of all items exists.
 */
#ifndef POSIXTRACE_PICTURE_RUNS_H
#define POSIXTRACE_PICTURE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

#define RUNS_HELD 16384

struct item {
	uint64_t ns;           /* since the begin of the axis */
	uint64_t value;        /* the length of a span, or another number of the item */
	uint32_t order;        /* set by this file: keeps the order of items that are equal */
	uint16_t row, kind;
};

/* A struct of all zeros is empty. Only one thread uses it. */
struct runs {
	/*
	 * true: among items of one row and time, the greatest value is first, and among equal
	 * values the youngest item is first. false: the oldest item is first
	 */
	bool by_value;
	struct item *held;     /* the run that is not full */
	size_t count;
	struct bytes bytes;    /* the full runs */
	size_t *begin;         /* where each full run begins in "bytes" */
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

/* Stores the next item in the order of rows and times. Returns false behind the last one. */
bool runs_next(struct runs *runs, struct item *item);

/* Returns how many items a row has. */
static inline uint64_t runs_of_row(const struct runs *runs, size_t row)
{
	return row < runs->rows ? runs->of_row[row] : 0;
}

/* Frees the memory and makes the struct empty. */
void runs_fini(struct runs *runs);

#endif
