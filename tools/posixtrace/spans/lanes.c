/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lanes.c - assigns spans to lanes. Spans arrive in the order of their ends. So a new span either
 * contains earlier spans of a lane, or follows them, or crosses them.
 */
#include "spans/lanes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

#define LAST_SPANS 4 /* this number of spans is compared before a binary search */

/* Compares two moments in the order that lanes.h defines. */
static inline bool is_before(struct moment a, struct moment b)
{
	return a.ns != b.ns ? a.ns < b.ns : a.number < b.number;
}

/* Each lane owns the array of the spans that it keeps. */
void lanes_fini(struct lanes *lanes)
{
	for (size_t i = 0; i < lanes->lanes; i++)
		free(lanes->lane[i].kept);
	free(lanes->lane);
}

/* ------------------------------------------------------------------ begins that are open */

void lanes_begin(struct lanes *lanes, struct moment begin)
{
	/*
	 * If the array is full, the oldest begin is dropped, because the spans that began later
	 * will probably end earlier.
	 */
	if (lanes->opened == LANES_OPEN) {
		lanes->opened--;
		memmove(&lanes->open[0], &lanes->open[1], lanes->opened * sizeof(lanes->open[0]));
	}
	lanes->open[lanes->opened++] = begin;
}

void lanes_cut(struct lanes *lanes)
{
	lanes->opened = 0;
}

/* Removes the begin of a span that has ended, if the array open still has it. */
static void close_open(struct lanes *lanes, struct moment begin)
{
	size_t i = lanes->opened;

	/*
	 * The search begins with the youngest begin, because usually a span that began late ends
	 * first.
	 */
	while (i && lanes->open[i - 1].number != begin.number)
		i--;
	if (!i)
		return;
	lanes->opened--;
	memmove(&lanes->open[i - 1], &lanes->open[i],
		(lanes->opened - (i - 1)) * sizeof(lanes->open[0]));
}

/* Returns true if an open span began between the two moments. */
static bool has_open_between(const struct lanes *lanes, struct moment a, struct moment b)
{
	for (size_t i = 0; i < lanes->opened; i++)
		if (is_before(a, lanes->open[i]) && is_before(lanes->open[i], b))
			return true;
	return false;
}

/* ------------------------------------------------------------------ spans that nest */

/*
 * Saves memory: joins neighbouring spans in the older half of a lane into groups. Two neighbours
 * are joined only if no open span began between them, because such a span may later get its place
 * between them.
 */
static void group_spans(const struct lanes *lanes, struct lane *lane)
{
	size_t half = lane->count / 2, kept = 0;

	for (size_t i = 1; i < half; i++) {
		if (has_open_between(lanes, lane->kept[kept].end, lane->kept[i].begin))
			lane->kept[++kept] = lane->kept[i];
		else
			/* The group also covers the time between the two spans. */
			lane->kept[kept].end = lane->kept[i].end;
	}
	kept++;
	memmove(&lane->kept[kept], &lane->kept[half],
		(lane->count - half) * sizeof(lane->kept[0]));
	lane->count -= half - kept;
}

static bool make_room(const struct lanes *lanes, struct lane *lane)
{
	if (lane->count == lane->room && lane->count >= LANES_KEPT)
		group_spans(lanes, lane);
	return vec_reserve(&lane->kept, &lane->room, lane->count, 1);
}

/*
 * Returns the number of the lane's outermost spans that begin before the moment. The spans are
 * sorted by their begins. The caller has already compared the spans from the index high on.
 */
