/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sight.h - the events that a log cannot contain: their times and types.
 *
 * A stream records nothing while it is stopped, and not all events between OVERFLOW and RESUME. A
 * filter excludes event types. In such times, and for such types, the absence of an event proves
 * nothing.
 */
#ifndef POSIXTRACE_RULES_SIGHT_H
#define POSIXTRACE_RULES_SIGHT_H

#include <stdbool.h>
#include <trace_np.h>

struct judge;
struct reading;

struct sight {
	bool stopped;    /* between STOP and START */
	bool overflowed; /* between OVERFLOW and RESUME */
	bool past;       /* after the bound that --end gives */
	bool has_marks;  /* system events of the log mark its gaps */
};

/* Returns true if events may be missing at this moment. */
static inline bool sight_is_blind(const struct sight *sight)
{
	return sight->stopped || sight->overflowed || sight->past;
}

/*
 * Processes each event before the rules do. If a gap begins, closes the obligations that are open.
 */
void sight_event(struct judge *judge, const struct reading *reading);

/*
 * Called at the end of the log. Marks the rules whose result losses or damage could change as
 * undecided. is_damaged says that parts of the log are missing. Returns 0 or an error number.
 */
int sight_losses(struct judge *judge, bool is_damaged);

/* Returns true if no event is missing behind the log's last event. */
bool sight_has_end(const struct judge *judge, bool is_damaged);

#endif
