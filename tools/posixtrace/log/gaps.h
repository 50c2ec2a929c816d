/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gaps.h - finds the spans of time of which a log lacks all or some events. It finds them by the
 * system events of the log. The spans are called gaps, and pictures and exports show them.
 *
 * LOST: from OVERFLOW to RESUME. FULL: from the STOP of a full stream to START. Both may also last
 * to the end of the log. STOPPED: from any other STOP to START. A STOPPED gap at the end is not
 * reported, since no event is missing. DAMAGED: from the last event before a damaged part to the
 * first event behind it.
 */
#ifndef POSIXTRACE_LOG_GAPS_H
#define POSIXTRACE_LOG_GAPS_H

#include <stdbool.h>
#include <trace_np.h>

enum gap_kind { GAP_LOST, GAP_STOPPED, GAP_FULL, GAP_DAMAGED };

struct gap {
	int64_t begin_ns, end_ns;
	enum gap_kind kind;
};

struct gaps {
	/* at least one event was passed; last_ns is the time of the last one */
	bool any;
	int64_t last_ns;
	bool is_open;
	struct gap open;
};

#define GAPS_OF_AN_EVENT 2 /* a gap of a damaged part, and a gap that a system event ends */

/*
 * Stores the gaps that end with this event and returns their number. The caller passes the events
 * in the log's order.
 */
unsigned gaps_event(struct gaps *gaps, const struct posix_trace_event_np *event,
		    struct gap gap[GAPS_OF_AN_EVENT]);

/*
 * Records only the time of an event. A caller may use this function instead of gaps_event() if the
 * event is not a system event and has no flag POSIX_TRACE_EVENT_GAP_NP.
 */
static inline void gaps_pass(struct gaps *gaps, int64_t time_ns)
{
	gaps->any = true;
	gaps->last_ns = time_ns;
}

/*
 * If the log ends while events are missing, stores the open gap and returns true. The gap ends at
 * last_ns, or at its own begin if that is later than last_ns.
 */
bool gaps_end(struct gaps *gaps, int64_t last_ns, struct gap *gap);

#endif
