/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * items.c - puts points and spans into the order in which they are drawn, and puts overlapping
 * spans on lanes.
 */
#include <errno.h>
#include <stdlib.h>

#include "picture/picture.h"

/* Orders events with a call stack by row and time, for qsort(3). */
static int by_flame(const void *a, const void *b)
{
	const struct flame *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/*
 * Returns the lane of a span: the first lane whose last span has ended, below all lanes with a span
 * that contains it. PICTURE_LANES: there is no such lane. "end_ns" has the end of the last span of
 * each lane that is in use.
 *
 * A span that only overlaps with another one need not be below it. Otherwise spans that overlap in
 * a chain, such as requests that are processed at the same time, would need lane after lane.
 */
static unsigned find_lane(const uint64_t *end_ns, unsigned used, const struct item *span)
{
	unsigned below = 0;

	for (unsigned lane = 0; lane < used; lane++)
		if (end_ns[lane] > span->ns && end_ns[lane] >= span->ns + span->value)
			below = lane + 1;
	while (below < used && end_ns[below] > span->ns)
		below++;
	return below;
}

/*
 * Puts each span on a lane. The spans are sorted by begin; of spans that begin together, the
 * longest is first. So nested spans are below one another, and spans of one lane do not overlap. If
 * there is no lane for a span, it is counted in the bins instead. Returns 0 or ENOMEM.
 */
static int assign_lanes(struct picture *picture)
{
	uint64_t end_ns[PICTURE_LANES] = { 0 };
	unsigned *lanes = calloc(picture->rows + 1, sizeof(*lanes));
	unsigned used = 0;
	struct item item;
	size_t row = SIZE_MAX;

	picture->lane = malloc(picture->spans_kept.items + 1);
	if (!lanes || !picture->lane || runs_rewind(&picture->spans_kept)) {
		free(lanes);
		return ENOMEM;
	}
	for (size_t i = 0; runs_next(&picture->spans_kept, &item); i++) {
		const struct picture_span span = {
			.begin_ns = item.ns, .time_ns = item.value,
			.row = item.row, .series = item.kind,
		};
		unsigned lane;

		if (item.row != row)
			used = 0;
		row = item.row;
		lane = find_lane(end_ns, used, &item);
		picture->lane[i] = (unsigned char)lane;
		if (lane == PICTURE_LANES) {
			pyramid_crowded(picture, &span);
			continue;
		}
		if (lane == used)
			used++;
		end_ns[lane] = item.ns + item.value;
		if (used > lanes[row])
			lanes[row] = used;
	}
	/*
	 * The row of the other threads is the last element. The member "index" of an unused element
	 * is valid, too, but its number of lanes is not used.
	 */
	for (size_t i = 0; i <= PICTURE_ROWS; i++)
		picture->row[i].lanes = lanes[picture->row[i].index];
	free(lanes);
	return 0;
}

int items_arrange(struct picture *picture)
{
	pyramid_build(picture);
	if (picture->flames.count)
		qsort(picture->flames.flame, picture->flames.count, sizeof(struct flame), by_flame);
	for (size_t i = 0; i < picture->logs; i++)
		if (links_end(&picture->log[i].links, &picture->log[i].log))
			return ENOMEM;
	if (curves_end(&picture->curves) || states_end(&picture->states) ||
	    details_end(&picture->details) || runs_end(&picture->points) ||
	    runs_end(&picture->spans_kept))
		return ENOMEM;
	return assign_lanes(picture);
}
