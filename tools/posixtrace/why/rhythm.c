/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rhythm.c - compares the times for which a loop slept with the times between its rounds. */
#include "why/rhythm.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "why/ender.h"

/*
 * Moments of waking count as equally far in the future if the distances of the middle 80 % differ
 * by at most EQUAL_NS, or by at most the shortest sleep / EQUAL_PART.
 */
#define EQUAL_NS   200000
#define EQUAL_PART 50

struct rounds {
	const struct call **call;
	size_t count;
};

/* Returns whether a call is a round of the loop to which the call 'like' belongs. */
static bool is_round(const struct call *call, const struct call *like)
{
	if (like->cause == CAUSE_READ)
		return call->cause == CAUSE_READ && call->fd_kind == FD_TIMER && !call->error &&
		       call->key == like->key;
	/* A poll with the time limit 0 does not wait. */
	return call->cause == like->cause && call->type == like->type && !call->is_retry &&
	       !call->error && !call->is_try && call->address == like->address &&
	       call->stack == like->stack;
}

/*
 * Collects the rounds. A call may have several pieces. If input ended one of the polls, its round
 * was shorter or longer because of this input, and there are no rounds. Returns false if memory is
 * lacking.
 */
static bool collect_rounds(const struct history *history, uint32_t index, int64_t from_ns,
			   int64_t to_ns, const struct call *like, struct rounds *rounds)
{
	const struct history_thread *thread = &history->thread[index];
	const size_t end = thread->piece + thread->pieces;

	for (size_t i = history_piece_at(history, thread, from_ns);
	     i < end && history->piece[i].begin_ns < to_ns; i++) {
		const struct call *call = &history->call[history->piece[i].call];

		if (!is_round(call, like) || call->begin_ns < from_ns ||
		    (rounds->count && rounds->call[rounds->count - 1] == call))
			continue;
		if (call->cause == CAUSE_POLL && !call->is_in_vain) {
			rounds->count = 0;
			return true;
		}
		if (!vec_grow(&rounds->call, rounds->count, 1))
			return false;
		rounds->call[rounds->count++] = call;
	}
	return true;
}

