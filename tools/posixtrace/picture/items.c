/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * items.c - sorts points and spans into the order in which they are drawn, and puts overlapping
 * spans on lanes.
 */
#include <stdlib.h>

#include "picture/picture.h"

/*
 * Orders points by row and time, for qsort(3). Points with the same time may be in any order,
 * because they are drawn at the same place.
 */
static int by_point(const void *a, const void *b)
{
	const struct picture_point *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/*
 * The points of a log with one thread are sorted already. To check that first is cheaper than to
 * sort.
 */
static void sort_points(struct picture *picture)
{
	size_t i = 1;

	while (i < picture->kept_points &&
	       by_point(&picture->point[i - 1], &picture->point[i]) <= 0)
		i++;
	if (i < picture->kept_points)
		qsort(picture->point, picture->kept_points, sizeof(*picture->point), by_point);
}

/* Orders events with a call stack by row and time, for qsort(3). */
static int by_flame(const void *a, const void *b)
{
	const struct flame *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* If two spans begin together, the longer one contains the other and comes first. */
static int by_span(const void *a, const void *b)
{
	const struct picture_span *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return (x->time_ns < y->time_ns) - (x->time_ns > y->time_ns);
}

/*
 * Each span is put on the first lane whose last span has ended. Since spans are sorted by begin,
 * nested spans are below one another, and no two spans of a lane overlap. If all lanes are in use,
 * the span is counted in the bins instead. The ends are relative to the begin of the axis, so that
 * the sum of begin and length cannot overflow. Returns false without memory.
 */
bool items_sort(struct picture *picture)
{
	uint64_t end_ns[PICTURE_LANES] = { 0 };
	unsigned *lanes = calloc(picture->rows + 1, sizeof(*lanes));
	unsigned used = 0;

	if (!lanes)
		return false;
	sort_points(picture);
	if (picture->flames.count)
		qsort(picture->flames.flame, picture->flames.count, sizeof(struct flame), by_flame);
	qsort(picture->span, picture->kept_spans, sizeof(*picture->span), by_span);
	for (size_t i = 0; i < picture->kept_spans; i++) {
		struct picture_span *span = &picture->span[i];
		uint64_t begin_ns = (uint64_t)span->begin_ns - (uint64_t)picture->begin_ns;
		unsigned lane = 0;

		if (!i || picture->span[i - 1].row != span->row)
			used = 0;
		while (lane < used && end_ns[lane] > begin_ns)
			lane++;
		span->lane = (uint8_t)lane;
		if (lane == PICTURE_LANES) {
			pyramid_crowded(picture, span);
			continue;
		}
		if (lane == used)
			used++;
		end_ns[lane] = begin_ns + span->time_ns;
		if (used > lanes[span->row])
			lanes[span->row] = used;
	}
	/*
	 * The row of the other threads is the last element. The place of an unused element is
	 * valid, too, and its number of lanes is not used.
	 */
	for (size_t i = 0; i <= PICTURE_ROWS; i++)
		picture->row[i].lanes = lanes[picture->row[i].index];
	free(lanes);
	return true;
}
