/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracex_source_clock.c - from ticks to times.
 *
 * A dump does not tell when it was made or what a tick is; one that we exported does, in a slot of
 * the registry.
 */
#include <stdio.h>
#include <string.h>

#include "base/say.h"
#include "convert/tracex/tracex_sink.h"
#include "convert/tracex/tracex_source.h"

/* The slot that our own export made to keep the time. */
static void find_clock(struct tracex_source *im)
{
	for (size_t i = 0; i < im->dump.slots; i++) {
		struct tracex_slot slot;
		char name[64], same[64];
		unsigned long long tick;

		tracex_slot(&im->dump, i, &slot);
		if (slot.type != TRACEX_TIMER || slot.pointer != TRACEX_CLOCK_POINTER ||
		    slot.name_len >= sizeof(name))
			continue;
		memcpy(name, slot.name, slot.name_len);
		name[slot.name_len] = '\0';
		if (sscanf(name, TRACEX_CLOCK_NAME, &tick) != 1 || !tick ||
		    slot.parameter[1] >= NANOSECONDS)
			continue;
		snprintf(same, sizeof(same), TRACEX_CLOCK_NAME, tick);
		if (strcmp(name, same) != 0 || slot.parameter[0] > INT64_MAX / NANOSECONDS - 1)
			continue;
		im->ours = true;
		im->tick_ns = tick;
		im->start_ns = (int64_t)(slot.parameter[0] * NANOSECONDS + slot.parameter[1]);
		return;
	}
}

bool tracex_source_clock(struct tracex_source *im)
{
	struct fmt_flow *flow = im->flow;
	uint64_t hz = 0, ns = 0;

	im->tick_ns = 1;
	im->relative = !fmt_option(flow, "start");
	find_clock(im);
	if (im->ours)
		im->relative = false;
	if (!fmt_option_number(flow, "tick-hz", 1, UINT64_MAX / NANOSECONDS, &hz) ||
	    !fmt_option_number(flow, "tick-ns", 1, UINT64_MAX / NANOSECONDS, &ns) ||
	    !fmt_option_time(flow, "start", &im->start_ns))
		return false;
	if (hz && ns) {
		say("give --tick-hz or --tick-ns, not both");
		return false;
	}
	if (hz || ns) {
		im->tick_hz = hz;
		im->tick_ns = ns;
	}
	return true;
}

int64_t tracex_source_time(struct tracex_source *im, uint64_t ticks)
{
	__int128 ns = im->tick_hz ? (__int128)ticks * NANOSECONDS / im->tick_hz :
				    (__int128)ticks * im->tick_ns;

	ns += im->start_ns;
	if (ns <= INT64_MAX)
		return (int64_t)ns;
	if (!im->clamped)
		fmt_fault(im->flow, FMT_WARN, FMT_NO_OFFSET, NULL,
			  "times past the year 2262: is a tick that long?");
	im->clamped = true;
	return INT64_MAX;
}
