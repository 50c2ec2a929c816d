/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * items_text.h - points, spans and bins of a picture as text that a page can hold.
 *
 * A row of numbers of seven bits to a byte, the least first, the eighth bit set in all bytes but a
 * number's last; the whole in base 64. In their order, row by row as they are shown:
 *
 *	points: how many; of each the time since the one before, and its type
 *	spans:  how many; of each the begin since the one before, length, series, lane
 *	bins:   of each level and row: how many are not empty; of each how many further than the
 *	        one before (the first from -1), points, spans, the most frequent type if there are
 *	        points, and series if there are spans
 */
#ifndef POSIXTRACE_PICTURE_ITEMS_TEXT_H
#define POSIXTRACE_PICTURE_ITEMS_TEXT_H

#include "base/out.h"
#include "picture/picture.h"

void items_text(struct out *out, const struct picture *picture);

#endif
