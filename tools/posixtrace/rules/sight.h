/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sight.h - finds the times at which a log may lack events, and the types of these events.
 *
 * While a stream is stopped, it records no events. Between OVERFLOW and RESUME it loses some
 * events. Its filter excludes event types. If the log has no event of a type at such a time, or if
 * the type is excluded, the event may have occurred nevertheless.
 */
#ifndef POSIXTRACE_RULES_SIGHT_H
#define POSIXTRACE_RULES_SIGHT_H

#include <stdbool.h>
#include <trace_np.h>

#include "base/pidset.h"

struct judge;
struct reading;

/* The processes with one number. */
struct sight_life {
	bool is_over;   /* the last of them has ended */
	bool is_shared; /* two of them existed at the same time */
};

struct sight {
	bool stopped;    /* between STOP and START */
	bool overflowed; /* between OVERFLOW and RESUME */
	bool past;       /* an event after the time of --end was read */
	bool has_marks;  /* system events of the log mark its gaps */
	/* the numbers of processes whose begin the log has; life[] has an element for each */
	struct pidset begun;
	struct sight_life *life;
	size_t lives;
};

/* Returns true if events may be missing at this moment. */
static inline bool sight_is_blind(const struct sight *sight)
{
	return sight->stopped || sight->overflowed || sight->past;
}

/* Frees the memory. A struct of all zeros is empty. */
void sight_fini(struct sight *sight);

/*
 * Must be called for each event before the rules process it. If a gap begins, the function closes
 * the open obligations.
 */
void sight_event(struct judge *judge, const struct reading *reading);

/*
 * Must be called at the end of the log. If losses or damage could change the result of a rule, the
 * function marks the rule as undecided. is_damaged means that parts of the log are missing. Returns
 * 0 or an error number.
 */
int sight_losses(struct judge *judge, bool is_damaged);

/* Returns true if no event is missing behind the log's last event. */
bool sight_has_end(const struct judge *judge, bool is_damaged);

/* Returns true if events are missing because the log was full, or if this is not known. */
bool sight_was_full(const struct judge *judge);

#endif