static size_t spans_before(const struct lane *lane, size_t high, struct moment begin)
{
	size_t low = 0;

	if (high && !is_before(lane->kept[0].begin, begin))
		return 0;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (is_before(lane->kept[middle].begin, begin))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Returns true if the new span crosses none of the lane's spans. Then *at is the number of spans
 * that remain outermost, because they are not inside the new span.
 */
static bool fits_lane(const struct lane *lane, struct moment begin, struct moment end,
		      bool is_call, size_t *at)
{
	/*
	 * Among moments of the same time, a call may begin before other spans begin, and after
	 * other spans end.
	 */
	const struct moment first = { begin.ns, is_call ? 0 : begin.number };
	const struct moment last_end = { begin.ns, is_call ? UINT64_MAX : begin.number };
	size_t high = lane->count, latest = high < LAST_SPANS ? high : LAST_SPANS;
	const struct kept *last = high ? &lane->kept[high - 1] : NULL;

	/*
	 * On most lanes the new span begins inside the last span and crosses it, so this case is
	 * tested first. If times are equal, the tests below decide.
	 */
	if (last && last->begin.ns < begin.ns && begin.ns < last->end.ns)
		return false;
	/*
	 * In a damaged log times may decrease, so the lane may already have a span that ends later
	 * than the new span.
	 */
	if (last && is_before(end, last->end))
		return false;
	/*
	 * Most spans begin among the latest spans of the lane, or before all of them. So the latest
	 * spans are compared first.
	 */
	for (; latest; latest--, high--)
		if (is_before(lane->kept[high - 1].begin, first)) {
			*at = high;
			return is_before(lane->kept[high - 1].end, last_end);
		}
	*at = spans_before(lane, high, first);
	return !*at || is_before(lane->kept[*at - 1].end, last_end);
}

/* Adds an empty lane. Returns NULL if memory is lacking. */
static struct lane *new_lane(struct lanes *lanes)
{
	return vec_grow(&lanes->lane, lanes->lanes, 1) ? &lanes->lane[lanes->lanes++] : NULL;
}

int lanes_place(struct lanes *lanes, struct moment begin, struct moment end, unsigned *number)
{
	const bool is_call = lanes->nests_calls && begin.number == end.number;
	struct lane *lane;
	size_t i, at = 0;

	close_open(lanes, begin);
	if (!lanes->lanes && !new_lane(lanes))
		return ENOMEM;
	/*
	 * If another span began after the new span and is still open, both would cross on lane 0,
	 * the thread's track. So lane 0 is skipped.
	 */
	i = has_open_between(lanes, begin, end);
	while (i < lanes->lanes && !fits_lane(&lanes->lane[i], begin, end, is_call, &at))
		i++;
	/*
	 * If all LANES_MAX lanes are occupied, the span gets a number of its own, and no lane in
	 * memory.
	 */
	if (i == LANES_MAX) {
		*number = LANES_MAX + lanes->next++;
		return 0;
	}
	if (i == lanes->lanes)
		at = 0;
	lane = i < lanes->lanes ? &lanes->lane[i] : new_lane(lanes);
	if (!lane)
		return ENOMEM;
	/*
	 * The spans from the index at on are inside the new span, so they are no longer outermost.
	 */
	lane->count = at;
	if (!make_room(lanes, lane))
		return ENOMEM;
	lane->kept[lane->count++] = (struct kept){ begin, end };
	*number = (unsigned)i;
	return 0;
}

/* ------------------------------------------------------------------ spans that do not nest */

void flat_lanes_fini(struct flat_lanes *flat)
{
	free(flat->lane);
	free(flat->free);
}

/* Makes room for one more lane. The heap of free lanes needs a place for each lane, too. */
static bool make_flat_room(struct flat_lanes *flat)
{
	return vec_grow(&flat->lane, flat->lanes, 1) && vec_grow(&flat->free, flat->lanes, 1);
}

/*
 * push_free() adds a lane to the heap of free lanes. pop_free() removes the free lane with the
 * least number.
 */
static void push_free(struct flat_lanes *flat, uint32_t lane)
{
	size_t i = flat->count++;

	for (; i && flat->free[(i - 1) / 2] > lane; i = (i - 1) / 2)
		flat->free[i] = flat->free[(i - 1) / 2];
	flat->free[i] = lane;
}

static void pop_free(struct flat_lanes *flat)
{
	uint32_t last = flat->free[--flat->count];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= flat->count)
			break;
		if (child + 1 < flat->count && flat->free[child + 1] < flat->free[child])
			child++;
		if (flat->free[child] >= last)
			break;
		flat->free[i] = flat->free[child];
		i = child;
	}
	flat->free[i] = last;
}

int flat_lanes_take(struct flat_lanes *flat, struct moment begin, unsigned source, unsigned *lane)
{
	/*
	 * In a damaged log times may decrease, so the last span of a free lane may end after this
	 * begin. Such a lane is removed from the heap and not used any more.
	 */
	while (flat->count && is_before(begin, flat->lane[flat->free[0]].end))
		pop_free(flat);
	if (flat->count) {
		*lane = flat->free[0];
		pop_free(flat);
	} else {
		if (!make_flat_room(flat))
			return ENOMEM;
		*lane = (unsigned)flat->lanes++;
	}
	flat->lane[*lane] = (struct flat_lane){ begin, source, true };
	return 0;
}

/*
 * The lane keeps the end of its span, so that it is not given to a span that begins before this
 * end.
 */
void flat_lanes_leave(struct flat_lanes *flat, unsigned lane, struct moment end)
{
	flat->lane[lane] = (struct flat_lane){ end, 0, false };
	push_free(flat, lane);
}

/*
 * The ends of these spans are unknown, so flat_lanes_take() may give each lane to the next span
 * that begins after the begin of the lane's open span.
 */
void flat_lanes_cut(struct flat_lanes *flat, unsigned source)
{
	for (size_t i = 0; i < flat->lanes; i++)
		if (flat->lane[i].is_open && flat->lane[i].source == source) {
			flat->lane[i].is_open = false;
			push_free(flat, (uint32_t)i);
		}
}
