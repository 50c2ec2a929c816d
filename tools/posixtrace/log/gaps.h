/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gaps.h - finds the times of which a log lacks all or some events, by its system events. Pictures
 * and exports show them.
 *
 * LOST: from OVERFLOW to RESUME.
 * FULL: from the STOP of a full stream to START, or to the end of the log.
 * STOPPED: from any other STOP to START. At the end of a log it is not reported, since no event is
 * missing.
 * DAMAGED: from the last event before a damaged part to the first one behind it.
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
	bool any;              /* there was an event; its time is last_ns */
	int64_t last_ns;
	bool is_open;
	struct gap open;
};

#define GAPS_OF_AN_EVENT 2 /* a damaged part, and one that a system event ends */

/*
 * Stores the gaps that end with this event and returns their number. The caller passes the events
 * in the log's order.
 */
unsigned gaps_event(struct gaps *gaps, const struct posix_trace_event_np *event,
		    struct gap gap[GAPS_OF_AN_EVENT]);

/*
 * Records only the time of an event. A caller may use this instead of gaps_event() if the event is
 * no system event and is not flagged as behind a damaged part.
 */
static inline void gaps_pass(struct gaps *gaps, int64_t time_ns)
{
	gaps->any = true;
	gaps->last_ns = time_ns;
}

/*
 * Returns true if the log ends in a gap, and stores it. It ends at last_ns, or at its begin if that
 * is later.
 */
bool gaps_end(struct gaps *gaps, int64_t last_ns, struct gap *gap);

#endif
