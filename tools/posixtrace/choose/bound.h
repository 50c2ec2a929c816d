/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound.h - the time from which, or up to which, a command uses events.
 *
 * A bound is one of the following: a time as when.h parses it; +SPAN, which is counted from the
 * first event of a log; -SPAN with a unit, which is counted back from the last event; or a time of
 * day. A time of day belongs to the day of the first event. There is one exception: if this moment
 * is before the first event, and the same time of the next day is within the log, the bound is on
 * the next day.
 */
#ifndef POSIXTRACE_CHOOSE_BOUND_H
#define POSIXTRACE_CHOOSE_BOUND_H

#include <stdbool.h>
#include <stdint.h>

struct bound {
	enum {
		BOUND_NONE,
		BOUND_TIME,
		BOUND_BEHIND_FIRST,
		BOUND_BEFORE_LAST,
		BOUND_OF_DAY
	} kind;
	int64_t ns;  /* the time, the length of SPAN, or the time since midnight */
	bool utc;    /* true if the bound is a time of day in UTC */
};

/* Parses a bound. utc applies to times without a zone. Returns false if the text is no bound. */
bool bound_parse(const char *text, bool utc, struct bound *bound);

/* Returns the reason why bound_parse() refuses this text. */
const char *bound_reason(const char *text);

/* Prints that the value of an option is no bound, and why. */
void bound_say_wrong(const char *option, const char *text);

/*
 * Returns the bound's time in a log whose first and last events have these times. If the kind is
 * BOUND_NONE, the function returns the argument 'none'.
 */
int64_t bound_at(const struct bound *bound, int64_t first_ns, int64_t last_ns, int64_t none);

#endif
