/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tries.c - finds the calls that belong to one wait. */
#include "why/tries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A call that begins at most this long after the last one of its thread continues the wait. */
#define AGAIN_NS INT64_C(1000000)

/* Returns whether a call begins directly after another call of its thread. */
static bool follows_directly(const struct call *next, const struct call *call)
{
	int64_t between_ns;

	return next->begin_ns >= call->end_ns &&
	       !__builtin_sub_overflow(next->begin_ns, call->end_ns, &between_ns) &&
	       between_ns <= AGAIN_NS;
}

/* Returns whether a wait for a condition or a semaphore reached its time limit. */
static bool is_timed_out(const struct call *call)
{
	return (call->cause == CAUSE_COND || call->cause == CAUSE_SEM) && call->error == ETIMEDOUT;
}

/* Returns whether a thread waits again for the same object, directly after a time limit. */
static bool is_again(const struct call *next, const struct call *call)
{
	return next->cause == call->cause && next->key == call->key && next->type == call->type &&
	       follows_directly(next, call);
}

/* Returns whether another process has a lock that the call tried to set on a file. */
static bool is_refused(const struct call *call)
{
	return call->text && (call->error == EAGAIN || call->error == EACCES) &&
	       (!strcmp(call->type->name, "io.flock") || !strcmp(call->type->name, "io.fcntl") ||
		!strcmp(call->type->name, "io.lockf"));
}

/* Returns whether the locking of a mutex lies between two waits for a condition, and not more. */
static bool is_between(const struct call *call)
{
	return !cause_waits((enum cause)call->cause) || call->cause == CAUSE_LOCK;
}

int tries_mark(struct history *history)
{
	/* by thread: the index + 1 of a call; 0: there is none */
	uint32_t *seen = calloc(history->threads + 1, sizeof(*seen));

	if (!seen)
		return ENOMEM;
	/* Calls are in the order of their ends. So the next wait of a thread is found first. */
	for (size_t i = history->calls; i-- > 0;) {
		struct call *call = &history->call[i];
		const uint32_t at = seen[call->thread];
		const struct call *next = at ? &history->call[at - 1] : NULL;

		if (is_between(call))
			continue;
		call->is_resumed = next && is_timed_out(call) && is_again(next, call) &&
				   (!is_timed_out(next) || next->is_resumed);
		seen[call->thread] = (uint32_t)i + 1;
	}
	memset(seen, 0, (history->threads + 1) * sizeof(*seen));
	for (size_t i = 0; i < history->calls; i++) {
		struct call *call = &history->call[i];
		const uint32_t at = seen[call->thread];

		if (is_refused(call)) {
			seen[call->thread] = (uint32_t)i + 1;
		} else if (at && call->cause == CAUSE_SLEEP &&
			   follows_directly(call, &history->call[at - 1])) {
			call->object = history->call[at - 1].text;
			call->is_second = !strcmp(history->call[at - 1].type->name, "io.flock");
		}
	}
	free(seen);
	return 0;
}

const struct call *tries_last(const struct history *history, const struct call *call,
			      uint64_t *steps)
{
	const struct history_thread *thread = &history->thread[call->thread];
	size_t i = history_piece_at(history, thread, call->end_ns);

	for (; i < thread->piece + thread->pieces; i++, ++*steps) {
		const struct call *next = &history->call[history->piece[i].call];

		if (next->begin_ns < call->end_ns || is_between(next))
			continue;
		if (!is_again(next, call))
			return NULL;
		if (!next->is_resumed)
			return next;
		call = next;
	}
	return NULL;
}
