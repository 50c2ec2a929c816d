/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * items_text.h - the points, spans and bins of a picture as text inside a page.
 *
 * Numbers are written with seven bits in each byte, the lowest first; the eighth bit is set in all
 * bytes except the last of a number. All bytes are in base 64. The items follow row by row, in the
 * order in which the rows are shown:
 *
 * points: the number of points; for each point the time since the point before, and its type
 *
 * spans: the number of spans; for each span the time since the beginning of the span before, its
 * length, series and lane
 *
 * events with a call stack, if the picture has any: the number of events; for each event the time
 * since the event before, its type, its duration (0: unknown), and the index of its stack
 *
 * bins, for each level and row: the number of bins that are not empty; for each such bin the
 * distance to the index of the bin before (-1 before the first), points, spans, the type of struct
 * picture_bin if there are points, and its series if there are spans
 *
 * After these follow the values of each counter: the number of values; for each value the time
 * since the value before, and curves_bits() of the value.
 *
 * The waits for locks follow. Each wait has: the number of its holders; row, begin and length of
 * the wait; the address of the lock; row, begin and length of each hold. A 0 follows the last wait.
 *
 * The states of threads follow, if the page has states. For each row: the number of its states; for
 * each state the time since the end of the state before, its length and its kind.
 *
 * The events whose fields the page has are the last part. It is missing if there are no such
 * events. For each row: the number of these events; for each event the time since the event before,
 * its type, a number, and its duration + 1 (0: none). The lowest bit of this number is set if the
 * event has an error. Its other bits are the index of the event's text + 1 (0: none).
 */
#ifndef POSIXTRACE_PICTURE_ITEMS_TEXT_H
#define POSIXTRACE_PICTURE_ITEMS_TEXT_H

#include "base/out.h"
#include "picture/picture.h"

/* Writes the text for a complete picture. Returns 0 or ENOMEM. */
int items_text(struct out *out, struct picture *picture);

#endif
