/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracex_source_clock.c - converts ticks into times. A usual dump lacks the time at which it was
 * made and the length of a tick. A dump that this tool has exported has both in a slot of the
 * registry.
 */
#include <stdio.h>
#include <string.h>

#include "base/say.h"
#include "convert/tracex/tracex_sink.h"
#include "convert/tracex/tracex_source.h"

/*
 * Finds the slot that the export made. Its name must have exactly the form that put_clock() writes,
 * and its numbers must be in range, because another program could have made a timer with this
 * pointer.
 */
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

/* The user's options for the clock have priority over the clock of the file. */
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

/*
 * The time is computed with 128 bits, since the two factors may come from the file. A time that
 * does not fit into 64 bits becomes the greatest time. The function reports only the first such
 * time.
 */
int64_t tracex_source_time(struct tracex_source *im, uint64_t ticks)
{
	/* The product is unsigned, because a product of two 64-bit numbers needs all 128 bits. */
	unsigned __int128 since = im->tick_hz ?
			(unsigned __int128)ticks * NANOSECONDS / im->tick_hz :
			(unsigned __int128)ticks * im->tick_ns;

	if (since <= UINT64_MAX && (__int128)since + im->start_ns <= INT64_MAX)
		return (int64_t)((__int128)since + im->start_ns);
	if (!im->clamped)
		fmt_fault(im->flow, FMT_WARN, FMT_NO_OFFSET, NULL,
			  "times are after the year 2262: check --start, --tick-hz and --tick-ns");
	im->clamped = true;
	return INT64_MAX;
}
