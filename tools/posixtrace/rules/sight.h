/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sight.h - which events a log cannot show: when, and of which types.
 *
 * A stream records nothing while it is stopped, and not everything between OVERFLOW and RESUME. A
 * filter keeps some event types out. An event that is missing there proves nothing.
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
	bool past;       /* behind the end that the command line gives */
	bool has_marks;  /* the log shows where it has gaps */
};

static inline bool sight_is_blind(const struct sight *sight)
{
	return sight->stopped || sight->overflowed || sight->past;
}

/* Every event, before the judge looks at it: closes the obligations that a gap leaves open. */
void sight_event(struct judge *judge, const struct reading *reading);

/*
 * At the end of the log: rules that lost events, or damage, leave open are undecided. is_damaged:
 * parts of the log are missing. Returns 0 or an error number.
 */
int sight_losses(struct judge *judge, bool is_damaged);

/* Whether nothing is missing behind the log's last event. */
bool sight_has_end(const struct judge *judge, bool is_damaged);

#endif
