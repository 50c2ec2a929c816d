/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meter.h - how far reading a log has come, on a terminal, where it takes more than two seconds.
 *
 * It is there only where standard error is a terminal of this job and standard output is none: a line
 * that comes and goes would tear what is shown there.
 */
#ifndef POSIXTRACE_METER_H
#define POSIXTRACE_METER_H

#include <stdbool.h>
#include <stdint.h>

#define METER_EVERY 65536 /* events between two looks at the clock */

struct meter {
	bool wanted, shown;
	uint64_t total;        /* 0: not known */
	uint64_t done, next;   /* when to look at the clock again */
	int64_t begin_ns, last_ns;
};

/* total: how many events there will be. */
void meter_begin(struct meter *meter, uint64_t total);

/* Takes the line away; before anything else is said, and at the end. */
void meter_end(struct meter *meter);

/* The same for now: something is about to be said. */
void meter_pause(struct meter *meter);

void meter_look(struct meter *meter);

/* An event was read. */
static inline void meter_step(struct meter *meter)
{
	if (__builtin_expect(++meter->done >= meter->next, 0))
		meter_look(meter);
}

#endif
