/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* holds.c - finds the threads that held a lock during a wait. */
#include "spans/holds.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

bool holds_add(struct holds *holds, const struct hold *hold)
{
	if (!vec_grow(&holds->hold, holds->count, 1))
		return false;
	holds->hold[holds->count++] = *hold;
	return true;
}

/*
 * Orders holds by process, lock and end. So the search finds the first hold of a lock that ends
 * after a wait has begun. The holds that precede this hold did not cause the wait. Holds that a
 * program did not end may have the same end. Among these, the hold that began first comes first,
 * because holds_next() stops at a hold that began after the wait.
 */
static int by_lock(const void *a, const void *b)
{
	const struct hold *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->lock != y->lock)
		return x->lock < y->lock ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

void holds_sort(struct holds *holds)
{
	if (holds->count)
		qsort(holds->hold, holds->count, sizeof(*holds->hold), by_lock);
}

size_t holds_first(const struct holds *holds, pid_t pid, uint64_t lock, int64_t time_ns)
{
	size_t low = 0, high = holds->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct hold *hold = &holds->hold[middle];

		if (hold->pid < pid || (hold->pid == pid && (hold->lock < lock ||
		    (hold->lock == lock && hold->end_ns <= time_ns))))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct holds_walk holds_walk(const struct holds *holds, const struct hold *wait, int64_t from_ns,
			     int64_t to_ns)
{
	return (struct holds_walk){
		.wait = *wait, .from_ns = from_ns, .to_ns = to_ns,
		.at = holds_first(holds, wait->pid, wait->lock, from_ns),
	};
}

const struct hold *holds_next(const struct holds *holds, struct holds_walk *walk,
			      int64_t *begin_ns, int64_t *end_ns)
{
	while (walk->at < holds->count && walk->from_ns < walk->to_ns &&
	       (!walk->steps_most || walk->steps < walk->steps_most)) {
		const struct hold *hold = &holds->hold[walk->at++];

		walk->steps++;
		if (hold->lock != walk->wait.lock || hold->pid != walk->wait.pid)
			break;
		/*
		 * A hold that begins after the wait ended did not cause the wait. Holds that do not
		 * overlap begin in the order of their ends, so the following holds did not cause
		 * the wait, either.
		 */
		if (hold->begin_ns >= walk->wait.end_ns && walk->may_overlap)
			continue;
		if (hold->begin_ns >= walk->wait.end_ns)
			break;
		*begin_ns = hold->begin_ns > walk->from_ns ? hold->begin_ns : walk->from_ns;
		*end_ns = hold->end_ns < walk->to_ns ? hold->end_ns : walk->to_ns;
		/*
		 * The waiting thread's own hold begins when the wait ends, so it did not cause the
		 * wait.
		 */
		if (hold->thread == walk->wait.thread || *begin_ns >= *end_ns)
			continue;
		walk->from_ns = *end_ns;
		return hold;
	}
	/* A walk that has ended has no further hold. */
	walk->at = holds->count;
	return NULL;
}

void holds_fini(struct holds *holds)
{
	free(holds->hold);
	memset(holds, 0, sizeof(*holds));
}
