/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* readers.c - adds up the holds of a read-write lock during the wait of a writer. */
#include "why/readers.h"

#include <string.h>

/* The most holds that are examined for one wait. If there are more, nothing is said about it. */
#define LOOK_AT (1 << 20)

/* Adds the part of a hold that is in the wait. */
static void add_hold(struct readers *readers, const struct hold *hold)
{
	const struct call *call = readers->call;
	const int64_t begin_ns = hold->begin_ns > call->begin_ns ? hold->begin_ns : call->begin_ns;
	const int64_t end_ns = hold->end_ns < call->end_ns ? hold->end_ns : call->end_ns;
	unsigned i = 0;

	while (i < readers->count && readers->of[i].thread != hold->thread)
		i++;
	if (i == READERS_MOST) {
		readers->is_cut = true;
		return;
	}
	if (i == readers->count) {
		readers->count++;
		readers->of[i].thread = hold->thread;
		readers->of[i].ns = readers->of[i].count = 0;
	}
	readers->of[i].ns += (uint64_t)end_ns - (uint64_t)begin_ns;
	readers->of[i].count++;
}

/*
 * Returns whether the later readers made a wait much longer: a part of it that is at least as long
 * as the other part is after the end of all holds that began before the wait.
 */
static bool has_prolonged(const struct call *call, int64_t first_end_ns)
{
	return first_end_ns < call->end_ns &&
	       (uint64_t)call->end_ns - (uint64_t)first_end_ns >=
	       (uint64_t)first_end_ns - (uint64_t)call->begin_ns;
}

/*
 * The holds are in the order of their ends. So a hold overlaps an earlier one of another thread if
 * it begins before the last such hold ends.
 */
void readers_find(const struct history *history, const struct call *call, struct readers *readers,
		  uint64_t *steps)
{
	const struct holds *holds = &history->holds;
	const pid_t pid = history->thread[call->thread].pid;
	/* 'last': the hold before; 'other': the last one of a thread other than that of 'last' */
	const struct hold *last = NULL, *other = NULL;
	/* the end of the holds that began before the wait */
	int64_t first_end_ns = call->begin_ns;
	unsigned n = 0;

	*readers = (struct readers){ .call = call };
	if (!holds->count || strcmp(call->type->name, "lock.rwlock_write") != 0)
		return;
	for (size_t i = holds_first(holds, pid, call->key, call->begin_ns);
	     i < holds->count && n < LOOK_AT; i++, n++, ++*steps) {
		const struct hold *hold = &holds->hold[i];
		const struct hold *before;

		if (hold->lock != call->key || hold->pid != pid || hold->begin_ns >= call->end_ns)
			break;
		if (hold->thread == call->thread)
			continue;
		if (hold->begin_ns <= call->begin_ns && hold->end_ns > first_end_ns)
			first_end_ns = hold->end_ns;
		before = last && last->thread != hold->thread ? last : other;
		if (before && before->end_ns > hold->begin_ns &&
		    (hold->begin_ns > call->begin_ns || before->begin_ns > call->begin_ns))
			readers->has_overtaken = true;
		if (last && last->thread != hold->thread)
			other = last;
		last = hold;
		add_hold(readers, hold);
	}
	readers->has_overtaken &= n < LOOK_AT && has_prolonged(call, first_end_ns);
}
