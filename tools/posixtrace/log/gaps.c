/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gaps.c - follows the system events of a log and reports each gap when it ends. */
#include "log/gaps.h"

#include "log/losses.h"

/* Opens a gap. If a gap is open already, the event belongs to that gap. */
static void open_gap(struct gaps *gaps, enum gap_kind kind, int64_t time_ns)
{
	/*
	 * A stream that stops because it is full also records OVERFLOW, before or after STOP. Both
	 * events together are one gap of the kind GAP_FULL.
	 */
	if (gaps->is_open) {
		if (gaps->open.kind == GAP_LOST && kind == GAP_FULL)
			gaps->open.kind = kind;
		return;
	}
	gaps->is_open = true;
	gaps->open = (struct gap){ time_ns, time_ns, kind };
}

/*
 * Closes the open gap and stores it. In a damaged log the end may be before the begin. In that case
 * the gap gets the length 0. Returns the number of gaps stored.
 */
static unsigned close_gap(struct gaps *gaps, int64_t time_ns, struct gap *gap)
{
	if (!gaps->is_open)
		return 0;
	gaps->is_open = false;
	*gap = gaps->open;
	if (time_ns > gap->begin_ns)
		gap->end_ns = time_ns;
	return 1;
}

/* Processes a system event. Returns 1 if it ends a gap. */
static unsigned system_event(struct gaps *gaps, const struct posix_trace_event_np *event,
			     struct gap *gap)
{
	switch (event->info.posix_event_id) {
	case POSIX_TRACE_STOP:
		open_gap(gaps, losses_is_automatic(event) ? GAP_FULL : GAP_STOPPED, event->time_ns);
		return 0;
	case POSIX_TRACE_OVERFLOW:
		open_gap(gaps, GAP_LOST, event->time_ns);
		return 0;
	case POSIX_TRACE_RESUME:
		if (gaps->is_open && gaps->open.kind != GAP_LOST)
			return 0; /* a START will follow and end the gap */
		/* If no gap is open, the OVERFLOW of this RESUME was itself overwritten. */
		open_gap(gaps, GAP_LOST, event->time_ns);
		return close_gap(gaps, event->time_ns, gap);
	case POSIX_TRACE_START:
		return close_gap(gaps, event->time_ns, gap);
	}
	return 0;
}

unsigned gaps_event(struct gaps *gaps, const struct posix_trace_event_np *event,
		    struct gap gap[GAPS_OF_AN_EVENT])
{
	unsigned count = 0;

	if (event->flags & POSIX_TRACE_EVENT_GAP_NP) {
		/*
		 * Behind a damaged part the times may be earlier than before it. In that case, and
		 * if no event precedes the damaged part, the gap gets the length 0.
		 */
		bool falls = !gaps->any || gaps->last_ns > event->time_ns;

		gap[count++] = (struct gap){ falls ? event->time_ns : gaps->last_ns, event->time_ns,
					     GAP_DAMAGED };
	}
	gaps_pass(gaps, event->time_ns);
	/* Event types of the program have higher numbers and are not system events. */
	if (event->info.posix_event_id <= POSIX_TRACE_FLUSH_STOP)
		count += system_event(gaps, event, &gap[count]);
	return count;
}

bool gaps_end(struct gaps *gaps, int64_t last_ns, struct gap *gap)
{
	return gaps->is_open && gaps->open.kind != GAP_STOPPED && close_gap(gaps, last_ns, gap);
}
