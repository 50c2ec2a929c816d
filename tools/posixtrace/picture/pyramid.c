/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pyramid.c - counts points and short spans in bins, on levels with decreasing numbers of bins. */
#include <stdlib.h>

#include "picture/picture.h"

#define LEAST_BINS 256 /* no level has fewer bins */

/*
 * Each level has a quarter of the bins of the level below. So a bin's index without its two lowest
 * bits is the index of the bin on the level above that contains the bin.
 */
size_t pyramid_bins(const struct picture *picture, size_t level)
{
	return picture->bins >> 2 * level;
}

struct picture_bin *pyramid_row(const struct picture *picture, size_t level, size_t row)
{
	return picture->level[level] + row * pyramid_bins(picture, level);
}

/* Makes the lowest level smaller until all rows together have at most PICTURE_BINS_ALL bins. */
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
		picture->width_ns[level] = (double)picture->length_ns /
					   (double)pyramid_bins(picture, level);
	} while (picture->levels < PICTURE_LEVELS &&
		 pyramid_bins(picture, picture->levels) >= LEAST_BINS);
	return true;
}

/* Times after the axis are counted in its last bin. */
static size_t bin_of(const struct picture *picture, uint64_t ns)
{
	double place = (double)ns / picture->width_ns[0];

	return place >= (double)picture->bins ? picture->bins - 1 : (size_t)place;
}

/*
 * Adds a vote by the algorithm of Boyer and Moore. If a value has the majority, *who is this value
 * at the end. The algorithm needs constant memory.
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

void pyramid_point(struct picture *picture, size_t row, uint16_t type, uint64_t ns)
{
	struct picture_bin *to = pyramid_row(picture, 0, row) + bin_of(picture, ns);

	to->points++;
	pyramid_vote(&to->type, &to->type_votes, type);
}

/*
 * Returns the lowest level on which a span itself is not drawn. This is level 0 if the span is not
 * kept, and otherwise the first level whose bins are wider than the span. The span is not drawn on
 * the levels above, either.
 */
static size_t first_level(const struct picture *picture, uint64_t time_ns)
{
	size_t level = 0;

	if (time_ns >= picture->least_ns)
		while (level < picture->levels && (double)time_ns >= picture->width_ns[level])
			level++;
	return level;
}

/* Counts a span in the bin of its beginning on one level. */
static void count_span(struct picture *picture, const struct picture_span *span, size_t level)
{
	struct picture_bin *to = pyramid_row(picture, level, span->row) +
				 (bin_of(picture, span->begin_ns) >> 2 * level);

	to->spans++;
	pyramid_vote(&to->series, &to->series_votes, span->series);
}

/*
 * Counts a span on the lowest level that does not draw the span. pyramid_build() counts it on the
 * levels above.
 */
void pyramid_span(struct picture *picture, const struct picture_span *span)
{
	size_t level = first_level(picture, span->time_ns);

	if (level < picture->levels)
		count_span(picture, span, level);
}

void pyramid_crowded(struct picture *picture, const struct picture_span *span)
{
	for (size_t level = first_level(picture, span->time_ns); level-- > 0;)
		count_span(picture, span, level);
}

/*
 * Adds the votes of one bin to the votes of another. If the two values differ, the value with more
 * votes remains with the difference of votes. So if a value has the majority in both bins together,
 * it remains.
 */
static void add_votes(uint16_t *who, uint16_t *votes, uint16_t other, uint16_t more)
{
	if (*who == other)
		*votes = *votes > UINT16_MAX - more ? UINT16_MAX : (uint16_t)(*votes + more);
	else if (*votes >= more)
		*votes = (uint16_t)(*votes - more);
	else
		*who = other, *votes = (uint16_t)(more - *votes);
}

void pyramid_build(struct picture *picture)
{
	for (size_t level = 0; level + 1 < picture->levels; level++) {
		const struct picture_bin *from = picture->level[level];
		const size_t count = pyramid_bins(picture, level) * picture->rows;

		for (size_t i = 0; i < count; i++) {
			struct picture_bin *to = &picture->level[level + 1][i / 4];

			if (from[i].points) {
				to->points += from[i].points;
				add_votes(&to->type, &to->type_votes, from[i].type,
					  from[i].type_votes);
			}
			if (from[i].spans) {
				to->spans += from[i].spans;
				add_votes(&to->series, &to->series_votes, from[i].series,
					  from[i].series_votes);
			}
		}
	}
}
