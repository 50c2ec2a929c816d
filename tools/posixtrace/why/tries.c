/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tries.c - finds the calls that belong to one wait. */
#include "why/tries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A call that begins at most this long after the last one of its thread continues the wait, or at
 * most this part of the last call's duration.
 */
#define AGAIN_NS INT64_C(1000000)
#define AGAIN_PART 8

/*
 * Returns the time that a thread ran between two times. A thread without states of this time has
 * run the whole time. A thread that was woken may wait for a CPU for any time on a loaded machine.
 */
static int64_t ran_between(const struct history_thread *thread, int64_t from_ns, int64_t to_ns)
{
	size_t i = history_stay_at(thread, from_ns);
	int64_t ran_ns = 0;

	if (i == thread->stays || thread->has_gaps)
		return to_ns - from_ns;
	for (; i < thread->stays && thread->stay[i].from_ns < to_ns; i++) {
		const struct stay *stay = &thread->stay[i];
		const int64_t begin_ns = stay->from_ns > from_ns ? stay->from_ns : from_ns;
		const int64_t end_ns = i + 1 < thread->stays && stay[1].from_ns < to_ns ?
				       stay[1].from_ns : to_ns;

		if (stay->state != STATE_READY)
			ran_ns += end_ns - begin_ns;
	}
	return ran_ns;
}

/* Returns whether a call begins directly after another call of its thread. */
static bool follows_directly(const struct history *history, const struct call *next,
			     const struct call *call)
{
	int64_t between_ns, lasted_ns;

	if (next->begin_ns < call->end_ns ||
	    __builtin_sub_overflow(next->begin_ns, call->end_ns, &between_ns) ||
	    __builtin_sub_overflow(call->end_ns, call->begin_ns, &lasted_ns))
		return false;
	return between_ns <= AGAIN_NS || between_ns <= lasted_ns / AGAIN_PART ||
	       ran_between(&history->thread[call->thread], call->end_ns, next->begin_ns) <=
	       AGAIN_NS;
}

/* Returns whether a wait for a condition or a semaphore reached its time limit. */
static bool is_timed_out(const struct call *call)
{
	return (call->cause == CAUSE_COND || call->cause == CAUSE_SEM) && call->error == ETIMEDOUT;
}

/* Returns whether a thread waits again for the same object, directly after a time limit. */
static bool is_again(const struct history *history, const struct call *next,
		     const struct call *call)
{
	return next->cause == call->cause && next->key == call->key && next->type == call->type &&
	       follows_directly(history, next, call);
}

/* Returns whether another process has a lock that the call tried to set on a file. */
static bool is_refused(const struct call *call)
{
	return call->is_attempt && call->text && (call->error == EAGAIN || call->error == EACCES);
}

/* Returns whether the locking of a mutex lies between two waits for a condition, and not more. */
static bool is_between(const struct call *call)
{
	return !cause_waits((enum cause)call->cause) || call->cause == CAUSE_LOCK;
}

/* Marks the calls that are one wait. seen has a 0 for each thread. */
static void mark_waits(struct history *history, uint32_t *seen)
{
	/* Calls are in the order of their ends. So the next wait of a thread is found first. */
	for (size_t i = history->calls; i-- > 0;) {
		struct call *call = &history->call[i];
		const uint32_t at = seen[call->thread];
		const struct call *next = at ? &history->call[at - 1] : NULL;

		if (is_between(call))
			continue;
		call->is_resumed = next && is_timed_out(call) &&
				   is_again(history, next, call) &&
				   (!is_timed_out(next) || next->is_resumed);
		if (call->is_resumed)
			call->code = next->is_resumed ? next->code : (int32_t)at - 1;
		seen[call->thread] = (uint32_t)i + 1;
	}
}

/* For each thread: the index + 1 of a call; 0: there is none. */
struct tried {
	uint32_t refused; /* the last attempt to lock a file, if it was refused */
	uint32_t asleep;  /* a sleep directly after it */
};

/*
 * Follows a call that tries to lock a file. A sleep before it was a wait for the lock only if an
 * attempt to lock the same file was refused before the sleep.
 */
static void mark_attempt(struct history *history, struct tried *tried, size_t index)
{
	const struct call *call = &history->call[index];
	const struct call *last = tried->refused ? &history->call[tried->refused - 1] : NULL;
	struct call *sleep = tried->asleep ? &history->call[tried->asleep - 1] : NULL;

	if (sleep && last->text == call->text && follows_directly(history, call, sleep)) {
		sleep->object = last->text;
		sleep->is_second = !strcmp(last->type->name, "io.flock");
	}
	if (is_refused(call))
		*tried = (struct tried){ .refused = (uint32_t)index + 1 };
	else if (last && last->text == call->text)
		*tried = (struct tried){ 0 };
}

/* Marks the sleeps between attempts to lock a file. tried has zeros for each thread. */
static void mark_sleeps(struct history *history, struct tried *tried)
{
	for (size_t i = 0; i < history->calls; i++) {
		const struct call *call = &history->call[i];
		struct tried *of = &tried[call->thread];

		if (call->is_attempt)
			mark_attempt(history, of, i);
		else if (of->refused && call->cause == CAUSE_SLEEP &&
			 follows_directly(history, call, &history->call[of->refused - 1]))
			of->asleep = (uint32_t)i + 1;
	}
}

int tries_mark(struct history *history)
{
	uint32_t *seen = calloc(history->threads + 1, sizeof(*seen));
	struct tried *tried = calloc(history->threads + 1, sizeof(*tried));

	if (seen && tried) {
		mark_waits(history, seen);
		mark_sleeps(history, tried);
	}
	free(seen);
	free(tried);
	return seen && tried ? 0 : ENOMEM;
}

const struct call *tries_last(const struct history *history, const struct call *call)
{
	return &history->call[call->code];
}
