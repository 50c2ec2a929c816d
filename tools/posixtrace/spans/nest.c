/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nest.c - corrects the begins of calls that have one event. */
#include "spans/nest.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/vec.h"

#define ERROR_NS   1000 /* a begin may be wrong by this and by 1/ERROR_PART of the duration */
#define ERROR_PART 1000

/* The most levels of all threads together. Otherwise a forged log could need gigabytes. */
#define LEVELS_MAX ((size_t)1 << 20)

struct nest {
	struct nest_thread *thread;
	size_t threads;
	size_t levels; /* number of levels for which all threads together have room */
	struct table of_thread;
};

struct nest_thread {
	pid_t pid, tid;
	/* the levels of the thread, by depth; the first 'used' of them are valid */
	struct nest_level {
		/*
		 * the least begin of the calls of this depth since the last call of a lesser depth;
		 * INT64_MAX: none
		 */
		int64_t least_ns;
		/* the latest end of the calls up to this depth; INT64_MIN: no such call */
		int64_t end_ns;
	} *level;
	size_t used, room;
};

static bool is_thread(const void *array, uint32_t index, const void *key)
{
	const struct nest_thread *thread = array, *wanted = key;

	return thread[index].pid == wanted->pid && thread[index].tid == wanted->tid;
}

static struct nest_thread *thread_of(struct nest *nest, pid_t pid, pid_t tid)
{
	const struct nest_thread wanted = { .pid = pid, .tid = tid };
	const uint64_t hash = hash_number(hash_number(HASH_BEGIN, (uint64_t)pid), (uint64_t)tid);
	uint32_t at = table_find(&nest->of_thread, hash, is_thread, nest->thread, &wanted);

	if (at != TABLE_NONE)
		return &nest->thread[at];
	if (nest->threads == NEST_THREADS || !vec_grow(&nest->thread, nest->threads, 1) ||
	    !table_add(&nest->of_thread, hash, (uint32_t)nest->threads))
		return NULL;
	nest->thread[nest->threads] = wanted;
	return &nest->thread[nest->threads++];
}

/*
 * Makes the levels up to a depth valid. Returns false at the limit of levels or if memory is
 * lacking.
 */
static bool reach_depth(struct nest *nest, struct nest_thread *thread, size_t depth)
{
	const size_t room = thread->room;

	if (depth >= room) {
		if (nest->levels + depth - room >= LEVELS_MAX ||
		    !vec_reserve(&thread->level, &thread->room, thread->used,
				 depth + 1 - thread->used))
			return false;
		nest->levels += thread->room - room;
	}
	for (; thread->used <= depth; thread->used++)
		thread->level[thread->used] = (struct nest_level){
			INT64_MAX,
			thread->used ? thread->level[thread->used - 1].end_ns : INT64_MIN
		};
	return true;
}

int64_t nest_begin(struct nest **nest, pid_t pid, pid_t tid, uint64_t depth, int64_t begin_ns,
		   int64_t end_ns)
{
	int64_t inner_ns = INT64_MAX, before_ns, error_ns;
	struct nest_thread *thread;
	struct nest_level *level;

	if (!*nest)
		*nest = calloc(1, sizeof(**nest));
	thread = *nest && depth < NEST_DEPTH ? thread_of(*nest, pid, tid) : NULL;
	if (!thread || begin_ns > end_ns || begin_ns < INT64_MIN / 2 || end_ns > INT64_MAX / 2 ||
	    !reach_depth(*nest, thread, depth))
		return begin_ns;
	for (; thread->used > depth + 1; thread->used--)
		if (thread->level[thread->used - 1].least_ns < inner_ns)
			inner_ns = thread->level[thread->used - 1].least_ns;
	level = &thread->level[depth];
	before_ns = level->end_ns;
	/*
	 * This call contains the deeper calls that have ended since the last call of at most its
	 * depth. So it must begin before them. Below, a begin that is before the end of that last
	 * call by less than the possible error becomes this end.
	 */
	if (inner_ns <= begin_ns && inner_ns > before_ns)
		begin_ns = inner_ns - 1;
	error_ns = ERROR_NS + (end_ns - begin_ns) / ERROR_PART;
	if (begin_ns < before_ns && before_ns - begin_ns < error_ns && before_ns <= end_ns)
		begin_ns = before_ns;
	if (begin_ns < level->least_ns)
		level->least_ns = begin_ns;
	if (end_ns > level->end_ns)
		level->end_ns = end_ns;
	return begin_ns;
}

void nest_free(struct nest *nest)
{
	for (size_t i = 0; nest && i < nest->threads; i++)
		free(nest->thread[i].level);
	if (!nest)
		return;
	free(nest->thread);
	table_fini(&nest->of_thread);
	free(nest);
}
