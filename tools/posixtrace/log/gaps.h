/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gaps.h - the times of which a log has no events, or not all, by its system events: for pictures
 * and exports.
 *
 *	LOST     from OVERFLOW to RESUME
 *	FULL     from the STOP of a stream that is full to START, or to the end of the log
 *	STOPPED  from any other STOP to START; at the end of a log nothing is missing
 *	DAMAGED  from the event before a damaged part to the one behind it
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
	bool any;              /* there was an event: */
	int64_t last_ns;
	bool is_open;
	struct gap open;
};

#define GAPS_OF_AN_EVENT 2

/* The gaps that end with that event, of those in the log's order. Returns how many. */
unsigned gaps_event(struct gaps *gaps, const struct posix_trace_event_np *event,
		    struct gap gap[GAPS_OF_AN_EVENT]);

/* An event that is neither of the stream nor behind a damaged part may be told so. */
static inline void gaps_pass(struct gaps *gaps, int64_t time_ns)
{
	gaps->any = true;
	gaps->last_ns = time_ns;
}

/* Whether the log ends in a gap, which then ends at last_ns or where it began. */
bool gaps_end(struct gaps *gaps, int64_t last_ns, struct gap *gap);

#endif
