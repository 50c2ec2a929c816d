/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound.h - the time from which, or up to which, events are wanted.
 *
 * A time as when.h reads it; +SPAN behind the first event of a log; -SPAN before its last one, with
 * a unit; or a time of day, on the day of the first event, or on the next if that is where the log
 * has it.
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
	int64_t ns;  /* a time, a span, or since midnight */
	bool utc;    /* of a time of day */
};

/* False: it is none. */
bool bound_parse(const char *text, bool utc, struct bound *bound);

/* The time in a log; none when there is no bound. */
int64_t bound_at(const struct bound *bound, int64_t first_ns, int64_t last_ns, int64_t none);

#endif