static int by_number(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Returns the moment of waking that a sleep asked for, minus the begin of the sleep. */
static double lead_of(const struct call *call)
{
	return (double)(int64_t)call->asked_ns - (double)call->begin_ns;
}

/*
 * Returns whether at least half of the moments of waking have one distance from the moment before,
 * as in a loop that computes each moment from the moment before. Such a loop does not drift.
 */
static bool is_periodic(const struct rounds *rounds)
{
	const uint64_t first = rounds->call[1]->asked_ns - rounds->call[0]->asked_ns;
	size_t equal = 0;

	for (size_t i = 1; i < rounds->count; i++)
		equal += rounds->call[i]->asked_ns - rounds->call[i - 1]->asked_ns == first;
	return equal >= rounds->count / 2;
}

/*
 * Finds the time that each sleep asked for. The event has this time, unless the program asked for a
 * moment. If each moment was equally far in the future, as in Python, the program has computed it
 * from a time. The shortest sleep is then the best estimate of this time. Returns false if the
 * sleeps asked for different times, for moments at equal distances, or for no time.
 */
static bool find_asked(const struct rounds *rounds, struct rhythm *rhythm, int *err)
{
	double *lead, shortest = 0, spread;
	size_t same = 0;

	for (size_t i = 0; i < rounds->count; i++) {
		const double ns = (double)rounds->call[i]->end_ns -
				  (double)rounds->call[i]->begin_ns;

		shortest = i && shortest < ns ? shortest : ns;
		same += rounds->call[i]->asked_ns == rounds->call[0]->asked_ns;
	}
	rhythm->asked_ns = (double)(int64_t)rounds->call[0]->asked_ns;
	if (same == rounds->count)
		return rhythm->asked_ns > 0;
	/* asked_ns of a poll is a duration. That of a sleep may also be the moment of its end. */
	if (same > 1 || rounds->call[0]->cause == CAUSE_POLL || is_periodic(rounds))
		return false;
	lead = calloc(rounds->count, sizeof(*lead));
	if (!lead) {
		*err = ENOMEM;
		return false;
	}
	for (size_t i = 0; i < rounds->count; i++)
		lead[i] = lead_of(rounds->call[i]);
	qsort(lead, rounds->count, sizeof(*lead), by_number);
	spread = lead[rounds->count - 1 - rounds->count / 10] - lead[rounds->count / 10];
	free(lead);
	rhythm->asked_ns = shortest;
	rhythm->is_estimate = true;
	return shortest > 0 && (spread <= EQUAL_NS || spread <= shortest / EQUAL_PART);
}

/*
 * Finds the interval of the timerfd that all rounds read. Returns false if the log does not have
 * it, or if the program has changed it between the rounds.
 */
static bool find_interval(const struct history *history, const struct rounds *rounds,
			  struct rhythm *rhythm)
{
	const struct call *first = rounds->call[0], *last = rounds->call[rounds->count - 1];
	const pid_t pid = history->thread[last->thread].pid;
	int64_t interval_ns = 0;

	rhythm->is_timer = true;
	for (size_t i = history->timers; i-- > 0;) {
		const struct history_timer *timer = &history->timer[i];

		if (timer->pid != pid || timer->fd != (int32_t)last->key ||
		    timer->time_ns > last->end_ns)
			continue;
		if (timer->interval_ns <= 0 || (interval_ns && timer->interval_ns != interval_ns))
			return false;
		interval_ns = timer->interval_ns;
		if (timer->time_ns <= first->end_ns) {
			rhythm->asked_ns = (double)interval_ns;
			return true;
		}
	}
	return false;
}

bool rhythm_find(const struct history *history, uint32_t thread, int64_t from_ns, int64_t to_ns,
		 const struct call *like, struct rhythm *rhythm, int *err)
{
	struct rounds rounds = { .count = 0 };
	const struct call *used = like->cause == CAUSE_POLL && !like->is_in_vain ?
				  ender_through(history, like) : like;
	bool good;

	*rhythm = (struct rhythm){ .rounds = 0 };
	if (!used || !(used->cause == CAUSE_SLEEP || used->cause == CAUSE_POLL ||
		       (used->cause == CAUSE_READ && used->fd_kind == FD_TIMER)))
		return false;
	good = collect_rounds(history, thread, from_ns, to_ns, used, &rounds);
	*err = good ? 0 : ENOMEM;
	if (good)
		good = rounds.count >= RHYTHM_LEAST &&
		       (used->cause == CAUSE_READ ? find_interval(history, &rounds, rhythm) :
						    find_asked(&rounds, rhythm, err));
	if (good) {
		const struct call *first = rounds.call[0], *last = rounds.call[rounds.count - 1];

		for (size_t i = 0; i < rounds.count; i++)
			rhythm->sleep_ns += (double)rounds.call[i]->end_ns -
					    (double)rounds.call[i]->begin_ns;
		rhythm->sleep_ns /= (double)rounds.count;
		rhythm->rounds = rounds.count;
		/* The timer determines the end of a read that waits, and the loop its begin. */
		rhythm->all_ns = rhythm->is_timer ? (double)last->end_ns - (double)first->end_ns :
				 (double)last->begin_ns - (double)first->begin_ns;
		rhythm->period_ns = rhythm->all_ns / (double)(rounds.count - 1);
	}
	free(rounds.call);
	return good;
}

const struct call *rhythm_read(const struct history *history, uint32_t index, int64_t from_ns,
			       int64_t to_ns)
{
	const struct history_thread *thread = &history->thread[index];
	const size_t end = thread->piece + thread->pieces;

	for (size_t i = history_piece_at(history, thread, from_ns);
	     i < end && history->piece[i].begin_ns < to_ns; i++) {
		const struct call *call = &history->call[history->piece[i].call];

		if (call->cause == CAUSE_READ && call->fd_kind == FD_TIMER && !call->error)
			return call;
	}
	return NULL;
}
