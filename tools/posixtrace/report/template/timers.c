/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * timers.c - running timers in a balanced tree, because the events choose the pairs of numbers and
 * may choose many.
 */
#include "report/template/timers.h"

#include <search.h>
#include <stdlib.h>

struct timer {
	uint64_t a, b;
	int64_t started_ns;
};

static int timers_compare(const void *first, const void *second)
{
	const struct timer *x = first, *y = second;

	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return x->b < y->b ? -1 : x->b > y->b;
}

/* Finds a running timer; NULL for none. */
static struct timer *timers_find(const struct timers *timers, uint64_t a, uint64_t b)
{
	struct timer wanted = { .a = a, .b = b };
	struct timer *const *found = tfind(&wanted, &timers->tree, timers_compare);

	return found ? *found : NULL;
}

/*
 * A timer may not be stored, because of the limit or a lack of memory. The only effect is that the
 * end of the timer prints nothing.
 */
void timers_start(struct timers *timers, uint64_t a, uint64_t b, int64_t time_ns)
{
	struct timer *timer = timers_find(timers, a, b);

	if (timer) {
		timer->started_ns = time_ns;
		return;
	}
	if (timers->count == TIMERS_MAX)
		return;
	timer = malloc(sizeof(*timer));
	if (!timer)
		return;
	*timer = (struct timer){ a, b, time_ns };
	if (tsearch(timer, &timers->tree, timers_compare))
		timers->count++;
	else
		free(timer);
}

/* The timer's memory is freed, so a report needs memory only for the timers that are running. */
bool timers_end(struct timers *timers, uint64_t a, uint64_t b, int64_t *started_ns)
{
	struct timer *timer = timers_find(timers, a, b);

	if (!timer)
		return false;
	*started_ns = timer->started_ns;
	tdelete(timer, &timers->tree, timers_compare);
	free(timer);
	timers->count--;
	return true;
}

void timers_fini(struct timers *timers)
{
	tdestroy(timers->tree, free);
	timers->tree = NULL;
	timers->count = 0;
}
