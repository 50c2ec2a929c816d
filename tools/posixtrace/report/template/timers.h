/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * timers.h - the timers of a report. A pair of numbers identifies a timer. The start time of a
 * timer is kept until it ends.
 */
#ifndef POSIXTRACE_REPORT_TEMPLATE_TIMERS_H
#define POSIXTRACE_REPORT_TEMPLATE_TIMERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The greatest number of timers at a time. Further timers are not kept. Without this limit, the
 * data of events would determine the memory.
 */
#define TIMERS_MAX ((size_t)1 << 18)

struct timers {
	void *tree; /* tsearch(3) */
	size_t count;
};

/*
 * Starts the timer of a pair of numbers. If this timer is running, it starts again from this time.
 */
void timers_start(struct timers *timers, uint64_t a, uint64_t b, int64_t time_ns);

/* Ends the timer of a pair. Returns false if the timer was not running. */
bool timers_end(struct timers *timers, uint64_t a, uint64_t b, int64_t *started_ns);

/* Frees all timers, also running timers. */
void timers_fini(struct timers *timers);

#endif
