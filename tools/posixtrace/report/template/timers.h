/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * timers.h - timers: the times at which they were started are kept by pairs of numbers, for a whole
 * report.
 */
#ifndef POSIXTRACE_REPORT_TEMPLATE_TIMERS_H
#define POSIXTRACE_REPORT_TEMPLATE_TIMERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Further timers are not kept, because events choose the pairs and may choose any number. */
#define TIMERS_MAX ((size_t)1 << 18)

struct timers {
	void *tree; /* tsearch(3) */
	size_t count;
};

/* Starts the timer of a pair; a running one restarts. */
void timers_start(struct timers *timers, uint64_t a, uint64_t b, int64_t time_ns);

/* Ends the timer of a pair. Returns false if the timer was not running. */
bool timers_end(struct timers *timers, uint64_t a, uint64_t b, int64_t *started_ns);

/* Frees all timers, also the running ones. */
void timers_fini(struct timers *timers);

#endif
