/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pyramid.c - counts points and short spans in bins, on levels of fewer and fewer bins. */
#include <stdlib.h>

#include "picture/picture.h"

#define LEAST_BINS 256 /* the least number of bins of each level but the lowest */

/*
 * Each level has a quarter of the bins of the level below, so the index of a bin without its two
 * lowest bits is the index of the bin that contains it on the level above.
 */
size_t pyramid_bins(const struct picture *picture, size_t level)
{
	return picture->bins >> 2 * level;
}

double pyramid_width_ns(const struct picture *picture, size_t level)
{
	return (double)picture->length_ns / (double)pyramid_bins(picture, level);
}

struct picture_bin *pyramid_row(const struct picture *picture, size_t level, size_t row)
{
	return picture->level[level] + row * pyramid_bins(picture, level);
}

/* The lowest level is made smaller until all rows together fit PICTURE_BINS_ALL. */
bool pyramid_init(struct picture *picture, size_t bins)
{
	while (bins > LEAST_BINS && bins * picture->rows > PICTURE_BINS_ALL)
		bins /= 4;
	picture->bins = bins;
	do {
		size_t level = picture->levels++;

		picture->level[level] = calloc(pyramid_bins(picture, level) * picture->rows + 1,
					       sizeof(struct picture_bin));
		if (!picture->level[level])
			return false;
	} while (picture->levels < PICTURE_LEVELS &&
		 pyramid_bins(picture, picture->levels) >= LEAST_BINS);
	return true;
}

/*
 * Times outside of the axis are counted in its first or last bin. The place is computed in double,
 * because the difference of two times may need 65 bits, and a place need not be exact.
 */
static struct picture_bin *bin_at(const struct picture *picture, size_t row, int64_t time_ns)
{
	double place = ((double)time_ns - (double)picture->begin_ns) / (double)picture->length_ns *
		       (double)picture->bins;
	size_t bin = place <= 0 ? 0 : place >= (double)picture->bins ? picture->bins - 1 :
		     (size_t)place;

	return pyramid_row(picture, 0, row) + bin;
}

/*
 * Adds a vote by the algorithm of Boyer and Moore. If a value has the majority, it remains in *who,
 * and the algorithm needs constant memory.
 */
static void pyramid_vote(uint16_t *who, uint16_t *votes, uint16_t one)
{
	if (!*votes)
		*who = one;
	if (*who != one)
		--*votes;
	else if (*votes < UINT16_MAX)
		++*votes;
}

/* Returns the bin of a level that contains this bin of the lowest level. */
static struct picture_bin *pyramid_above(const struct picture *picture, size_t row, size_t bin,
					 size_t level)
{
	return pyramid_row(picture, level, row) + (bin >> 2 * level);
}

/* Counts on all levels at once, so that no level has to be computed from another. */
void pyramid_point(struct picture *picture, size_t row, uint16_t type, int64_t time_ns)
{
	size_t bin = (size_t)(bin_at(picture, row, time_ns) - pyramid_row(picture, 0, row));

	for (size_t level = 0; level < picture->levels; level++) {
		struct picture_bin *to = pyramid_above(picture, row, bin, level);

		to->points++;
		pyramid_vote(&to->type, &to->type_votes, type);
	}
}

/* Returns true if a span is drawn itself on a level: it is kept, and not shorter than a bin. */
static bool is_drawn(const struct picture *picture, size_t level, uint64_t time_ns)
{
	return (double)time_ns >= pyramid_width_ns(picture, level) && time_ns >= picture->least_ns;
}

/*
 * Counts a span on some levels. If drawn is true, these are the levels on which the span itself is
 * drawn; otherwise they are the other levels. A span is counted in the bin of its begin.
 */
static void count_span(struct picture *picture, const struct picture_span *span, bool drawn)
{
	size_t bin = (size_t)(bin_at(picture, span->row, span->begin_ns) -
			      pyramid_row(picture, 0, span->row));

	for (size_t level = 0; level < picture->levels; level++) {
		struct picture_bin *to = pyramid_above(picture, span->row, bin, level);

		if (is_drawn(picture, level, span->time_ns) != drawn)
			continue;
		to->spans++;
		pyramid_vote(&to->series, &to->series_votes, span->series);
	}
}

void pyramid_span(struct picture *picture, const struct picture_span *span)
{
	count_span(picture, span, false);
}

void pyramid_crowded(struct picture *picture, const struct picture_span *span)
{
	count_span(picture, span, true);
}
