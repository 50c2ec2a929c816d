/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meter.h - how far reading a log has come, on a terminal, where it takes more than two seconds.
 *
 * It is there only where standard error is a terminal of this job. Where events are shown as they
 * are read, standard output must be none: a line that comes and goes would tear what is shown
 * there. One meter is shown at a time; say() takes it away first.
 */
#ifndef POSIXTRACE_BASE_METER_H
#define POSIXTRACE_BASE_METER_H

#include <stdbool.h>
#include <stdint.h>

#define METER_EVERY 65536 /* events between two looks at the clock */

struct meter {
	bool wanted, shown;
	uint64_t total;        /* 0: not known */
	uint64_t done, next;   /* when to look at the clock again */
	int64_t begin_ns, last_ns;
	struct meter_follower *follower;
};

/* total: how many events there will be. quiet: nothing goes to standard output until the end. */
void meter_begin(struct meter *meter, uint64_t total, bool quiet);

/* Where nobody counts: shows, until the end, how many of so many bytes this process has read. */
void meter_follow(struct meter *meter, uint64_t bytes);

/* Takes the line away; before anything else is said, and at the end. */
void meter_end(struct meter *meter);

void meter_look(struct meter *meter);

/* Now, if it was not just now. */
void meter_show(struct meter *meter);

/* An event was read. */
static inline void meter_step(struct meter *meter)
{
	if (__builtin_expect(++meter->done >= meter->next, 0))
		meter_look(meter);
}

#endif
