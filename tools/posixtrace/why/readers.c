/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* readers.c - adds up the holds of a read-write lock during the wait of a writer. */
#include "why/readers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* The most holds that are examined for one wait. If there are more, nothing is said about it. */
#define LOOK_AT (1 << 20)

/* Compares a reader with the wanted thread, for table_find(). */
static bool is_reader(const void *array, uint32_t index, const void *key)
{
	return ((const struct reader *)array)[index].thread == *(const uint32_t *)key;
}

/* Adds the part of a hold that is in the wait. Returns false if memory is lacking. */
static bool add_hold(struct readers *readers, const struct hold *hold)
{
	const struct call *call = readers->call;
	const int64_t begin_ns = hold->begin_ns > call->begin_ns ? hold->begin_ns : call->begin_ns;
	const int64_t end_ns = hold->end_ns < call->end_ns ? hold->end_ns : call->end_ns;
	const uint64_t hash = hash_number(HASH_BEGIN, hold->thread);
	uint32_t index = table_find(&readers->of_thread, hash, is_reader, readers->of,
				    &hold->thread);

	if (index == TABLE_NONE) {
		if (!vec_grow(&readers->of, readers->count, 1) ||
		    !table_add(&readers->of_thread, hash, (uint32_t)readers->count))
			return false;
		index = (uint32_t)readers->count++;
		readers->of[index] = (struct reader){ .thread = hold->thread };
	}
	readers->of[index].ns += (uint64_t)end_ns - (uint64_t)begin_ns;
	readers->of[index].count++;
	return true;
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
int readers_find(const struct history *history, const struct call *call, struct readers *readers,
		 uint64_t *steps)
{
	const struct holds *holds = &history->holds;
	const pid_t pid = history->thread[call->thread].pid;
	/* 'last': the hold before; 'other': the last one of a thread other than that of 'last' */
	const struct hold *last = NULL, *other = NULL;
	/* the end of the holds that began before the wait */
	int64_t first_end_ns = call->begin_ns;
	unsigned n = 0;

	readers_fini(readers);
	readers->call = call;
	if (!holds->count || strcmp(call->type->name, "lock.rwlock_write") != 0)
		return 0;
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
		if (!add_hold(readers, hold))
			return ENOMEM;
	}
	readers->has_overtaken &= n < LOOK_AT && has_prolonged(call, first_end_ns);
	return 0;
}

void readers_fini(struct readers *readers)
{
	free(readers->of);
	table_fini(&readers->of_thread);
	*readers = (struct readers){ .call = NULL };
}
