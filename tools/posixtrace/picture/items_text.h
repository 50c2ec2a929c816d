/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * items_text.h - the points, spans and bins of a picture as text inside a page.
 *
 * Numbers are written with seven bits in each byte, the lowest first; the eighth bit is set in all
 * bytes except the last of a number. All bytes are in base 64. The items follow row by row, in the
 * order in which the rows are shown:
 *
 * points: their number; for each point the time since the point before, and its type
 *
 * spans: their number; for each span the time from the begin of the span before to its begin, its
 * length, series and lane
 *
 * bins, for each level and row: the number of bins that are not empty; for each such bin the
 * distance to the one before (to -1 for the first), points, spans, the most frequent type if there
 * are points, and the most frequent series if there are spans
 *
 * Then follow the values of each counter: their number; for each value the time since the value
 * before, and curves_bits() of the value.
 *
 * Then follow the waits for locks: the number of holders; row, begin and length of the wait; the
 * address of the lock; row, begin and length of each hold; and a 0 behind the last wait.
 *
 * Then follow the states of threads, if the page has some: for each row their number; for each
 * state the time since the end of the one before, its length and its kind.
 *
 * Last are the events whose fields the page has, if there are some: for each row their number; for
 * each event the time since the one before, its type, the index of its text + 1 (0: none) with a
 * bit below it that is set if it has an error, and its duration + 1 (0: none).
 */
#ifndef POSIXTRACE_PICTURE_ITEMS_TEXT_H
#define POSIXTRACE_PICTURE_ITEMS_TEXT_H

#include "base/out.h"
#include "picture/picture.h"

/* Writes the text for a complete picture. Returns 0 or ENOMEM. */
int items_text(struct out *out, struct picture *picture);

#endif
