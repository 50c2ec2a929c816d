/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "formats/lane.h"

#include <string.h>

void lane_init(struct lane *lane)
{
	memset(lane, 0, sizeof(*lane));
	lane->last_ns = INT64_MIN;
}

static int64_t forward(struct lane *lane, int64_t at_ns)
{
	if (at_ns > lane->last_ns)
		lane->last_ns = at_ns;
	return lane->last_ns;
}

void lane_begin_span(struct lane *lane, unsigned depth, int64_t at_ns)
{
	lane->begun_ns[depth] = forward(lane, at_ns);
}

int lane_end_span(struct lane *lane, struct nesting *nesting, uint32_t frame, unsigned depth,
		  int64_t at_ns)
{
	struct interval interval = {
		.begin_ns = lane->begun_ns[depth - 1], .end_ns = forward(lane, at_ns),
		.frame = frame, .depth = depth - 1,
	};
	size_t next = lane->next_ended++ % LANE_ENDED;

	lane->ended[next].begin_ns = interval.begin_ns;
	lane->ended[next].end_ns = interval.end_ns;
	return nesting_add(nesting, &lane->nesting, &interval);
}

/* It began within a span and goes on behind it, or the other way around. */
static bool crosses_span(const struct lane *lane, unsigned depth, int64_t begin_ns)
{
	if (depth && begin_ns < lane->begun_ns[depth - 1])
		return true;
	for (size_t i = 0; i < LANE_ENDED && i < lane->next_ended; i++)
		if (lane->ended[i].begin_ns < begin_ns && begin_ns < lane->ended[i].end_ns)
			return true;
	return false;
}

int lane_add(struct lane *lane, struct nesting *nesting, uint32_t frame, unsigned depth, int64_t at_ns,
	     uint64_t took_ns, int64_t first_ns)
{
	struct interval interval = { .end_ns = forward(lane, at_ns), .frame = frame, .depth = depth };
	uint64_t since = (uint64_t)interval.end_ns - (uint64_t)first_ns;

	interval.begin_ns = took_ns > since ? first_ns
					    : (int64_t)((uint64_t)interval.end_ns - took_ns);
	if (!crosses_span(lane, depth, interval.begin_ns))
		return nesting_add(nesting, &lane->nesting, &interval);
	nesting->left_out++;
	return 0;
}
